//! A run of an experiment on classification: cut, encode, train, classify, compare, write.

mod train;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use pericope_api::{Chunk, ClassifierTrainer, Document, Embeddings, SentenceEncoder, TokenCounter};
use pericope_segment::Resources;
use pericope_segment::registry::SegmenterEntry;
use pericope_segment::split::Split;
use rayon::prelude::*;

use super::compare::{self, Plan, Scores};
use super::corpus::note_skipped;
use super::cut::{self, Cut};
use super::found::Built;
use super::{Observer, RunError, RunFolder, lines, resume};
use crate::classification::{
    ClassRow, ClassSet, ClassificationExperiment, ClassificationSummary, ClassifiedItem, ClassifiedRow, load,
};
use crate::config::{Decision, ExperimentKind};
use crate::metric::Metric;
use crate::record::{Cell, Checksums, Gold, Item, RunRecord};
use train::{Trained, trained};

/// Texts that are encoded together.
const TOGETHER: usize = 512;

/// Reasons for which documents were left out that a summary lists.
const LISTED: usize = 100;

/// What a run on classification needs from its caller.
pub struct ClassifySetup<'a> {
    /// The segmenters that specs may name.
    pub segmenters: &'a [SegmenterEntry],
    /// Segmenters' encoder, token counter and limits.
    pub resources: &'a dyn Resources,
    /// What makes the vectors. One that remembers what it read encodes a segment once, however many chunkers cut it.
    pub encoder: Arc<dyn SentenceEncoder>,
    /// What counts tokens.
    pub counter: Arc<dyn TokenCounter>,
    /// What trains the classifiers.
    pub trainer: &'a dyn ClassifierTrainer,
    /// SHA-256 of model files, by name.
    pub model_checksums: BTreeMap<String, String>,
}

/// Runs an experiment on classification and writes everything but the report into `folder`: `run.json`, `items.jsonl` (a line a
/// chunker, training and test document), and `summary.json`.
///
/// # Errors
/// [`RunError`].
pub fn classify(
    experiment: &ClassificationExperiment,
    folder: &RunFolder,
    setup: &ClassifySetup<'_>,
    observer: &dyn Observer,
) -> Result<(ClassificationSummary, RunRecord), RunError> {
    let clock = Instant::now();
    let path = experiment.data_path().map_err(|e| RunError::Config(e.to_string()))?;
    let decision = experiment.decision().map_err(RunError::Config)?;
    let set = load(&experiment.data, &path)?;
    note_skipped(&set.skipped, observer);
    let mut record = new_record(experiment, &set, setup);
    let named: Vec<_> = experiment.chunkers.iter().map(|one| (one.name.as_str(), &one.spec)).collect();
    let resources = (setup.segmenters, setup.resources);
    let window = (experiment.max_tokens, setup.encoder.as_ref());
    let cuts = cut::plain(&named, &set.documents, resources, window, observer)?;
    // What an earlier run wrote stays until every chunker was built and has cut.
    resume::clear(folder)?;
    lines::write_json(&folder.record(), &record)?;
    let (mut rows, mut cells, mut scores) = (Vec::new(), Vec::new(), Scores::new([]));
    for cut in &cuts {
        let (vectors, built) = encoded(cut, &set.documents, setup, observer)?;
        let trained = trained(cut, &set, &vectors, &experiment.classifier.seeds, setup.trainer, observer)?;
        lines::append(&folder.items(), &trained.items)?;
        let row = row(cut, &set, &built, &trained);
        trained.items.iter().for_each(|item| scores.add(scored(item, &decision)));
        cells.push(cell(&row, &decision));
        if !row.chunker.fingerprint.is_empty() {
            record.checksums.chunkers.insert(row.chunker.name.clone(), row.chunker.fingerprint.clone());
        }
        rows.push(row);
    }
    let chunkers: Vec<_> = rows.iter().map(|row| row.chunker.clone()).collect();
    let settings = [decision.setting.clone()];
    let plan = Plan { chunkers: &chunkers, settings: &settings, decision: &decision, seed: experiment.data.seed };
    let compared = compare::all(&scores, &plan, &mut cells);
    for (row, cell) in rows.iter_mut().zip(&cells) {
        row.accuracy = cell.metrics.get(&Metric::ACCURACY).copied().unwrap_or(0.0);
        row.interval = cell.intervals.get(&Metric::ACCURACY).copied();
    }
    let summary = ClassificationSummary {
        kind: ExperimentKind::Classification,
        name: experiment.name.clone(),
        documents: set.documents.len(),
        classes: classes(&set),
        seeds: experiment.classifier.seeds.clone(),
        failed: rows.iter().map(|row| row.failed).sum(),
        failed_training: rows.iter().map(|row| row.failed_training).sum(),
        left_out: set.skipped.len(),
        unusable: set.unusable(),
        skipped: set.skipped.into_iter().take(LISTED).collect(),
        chunkers: rows,
        comparisons: compared.comparisons,
        verdict: compared.verdict,
        published: experiment.published.clone(),
    };
    record.finish(clock.elapsed().as_secs_f64());
    lines::write_json(&folder.record(), &record)?;
    lines::write_json(&folder.summary(), &summary)?;
    Ok((summary, record))
}

