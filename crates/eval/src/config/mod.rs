//! Experiments: what `pericope eval run` reads, as TOML.

mod answer;
mod check;
mod compare;
mod data;
mod gates;
mod kind;
mod load;
mod model_file;
mod nightly;
mod overrides;
mod redact;
mod retrieval;
mod retriever;
mod tune;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pericope_segment::Limits as SizeLimits;
use pericope_segment::llm::LLM;
use pericope_segment::registry::SegmenterEntry;
use pericope_segment::spec::Spec;
use pericope_store::{CONTEXT_TOKENS, Expand, HEADING_TOKENS};
use pericope_util::one_line;
use serde::{Deserialize, Serialize};

pub use answer::{AnswerConfig, GeneratorKind, JudgeConfig, JudgeKind, LlmTables};
pub use compare::{Compare, Decision, Primary};
pub use data::Data;
pub use gates::{CALIBRATION, Gate, Measure, TIMES};
pub use kind::{ExperimentFile, ExperimentKind};
pub use load::{Configuration, expanded_path};
pub use model_file::ModelFile;
pub use nightly::{Baseline, LEAST_NIGHTS, Notify, Settings, WebhookBody};
pub(crate) use overrides::set_value;
pub(crate) use redact::{hide, redacted, shown_reranker, shown_retriever};
pub use redact::{redact, without_login};
pub use retrieval::{BudgetRule, ContextKind, Reranking, Retrieval};
pub use retriever::RetrieverConfig;
pub(crate) use retriever::{Asked, NOT_BROUGHT};
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

/// One experiment. Unknown keys are errors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// `"retrieval"`, which says of which kind the file is.
    #[serde(default, skip_serializing)]
    pub kind: Option<ExperimentKind>,
    /// Name of the run; part of the default output folder.
    pub name: String,
    /// Most tokens of a chunk where a chunker's spec names no limit; 0: no limit. Default: what the embedder reads of a passage, at most
    /// 512; 256 without one.
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
    /// Language models, for the generators, judges, segmenters and contexts that ask one.
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
    /// As `retrieval.rerank`, for this chunker alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rerank: Option<String>,
    /// As `retrieval.prefix_headings`, for this chunker alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix_headings: Option<bool>,
    /// As `retrieval.late_chunking`, for this chunker alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_chunking: Option<bool>,
    /// As `retrieval.context`, for this chunker alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<ContextKind>,
    /// As `answer.generator`, for this chunker alone: readers can be compared pair by pair. Answers are made for all or for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<GeneratorKind>,
}

impl ChunkerConfig {
    /// A chunker that nothing but its spec is said of.
    pub(crate) fn plain(name: &str, spec: &Spec) -> Self {
        let (name, spec) = (name.to_owned(), spec.clone());
        Self {
            name,
            spec,
            expand: None,
            rerank: None,
            prefix_headings: None,
            late_chunking: None,
            context: None,
            generator: None,
        }
    }
}

