//! Experiments: what `pericope eval run` reads, as TOML.

mod answer;
mod compare;
mod data;
mod gates;
mod kind;
mod nightly;
mod overrides;
mod redact;
mod retrieval;
mod retriever;
mod tune;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pericope_api::expand_variables;
use pericope_segment::Limits as SizeLimits;
use pericope_segment::registry::{SegmenterEntry, check_in};
use pericope_segment::spec::Spec;
use pericope_store::{Expand, HEADING_TOKENS};
use serde::{Deserialize, Serialize};

pub use answer::{AnswerConfig, GeneratorKind, JudgeConfig, JudgeKind, LlmTables};
pub use compare::{Compare, Decision, Primary};
pub use data::Data;
pub use gates::{CALIBRATION, Gate, Measure, TIMES};
pub use kind::{ExperimentFile, ExperimentKind};
pub use nightly::{Baseline, Notify, Settings, WebhookBody};
pub use overrides::read;
pub(crate) use overrides::{one_line, set_value};
pub(crate) use redact::{hide, redacted, shown_retriever};
pub use redact::{redact, without_login};
pub use retrieval::{BudgetRule, Rerank, Retrieval};
pub(crate) use retriever::Asked;
pub use retriever::RetrieverConfig;
pub use tune::TuneConfig;

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

impl ConfigError {
    /// Returns the error for a file that parses but makes no sense. Names in the problem may hold line ends; the message is
    /// one line.
    #[must_use]
    pub fn in_file(path: &Path, problem: &str) -> Self {
        ConfigError::Toml { path: path.to_owned(), problem: one_line(problem) }
    }
}

/// One experiment. Every key has the default shown in the field's documentation; unknown keys are errors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// `"retrieval"`, which says of which kind the file is.
    #[serde(default, skip_serializing)]
    pub kind: Option<ExperimentKind>,
    /// Name of the run; part of the default output folder.
    pub name: String,
    /// Most tokens of a chunk where a chunker's spec names no limit; 0: no limit. Default: 256, or the embedder's window where
    /// that is wider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<usize>,
    /// Documents and questions.
    pub data: Data,
    /// How chunks are found.
    #[serde(default)]
    pub retrieval: Retrieval,
    /// The chunkers that are compared; at least one, or a retriever.
    #[serde(default, rename = "chunker", skip_serializing_if = "Vec::is_empty")]
    pub chunkers: Vec<ChunkerConfig>,
    /// Retrievers of others, measured beside the chunkers.
    #[serde(default, rename = "retriever", skip_serializing_if = "Vec::is_empty")]
    pub retrievers: Vec<RetrieverConfig>,
    /// How answers are made.
    #[serde(default)]
    pub answer: AnswerConfig,
    /// How answers are scored.
    #[serde(default)]
    pub judge: JudgeConfig,
    /// What the run is to decide.
    #[serde(default, skip_serializing_if = "Compare::is_default")]
    pub compare: Compare,
    /// What the run may cost and how much may fail.
    #[serde(default)]
    pub limits: Limits,
    /// Checks of `pericope nightly`; not used by `eval run`.
    #[serde(default, rename = "gate", skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<Gate>,
    /// What `pericope nightly` keeps, compares with and tells; not used by `eval run`.
    #[serde(default, skip_serializing_if = "Settings::is_default")]
    pub nightly: Settings,
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

/// `[[chunker]]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChunkerConfig {
    /// Name in tables and charts.
    pub name: String,
    /// Segmenter spec.
    pub spec: Spec,
    /// As `retrieval.expand`, for this chunker alone. Chunkers of one spec share an index where they differ in nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expand: Option<Expand>,
    /// As `retrieval.prefix_headings`, for this chunker alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix_headings: Option<bool>,
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

impl Experiment {
    /// Reads a file, applies `overrides` (`retrieval.k=[1,3]`, later ones win) and checks the result; `segmenters`
    /// are those that specs may name.
    ///
    /// # Errors
    /// [`ConfigError`], whose message is one line that names the file and the key.
    pub fn load(path: &Path, overrides: &[String], segmenters: &[SegmenterEntry]) -> Result<Self, ConfigError> {
        Self::of_file(&ExperimentFile::open(path)?, overrides, segmenters)
    }

