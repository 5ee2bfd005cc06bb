//! One run of an experiment: cut, index, retrieve, answer, score, compare, write.
//!
//! A run is a folder: `run.json` (what was run), `items.jsonl` (one line a question, chunker, mode and setting),
//! `chunkers.jsonl` (a chunker's row once it is done), `summary.json`, and the report. Items are appended as soon as a
//! chunker's mode is finished, so an interrupted run can be taken up again. One run at a time writes into a folder
//! ([`RunFolder`]).

mod budget;
mod classify;
mod compare;
mod contexts;
mod cut;
mod done;
mod estimate;
mod estimate_vectors;
mod expand;
mod folder;
mod foreign;
mod found;
mod judge_checks;
mod lines;
mod pairwise;
mod rerank;
mod resume;
mod retrieve;
mod runner;
mod score;
mod sink;
mod stores;
mod trec;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use pericope_api::{Document, Reranker, SentenceEncoder, TokenCounter};
use pericope_segment::Resources;
use pericope_segment::registry::SegmenterEntry;

use crate::answer::Models;
use crate::config::{Experiment, JudgeKind, RetrieverConfig};
use crate::data::{self, DataError, QuestionSet, Sampling, Selection};
use crate::record::{self, Item, JudgeIdentity, RunRecord, Summary};

pub use classify::{ClassifySetup, classify};
pub use estimate::{
    Estimate, LETTERS, ModelEstimate, UNLIMITED_CHUNK, estimate, estimate_contexts, estimate_segmenter, rerank_requests,
};
pub use estimate_vectors::{TextSize, estimate_embedder, estimate_segment_embedders, segments_by_endpoint};
pub use folder::RunFolder;
pub(crate) use resume::normalised_config;
pub use sink::ItemSink;
pub use stores::{Embedded, Stores};

use compare::{Compared, Plan, Scores};
use done::Shape;
use pairwise::Pairs;
use runner::Runner;

/// Why a run could not be finished.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The configuration asks for something that is not there.
    #[error("{0}")]
    Config(String),
    /// The question set cannot be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A chunker failed.
    #[error("chunker '{chunker}' failed on document '{document}': {problem}")]
    Chunker {
        /// Name of the chunker.
        chunker: String,
        /// Id of the document.
        document: String,
        /// What went wrong.
        problem: String,
    },
    /// The index failed.
    #[error("chunker '{chunker}': {source}")]
    Index {
        /// Name of the chunker.
        chunker: String,
        /// What the index said.
        source: pericope_store::StoreError,
    },
    /// The encoder failed.
    #[error(transparent)]
    Encoder(#[from] pericope_api::EncodeError),
    /// The judge gave impossible scores to answers whose score is known.
    #[error(
        "the judge cannot be trusted: {0}\nTo measure all the same, set `judge.checks = false`; to measure without a \
         judge, set `judge.kind = \"none\"`"
    )]
    Judge(String),
    /// Something that concerns every item that is left: a model that refuses the key, a spent budget. What is done is
    /// kept: `--resume` goes on.
    #[error("the run was stopped: {0}")]
    Stopped(String),
    /// A file of the run is not what the run wrote.
    #[error("{path}: {problem}; was something else writing there? `--resume` measures again what is missing")]
    Incomplete {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// The run's folder cannot be written, or another run writes there.
    #[error(transparent)]
    Folder(#[from] pericope_util::LockError),
    /// A file of the run cannot be written or read.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl RunError {
    fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| RunError::Io { path, source }
    }
}

