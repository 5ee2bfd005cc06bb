//! One run of an experiment: cut, index, retrieve, answer, score, compare, write.
//!
//! A run is a folder: `run.json` (what was run), `items.jsonl` (one line a question, chunker, mode and setting),
//! `chunkers.jsonl` (a chunker's row once it is done), `summary.json`, and the report. Items are appended as soon as a
//! chunker's mode is finished, so an interrupted run can be taken up again.

mod compare;
mod cut;
mod judge_checks;
mod resume;
mod retrieve;
mod score;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use pericope_api::{Document, SentenceEncoder, TokenCounter};
use pericope_segment::Resources;

use crate::answer::{Asked, Context, Extractive, ExtractiveOptions, Generated};
use crate::config::Experiment;
use crate::data::{self, DataError, QuestionSet, Sampling};
use crate::summary::{Cell, ChunkerRow, Item, Metrics, QueryTimes, RunRecord, Status, Summary};

use compare::Scores;
use cut::Cut;
use retrieve::Ranking;

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
        source: pericope_index::IndexError,
    },
    /// The encoder failed.
    #[error(transparent)]
    Encoder(#[from] pericope_api::EncodeError),
    /// The judge gave impossible scores to answers whose score is known.
    #[error("the judge cannot be trusted: {0}")]
    Judge(String),
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
    /// Segmenters' encoder, token counter and limits.
    pub resources: &'a dyn Resources,
    /// The retrieval encoder; `None` where the configuration says `embedder = "none"`.
    pub encoder: Option<Arc<dyn SentenceEncoder>>,
    /// What counts tokens.
    pub counter: Arc<dyn TokenCounter>,
    /// SHA-256 of model files, by name.
    pub model_checksums: BTreeMap<String, String>,
    /// Whether an earlier run in the folder is taken up again.
    pub resume: bool,
}

/// Is told how far a run is.
pub trait Observer: Sync {
    /// A stage of `total` steps begins.
    fn stage(&self, what: &str, total: usize);
    /// `n` steps of the stage are done.
    fn advance(&self, n: usize);
    /// Something worth reading that is no error.
    fn note(&self, text: &str);
}

/// One way of limiting what the reader gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Setting {
    /// The best `k` chunks.
    K(usize),
    /// The best chunks that fit so many tokens.
    Budget(usize),
}

impl Setting {
    fn k(self) -> Option<usize> {
        match self {
            Setting::K(k) => Some(k),
            Setting::Budget(_) => None,
        }
    }

    fn budget(self) -> Option<usize> {
        match self {
            Setting::K(_) => None,
            Setting::Budget(budget) => Some(budget),
        }
    }
}

/// Runs `experiment` and writes everything but the report into `out`.
///
/// # Errors
/// [`RunError`]; what was finished before the error stays in the folder.
pub fn run(
    experiment: &Experiment,
    out: &Path,
    setup: &Setup<'_>,
    observer: &dyn Observer,
) -> Result<(Summary, RunRecord), RunError> {
    let clock = Instant::now();
    let set = load(experiment, observer)?;
    measure(experiment, set, out, setup, observer, clock)
}

/// As [`run`], on questions and documents that [`load`] gave.
///
/// # Errors
/// As [`run`].
pub fn run_on(
    experiment: &Experiment,
    set: QuestionSet,
    out: &Path,
    setup: &Setup<'_>,
    observer: &dyn Observer,
) -> Result<(Summary, RunRecord), RunError> {
    measure(experiment, set, out, setup, observer, Instant::now())
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
    let set = data::load(&experiment.data.kind, &path)?.sample(sampling);
    for skipped in set.skipped.iter().take(5) {
        observer.note(&format!("left out: {skipped}"));
    }
    if set.skipped.len() > 5 {
        observer.note(&format!("left out: {} more", set.skipped.len() - 5));
    }
    Ok(set)
}