    /// As [`Experiment::load`], from a file that was read already.
    ///
    /// # Errors
    /// As [`Experiment::load`].
    pub fn of_file(
        file: &ExperimentFile,
        overrides: &[String],
        segmenters: &[SegmenterEntry],
    ) -> Result<Self, ConfigError> {
        if file.kind != ExperimentKind::Retrieval {
            return Err(file.unfit("kind = \"retrieval\""));
        }
        Self::parse(&file.text, &file.path, overrides, segmenters)
    }

    /// As [`Experiment::load`], from text; `path` is used in messages only.
    ///
    /// # Errors
    /// As [`Experiment::load`].
    pub fn parse(
        text: &str,
        path: &Path,
        overrides: &[String],
        segmenters: &[SegmenterEntry],
    ) -> Result<Self, ConfigError> {
        let experiment: Self = read(text, path, overrides)?;
        experiment.check(segmenters).map_err(|problem| ConfigError::in_file(path, &problem))?;
        Ok(experiment)
    }

    /// The retrievers of others: that of `retrieval.retriever`, named `retriever`, and those of `[[retriever]]`.
    #[must_use]
    pub fn all_retrievers(&self) -> Vec<RetrieverConfig> {
        let one = self.retrieval.retriever.iter().map(|spec| RetrieverConfig::new("retriever", spec));
        one.chain(self.retrievers.iter().cloned()).collect()
    }