/// What a run needs from its caller.
pub struct Setup<'a> {
    /// The segmenters that specs may name.
    pub segmenters: &'a [SegmenterEntry],
    /// Segmenters' encoder, token counter and limits.
    pub resources: &'a dyn Resources,
    /// Makes the stores that chunkers are measured in; [`Embedded`] makes folders.
    pub stores: &'a dyn Stores,
    /// The retrieval encoder; `None` where the configuration says `embedder = "none"`.
    pub encoder: Option<Arc<dyn SentenceEncoder>>,
    /// What counts tokens.
    pub counter: Arc<dyn TokenCounter>,
    /// The language models that answer and judge, where any do.
    pub models: Models,
    /// The rerankers that the experiment names ([`Experiment::rerankers`]), by their specs as it has them.
    pub rerankers: BTreeMap<String, Arc<dyn Reranker>>,
    /// SHA-256 of model files, by name; of other models and of rerankers what changes when their answers could.
    pub model_checksums: BTreeMap<String, String>,
    /// Whether an earlier run in the folder is taken up again.
    pub resume: bool,
    /// A folder for the rankings and the gold in TREC's formats; none writes none.
    pub trec: Option<PathBuf>,
}

impl Setup<'_> {
    /// What identifies the models and the parts that the caller brought.
    fn checksums(&self, experiment: &Experiment) -> BTreeMap<String, String> {
        let mut found = self.model_checksums.clone();
        let mut insert = |key: String, fingerprint: String| {
            if !fingerprint.is_empty() {
                found.insert(key, fingerprint);
            }
        };
        if let Some(judge) = self.models.judge.as_ref().filter(|_| experiment.judge.kind == JudgeKind::Custom) {
            insert(record::JUDGE.to_owned(), judge.fingerprint());
        }
        for retriever in experiment.all_retrievers().iter().filter(|retriever| retriever.is_custom()) {
            if let Some(finder) = self.models.finders.get(&retriever.name) {
                insert(format!("retriever {}", retriever.name), finder.fingerprint());
            }
        }
        found
    }
}

/// Is told how far a run is.
pub trait Observer: Sync {
    /// A stage of `total` steps begins.
    fn stage(&self, what: &str, total: usize);
    /// `n` steps of the stage are done.
    fn advance(&self, n: usize);
    /// What the stage is at.
    fn at(&self, _name: &str) {}
    /// Something worth reading that is no error.
    fn note(&self, text: &str);
}

/// Says nothing.
impl Observer for () {
    fn stage(&self, _: &str, _: usize) {}
    fn advance(&self, _: usize) {}
    fn note(&self, _: &str) {}
}

/// Runs `experiment` and writes everything but the report into `folder`; `sink` sees every item on its way into the file.
///
/// # Errors
/// [`RunError`]; what was finished before the error stays in the folder.
pub fn run(
    experiment: &Experiment,
    folder: &RunFolder,
    setup: &Setup<'_>,
    observer: &dyn Observer,
    sink: &mut dyn ItemSink,
) -> Result<(Summary, RunRecord), RunError> {
    let clock = Instant::now();
    let set = load(experiment, observer)?;
    measure(experiment, set, folder, setup, observer, sink, clock)
}

/// As [`run`], on questions and documents that [`load`] gave.
///
/// # Errors
/// As [`run`].
pub fn run_on(
    experiment: &Experiment,
    set: QuestionSet,
    folder: &RunFolder,
    setup: &Setup<'_>,
    observer: &dyn Observer,
    sink: &mut dyn ItemSink,
) -> Result<(Summary, RunRecord), RunError> {
    measure(experiment, set, folder, setup, observer, sink, Instant::now())
}

/// The documents and questions that an experiment asks for, sampled; what was left out is noted.
///
/// # Errors
/// [`RunError::Config`] where the path holds a variable that is not set, [`RunError::Data`] where nothing can be read.
pub fn load(experiment: &Experiment, observer: &dyn Observer) -> Result<QuestionSet, RunError> {
    let path = experiment.data_path().map_err(|e| RunError::Config(e.to_string()))?;
    let sampling = Sampling {
        documents: experiment.data.documents,
        questions: experiment.data.questions,
        seed: experiment.data.seed,
    };
    let selection = Selection { sources: experiment.data.sources.clone(), split: experiment.data.split.clone() };
    let read = data::select(experiment.data.kind, &path, &selection);
    let mut set = read.map_err(|error| with_variable(error, &experiment.data.path, &path))?.sample(sampling);
    if experiment.data.limit > 0 {
        set.questions.truncate(experiment.data.limit);
    }
    note_skipped(&set.skipped, observer);
    Ok(set)
}

