//! The experiment that is run, as a file that the user can go on with.

use std::path::{Path, PathBuf};

use pericope::segmenters;
use pericope_eval::config::{Configuration, Experiment, ExperimentFile};

use super::chunkers::Named;
use crate::resources::shown;
use crate::status::Failure;

/// Budgets of context in tokens; the largest decides.
const BUDGETS: [usize; 3] = [256, 512, 1024];
/// Numbers of chunks that are measured beside the budgets.
const CHUNKS: usize = 5;

/// The text of the experiment that writes into `out`; `more` are lines of `[retrieval]`.
pub fn text(
    (out, seed): (&Path, u64),
    questions: &Path,
    chunkers: &[Named],
    embedder: &str,
    more: &str,
) -> Result<String, Failure> {
    let path = questions.to_str().ok_or_else(|| {
        Failure::usage(format!("{}: the path is no UTF-8, which an experiment needs: name another", shown(questions)))
    })?;
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let mode = if embedder == "none" { "bm25" } else { "hybrid" };
    let largest = BUDGETS.into_iter().max().unwrap_or_default();
    let baseline = chunkers.first().map(|first| first.name.as_str()).unwrap_or_default();
    let tables: Vec<String> = (chunkers.iter())
        .map(|named| format!("[[chunker]]\nname = {}\nspec = {}\n", quoted(&named.name), quoted(&named.spec)))
        .collect();
    Ok(format!(
        "# Written by `pericope compare`. To run it again, after a change for example:\n\
         #   pericope eval run {config} --out {run}\n\
         kind = \"retrieval\"\n\
         name = \"compare\"\n\n\
         [data]\n\
         kind = \"squad\"\n\
         path = {path}\n\
         seed = {seed}\n\n\
         [retrieval]\n\
         embedder = {embedder}\n\
         {more}modes = [\"{mode}\"]\n\
         k = [{CHUNKS}]\n\
         token_budgets = {BUDGETS:?}        # every chunker gives the reader as many tokens\n\n\
         [compare]                              # what decides\n\
         baseline = {baseline}\n\
         primary = {{ metric = \"span_recall\", tokens = {largest}, mode = \"{mode}\" }}\n\n\
         {tables}\n\
         [answer]\n\
         generator = \"none\"                     # retrieval alone: \"extractive\" or \"llm\" answers too\n\n\
         [judge]\n\
         kind = \"none\"\n",
        config = one_line(&out.join(CONFIG)),
        run = one_line(&out.join(RUN)),
        path = quoted(path),
        embedder = quoted(embedder),
        baseline = quoted(baseline),
        tables = tables.join("\n"),
    ))
}

/// A path in a comment.
fn one_line(path: &Path) -> String {
    shown(path).replace(['\n', '\r'], " ")
}

/// The experiment's file.
pub const CONFIG: &str = "compare.toml";
/// The questions' file.
pub const QUESTIONS: &str = "questions.json";
/// The folder of the run.
pub const RUN: &str = "run";

/// The experiment of that text.
pub fn parse(text: String, path: PathBuf) -> Result<Experiment, Failure> {
    let file = ExperimentFile::parse(text, &path).map_err(Failure::usage)?;
    Experiment::of_file(&file, &[], segmenters()).map_err(Failure::usage)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_is_written_is_an_experiment_whatever_names_are_in_it() {
        let chunkers = [("a", "fixed:words=100"), ("b", "same-size:reference=a")]
            .map(|(name, spec)| Named { name: name.into(), spec: spec.into() });
        let questions = Path::new("a \"b\"\n'c'\\d/questions.json");
        let text = text((Path::new("out\nname = \"x\""), 9), questions, &chunkers, "none", "").unwrap();
        let experiment = parse(text, PathBuf::from("compare.toml")).unwrap();
        assert_eq!(experiment.data.path, "a \"b\"\n'c'\\d/questions.json");
        assert_eq!((experiment.name.as_str(), experiment.data.seed), ("compare", 9));
        assert_eq!(experiment.chunkers.len(), 2);
        assert!(experiment.unused().is_empty(), "{:?}", experiment.unused());
    }
}