/// The limits of chunks where a spec says none, as far as they are known without the embedder: those of MiniLM, of tables of vectors and of
/// no embedder are, and those of another model are in its files.
pub(crate) fn known_limits(max_tokens: Option<usize>, embedder: &str) -> SizeLimits {
    let is = |name: &str| embedder == name || embedder.strip_prefix(name).is_some_and(|rest| rest.starts_with(':'));
    match max_tokens {
        None if ["minilm", "static", "none"].into_iter().any(is) => SizeLimits::INDEX,
        _ => SizeLimits { max_tokens, ..SizeLimits::default() },
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

impl Configuration for Experiment {
    const KIND: ExperimentKind = ExperimentKind::Retrieval;

    fn finish(&mut self, segmenters: &[SegmenterEntry]) -> Result<(), String> {
        self.llm.expand()?;
        self.check(segmenters)
    }
}

impl Experiment {
    /// The retrievers of others: that of `retrieval.retriever`, named `retriever`, and those of `[[retriever]]`.
    #[must_use]
    pub fn all_retrievers(&self) -> Vec<RetrieverConfig> {
        let one = self.retrieval.retriever.iter().map(|spec| RetrieverConfig::new("retriever", spec));
        one.chain(self.retrievers.iter().cloned()).collect()
    }

    /// True where a reader of spans is needed: for answers, or for a retriever `memrecall`.
    #[must_use]
    pub fn reads_spans(&self) -> bool {
        let recalls = |retriever: &RetrieverConfig| matches!(retriever.asked(), Ok(Asked::Recall { .. }));
        self.is_answered_by(GeneratorKind::Cogltx) || self.all_retrievers().iter().any(recalls)
    }

    /// What answers from what a chunker or retriever finds, whose own `generator` comes first.
    #[must_use]
    pub fn generator(&self, own: Option<GeneratorKind>) -> GeneratorKind {
        own.unwrap_or(self.answer.generator)
    }

    /// A generator of one's own, where it is not that of all.
    pub(crate) fn own_generator(&self, own: Option<GeneratorKind>) -> Option<GeneratorKind> {
        own.filter(|own| *own != self.answer.generator)
    }

    /// What answers from what each of [`Self::names`] finds.
    #[must_use]
    pub fn generators(&self) -> Vec<GeneratorKind> {
        let chunkers = self.chunkers.iter().map(|chunker| chunker.generator);
        let retrievers = self.all_retrievers().into_iter().map(|retriever| retriever.generator);
        chunkers.chain(retrievers).map(|own| self.generator(own)).collect()
    }

    /// True where one of them at least has its answers made by this.
    #[must_use]
    pub fn is_answered_by(&self, generator: GeneratorKind) -> bool {
        self.generators().contains(&generator)
    }

    /// Checks that what only the program that runs the experiment can bring is there: a judge where `judge.kind = "custom"`, and
    /// a retriever of each name whose spec is `custom`.
    ///
    /// # Errors
    /// In words, what was not brought.
    pub fn check_brought(&self, judge: bool, is_there: impl Fn(&str) -> bool) -> Result<(), String> {
        if self.judge.kind == JudgeKind::Custom && !judge {
            let problem = "a program in Rust or Python that runs the experiment brings the judge, and none was brought";
            return Err(format!("judge.kind = \"custom\": {problem}"));
        }
        let missing = |retriever: &RetrieverConfig| retriever.is_custom() && !is_there(&retriever.name);
        match self.all_retrievers().into_iter().find(missing) {
            Some(retriever) => Err(format!("retriever '{}': {NOT_BROUGHT}", retriever.name)),
            None => Ok(()),
        }
    }

    /// The names of all that is measured, in the order of tables: chunkers, then retrievers.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let chunkers = self.chunkers.iter().map(|chunker| chunker.name.clone());
        chunkers.chain(self.all_retrievers().into_iter().map(|retriever| retriever.name)).collect()
    }

    /// The specs of the rerankers that chunkers' hits go through, each once. Whoever runs the experiment opens them.
    #[must_use]
    pub fn rerankers(&self) -> Vec<&str> {
        let of_chunkers =
            self.chunkers.iter().filter_map(|chunker| self.retrieval.reranking(chunker.rerank.as_deref()));
        let mut specs: Vec<&str> = Vec::new();
        for Reranking { spec, .. } in of_chunkers {
            if !specs.contains(&spec) {
                specs.push(spec);
            }
        }
        specs
    }

    /// Whether a chunker's chunks are embedded behind their headings.
    #[must_use]
    pub fn prefixes_headings(&self, chunker: &ChunkerConfig) -> bool {
        chunker.prefix_headings.unwrap_or(self.retrieval.prefix_headings)
    }

    /// Whether a chunker's chunks are embedded within their documents.
    #[must_use]
    pub fn chunks_late(&self, chunker: &ChunkerConfig) -> bool {
        chunker.late_chunking.unwrap_or(self.retrieval.late_chunking)
    }

    /// Whether a model writes the contexts of a chunker's chunks.
    #[must_use]
    pub fn adds_context(&self, chunker: &ChunkerConfig) -> bool {
        chunker.context.unwrap_or(self.retrieval.context) == ContextKind::Llm
    }

    /// The specs of the segmenter `llm` among the chunkers' and what those refer to, each with the name of its chunker. (A
    /// reference to a chunker by name is that chunker's.)
    pub(crate) fn asking_specs(&self) -> Vec<(&str, Spec)> {
        let of = |one: &ChunkerConfig| self.asking(&one.spec);
        self.chunkers.iter().flat_map(|one| of(one).into_iter().map(|spec| (one.name.as_str(), spec))).collect()
    }

    fn asking(&self, spec: &Spec) -> Vec<Spec> {
        let own = (spec.name == LLM.name).then(|| spec.clone());
        let is_chunker = |name: &str| self.chunkers.iter().any(|chunker| chunker.name == name);
        let references = match spec.get("reference") {
            Some(name) if is_chunker(name) => Vec::new(),
            _ => spec.references(),
        };
        own.into_iter().chain(references.iter().flat_map(|one| self.asking(one))).collect()
    }

    /// The limits of a chunker where its spec names none: these, less the room for headings and a context where an embedder reads them
    /// too and the experiment does not say what the limit is.
    pub(crate) fn below_headings(&self, chunker: &ChunkerConfig, limits: SizeLimits) -> SizeLimits {
        if self.max_tokens.is_some() {
            return limits;
        }
        let reads = |what: bool, room| if what && self.retrieval.embedder != "none" { room } else { 0 };
        let room =
            reads(self.prefixes_headings(chunker), HEADING_TOKENS) + reads(self.adds_context(chunker), CONTEXT_TOKENS);
        limits.beside(room)
    }

    /// The limits of chunks where a spec says none, as far as they are known without the embedder.
    pub(crate) fn known_limits(&self) -> SizeLimits {
        known_limits(self.max_tokens, &self.retrieval.embedder)
    }

    /// The data's path with its variables expanded.
    ///
    /// # Errors
    /// [`ConfigError::Value`] names the variable that is not set.
    pub fn data_path(&self) -> Result<PathBuf, ConfigError> {
        expanded_path("data.path", &self.data.path)
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
    fn late_chunking_is_said_for_all_chunkers_or_one_and_goes_with_nothing_before_the_text() {
        let late = |overrides: &[&str]| {
            let experiment = parse(SMALL, overrides).unwrap();
            experiment.chunks_late(&experiment.chunkers[0])
        };
        assert!(!late(&[]) && late(&["retrieval.late_chunking=true"]) && late(&["chunker.fixed.late_chunking=true"]));
        assert!(!late(&["retrieval.late_chunking=true", "chunker.fixed.late_chunking=false"]));
        let said = parse(SMALL, &["retrieval.late_chunking=true", "chunker.fixed.prefix_headings=true"]).unwrap_err();
        assert!(said.contains("chunker 'fixed': late_chunking goes neither with prefix_headings nor with context"));
        let context = ["llm.context.model=m", "llm.context.provider=openai", "retrieval.context=llm"];
        let said = parse(SMALL, &[&context[..], &["retrieval.late_chunking=true"]].concat()).unwrap_err();
        assert!(said.contains("late_chunking goes neither with"), "{said}");
        let words = ["retrieval.late_chunking=true", "retrieval.embedder=none", "retrieval.modes=[\"bm25\"]"];
        let unused = parse(SMALL, &words).unwrap().unused();
        assert!(unused.iter().any(|line| line.starts_with("late_chunking has no effect")), "{unused:?}");
    }

    #[test]
    fn chunks_above_the_limit_and_modes_that_are_named_twice_are_noticed() {
        let noted = |overrides: &[&str]| parse(SMALL, overrides).unwrap().unused();
        let above = ["chunker.fixed.spec=fixed:tokens=400"];
        assert!(noted(&above)[0].contains("'fixed': tokens=400 is above the limit of 256"), "{:?}", noted(&above));
        for fits in [&["max_tokens=400", above[0]][..], &["chunker.fixed.spec=fixed:max_tokens=0,tokens=400"]] {
            assert_eq!(noted(fits), [""; 0], "{fits:?}");
        }
        let twice = parse(SMALL, &["retrieval.modes=[\"dense\",\"bm25\",\"dense\"]"]).unwrap().retrieval.modes;
        assert_eq!(twice, [pericope_store::Mode::Dense, pericope_store::Mode::Bm25]);
        assert!(parse(SMALL, &["limits.budget=-2"]).unwrap_err().contains("limits.budget must be 0 or more"));
    }

    #[test]
    fn messages_hide_the_values_of_secrets_and_no_others() {
        let said = |setting: &str| parse(SMALL, &[setting]).unwrap_err();
        for shown in ["max_tokens=-2", "retrieval.token_budgets=-7"] {
            assert!(said(shown).contains(shown), "{}", said(shown));
        }
        for key in ["llm.judge.api_key", "llm.judge.access_token", "llm.judge.password", "token", "llm.judge.apikey"] {
            let message = said(&format!("{key}=[\"sk-123\"]"));
            assert!(!message.contains("sk-123"), "{message}");
        }
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
        let reranked = parse(SMALL, &["chunker.fixed.rerank=weswin"]).unwrap();
        assert_eq!((reranked.rerankers(), reranked.unused().len()), (vec!["weswin"], 0));
        assert!(
            parse(SMALL, &["retrieval.rerank=weswin", "chunker.fixed.rerank=none"]).unwrap().rerankers().is_empty()
        );
        assert_eq!(parse(SMALL, &["retrieval.rerank_depth=9"]).unwrap().unused().len(), 1);
        for (wrong, says) in
            [("retrieval.rerank_depth=0", "at least 1"), ("chunker.fixed.rerank=\" \"", "rerank is empty")]
        {
            assert!(parse(SMALL, &[wrong]).unwrap_err().contains(says));
        }
        let idle = parse(SMALL, &["answer.model=x", "answer.steps=1"]).unwrap();
        assert!(idle.unused().len() == 1 && !idle.reads_spans(), "{:?}", idle.unused());
        let reads = parse(SMALL, &["answer.model=x", "retrieval.retriever=memrecall:documents=2"]).unwrap();
        assert!(reads.unused().is_empty() && reads.reads_spans());
        assert!(parse(SMALL, &["answer.generator=cogltx"]).unwrap().reads_spans());
        let own = parse(SMALL, &["answer.generator=best", "chunker.fixed.generator=cogltx"]).unwrap();
        assert!(own.reads_spans() && own.generators().contains(&GeneratorKind::Cogltx));
        for mixed in [["none", "cogltx"], ["best", "none"]] {
            let [all, own] =
                [("answer", mixed[0]), ("chunker.fixed", mixed[1])].map(|(at, to)| format!("{at}.generator={to}"));
            assert!(parse(SMALL, &[&all, &own]).unwrap_err().contains("for all or for none"), "{mixed:?}");
        }
        assert!(parse(SMALL, &["chunker.fixed.generator=llm"]).unwrap_err().contains("[llm.generator]"));
        assert!(parse(SMALL, &["answer.steps=9"]).unwrap_err().contains("answer.steps must be from 1 to 8"));
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