fn measure(
    experiment: &Experiment,
    set: QuestionSet,
    out: &Path,
    setup: &Setup<'_>,
    observer: &dyn Observer,
    clock: Instant,
) -> Result<(Summary, RunRecord), RunError> {
    experiment.unused().iter().for_each(|note| observer.note(note));
    let mut record = resume::new_record(experiment, &set, setup);
    let corpus = Corpus::new(set);
    let mut bench = Bench::new(experiment, setup, &corpus)?;
    if experiment.judge.kind != "none" && experiment.judge.checks {
        bench.check_judge()?;
    }

    fs::create_dir_all(out).map_err(RunError::io(out))?;
    let mut done = resume::open(out, &mut record, setup.resume, observer)?;
    let before = record.seconds.unwrap_or(0.0);
    resume::write_json(&out.join("run.json"), &record)?;
    done.keep_whole(&experiment.retrieval.modes, bench.settings.len() * corpus.set.questions.len());
    let cuts = cut::all(&experiment.chunkers, &corpus.documents, setup, &done, observer)?;
    let mut rows = Vec::with_capacity(cuts.len());
    let mut cells = Vec::new();
    let mut scores = Scores::default();
    let items_path = out.join("items.jsonl");
    for (config, cut) in experiment.chunkers.iter().zip(cuts) {
        let (row, items) = match cut {
            Some(cut) => {
                let (row, items) = bench.chunker(&cut, out, observer)?;
                resume::append(&items_path, &items)?;
                resume::append(&out.join("chunkers.jsonl"), std::slice::from_ref(&row))?;
                // What an interrupted sitting took is not lost.
                record.seconds = Some(before + clock.elapsed().as_secs_f64());
                resume::write_json(&out.join("run.json"), &record)?;
                (row, items)
            }
            None => match done.take(&config.name) {
                Some(finished) => finished,
                None => continue,
            },
        };
        cells.extend(bench.cells(&row, &items));
        for item in items {
            scores.add(item);
        }
        rows.push(row);
    }
    let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    let comparisons = compare::all(&scores, &names, &experiment.retrieval.modes, &bench.settings, experiment.data.seed);
    let summary = Summary {
        name: experiment.name.clone(),
        questions: corpus.set.questions.len(),
        documents: corpus.documents.len(),
        failed: cells.iter().map(|cell| cell.failed).sum(),
        chunkers: rows,
        cells,
        comparisons,
    };
    record.finish(before + clock.elapsed().as_secs_f64());
    resume::write_json(&out.join("run.json"), &record)?;
    resume::write_json(&out.join("summary.json"), &summary)?;
    Ok((summary, record))
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

/// What all chunkers are measured with.
struct Bench<'a> {
    experiment: &'a Experiment,
    setup: &'a Setup<'a>,
    corpus: &'a Corpus,
    settings: Vec<Setting>,
    reader: Option<Extractive>,
    asked: Vec<Asked>,
    vectors: Option<pericope_api::Embeddings>,
    scorer: score::Scorer<'a>,
}

impl<'a> Bench<'a> {
    fn new(experiment: &'a Experiment, setup: &'a Setup<'a>, corpus: &'a Corpus) -> Result<Self, RunError> {
        let retrieval = &experiment.retrieval;
        let mut settings: Vec<Setting> = retrieval.k.iter().map(|&k| Setting::K(k)).collect();
        settings.extend(retrieval.token_budgets.iter().map(|&b| Setting::Budget(b)));
        settings.sort_unstable();
        settings.dedup();
        let vectors = match &setup.encoder {
            Some(encoder) => {
                let texts: Vec<&str> = corpus.set.questions.iter().map(|q| q.text.as_str()).collect();
                Some(encoder.encode(&texts)?)
            }
            None => None,
        };
        let reader = (experiment.answer.generator == "extractive")
            .then(|| Extractive::new(corpus.documents.clone(), setup.encoder.clone(), ExtractiveOptions::default()));
        let asked = match &reader {
            Some(reader) => (corpus.set.questions.iter().enumerate())
                .map(|(i, q)| reader.ask(&q.text, vectors.as_ref().map(|v| v.row(i).to_vec())))
                .collect(),
            None => Vec::new(),
        };
        let scorer = score::Scorer::new(corpus, experiment.judge.kind == "lexical");
        Ok(Self { experiment, setup, corpus, settings, reader, asked, vectors, scorer })
    }

    /// Asks the judge what it must know; without answers there is nothing to judge.
    fn check_judge(&mut self) -> Result<(), RunError> {
        match &mut self.reader {
            Some(reader) => judge_checks::run(self.corpus, &self.scorer, reader),
            None => Ok(()),
        }
    }

    /// Indexes one chunker's chunks and measures every mode and setting.
    fn chunker(&mut self, cut: &Cut, out: &Path, observer: &dyn Observer) -> Result<(ChunkerRow, Vec<Item>), RunError> {
        let depth = self.depth();
        let (rankings, built) = retrieve::all(
            cut,
            self.corpus,
            self.setup,
            &self.experiment.retrieval,
            self.vectors.as_ref(),
            depth,
            out,
            observer,
        )?;
        let mut row = cut.row(&built);
        for ranking in &rankings {
            let times = QueryTimes { p50_ms: ranking.percentile_ms(0.5), p95_ms: ranking.percentile_ms(0.95) };
            row.query_times.insert(ranking.mode.clone(), times);
        }
        let mut items = Vec::new();
        for ranking in &rankings {
            items.extend(self.mode(cut, ranking, observer)?);
        }
        Ok((row, items))
    }

