//! The experiment that is run, as a file that the user can go on with.

use std::path::{Path, PathBuf};

use pericope::segmenters;
use pericope_eval::comparison::{Comparison, Named};
use pericope_eval::config::{Configuration, Experiment, ExperimentFile};

use crate::resources::shown;
use crate::status::Failure;

/// The text of the experiment that writes into `out`; `more` are lines of `[retrieval]`.
pub fn text(
    (out, seed): (&Path, u64),
    questions: &Path,
    chunkers: &[Named],
    embedder: &str,
    more: &str,
) -> Result<String, Failure> {
    let questions = questions.to_str().ok_or_else(|| {
        Failure::usage(format!("{}: the path is no UTF-8, which an experiment needs: name another", shown(questions)))
    })?;
    Ok(format!(
        "# Written by `pericope compare`. To run it again, after a change for example:\n\
         #   pericope eval run {config} --out {run}\n\
         {experiment}",
        config = one_line(&out.join(CONFIG)),
        run = one_line(&out.join(RUN)),
        experiment = Comparison { questions, seed, chunkers, embedder, more }.to_toml(),
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
