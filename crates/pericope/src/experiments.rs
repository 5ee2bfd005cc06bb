//! Experiments with all that this library has: what a run takes, and the run itself with its report.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use pericope_api::{Reranker, SentenceEncoder, SpanReader, TokenCounter};
use pericope_encode::rerankers::{RerankerSpec, check_in};
use pericope_eval::answer::{Judge, Ledger, Models};
use pericope_eval::config::{Experiment, JudgeKind};
use pericope_eval::retriever::Finder;
use pericope_eval::run::{self, Observer, RunError, RunFolder, Setup};
use pericope_learn::cogltx::{self, MemRecall};
use pericope_llm::LlmError;
use pericope_report::run::{Collector, Report, ReportError};
use pericope_segment::Resources;
use pericope_segment::registry::{CUSTOM, SegmenterEntry};
use pericope_segment::spec::Spec;

mod classification;
pub mod segmentation;
mod sweep;

pub use classification::{Classified, classification};
pub use sweep::{Ran, sweep};

use crate::stores::Places;
use crate::{Engine, EngineError, needs_encoder, rerankers, tokenizer_for};

/// How a run is begun or gone on with.
#[derive(Debug, Clone, Copy, Default)]
pub struct Session<'a> {
    /// What an earlier one finished stays.
    pub resume: bool,
    /// No network.
    pub offline: bool,
    /// Where rankings and gold go in TREC's formats.
    pub trec: Option<&'a Path>,
    /// Parts of the caller's own.
    pub brought: Option<&'a Brought>,
}

/// Parts of an experiment that are the caller's own, which no configuration can name.
#[derive(Default)]
pub struct Brought {
    /// What judges, where `judge.kind = "custom"`.
    pub judge: Option<Arc<dyn Judge>>,
    /// Retrievers with the spec `custom`, by their names.
    pub retrievers: BTreeMap<String, Arc<dyn Finder>>,
}

impl std::fmt::Debug for Brought {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let retrievers: Vec<&String> = self.retrievers.keys().collect();
        f.debug_struct("Brought").field("judge", &self.judge.is_some()).field("retrievers", &retrievers).finish()
    }
}

/// The segmenters that specs of an experiment may name where the program brings some of its own: [`segmenters`](crate::segmenters), and
/// `custom:name=NAME` for those of [`Engine::with_custom`].
#[must_use]
pub fn segmenters() -> &'static [SegmenterEntry] {
    static ALL: OnceLock<Vec<SegmenterEntry>> = OnceLock::new();
    ALL.get_or_init(|| [crate::segmenters(), &[CUSTOM]].concat())
}

/// A run that is done, and its folder, which stays held until the report is written.
#[derive(Debug)]
pub struct Finished {
    /// What the report says.
    pub report: Report,
    /// The folder.
    pub folder: RunFolder,
}

/// Why an experiment could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// Something that the experiment names cannot be had.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The report could not be made.
    #[error("{}: {error}", folder.display())]
    Report {
        /// The run's folder.
        folder: PathBuf,
        /// What went wrong.
        error: ReportError,
    },
}

impl ExperimentError {
    /// Returns true where the user can mend it before anything runs.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Engine(error) => matches!(error, EngineError::Usage(_)),
            Self::Run(error) => matches!(error, RunError::Config(_) | RunError::Data(_)),
            Self::Report { .. } => false,
        }
    }
}

/// What an experiment's chunkers are made of: an engine that counts tokens as the experiment says, or as its embedder does.
#[must_use]
pub fn engine_of(experiment: &Experiment) -> Engine<'static> {
    let retrieval = &experiment.retrieval;
    let specs = experiment.chunkers.iter().map(|chunker| &chunker.spec);
    Engine::new().with_tokenizer(counting(retrieval.tokenizer.as_ref(), &retrieval.embedder, specs))
}

/// The tokenizer that an experiment names, else the one that goes with its embedder and segmenters.
fn counting<'s>(named: Option<&String>, embedder: &str, specs: impl IntoIterator<Item = &'s Spec>) -> String {
    named.cloned().unwrap_or_else(|| tokenizer_for(embedder, specs))
}

/// Runs an experiment into a folder, which is made where it is missing; its report is not yet written
/// ([`write`](pericope_report::run::write)). Segmenters and counter come from `engine`, chunks are embedded by `encoder`.
///
/// # Errors
/// [`ExperimentError`]; what was finished before stays in the folder.
pub fn run(
    experiment: &Experiment,
    out: &Path,
    engine: &Engine<'_>,
    encoder: Option<Arc<dyn SentenceEncoder>>,
    (session, ledger): (Session<'_>, &Ledger),
    observer: &dyn Observer,
) -> Result<Finished, ExperimentError> {
    let ingredients = Ingredients::of(experiment, engine, encoder, session)?;
    let set = run::load(experiment, observer)?;
    let folder = RunFolder::take(out).map_err(RunError::from)?;
    let setup = ingredients.setup(experiment, engine, out, ledger)?;
    let mut collector = Collector::default();
    let (summary, record) = run::run_on(experiment, set, &folder, &setup, observer, &mut collector)?;
    let failed = |error| ExperimentError::Report { folder: out.to_owned(), error };
    let report = collector.finish(out, summary, record).map_err(failed)?;
    Ok(Finished { report, folder })
}

/// What a run takes before anything is written: models, and what identifies them.
pub struct Ingredients<'a> {
    session: Session<'a>,
    encoder: Option<Arc<dyn SentenceEncoder>>,
    counter: Arc<dyn TokenCounter>,
    rerankers: BTreeMap<String, Arc<dyn Reranker>>,
    model_checksums: BTreeMap<String, String>,
}

