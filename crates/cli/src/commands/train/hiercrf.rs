//! `pericope train hiercrf`

use clap::{Args, ValueEnum};
use pericope_learn::corpus::{Headings, Record, SequenceDocument};
use pericope_learn::hiercrf::{CHECKPOINT, Checkpoint, Cut, Reads, Sizes, open};
use pericope_learn::training::{HierCrfOptions, Metric, TreeData, TreeDocument, Ways, train_hiercrf};

use super::over_vectors::{OverVectorsArgs, check_vectors, watched};
use super::report::{Done, notes};
use super::shared::CourseArgs;
use crate::status::{Failure, Outcome, Status};

pub const TRAIN_HIERCRF_EXAMPLES: &str = "Examples:
  pericope train embed --data data/train --out vectors
  pericope train hiercrf --data data/train --vectors vectors --out models/tree
  pericope train hiercrf --data data/train --vectors vectors --held-out data/heldout --by source --metric window-diff --out models/tree
  pericope train hiercrf --data wikisection.jsonl --vectors vectors --start models/tree --learning-rate 5e-5 --out models/tuned
  pericope segment README.md --segmenter hiercrf:model=models/tree,level=2

A model that reads rows knows the words, the paragraphs and the form of sentences beside their vectors (--reads). Headings are left
out of half of its examples, chosen anew in every epoch, and are sentences in the others, which half of them know as headings. Of a part
with known paragraphs these are hidden (--hidden-paragraphs). For vectors alone, headings are left out of half of the documents and are
sentences in the others. Each epoch has as many synthetic documents as real ones: parts of several documents under one root
(--synthetic). For rows, a document that is longer than --window gives a part for each window. The threshold of boundary probabilities
and the level of the tree are chosen on the validation documents, for --metric; for rows by the mean over these without headings, with
them, and with neither headings nor paragraphs known. So is the share that the head of gaps has in the probabilities. Stopped at any moment, the same command goes on from the state
in --out, which is saved once a minute: at most the last 60 seconds are lost.";

/// `pericope train hiercrf`
#[derive(Debug, Args)]
pub struct TrainHiercrfArgs {
    #[command(flatten)]
    pub common: OverVectorsArgs,
    /// What the model reads of each sentence [default: rows, or what that of --start reads]
    #[arg(long, value_name = "WHAT", value_enum)]
    pub reads: Option<Read>,
    /// Numbers that what is read of a sentence is projected to; 0: none [default: 256 for rows, 0 for vectors, or those of --start]
    #[arg(long, value_name = "N")]
    pub projection: Option<usize>,
    /// Units of the layer that reads both sides of a gap; 0: none [default: 128 for rows, 0 for vectors, or those of --start]
    #[arg(long, value_name = "N")]
    pub head: Option<usize>,
    /// Units of each direction of a layer of the LSTM [default: 240, or those of --start]
    #[arg(long, value_name = "N")]
    pub hidden: Option<usize>,
    /// Numbers of a boundary vector for the structure of the tree [default: 500, as published, or those of --start]
    #[arg(long, value_name = "N")]
    pub structure: Option<usize>,
    /// Numbers of a boundary vector for the labels of spans [default: 800, as published, or those of --start]
    #[arg(long, value_name = "N")]
    pub labels: Option<usize>,
    /// Sentences that are learned from and parsed together, at most
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub window: usize,
    /// Sentences below which a section is left out of the documents that are learned from; 0 keeps all
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub least: usize,
    /// Synthetic documents for each real one; 0 trains on real ones alone
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    pub synthetic: f64,
    /// Passes over the documents
    #[arg(long, value_name = "X", default_value_t = 4.0)]
    pub epochs: f64,
    /// Documents of a step; published is 100, for half a million documents
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub batch: usize,
    /// Sentences whose gradients are worked out together; bounds memory
    #[arg(long, value_name = "N", default_value_t = 3200)]
    pub micro_batch: usize,
    /// Learning rate at the beginning
    #[arg(long, value_name = "X", default_value_t = 2e-4)]
    pub learning_rate: f64,
    /// Steps in which the learning rate falls to three quarters
    #[arg(long, value_name = "N", default_value_t = 50_000)]
    pub decay_steps: usize,
    /// Share of units that are left out at random, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.33)]
    pub dropout: f64,
    /// Share of the examples with known paragraphs that do not know them, 0 to 1; for rows
    #[arg(long, value_name = "SHARE", default_value_t = 0.5)]
    pub hidden_paragraphs: f64,
    /// Weight of the loss of single boundaries beside that of trees; 0: none [default: 1 where there is a layer for gaps, else 0]
    #[arg(long, value_name = "X")]
    pub boundary_loss: Option<f64>,
    /// What weights, threshold and level are chosen by: f1, window-diff or pk
    #[arg(long, value_name = "METRIC", default_value = "f1")]
    pub metric: Metric,
    #[command(flatten)]
    pub course: CourseArgs,
}

