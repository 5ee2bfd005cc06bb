//! Experiments: what `pericope eval run` reads, as TOML.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pericope_api::expand_variables;
use pericope_llm::LlmConfig;
use pericope_segment::spec::Spec;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::sweep::TuneConfig;

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read the configuration {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is no TOML, or a key has the wrong type or name.
    #[error("{path}: {problem}")]
    Toml {
        /// The file.
        path: PathBuf,
        /// The first problem, with line and column where known.
        problem: String,
    },
    /// A value that parses but makes no sense.
    #[error("{0}")]
    Value(String),
}

/// One experiment. Every key has the default shown in the field's documentation; unknown keys are errors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// Name of the run; part of the default output folder.
    pub name: String,
    /// Documents and questions.
    pub data: Data,
    /// How chunks are found.
    #[serde(default)]
    pub retrieval: Retrieval,
    /// The chunkers that are compared, at least one.
    #[serde(rename = "chunker")]
    pub chunkers: Vec<ChunkerConfig>,
    /// How answers are made.
    #[serde(default)]
    pub answer: AnswerConfig,
    /// How answers are scored.
    #[serde(default)]
    pub judge: JudgeConfig,
    /// What the run may cost and how much may fail.
    #[serde(default)]
    pub limits: Limits,
    /// Checks of `pericope nightly`; not used by `eval run`.
    #[serde(default, rename = "gate", skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<crate::nightly::Gate>,
    /// What `pericope nightly` keeps, compares with and tells; not used by `eval run`.
    #[serde(default, skip_serializing_if = "crate::nightly::Settings::is_default")]
    pub nightly: crate::nightly::Settings,
    /// Language models, for the generators and judges that ask one.
    #[serde(default, skip_serializing_if = "LlmTables::is_empty")]
    pub llm: LlmTables,
    /// `[sweep]`: values to try by dotted key; every combination is a run of its own ([`crate::sweep`]).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sweep: BTreeMap<String, Vec<toml::Value>>,
    /// `[tune]`: what `pericope tune` chooses by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tune: Option<TuneConfig>,
}

/// `[data]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// `squad`, `chroma` or `beir`.
    pub kind: String,
    /// File or folder, relative to the working directory; `${VAR}` and `${VAR:-default}` are expanded.
    pub path: String,
    /// `squad`: only articles whose `source` is one of these; default: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// Which split: of a `squad` folder the files with this word in their names, of a `beir` folder `qrels/NAME.tsv`
    /// (default `test`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// Documents to keep (0: all); those that hold sampled questions always stay.
    #[serde(default)]
    pub documents: usize,
    /// Questions to keep (0: all).
    #[serde(default)]
    pub questions: usize,
    /// Seed of the sampling.
    #[serde(default = "seed")]
    pub seed: u64,
}

/// `[retrieval]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Retrieval {
    /// `minilm` (default) or `none`.
    pub embedder: String,
    /// `dense` (default), `bm25`, `hybrid`.
    pub modes: Vec<String>,
    /// Numbers of chunks; default 1, 3, 5.
    pub k: Vec<usize>,
    /// Budgets of context in tokens: the best chunks that fit; default none.
    pub token_budgets: Vec<usize>,
    /// `none`.
    pub rerank: String,
    /// `none`.
    pub expand: String,
    /// Whether a chunk that repeats the text of a better one is passed over; default false.
    pub drop_repeats: bool,
}

impl Default for Retrieval {
    fn default() -> Self {
        Self {
            embedder: "minilm".into(),
            modes: vec!["dense".into()],
            k: vec![1, 3, 5],
            token_budgets: Vec::new(),
            rerank: "none".into(),
            expand: "none".into(),
            drop_repeats: false,
        }
    }
}

/// `[[chunker]]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChunkerConfig {
    /// Name in tables and charts.
    pub name: String,
    /// Segmenter spec.
    pub spec: Spec,
}

/// `[answer]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AnswerConfig {
    /// `extractive` (default), `llm` or `none`.
    pub generator: String,
}

impl Default for AnswerConfig {
    fn default() -> Self {
        Self { generator: "extractive".into() }
    }
}

/// `[judge]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct JudgeConfig {
    /// `lexical` (default), `llm`, `both` (with their correlation) or `none`.
    pub kind: String,
    /// How often the model judges each answer; the mean counts. The lexical judge always agrees with itself.
    pub votes: usize,
    /// Whether the model also says which claims of an answer its context supports; default false.
    pub faithfulness: bool,
    /// Whether the model also says which of the chunks help to answer the question; default false.
    pub context_relevance: bool,
    /// Gold against gold and gold against unrelated, before the run; default true.
    pub checks: bool,
}