/// Says what was left out of the data: the first reasons, and how many more there are.
fn note_skipped(skipped: &[String], observer: &dyn Observer) {
    const SHOWN: usize = 5;
    for reason in skipped.iter().take(SHOWN) {
        observer.note(&format!("left out: {reason}"));
    }
    if skipped.len() > SHOWN {
        observer.note(&format!("left out: {} more", skipped.len() - SHOWN));
    }
}

/// Says where a path that is not there comes from, where a variable may name another.
fn with_variable(error: DataError, written: &str, path: &Path) -> DataError {
    if !written.contains("${") || path.exists() {
        return error;
    }
    let problem = format!(
        "there is no such file or folder; it comes from data.path = \"{written}\", whose variable may name another"
    );
    DataError::Layout { path: path.to_owned(), problem }
}

fn measure(
    experiment: &Experiment,
    set: QuestionSet,
    folder: &RunFolder,
    setup: &Setup<'_>,
    observer: &dyn Observer,
    sink: &mut dyn ItemSink,
    clock: Instant,
) -> Result<(Summary, RunRecord), RunError> {
    let models = &setup.models;
    let brought = experiment.check_brought(models.judge.is_some(), |name| models.finders.contains_key(name));
    brought.map_err(RunError::Config)?;
    experiment.unused().iter().for_each(|note| observer.note(note));
    let decision = experiment.compare.decision(experiment).map_err(RunError::Config)?;
    if decision.metric.answer_rank().is_some() && set.questions.iter().all(|question| question.answer.is_empty()) {
        return Err(RunError::Config(format!(
            "compare.primary: metric = \"{}\" needs gold answers, and no question of {} has one; name a metric of retrieval",
            decision.metric, experiment.data.path
        )));
    }
    let mut record = resume::new_record(experiment, &set, setup);
    let corpus = Corpus::new(set);
    let mut runner = Runner::new(experiment, setup, &corpus)?;
    estimate::announce(experiment, &corpus, observer);
    if experiment.judge.checks {
        runner.check_judge()?;
    }

    let settings = runner.settings();
    let shape = Shape { settings: &settings, questions: &corpus.set.questions };
    let goes_on = setup.resume && folder.record().exists();
    let done = if goes_on { resume::open(folder, &mut record, &shape, observer)? } else { done::Done::default() };
    let before = record.seconds.unwrap_or(0.0);
    let retrievers = experiment.all_retrievers();
    // What an earlier run wrote stays until it is sure that this one can begin.
    let begin = || {
        let is_to_clear = !goes_on && folder.record().exists();
        for config in retrievers.iter().filter(|config| done.row(&config.name).is_none()) {
            runner.check_retriever(config, is_to_clear)?;
        }
        if !goes_on {
            resume::clear(folder)?;
        }
        lines::write_json(&folder.record(), &record)
    };
    let cuts = cut::all(experiment, &corpus, setup, &done, observer, begin)?;
    let mut rows = Vec::with_capacity(cuts.len());
    let mut cells = Vec::new();
    let unanswered = corpus.set.questions.iter().filter(|question| question.answer.is_empty());
    let mut scores = Scores::new(unanswered.map(|question| question.id.as_str()));
    // Where the file ends: what an earlier session left stands before.
    let mut end = done.bytes();
    let of_chunkers = experiment
        .chunkers
        .iter()
        .zip(cuts)
        .map(|(config, cut)| (config.name.as_str(), cut.map(|cut| Open::Chunker(Box::new(cut)))));
    let of_retrievers = retrievers.iter().map(|config| {
        let open = done.row(&config.name).is_none();
        (config.name.as_str(), open.then_some(Open::Retriever(config)))
    });
    for (name, open) in of_chunkers.chain(of_retrievers) {
        // What is kept of the items until all are there; their texts are in the file.
        let mut items: Vec<Item> = Vec::new();
        let row = match open {
            Some(open) => {
                let mut take = |of_mode: Vec<Item>| {
                    let lengths = lines::append(&folder.items(), &of_mode)?;
                    for (item, length) in of_mode.into_iter().zip(lengths) {
                        sink.take(&item, end);
                        items.push(item.without_texts());
                        end += length;
                    }
                    Ok(())
                };
                let row = match open {
                    Open::Chunker(cut) => runner.chunker(&cut, folder.path(), observer, &mut take)?,
                    Open::Retriever(config) => runner.retriever(config, observer, &mut take)?,
                };
                lines::append(&folder.chunkers(), std::slice::from_ref(&row))?;
                // What an interrupted session took is not lost.
                record.seconds = Some(before + clock.elapsed().as_secs_f64());
                lines::write_json(&folder.record(), &record)?;
                row
            }
            None => {
                done.each_item(name, |item, start| {
                    sink.take(&item, start);
                    items.push(item.without_texts());
                })?;
                let missing = || incomplete(folder, format!("chunker '{name}' has no results"));
                done.row(name).cloned().ok_or_else(missing)?
            }
        };
        let expected = settings.len() * corpus.set.questions.len();
        if items.len() != expected {
            let problem = format!("chunker '{name}' has {} of {expected} items", items.len());
            return Err(incomplete(folder, problem));
        }
        if !row.fingerprint.is_empty() {
            record.checksums.chunkers.insert(row.name.clone(), row.fingerprint.clone());
        }
        cells.extend(runner.cells(&row, &items));
        items.into_iter().for_each(|item| scores.add(item));
        rows.push(row);
    }
    let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    let plan = Plan { chunkers: &rows, settings: &settings, decision: &decision, seed: experiment.data.seed };
    let Compared { comparisons, verdict } = compare::all(&scores, &plan, &mut cells);
    let pairwise = match &setup.models.pairs {
        Some(judge) => {
            let pairs = Pairs {
                corpus: &corpus,
                settings: &settings,
                chunkers: &names,
                baseline: &decision.baseline,
                seed: experiment.data.seed,
            };
            pairs.judge(judge.as_ref(), folder, observer)?
        }
        None => Vec::new(),
    };
    let summary = Summary {
        name: experiment.name.clone(),
        questions: corpus.set.questions.len(),
        documents: corpus.documents.len(),
        failed: cells.iter().map(|cell| cell.failed).sum(),
        left_out: corpus.set.left_out(),
        chunkers: rows,
        cells,
        comparisons,
        verdict,
        budget_rule: Some(experiment.retrieval.budget_rule).filter(|_| !experiment.retrieval.token_budgets.is_empty()),
        judges: JudgeIdentity::of_run(&record.config, &record.checksums),
        pairwise,
        judges_agree: scores.agreement(),
    };
    let budget = setup.models.budget.as_ref();
    record.paid = budget.map(|budget| budget.spent()).filter(|&paid| paid > 0.0);
    record.paid_estimated = budget.map(|budget| budget.estimated()).filter(|&paid| paid > 0.0);
    record.finish(before + clock.elapsed().as_secs_f64());
    lines::write_json(&folder.record(), &record)?;
    // Nothing is called finished whose items are not there.
    let found = std::fs::metadata(folder.items()).map_err(RunError::io(&folder.items()))?.len();
    if found != end {
        return Err(incomplete(folder, format!("it has {found} bytes where the run wrote {end}")));
    }
    lines::write_json(&folder.summary(), &summary)?;
    Ok((summary, record))
}

/// What is not done yet.
enum Open<'a> {
    Chunker(Box<cut::Cut>),
    Retriever(&'a RetrieverConfig),
}

fn incomplete(folder: &RunFolder, problem: String) -> RunError {
    RunError::Incomplete { path: folder.items(), problem }
}

/// The corpus in the shape that the parts of a run share.
pub(crate) struct Corpus {
    pub(crate) documents: Arc<Vec<Document>>,
    /// The questions; its own `documents` are empty.
    pub(crate) set: QuestionSet,
}

impl Corpus {
    fn new(mut set: QuestionSet) -> Self {
        let documents = Arc::new(std::mem::take(&mut set.documents));
        Self { documents, set }
    }
}