fn new_record(experiment: &ClassificationExperiment, set: &ClassSet, setup: &ClassifySetup<'_>) -> RunRecord {
    let mut seeds = BTreeMap::from([("data".to_owned(), experiment.data.seed)]);
    seeds.extend((1..).zip(&experiment.classifier.seeds).map(|(at, seed)| (format!("training {at}"), *seed)));
    RunRecord {
        name: experiment.name.clone(),
        config: serde_json::to_value(experiment).unwrap_or_default(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        checksums: Checksums {
            data: set.checksums.iter().cloned().collect(),
            models: setup.model_checksums.clone(),
            ..Checksums::default()
        },
        tokenizer: setup.counter.name().to_owned(),
        seeds,
        started: pericope_util::now_rfc3339(),
        machine: resume::machine(),
        ..RunRecord::default()
    }
}

/// The vectors of every document's segments, and what they took.
fn encoded(
    cut: &Cut,
    documents: &[Document],
    setup: &ClassifySetup<'_>,
    observer: &dyn Observer,
) -> Result<(Vec<Embeddings>, Built), RunError> {
    let start = Instant::now();
    let of = |(document, chunks): (&Document, &Vec<Chunk>)| -> Vec<String> {
        chunks.iter().map(|chunk| document.visible(chunk.span).into_owned()).collect()
    };
    let texts: Vec<String> = documents.iter().zip(cut.chunks.iter()).flat_map(of).collect();
    observer.stage(&format!("{}: encoding", cut.name), texts.len());
    let encoder = setup.encoder.as_ref();
    let most = encoder.max_tokens();
    let mut all = Embeddings::new(encoder.dimension(), Vec::new());
    for some in texts.chunks(TOGETHER) {
        let some: Vec<&str> = some.iter().map(String::as_str).collect();
        all.append(&encoder.encode(&some)?.finite(encoder.name())?);
        observer.advance(some.len());
    }
    let cut_off = |text: &String| encoder.count_tokens(text).is_some_and(|tokens| tokens > most);
    let truncated = texts.par_iter().filter(|text| cut_off(text)).count() as u64;
    let mut rows = all.rows();
    let vectors = cut.chunks.iter().map(|chunks| {
        let own: Vec<f32> = rows.by_ref().take(chunks.len()).flatten().copied().collect();
        Embeddings::new(encoder.dimension(), own)
    });
    let vectors = vectors.collect();
    Ok((vectors, Built { seconds: start.elapsed().as_secs_f64(), bytes: None, truncated }))
}

/// What a chunker's row says but for its accuracy, which needs the scores of all.
fn row(cut: &Cut, set: &ClassSet, built: &Built, trained: &Trained) -> ClassifiedRow {
    let failed: Vec<usize> = (0..set.documents.len()).filter(|&at| cut.failed(at).is_some()).collect();
    let documents = (set.documents.len() - failed.len()).max(1) as f64;
    let segments: usize = cut.chunks.iter().map(Vec::len).sum();
    let tokens: usize = cut.chunks.iter().flatten().map(|chunk| chunk.tokens).sum();
    let held: Vec<f64> = trained.runs.iter().filter_map(|run| run.validation_accuracy).collect();
    let tested = failed.iter().filter(|at| set.splits.get(**at) == Some(&Split::Test)).count();
    ClassifiedRow {
        chunker: cut.row(built),
        segments_per_document: segments as f64 / documents,
        tokens_per_document: tokens as f64 / documents,
        failed: tested,
        failed_training: failed.len() - tested,
        accuracy: 0.0,
        interval: None,
        validation_accuracy: (!held.is_empty()).then(|| held.iter().sum::<f64>() / held.len() as f64),
        train_seconds: trained.seconds,
        runs: trained.runs.clone(),
    }
}

/// A line as the comparison takes it: each training of a document is a question, whose unit is the document.
fn scored(item: &ClassifiedItem, decision: &Decision) -> Item {
    let right = item.given.as_ref().map(|given| if *given == item.label { 1.0 } else { 0.0 });
    Item {
        question_id: format!("{} {}", item.seed, item.document),
        chunker: item.chunker.clone(),
        mode: decision.setting.mode.clone(),
        cutoff: decision.setting.cutoff,
        gold: Gold { document: item.document.clone(), ..Gold::default() },
        metrics: right.map(|right| (Metric::ACCURACY, right)).into_iter().collect(),
        status: item.status,
        ..Item::default()
    }
}

fn cell(row: &ClassifiedRow, decision: &Decision) -> Cell {
    Cell {
        chunker: row.chunker.name.clone(),
        mode: decision.setting.mode.clone(),
        cutoff: decision.setting.cutoff,
        context_tokens: row.tokens_per_document,
        failed: row.failed,
        ..Cell::default()
    }
}

fn classes(set: &ClassSet) -> Vec<ClassRow> {
    let row = |(class, label): (usize, &String)| ClassRow {
        label: label.clone(),
        train: set.count(Some(class), Split::Train),
        validation: set.count(Some(class), Split::Validation),
        test: set.count(Some(class), Split::Test),
    };
    set.labels.iter().enumerate().map(row).collect()
}