    /// How deep a ranking must be: for a budget, a good many small chunks.
    fn depth(&self) -> usize {
        let k = self.settings.iter().filter_map(|s| s.k()).max().unwrap_or(0);
        let budget = self.settings.iter().filter_map(|s| s.budget()).max().unwrap_or(0);
        k.max((budget / 8).min(200))
    }

    fn mode(&mut self, cut: &Cut, ranking: &Ranking, observer: &dyn Observer) -> Result<Vec<Item>, RunError> {
        let questions = &self.corpus.set.questions;
        observer.stage(&format!("{}: {} answers", cut.name, ranking.mode), questions.len() * self.settings.len());
        let picked: Vec<Vec<Vec<usize>>> = self
            .settings
            .iter()
            .map(|setting| ranking.hits.iter().map(|hits| retrieve::pick(hits, cut, *setting)).collect())
            .collect();
        let contexts = |s: usize, q: usize| -> Vec<Context> {
            picked[s][q]
                .iter()
                .map(|&at| {
                    let hit = &ranking.hits[q][at];
                    Context { document: hit.document, span: cut.chunk(hit).span }
                })
                .collect()
        };
        let mut items = Vec::with_capacity(questions.len() * self.settings.len());
        if let Some(reader) = &mut self.reader {
            let widest: Vec<Context> = (0..questions.len())
                .flat_map(|q| (0..picked.len()).flat_map(move |s| [(s, q)]))
                .flat_map(|(s, q)| contexts(s, q))
                .collect();
            reader.warm(widest.iter())?;
            let gold: Vec<Context> = questions
                .iter()
                .flat_map(|q| q.gold.iter().map(|&span| Context { document: q.document, span }))
                .collect();
            reader.warm(gold.iter())?;
        }
        for (s, setting) in self.settings.iter().enumerate() {
            let given: Vec<Vec<Context>> = (0..questions.len()).map(|q| contexts(s, q)).collect();
            let answers: Vec<Option<Generated>> = match &self.reader {
                Some(reader) => {
                    let pairs: Vec<(&Asked, &[Context])> =
                        self.asked.iter().zip(&given).map(|(a, c)| (a, c.as_slice())).collect();
                    reader.answer_all(&pairs).into_iter().map(Some).collect()
                }
                None => vec![None; questions.len()],
            };
            for (q, answer) in answers.into_iter().enumerate() {
                let hits: Vec<_> = picked[s][q].iter().map(|&at| &ranking.hits[q][at]).collect();
                items.push(self.scorer.item(q, cut, &ranking.mode, *setting, &hits, answer, self.reader.as_ref()));
            }
            observer.advance(questions.len());
        }
        Ok(items)
    }

    /// Means by mode and setting; failed items are counted, and are no part of a mean.
    fn cells(&self, row: &ChunkerRow, items: &[Item]) -> Vec<Cell> {
        let mut cells = Vec::new();
        for mode in &self.experiment.retrieval.modes {
            for setting in &self.settings {
                let here: Vec<&Item> = items
                    .iter()
                    .filter(|i| i.mode == *mode && i.k == setting.k() && i.token_budget == setting.budget())
                    .collect();
                cells.push(cell(row, mode, *setting, &here));
            }
        }
        cells
    }
}

fn cell(row: &ChunkerRow, mode: &str, setting: Setting, items: &[&Item]) -> Cell {
    let done: Vec<&&Item> = items.iter().filter(|i| i.status == Status::Ok).collect();
    let mut sums: BTreeMap<&str, (f64, usize)> = BTreeMap::new();
    for item in &done {
        for (name, value) in &item.metrics {
            let entry = sums.entry(name).or_default();
            entry.0 += value;
            entry.1 += 1;
        }
    }
    let metrics: Metrics = sums.into_iter().map(|(name, (sum, n))| (name.to_owned(), sum / n as f64)).collect();
    let tokens: usize = done.iter().map(|i| i.context_tokens).sum();
    Cell {
        chunker: row.name.clone(),
        mode: mode.to_owned(),
        k: setting.k(),
        token_budget: setting.budget(),
        context_tokens: if done.is_empty() { 0.0 } else { tokens as f64 / done.len() as f64 },
        failed: items.len() - done.len(),
        metrics,
        query_p50_ms: row.query_times.get(mode).and_then(|t| t.p50_ms),
        query_p95_ms: row.query_times.get(mode).and_then(|t| t.p95_ms),
    }
}

/// Writes one JSON value a line.
fn write_lines<T: serde::Serialize>(out: &mut impl Write, values: &[T]) -> std::io::Result<()> {
    for value in values {
        serde_json::to_writer(&mut *out, value)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
