//! `pericope train hiercrf`

use clap::Args;
use pericope_learn::corpus::{Headings, Record, SequenceDocument};
use pericope_learn::hiercrf::{Checkpoint, Cut, Sizes, open};
use pericope_learn::training::{HierCrfOptions, Metric, TreeData, TreeDocument, train_hiercrf};

use super::train_over_vectors::{OverVectorsArgs, check_vectors, watched};
use super::train_report::{Done, notes};
use crate::status::{Failure, Outcome, Status};

pub const TRAIN_HIERCRF_EXAMPLES: &str = "Examples:
  pericope train embed --data data/train --out vectors
  pericope train hiercrf --data data/train --vectors vectors --out models/tree
  pericope train hiercrf --data data/train --vectors vectors --held-out data/heldout --by source --metric window-diff --out models/tree
  pericope train hiercrf --data wikisection.jsonl --vectors vectors --start models/tree --learning-rate 5e-5 --out models/tuned
  pericope segment README.md --segmenter hiercrf:model=models/tree,level=2

Headings are left out of half of the documents and are sentences in the others. Each epoch has as many synthetic documents as
real ones: parts of several documents under one root (--synthetic). The threshold of boundary probabilities and the level of
the tree are chosen on the validation documents, for --metric. Stopped at any moment, the same command goes on from the state
in --out, which is saved once a minute: at most the last 60 seconds are lost.";

/// `pericope train hiercrf`
#[derive(Debug, Args)]
pub struct TrainHiercrfArgs {
    #[command(flatten)]
    pub common: OverVectorsArgs,
    /// Units of each direction of a layer of the LSTM [default: 240, or those of --start]
    #[arg(long, value_name = "N")]
    pub hidden: Option<usize>,
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
    /// What weights, threshold and level are chosen by: f1, window-diff or pk
    #[arg(long, value_name = "METRIC", default_value = "f1")]
    pub metric: Metric,
    /// Validations an epoch
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub validations: usize,
    /// End after so many validations without a better result
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub patience: usize,
    /// Steps at most; 0: as many as the epochs have
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub max_steps: usize,
    /// Seed of weights, order, parts and synthetic documents
    #[arg(long, value_name = "N", default_value_t = 7)]
    pub seed: u64,
    /// One JSON document on standard output
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
pub fn run(args: &TrainHiercrfArgs, quiet: bool) -> Outcome {
    let common = &args.common;
    let vectors = common.vectors()?;
    let start = common.start.as_deref().map(open).transpose().map_err(Failure::usage)?;
    let options = options(args, start.as_ref(), vectors.dimension());
    let mut corpus = common.corpus()?;
    let trees = |records: Vec<Record>, least: usize| -> Result<Vec<TreeDocument>, Failure> {
        let trees = records.iter().map(|record| {
            let headings = Headings::chosen(args.seed, &record.id);
            TreeDocument::new(&SequenceDocument::new(record, headings), least)
        });
        let trees: Vec<TreeDocument> = trees.collect();
        check_vectors(&vectors, trees.iter().flat_map(|tree| tree.sentences.iter().map(String::as_str)))?;
        Ok(trees)
    };
    let train = trees(std::mem::take(&mut corpus.train), args.least)?;
    let validation = trees(std::mem::take(&mut corpus.validation), 0)?;
    let notes = notes(&common.data, train.len(), "");
    let data = TreeData { train: &train, validation: &validation, vectors: &vectors };
    let report =
        watched(&corpus, quiet, |tell| train_hiercrf(start.as_ref(), &data, &options, &common.out, &notes, tell));
    let Some(report) = report? else { return Ok(Status::Interrupted) };
    let settings = Checkpoint::read(&common.out.join("hiercrf.safetensors")).map_err(Failure::runtime)?.settings;
    let how = match settings.cut {
        Cut::Scores => format!("boundaries above tau {:.2}", settings.threshold),
        Cut::Level => format!("level {} of the tree", settings.level),
    };
    let (name, out, unreadable) = ("hiercrf", common.out.as_path(), corpus.skipped.count);
    Done { name, out, split: corpus.report, questions: None, unreadable, report, settings, options }
        .tell(args.json, &how)
}

fn options(args: &TrainHiercrfArgs, start: Option<&Checkpoint>, dimension: usize) -> HierCrfOptions {
    let sizes = start.map_or_else(|| Sizes { input: dimension, ..Sizes::default() }, |start| start.settings.sizes);
    HierCrfOptions {
        sizes: Sizes { hidden: args.hidden.unwrap_or(sizes.hidden), ..sizes },
        window: args.window,
        synthetic: args.synthetic,
        least: args.least,
        epochs: args.epochs,
        batch: args.batch,
        micro_batch: args.micro_batch,
        learning_rate: args.learning_rate,
        decay_steps: args.decay_steps,
        dropout: args.dropout,
        metric: args.metric,
        validations: args.validations,
        patience: args.patience,
        max_steps: args.max_steps,
        seed: args.seed,
        ..HierCrfOptions::default()
    }
}