impl Default for JudgeConfig {
    fn default() -> Self {
        Self { kind: "lexical".into(), votes: 1, faithfulness: false, context_relevance: false, checks: true }
    }
}

/// `[llm.generator]` and `[llm.judge]`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LlmTables {
    /// What answers where `answer.generator = "llm"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<LlmConfig>,
    /// What judges where `judge.kind` is `llm` or `both`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<LlmConfig>,
    /// File of the response cache; default: `responses.sqlite` in the run's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<PathBuf>,
}

impl LlmTables {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// `[limits]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Share of items that may fail before the exit status is 1; default 0.02.
    pub max_failed: f64,
    /// Spending limit of the model endpoints.
    pub budget: Option<f64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_failed: 0.02, budget: None }
    }
}

fn seed() -> u64 {
    7
}

impl Experiment {
    /// Reads a file, applies `overrides` (`retrieval.k=[1,3]`, later ones win) and checks the result.
    ///
    /// # Errors
    /// [`ConfigError`], whose message is one line that names the file and the key.
    pub fn load(path: &Path, overrides: &[String]) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path).map_err(|source| ConfigError::Io { path: path.to_owned(), source })?;
        Self::parse(&text, path, overrides)
    }

    /// As [`Experiment::load`], from text; `path` is used in messages only.
    ///
    /// # Errors
    /// As [`Experiment::load`].
    pub fn parse(text: &str, path: &Path, overrides: &[String]) -> Result<Self, ConfigError> {
        let experiment: Self = read(text, path, overrides)?;
        experiment.check().map_err(|problem| ConfigError::Toml { path: path.to_owned(), problem })?;
        Ok(experiment)
    }

    /// The data's path with its variables expanded.
    ///
    /// # Errors
    /// [`ConfigError::Value`] names the variable that is not set.
    pub fn data_path(&self) -> Result<PathBuf, ConfigError> {
        expand_variables(&self.data.path, |name| std::env::var(name).ok())
            .map(PathBuf::from)
            .map_err(|e| ConfigError::Value(format!("data.path: {e}")))
    }

    /// What the configuration says without effect, a line each.
    #[must_use]
    pub fn unused(&self) -> Vec<String> {
        let mut found = Vec::new();
        let judged = matches!(self.judge.kind.as_str(), "llm" | "both");
        let generated = self.answer.generator == "llm";
        if self.judge.votes != 1 && !judged {
            found.push("judge.votes has no effect: the lexical judge always agrees with itself".to_owned());
        }
        if (self.judge.faithfulness || self.judge.context_relevance) && !judged {
            found.push("judge.faithfulness and judge.context_relevance have no effect: no model judges".to_owned());
        }
        if self.limits.budget.is_some() && !judged && !generated {
            found.push("limits.budget has no effect: nothing in this run costs money".to_owned());
        }
        if self.llm.generator.is_some() && !generated {
            found.push("[llm.generator] has no effect: answer.generator is not \"llm\"".to_owned());
        }
        if self.llm.judge.is_some() && !judged {
            found.push("[llm.judge] has no effect: judge.kind is neither \"llm\" nor \"both\"".to_owned());
        }
        found
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        fn known(key: &str, value: &str, list: &[&str]) -> Result<(), String> {
            if list.contains(&value) {
                return Ok(());
            }
            Err(format!("{key} = \"{value}\" is not known here: choose from {}", list.join(", ")))
        }
        if self.chunkers.is_empty() {
            return Err("there is no [[chunker]] to evaluate".into());
        }
        for (i, chunker) in self.chunkers.iter().enumerate() {
            if self.chunkers[..i].iter().any(|other| other.name == chunker.name) {
                return Err(format!("two chunkers are named '{}'", chunker.name));
            }
        }
        for chunker in &self.chunkers {
            pericope_neural::registry::check(&chunker.spec).map_err(|e| format!("chunker '{}': {e}", chunker.name))?;
        }
        known("data.kind", &self.data.kind, &crate::data::KINDS)?;
        for mode in &self.retrieval.modes {
            known("retrieval.modes", mode, &["dense", "bm25", "hybrid"])?;
            if mode != "bm25" && self.retrieval.embedder == "none" {
                return Err(format!(
                    "retrieval.modes asks for {mode}, which needs an embedder, but retrieval.embedder = \"none\""
                ));
            }
        }
        if self.retrieval.modes.is_empty() {
            return Err("retrieval.modes is empty".into());
        }
        if self.retrieval.k.is_empty() && self.retrieval.token_budgets.is_empty() {
            return Err("retrieval.k and retrieval.token_budgets are both empty".into());
        }
        if self.retrieval.k.contains(&0) || self.retrieval.token_budgets.contains(&0) {
            return Err("retrieval.k and retrieval.token_budgets must be at least 1".into());
        }
        if !["openai:", "fastembed:"].iter().any(|kind| self.retrieval.embedder.starts_with(kind)) {
            let kinds = ["minilm", "none", "fastembed:MODEL", "openai:MODEL"];
            known("retrieval.embedder", &self.retrieval.embedder, &kinds)?;
        }
        known("retrieval.rerank", &self.retrieval.rerank, &["none"])?;
        known("retrieval.expand", &self.retrieval.expand, &["none"])?;
        known("answer.generator", &self.answer.generator, &["extractive", "llm", "none"])?;
        known("judge.kind", &self.judge.kind, &["lexical", "llm", "both", "none"])?;
        if self.answer.generator == "llm" && self.llm.generator.is_none() {
            return Err("answer.generator = \"llm\" needs a table [llm.generator]: provider, model, base_url".into());
        }
        if matches!(self.judge.kind.as_str(), "llm" | "both") && self.llm.judge.is_none() {
            return Err(format!(
                "judge.kind = \"{}\" needs a table [llm.judge]: provider, model, base_url",
                self.judge.kind
            ));
        }
        if self.answer.generator == "none" && matches!(self.judge.kind.as_str(), "llm" | "both") {
            return Err("judge.kind asks a model, but answer.generator = \"none\" leaves nothing to judge".into());
        }
        if self.judge.votes == 0 {
            return Err("judge.votes must be at least 1".into());
        }
        for (table, config) in [("llm.generator", &self.llm.generator), ("llm.judge", &self.llm.judge)] {
            if let Some(config) = config {
                config.check().map_err(|problem| format!("{table}.{problem}"))?;
            }
        }
        if !(0.0..=1.0).contains(&self.limits.max_failed) {
            return Err("limits.max_failed is a share: 0 to 1".into());
        }
        if let Some(tune) = &self.tune {
            tune.check(self)?;
        }
        crate::nightly::check(self)
    }
}

