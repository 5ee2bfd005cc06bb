//! One run of an experiment: cut, index, retrieve, answer, score, compare, write.
//!
//! A run is a folder: `run.json` (what was run), `items.jsonl` (one line a question, chunker, mode and setting),
//! `chunkers.jsonl` (a chunker's row once it is done), `summary.json`, and the report. Items are appended as soon as a
//! chunker's mode is finished, so an interrupted run can be taken up again. One run at a time writes into a folder
//! ([`RunFolder`]).

mod budget;
mod classify;
mod compare;
mod conclude;
mod contexts;
mod corpus;
mod cut;
mod done;
mod error;
mod estimate;
mod estimate_vectors;
mod expand;
mod folder;
mod foreign;
mod found;
mod gathered;
mod judge_checks;
mod lines;
mod model_estimate;
mod pairwise;
mod rerank;
mod resume;
mod retrieve;
mod runner;
mod score;
mod setup;
mod sink;
mod stores;
mod trec;

use std::time::Instant;

use crate::config::{Decision, Experiment};
use crate::data::QuestionSet;
use crate::record::{RunRecord, Summary};

pub use classify::{ClassifySetup, classify};
pub(crate) use corpus::Corpus;
pub use corpus::load;
pub use error::RunError;
pub use estimate::{Estimate, estimate, estimate_contexts, estimate_segmenter, rerank_requests};
pub use estimate_vectors::{TextSize, estimate_embedder, estimate_segment_embedders, segments_by_endpoint};
pub use folder::RunFolder;
pub use model_estimate::{BYTES_PER_TOKEN, ModelEstimate, UNLIMITED_CHUNK};
pub(crate) use resume::normalised_config;
pub use setup::{Observer, Setup};
pub use sink::ItemSink;
pub use stores::{Embedded, Stores};

use conclude::Whole;
use done::Shape;
use gathered::{Gathered, Open};
use runner::Runner;

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

fn measure(
    experiment: &Experiment,
    set: QuestionSet,
    folder: &RunFolder,
    setup: &Setup<'_>,
    observer: &dyn Observer,
    sink: &mut dyn ItemSink,
    clock: Instant,
) -> Result<(Summary, RunRecord), RunError> {
    let decision = decided(experiment, &set, setup, observer)?;
    let mut record = resume::new_record(experiment, &set, setup);
    let corpus = Corpus::new(set);
    let mut runner = Runner::new(experiment, setup, &corpus)?;
    // Caches cost nothing.
    if !setup.models.offline {
        estimate::announce(experiment, &corpus, observer);
    }
    if experiment.judge.checks {
        runner.check_judge()?;
    }

    let settings = runner.settings();
    let shape = Shape { settings: &settings, questions: &corpus.set.questions };
    let goes_on = setup.resume && folder.record().exists();
    let done = if goes_on { resume::open(folder, &mut record, &shape, observer)? } else { done::Done::default() };
    let before = record.seconds.unwrap_or(0.0);
    let seconds = || before + clock.elapsed().as_secs_f64();
    let retrievers = experiment.all_retrievers();
    if setup.trec.is_some() {
        let names = experiment.chunkers.iter().map(|chunker| chunker.name.as_str());
        let measured: Vec<&str> = names.filter(|name| done.row(name).is_some()).collect();
        let of_others: Vec<&str> = retrievers.iter().map(|retriever| retriever.name.as_str()).collect();
        trec::note_missing(&measured, &of_others, observer);
    }
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
    let of_chunkers = experiment
        .chunkers
        .iter()
        .zip(cuts)
        .map(|(config, cut)| (config.name.as_str(), cut.map(|cut| Open::Chunker(Box::new(cut)))));
    let of_retrievers = retrievers.iter().map(|config| {
        let open = done.row(&config.name).is_none();
        (config.name.as_str(), open.then_some(Open::Retriever(config)))
    });
    let mut gathered = Gathered::new(folder, sink, &corpus, settings.len(), &done);
    for (name, open) in of_chunkers.chain(of_retrievers) {
        let measured = match open {
            Some(open) => {
                let measured = gathered.measure(open, &mut runner, observer)?;
                // What an interrupted session took is not lost.
                record.seconds = Some(seconds());
                lines::write_json(&folder.record(), &record)?;
                measured
            }
            None => gathered.read(name, &done)?,
        };
        let (row, _) = &measured;
        if !row.fingerprint.is_empty() {
            record.checksums.chunkers.insert(row.name.clone(), row.fingerprint.clone());
        }
        gathered.add(name, measured, &runner)?;
    }
    let whole = Whole { experiment, setup, corpus: &corpus, folder, observer };
    whole.conclude((&settings, &decision), gathered, record, seconds)
}

/// What the run decides, once it is sure that what the run needs was brought and that the questions can tell.
fn decided(
    experiment: &Experiment,
    set: &QuestionSet,
    setup: &Setup<'_>,
    observer: &dyn Observer,
) -> Result<Decision, RunError> {
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
    Ok(decision)
}
