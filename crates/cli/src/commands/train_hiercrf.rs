//! `pericope train hiercrf`

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use clap::Args;
use pericope_learn::corpus::{Headings, Record, SentenceVectors, SequenceDocument, SplitReport, load};
use pericope_learn::hiercrf::{Checkpoint, Cut, Settings, Sizes, open};
use pericope_learn::training::{
    HierCrfOptions, Metric, TrainError, TrainReport, TreeData, TreeDocument, Validation, train_hiercrf,
};
use serde::Serialize;

use super::train::{Watch, failure};
use super::train_data::Counts;
use crate::commands::dataset::{SplitArgs, corpus_failure, save, shown_report};
use crate::commands::print_json;
use crate::resources::shown;
use crate::status::{Failure, Outcome, Status};
use crate::{input, interrupt, places};

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
    /// Documents with known boundaries: files, or folders with files *.jsonl and *.jsonl.gz at any depth; may be given
    /// several times
    #[arg(long, required = true, num_args = 1.., value_name = "PATH", value_parser = places::path())]
    pub data: Vec<PathBuf>,
    /// Folder of the sentences' vectors, made by `pericope train embed`
    #[arg(long, value_name = "DIR", value_parser = places::path())]
    pub vectors: PathBuf,
    /// Folder of the model and of the state that an interrupted training goes on from
    #[arg(long, value_name = "DIR", value_parser = places::path())]
    pub out: PathBuf,
    /// Go on from a trained model: a checkpoint's file or folder; --out must be another folder
    #[arg(long, value_name = "MODEL", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub start: Option<String>,
    /// Train on all documents, those that are otherwise kept for validation and test too, but for those of --held-out
    #[arg(long)]
    pub no_holdout: bool,
    #[command(flatten)]
    pub split: SplitArgs,
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

/// What `--json` and `training.json` say.
#[derive(Serialize)]
struct Summary {
    model: String,
    documents: Counts,
    split: SplitReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    validation_f1: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    best_step: Option<usize>,
    steps: usize,
    seconds: f64,
    settings: Settings,
    options: HierCrfOptions,
    validations: Vec<Validation>,
    losses: Vec<f32>,
}

/// Runs the command.
pub fn run(args: &TrainHiercrfArgs, quiet: bool) -> Outcome {
    let vectors = SentenceVectors::open(&args.vectors).map_err(corpus_failure)?;
    let start = args.start.as_deref().map(open).transpose().map_err(Failure::usage)?;
    let options = options(args, start.as_ref(), vectors.dimension());
    let corpus =
        load(&args.data, &args.split.held_out, &args.split.options(args.no_holdout)).map_err(corpus_failure)?;
    input::report_skipped(&corpus.skipped);
    let documents = |records: &[Record], least: usize| -> Result<Vec<TreeDocument>, Failure> {
        let trees = records.iter().map(|record| {
            let headings = Headings::chosen(args.seed, &record.id);
            TreeDocument::new(&SequenceDocument::new(record, headings), least)
        });
        let trees: Vec<TreeDocument> = trees.collect();
        let mut texts = trees.iter().flat_map(|tree| tree.sentences.iter().map(String::as_str));
        match texts.find(|text| !vectors.contains(text)) {
            // It says which text it is, and how to embed it.
            Some(text) => vectors.rows([text]).map(|_| trees).map_err(corpus_failure),
            None => Ok(trees),
        }
    };
    let (train, validation) = (documents(&corpus.train, args.least)?, documents(&corpus.validation, 0)?);
    let (split, unreadable) = (corpus.report, corpus.skipped.count);
    let counts =
        Counts { train: split.train.documents, validation: split.validation.documents, test: split.test.documents };
    drop((corpus.train, corpus.validation, corpus.test));
    let names = args.data.iter().filter_map(|path| path.file_name()).map(|name| name.to_string_lossy());
    let names = names.collect::<Vec<_>>().join(", ");
    let notes = format!("pericope {}: {} documents of {names}", env!("CARGO_PKG_VERSION"), train.len());

    let mut watch = Watch::new(quiet);
    watch.note(&shown_report(&split));
    let interrupted = interrupt::flag()?;
    let data = TreeData { train: &train, validation: &validation, vectors: &vectors };
    let report = train_hiercrf(start.as_ref(), &data, &options, &args.out, &notes, &mut |event| {
        let told = watch.see(event);
        if interrupted.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { told }
    });
    watch.finish();
    let report = match report {
        Err(error @ TrainError::Interrupted { .. }) => {
            tell!("{error}");
            return Ok(Status::Interrupted);
        }
        report => report.map_err(failure)?,
    };
    let model = args.out.join("hiercrf.safetensors");
    let settings = Checkpoint::read(&model).map_err(Failure::runtime)?.settings;
    finish(args, (counts, split), (options, report, settings))?;
    Ok(if unreadable > 0 { Status::Incomplete } else { Status::Done })
}

/// Writes `training.json`, and says what came out and how it is used.
fn finish(
    args: &TrainHiercrfArgs,
    (documents, split): (Counts, SplitReport),
    (options, report, settings): (HierCrfOptions, TrainReport, Settings),
) -> Result<(), Failure> {
    let summary = Summary {
        model: shown(&args.out.join("hiercrf.safetensors")),
        documents,
        split,
        validation_f1: report.validations.iter().rev().find(|one| one.best).and_then(|one| one.f1),
        best_step: report.best.map(|(_, step)| step),
        steps: report.losses.len(),
        seconds: report.seconds,
        settings,
        options,
        validations: report.validations,
        losses: report.losses,
    };
    let text = serde_json::to_string_pretty(&summary).map_err(anyhow::Error::from)?;
    save(&args.out.join("training.json"), &format!("{text}\n"))?;
    if args.json {
        print_json(&summary)?;
        return Ok(());
    }
    let best = match (summary.validation_f1, summary.best_step) {
        (Some(f1), Some(step)) => format!("validation F1 {:.1} (step {step}); ", 100.0 * f1),
        _ => String::new(),
    };
    let cut = match summary.settings.cut {
        Cut::Scores => format!("boundaries above tau {:.2}", summary.settings.threshold),
        Cut::Level => format!("level {} of the tree", summary.settings.level),
    };
    say!("{}: {best}{cut}", summary.model);
    say!("Use it: pericope segment FILE --segmenter hiercrf:model={}", shown(&args.out));
    Ok(())
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