/// A TOML error as one line: what and where.
fn located(error: &toml::de::Error, text: &str) -> String {
    let message = one_line(error.message());
    match error.span() {
        Some(span) => {
            let before = text.get(..span.start).unwrap_or(text);
            let line = before.matches('\n').count() + 1;
            format!("line {line}: {message}")
        }
        None => message,
    }
}

pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// An experiment of any kind from TOML, with `overrides` applied; `path` is used in messages only.
///
/// # Errors
/// [`ConfigError`], whose message is one line that names the place, the key or the setting.
pub fn read<T: DeserializeOwned>(text: &str, path: &Path, overrides: &[String]) -> Result<T, ConfigError> {
    let toml_error = |problem: String| ConfigError::Toml { path: path.to_owned(), problem };
    if overrides.is_empty() {
        return toml::from_str(text).map_err(|e| toml_error(located(&e, text)));
    }
    let mut table: toml::Table = text.parse().map_err(|e: toml::de::Error| toml_error(located(&e, text)))?;
    for setting in overrides {
        set(&mut table, setting).map_err(ConfigError::Value)?;
    }
    table.try_into().map_err(|e: toml::de::Error| match culprit::<T>(text, overrides) {
        Some(setting) => ConfigError::Value(format!("--set {}: {}", shown(setting), one_line(e.message()))),
        None => toml_error(one_line(e.message())),
    })
}

/// The setting without which the rest would be a configuration.
fn culprit<'a, T: DeserializeOwned>(text: &str, overrides: &'a [String]) -> Option<&'a String> {
    let fine_without = |left_out: usize| {
        let mut table: toml::Table = text.parse().ok()?;
        for (i, setting) in overrides.iter().enumerate() {
            if i != left_out {
                set(&mut table, setting).ok()?;
            }
        }
        table.try_into::<T>().ok()
    };
    overrides.iter().enumerate().find(|(i, _)| fine_without(*i).is_some()).map(|(_, setting)| setting)
}

/// A setting for a message: without its value where that may be secret.
fn shown(setting: &str) -> String {
    let (key, _) = setting.split_once('=').unwrap_or((setting, ""));
    let low = key.to_lowercase();
    match ["key", "token", "secret", "password", "header", "webhook", "url"].iter().any(|word| low.contains(word)) {
        true => format!("{key}=…"),
        false => setting.to_owned(),
    }
}

/// Applies `key.sub=value`; the value is TOML, or, where it is not, a bare string.
fn set(table: &mut toml::Table, setting: &str) -> Result<(), String> {
    let (key, value) = setting.split_once('=').ok_or_else(|| format!("--set {setting}: expected key=value"))?;
    let parsed: Option<toml::Value> =
        format!("v = {}", value.trim()).parse::<toml::Table>().ok().and_then(|mut t| t.remove("v"));
    let value = parsed.unwrap_or_else(|| toml::Value::String(value.trim().to_owned()));
    set_value(table, key, value).map_err(|problem| format!("--set {}: {problem}", shown(setting)))
}