/// What is read of each sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Read {
    /// Its vector, numbers of its text, and of the gap behind it: words, paragraphs and cosines on both sides
    Rows,
    /// Its vector alone, as published
    Vectors,
}

impl From<Read> for Reads {
    fn from(read: Read) -> Self {
        match read {
            Read::Rows => Self::Rows,
            Read::Vectors => Self::Vectors,
        }
    }
}

/// Runs the command.
pub fn run(args: &TrainHiercrfArgs, quiet: bool) -> Outcome {
    let common = &args.common;
    let vectors = common.vectors()?;
    let start = common.start.as_deref().map(open).transpose().map_err(Failure::usage)?;
    let options = options(args, start.as_ref(), vectors.dimension());
    let mut corpus = common.corpus()?;
    let read = |records: &[Record], least: usize| -> Result<[Vec<TreeDocument>; 2], Failure> {
        let trees = |headings: &dyn Fn(&Record) -> Headings| -> Vec<TreeDocument> {
            let tree = |record: &Record| TreeDocument::new(&SequenceDocument::new(record, headings(record)), least);
            records.iter().map(tree).collect()
        };
        let ways = match options.reads {
            Reads::Rows => [trees(&|_| Headings::Dropped), trees(&|_| Headings::Kept)],
            Reads::Vectors => [trees(&|record| Headings::chosen(args.course.seed, &record.id)), Vec::new()],
        };
        let texts = ways.iter().flatten().flat_map(|tree| tree.sentences.iter().map(String::as_str));
        check_vectors(&vectors, texts)?;
        Ok(ways)
    };
    let train = read(&std::mem::take(&mut corpus.train), args.least)?;
    let validation = read(&std::mem::take(&mut corpus.validation), 0)?;
    let notes = notes(&common.data, train[0].len(), "");
    let [train, validation] = [&train, &validation]
        .map(|[plain, with_headings]| Ways { plain: plain.as_slice(), with_headings: with_headings.as_slice() });
    let data = TreeData { train, validation, vectors: &vectors };
    let report =
        watched(&corpus, quiet, |tell| train_hiercrf(start.as_ref(), &data, &options, &common.out, &notes, tell));
    let Some(report) = report? else { return Ok(Status::Interrupted) };
    let settings = Checkpoint::read(&common.out.join(CHECKPOINT)).map_err(Failure::runtime)?.settings;
    let how = match settings.cut {
        Cut::Scores => format!("boundaries above tau {:.2}", settings.threshold),
        Cut::Level => format!("level {} of the tree", settings.level),
    };
    let (name, out, unreadable) = ("hiercrf", common.out.as_path(), corpus.skipped.count);
    Done { name, out, split: corpus.report, questions: None, unreadable, report, settings, options }
        .tell(args.course.json, &how)
}

fn options(args: &TrainHiercrfArgs, start: Option<&Checkpoint>, dimension: usize) -> HierCrfOptions {
    let reads = args.reads.map(Reads::from);
    let reads = reads.unwrap_or_else(|| start.map_or(Reads::Rows, |start| start.settings.reads));
    let sizes = start.map_or_else(|| Sizes { input: dimension, ..Sizes::usual(reads) }, |start| start.settings.sizes);
    let head = args.head.unwrap_or(sizes.head);
    HierCrfOptions {
        reads,
        sizes: Sizes {
            projection: args.projection.unwrap_or(sizes.projection),
            head,
            hidden: args.hidden.unwrap_or(sizes.hidden),
            structure: args.structure.unwrap_or(sizes.structure),
            labels: args.labels.unwrap_or(sizes.labels),
            ..sizes
        },
        window: args.window,
        synthetic: args.synthetic,
        least: args.least,
        epochs: args.epochs,
        batch: args.batch,
        micro_batch: args.micro_batch,
        learning_rate: args.learning_rate,
        decay_steps: args.decay_steps,
        dropout: args.dropout,
        hidden_paragraphs: args.hidden_paragraphs,
        boundary_loss: args.boundary_loss.unwrap_or(if head > 0 { 1.0 } else { 0.0 }),
        metric: args.metric,
        validations: args.course.validations,
        patience: args.course.patience,
        max_steps: args.course.max_steps,
        seed: args.course.seed,
        ..HierCrfOptions::default()
    }
}