    /// The names of all that is measured, in the order of tables: chunkers, then retrievers.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let chunkers = self.chunkers.iter().map(|chunker| chunker.name.clone());
        chunkers.chain(self.all_retrievers().into_iter().map(|retriever| retriever.name)).collect()
    }

    /// Whether a chunker's chunks are embedded behind their headings.
    #[must_use]
    pub fn prefixes_headings(&self, chunker: &ChunkerConfig) -> bool {
        chunker.prefix_headings.unwrap_or(self.retrieval.prefix_headings)
    }

    /// The limits of a chunker where neither its spec nor the experiment names any: these, less the room for headings where
    /// an embedder reads them too.
    pub(crate) fn below_headings(&self, chunker: &ChunkerConfig, limits: SizeLimits) -> SizeLimits {
        let room = match self.prefixes_headings(chunker) && self.retrieval.embedder != "none" {
            true => HEADING_TOKENS,
            false => 0,
        };
        // 0 is no limit, and needs no room.
        let less = |most: usize| if most > room { most - room } else { most };
        SizeLimits { max_tokens: limits.max_tokens.map(less), ..limits }
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
        let judged = self.judge.kind.asks_model();
        let generated = self.answer.generator == GeneratorKind::Llm;
        if self.judge.votes != 1 && !judged {
            found.push("judge.votes has no effect: the lexical judge always agrees with itself".to_owned());
        }
        if (self.judge.faithfulness || self.judge.context_relevance) && !judged {
            found.push("judge.faithfulness and judge.context_relevance have no effect: no model judges".to_owned());
        }
        if self.judge.pairwise && !judged {
            found.push("judge.pairwise has no effect: no model judges".to_owned());
        } else if self.judge.pairwise && self.names().len() < 2 {
            found.push("judge.pairwise has no effect: there is one chunker alone".to_owned());
        }
        let retrieval = &self.retrieval;
        let expands = |own: Option<Expand>| retrieval.expansion(own).expand != Expand::None;
        if retrieval.expand_tokens.is_some() && !self.chunkers.iter().any(|chunker| expands(chunker.expand)) {
            found.push("retrieval.expand_tokens has no effect: nothing is expanded".to_owned());
        }
        if retrieval.embedder == "none" && self.chunkers.iter().any(|chunker| self.prefixes_headings(chunker)) {
            found.push("prefix_headings has no effect: retrieval.embedder = \"none\"".to_owned());
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

    /// Checks what the types do not say; `segmenters` are those that specs may name.
    pub(crate) fn check(&self, segmenters: &[SegmenterEntry]) -> Result<(), String> {
        let retrievers = self.all_retrievers();
        let names = self.names();
        if names.is_empty() {
            return Err("there is no [[chunker]] and no [[retriever]] to evaluate".into());
        }
        if let Some((_, name)) =
            names.iter().enumerate().find(|(i, name)| names.iter().take(*i).any(|other| other == *name))
        {
            return Err(match self.chunkers.iter().filter(|chunker| chunker.name == *name).count() {
                0 | 1 => format!("two chunkers or retrievers are named '{name}'"),
                _ => format!("two chunkers are named '{name}'"),
            });
        }
        if names.iter().any(|name| name.trim().is_empty()) {
            return Err("a chunker or retriever has an empty name: tables tell them apart by it".into());
        }
        for chunker in &self.chunkers {
            check_in(segmenters, &chunker.spec).map_err(|e| format!("chunker '{}': {e}", chunker.name))?;
        }
        self.retrieval.check(!self.chunkers.is_empty())?;
        retrievers.iter().try_for_each(|retriever| retriever.check(self.retrieval.embedder != "none"))?;
        self.check_models()?;
        self.compare.decision(self)?;
        if !(0.0..=1.0).contains(&self.limits.max_failed) {
            return Err("limits.max_failed is a share: 0 to 1".into());
        }
        if let Some(tune) = &self.tune {
            tune.check(self)?;
        }
        nightly::check(self)
    }

    fn check_models(&self) -> Result<(), String> {
        let judged = self.judge.kind.asks_model();
        if self.answer.generator == GeneratorKind::Llm && self.llm.generator.is_none() {
            return Err("answer.generator = \"llm\" needs a table [llm.generator]: provider, model, base_url".into());
        }
        if judged && self.llm.judge.is_none() {
            return Err("judge.kind = \"llm\" or \"both\" needs a table [llm.judge]: provider, model, base_url".into());
        }
        if self.answer.generator == GeneratorKind::None && judged {
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
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    use pericope_segment::registry::list;

    const SMALL: &str = "name = \"n\"\n[data]\nkind = \"squad\"\npath = \"${X:-a}/b.json\"\n\
        [[chunker]]\nname = \"fixed\"\nspec = \"fixed:words=100\"\n";

    fn parse(text: &str, overrides: &[&str]) -> Result<Experiment, String> {
        let overrides: Vec<String> = overrides.iter().map(|s| (*s).to_owned()).collect();
        Experiment::parse(text, Path::new("x.toml"), &overrides, list()).map_err(|e| e.to_string())
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
    fn keys_of_overrides_have_a_depth_and_a_length() {
        for key in ["a.".repeat(60_000) + "b", "a".repeat(200_000), "a.".repeat(17) + "b"] {
            let error = parse(SMALL, &[&format!("{key}=1")]).unwrap_err();
            assert!(error.starts_with("--set a") && error.contains("16 parts") && error.len() < 500, "{error}");
            // The same keys in a sweep.
            let swept = parse(&format!("{SMALL}[sweep]\n\"{key}\" = [1]\n"), &[]).unwrap();
            let error = crate::sweep::variants(&swept, list()).unwrap_err().to_string();
            assert!(error.contains("16 parts"), "{error}");
        }
        // Values are limited by the TOML parser.
        let deep = format!("name={}{}", "[".repeat(50_000), "]".repeat(50_000));
        assert!(parse(SMALL, &[&deep]).is_ok_and(|e| e.name.starts_with("[[[")));
    }

    #[test]
    fn half_written_files_are_one_line_errors() {
        for (text, says) in [
            ("name = \"n\"\n[data\n", "line 2"),
            ("name = \"n\"\n[data]\nkind = \"squad\"\npath = \"p\"\n", "chunker"),
            (&SMALL.replace("squad", "trec"), "expected one of `squad`, `chroma`, `beir`"),
            (&SMALL.replace("fixed:words=100", "fixd:words=100"), "fixd"),
            (&format!("{SMALL}\n[retrieval]\nembedder = \"none\"\n"), "needs an embedder"),
            (&SMALL.replace("name = \"fixed\"", "name = \" \""), "has an empty name"),
        ] {
            let error = parse(text, &[]).unwrap_err();
            assert!(error.contains(says) && !error.contains('\n'), "{error:?} does not say {says}");
        }
    }

    #[test]
    fn a_key_in_the_file_is_not_repeated() {
        let table = "[llm.judge]\nprovider = \"openai\"\nmodel = \"m\"\napi_key = \"sk-123456\"\n";
        let error = parse(&format!("{SMALL}{table}"), &[]).unwrap_err();
        assert!(error.contains("`api_key`") && error.contains("api_key_env"), "{error}");
        assert!(!error.contains("sk-123456") && !error.contains('\n'), "{error}");
    }
}