impl<'a> Ingredients<'a> {
    /// Opens the models that the experiment names, but for language models.
    ///
    /// # Errors
    /// [`EngineError::Usage`] for models that are not there, for parts that were not brought, and for services while the session is
    /// offline.
    pub fn of(
        experiment: &Experiment,
        engine: &Engine<'_>,
        encoder: Option<Arc<dyn SentenceEncoder>>,
        session: Session<'a>,
    ) -> Result<Self, EngineError> {
        let judges = session.brought.is_some_and(|brought| brought.judge.is_some());
        let finds = |name: &str| session.brought.is_some_and(|brought| brought.retrievers.contains_key(name));
        experiment.check_brought(judges, finds).map_err(EngineError::Usage)?;
        for chunker in experiment.chunkers.iter().filter(|chunker| chunker.spec.name == CUSTOM.name) {
            let found = engine.custom(chunker.spec.get("name").unwrap_or_default());
            found.map_err(|problem| EngineError::usage(format!("chunker '{}': {problem}", chunker.name)))?;
        }
        let counter = engine.counter().map_err(EngineError::usage)?;
        let mut model_checksums = model_checksums(experiment, encoder.as_deref(), engine)?;
        let rerankers = opened(experiment, engine, session.offline, &mut model_checksums)?;
        Ok(Self { session, encoder, counter, rerankers, model_checksums })
    }

    /// Opens the language models, whose answers are kept below `out`, and what reads spans. What they cost is written down in
    /// `ledger`.
    ///
    /// # Errors
    /// [`EngineError`] for models, keys and prompts that are not there.
    pub fn setup<'e>(
        mut self,
        experiment: &Experiment,
        engine: &'e Engine<'e>,
        out: &Path,
        ledger: &Ledger,
    ) -> Result<Setup<'e>, EngineError> {
        let mut models = Models::open(experiment, out, self.session.offline, ledger).map_err(by_model)?;
        models.reader = span_reader(experiment)?;
        if let Some(brought) = self.session.brought {
            models.finders = brought.retrievers.clone();
            if experiment.judge.kind == JudgeKind::Custom {
                models.judge = brought.judge.clone();
            }
        }
        self.model_checksums.extend(models.checksums.clone());
        self.model_checksums
            .extend(models.reader.iter().map(|reader| (reader.name().to_owned(), reader.fingerprint())));
        Ok(Setup {
            segmenters: segmenters(),
            stores: &Places,
            resources: engine,
            counter: self.counter,
            rerankers: self.rerankers,
            model_checksums: self.model_checksums,
            encoder: self.encoder,
            models,
            resume: self.session.resume,
            trec: self.session.trec.map(Path::to_path_buf),
        })
    }
}

/// The reader of spans, where the experiment asks for one.
fn span_reader(experiment: &Experiment) -> Result<Option<Arc<dyn SpanReader>>, EngineError> {
    if !experiment.reads_spans() {
        return Ok(None);
    }
    let answer = &experiment.answer;
    let recall = MemRecall::new(answer.steps.unwrap_or(2), answer.rehearsal.unwrap_or(true));
    let reader = cogltx::Reader::open(answer.model.as_deref().unwrap_or("shipped"), recall);
    let reader = reader.map_err(|error| EngineError::usage(format!("answer.model: {error}")))?;
    Ok(Some(Arc::new(reader)))
}

/// The models that this run asks, with what identifies their files.
fn model_checksums(
    experiment: &Experiment,
    encoder: Option<&dyn SentenceEncoder>,
    resources: &dyn Resources,
) -> Result<BTreeMap<String, String>, EngineError> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    found.extend(encoder.map(|e| (e.name().to_owned(), digest(&e.fingerprint()))));
    if experiment.chunkers.iter().any(|chunker| needs_encoder(&chunker.spec)) {
        let encoder = resources.encoder().map_err(EngineError::usage)?;
        found.insert(encoder.name().to_owned(), digest(&encoder.fingerprint()));
    }
    Ok(found)
}

/// The rerankers that chunkers' hits go through, by their specs; their fingerprints go among the checksums.
fn opened(
    experiment: &Experiment,
    engine: &Engine<'_>,
    offline: bool,
    checksums: &mut BTreeMap<String, String>,
) -> Result<BTreeMap<String, Arc<dyn Reranker>>, EngineError> {
    let mut found = BTreeMap::new();
    for text in experiment.rerankers() {
        let spec = RerankerSpec::parse(text).map_err(EngineError::usage)?;
        let entry = check_in(rerankers(), &spec).map_err(EngineError::usage)?;
        if offline && entry.sends {
            return Err(EngineError::usage(format!(
                "retrieval.rerank: {} is asked over the network, which --offline forbids",
                spec.shown()
            )));
        }
        if let Some(reranker) = engine.reranker(&spec.to_string())? {
            checksums.insert(format!("rerank {}", spec.shown()), reranker.fingerprint());
            found.insert(text.to_owned(), reranker);
        }
    }
    Ok(found)
}

/// The SHA-256 in a fingerprint, or all of it.
#[must_use]
pub fn digest(fingerprint: &str) -> String {
    fingerprint.split(':').find_map(|part| part.strip_prefix("sha256=")).unwrap_or(fingerprint).to_owned()
}

/// A key or a model that is missing is a matter of configuration; all else is not.
fn by_model(error: LlmError) -> EngineError {
    match error {
        LlmError::Config(_) | LlmError::Prompt(_) | LlmError::NoKey { .. } | LlmError::Model { .. } => {
            EngineError::usage(error)
        }
        other => EngineError::runtime(other),
    }
}