/// Puts a value under a dotted key; in an array of tables, the part after its name is the `name` of the entry that is
/// meant: `chunker.semantic.spec`.
pub(crate) fn set_value(table: &mut toml::Table, key: &str, value: toml::Value) -> Result<(), String> {
    let mut parts = key.trim().split('.').peekable();
    let mut at = table;
    while let Some(part) = parts.next().filter(|part| !part.is_empty()) {
        if parts.peek().is_none() {
            at.insert(part.to_owned(), value);
            return Ok(());
        }
        let next = at.entry(part).or_insert_with(|| toml::Value::Table(toml::Table::new()));
        at = match next {
            toml::Value::Table(inner) => inner,
            toml::Value::Array(entries) => {
                let name = parts.next().unwrap_or_default();
                (entries.iter_mut().filter_map(toml::Value::as_table_mut))
                    .find(|entry| entry.get("name").and_then(toml::Value::as_str) == Some(name))
                    .ok_or_else(|| format!("no [[{part}]] is named \"{name}\""))?
            }
            _ => return Err(format!("'{part}' is not a table")),
        };
    }
    Err("the key is empty or ends with a dot".into())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const SMALL: &str = "name = \"n\"\n[data]\nkind = \"squad\"\npath = \"${X:-a}/b.json\"\n\
        [[chunker]]\nname = \"fixed\"\nspec = \"fixed:words=100\"\n";

    fn parse(text: &str, overrides: &[&str]) -> Result<Experiment, String> {
        let overrides: Vec<String> = overrides.iter().map(|s| (*s).to_owned()).collect();
        Experiment::parse(text, Path::new("x.toml"), &overrides).map_err(|e| e.to_string())
    }

    #[test]
    fn defaults_are_the_protocols() {
        let e = parse(SMALL, &[]).unwrap();
        assert_eq!(e.retrieval.k, [1, 3, 5]);
        assert_eq!(e.data_path().unwrap(), PathBuf::from("a/b.json"));
        let again: Experiment = toml::from_str(&toml::to_string(&e).unwrap()).unwrap();
        assert_eq!(again, e);
    }

    #[test]
    fn overrides_reach_any_key() {
        let e =
            parse(SMALL, &["data.questions=0", "retrieval.k=[2]", "retrieval.modes=[\"bm25\"]", "name=other"]).unwrap();
        assert_eq!((e.data.questions, e.retrieval.k.clone(), e.name.as_str()), (0, vec![2], "other"));
        assert!(e.unused().is_empty());
        let idle =
            parse(SMALL, &["judge.votes=3", "limits.budget=5.0", "llm.judge.model=m", "llm.judge.provider=openai"])
                .unwrap();
        assert_eq!(idle.unused().len(), 3);
        let named = parse(SMALL, &["chunker.fixed.spec=fixed:words=7"]).unwrap();
        assert_eq!(named.chunkers[0].spec.to_string(), "fixed:words=7");
        assert!(parse(SMALL, &["chunker.none.spec=window"]).unwrap_err().contains("\"none\""));
        assert!(parse(SMALL, &["data.questons=1"]).unwrap_err().contains("questons"));
        let wrong = parse(SMALL, &["data.seed=3", "retrieval.k=many"]).unwrap_err();
        assert!(wrong.contains("--set retrieval.k=many"), "{wrong}");
        assert!(parse(SMALL, &["novalue"]).unwrap_err().contains("key=value"));
    }

    #[test]
    fn a_key_in_the_file_is_not_repeated() {
        let table = "[llm.judge]\nprovider = \"openai\"\nmodel = \"m\"\napi_key = \"sk-123456\"\n";
        let error = parse(&format!("{SMALL}{table}"), &[]).unwrap_err();
        assert!(error.contains("`api_key`") && error.contains("api_key_env"), "{error}");
        assert!(!error.contains("sk-123456") && !error.contains('\n'), "{error}");
    }

    #[test]
    fn half_written_files_are_one_line_errors() {
        for (text, says) in [
            ("name = \"n\"\n[data\n", "line 2"),
            ("name = \"n\"\n[data]\nkind = \"squad\"\npath = \"p\"\n", "chunker"),
            (&SMALL.replace("squad", "trec"), "choose from"),
            (&SMALL.replace("fixed:words=100", "fixd:words=100"), "fixd"),
            (&format!("{SMALL}\n[retrieval]\nembedder = \"none\"\n"), "needs an embedder"),
        ] {
            let error = parse(text, &[]).unwrap_err();
            assert!(error.contains(says) && !error.contains('\n'), "{error:?} does not say {says}");
        }
    }
}
