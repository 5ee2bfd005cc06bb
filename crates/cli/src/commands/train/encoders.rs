//! `pericope train weswin` and `pericope train nsp`: trainings of the encoder itself.

use std::path::Path;

use pericope_encode::Base;
use pericope_learn::nsp;
use pericope_learn::training::{Data, Options, train_nsp, train_weswin};
use pericope_learn::weswin::{CHECKPOINT, Checkpoint, open};

use super::args::{TrainNspArgs, TrainWeswinArgs};
use super::data::{Asked, Counts, Documents, Questions};
use super::report::{Done, failure, notes};
use super::shared::TrainArgs;
use super::watch::Watch;
use crate::commands::dataset::shown_report;
use crate::input;
use crate::status::{Failure, Outcome};

/// Most tokens of a sequence where none are asked for.
const TOKENS: usize = 512;

/// `pericope train weswin`
pub fn weswin(args: TrainWeswinArgs, quiet: bool) -> Outcome {
    let common = &args.common;
    let base = Base::open(&common.encoder.base).map_err(Failure::usage)?;
    let start = common.start.as_deref().map(open).transpose().map_err(Failure::usage)?;
    let began = start.as_ref().map_or((TOKENS, 0), |start| (start.settings.tokens, start.low_rank().rank()));
    let options = Options {
        partition: args.partition.clone(),
        questions_every: args.questions_every,
        questions_apart: args.questions_apart,
        ..options(common, &base, began, Options::default())
    };
    let files = Asked::read(&args.questions, &common.holdout)?;
    let (mut documents, parts) = Documents::read(common, &base, options.tokens, &files.documents)?;
    let mut asked = Questions::default();
    for (set, parts) in files.parted(&parts) {
        documents.unreadable += input::report(&set.skipped);
        asked.add(set, parts, &base);
    }
    if asked.train.is_empty() && !args.questions.is_empty() {
        return Err(Failure::usage("no question is left to train on: give more, or --no-holdout"));
    }
    drop(files);
    let notes = notes(&common.data, documents.train.len(), &format!(" and {} questions", asked.train.len()));
    let mut watch = Watch::new(quiet);
    watch.note(&shown_report(&documents.split));
    let data = Data {
        train: &documents.train,
        validation: &documents.validation,
        questions: &asked.train,
        validation_questions: &asked.validation,
    };
    let report =
        train_weswin(&base, start.as_ref(), data, &options, &common.encoder.out, &notes, &mut |e| watch.see(e));
    let report = report.map_err(failure)?;
    let path = common.encoder.out.join(CHECKPOINT);
    let checkpoint = Checkpoint::read(&path).map_err(Failure::runtime)?;
    if common.end.half {
        checkpoint.write(&path, true).map_err(Failure::runtime)?;
    }
    let settings = checkpoint.settings;
    let use_it = format!("read as {}, {}, tau {:.2}", settings.partition, settings.weights, settings.threshold);
    let counts = Counts { train: asked.train.len(), validation: asked.validation.len(), test: asked.test };
    let Documents { split, unreadable, .. } = documents;
    watch.finish();
    let (name, out, questions) = ("weswin", common.encoder.out.as_path(), Some(counts));
    Done { name, out, split, questions, unreadable, report, settings, options }.tell(common.end.json, &use_it)
}

/// `pericope train nsp`
pub fn nsp(args: TrainNspArgs, quiet: bool) -> Outcome {
    let common = &args.common;
    let base = Base::open(&common.encoder.base).map_err(Failure::usage)?;
    let start = common.start.as_deref().map(|name| {
        let path = Path::new(name);
        let file = if path.is_dir() { path.join(nsp::CHECKPOINT) } else { path.to_owned() };
        nsp::Checkpoint::read(&file).map_err(Failure::usage)
    });
    let start = start.transpose()?;
    let defaults = Options::nsp();
    let rank = start.as_ref().map_or(0, |start| start.low_rank().rank());
    let options = options(common, &base, (defaults.tokens, rank), defaults);
    let (documents, _) = Documents::read(common, &base, options.tokens, &[])?;
    let notes = notes(&common.data, documents.train.len(), "");
    let mut watch = Watch::new(quiet);
    watch.note(&shown_report(&documents.split));
    let data = (documents.train.as_slice(), documents.validation.as_slice());
    let report = train_nsp(&base, start.as_ref(), data, &options, &common.encoder.out, &notes, &mut |e| watch.see(e));
    let report = report.map_err(failure)?;
    let path = common.encoder.out.join(nsp::CHECKPOINT);
    let checkpoint = nsp::Checkpoint::read(&path).map_err(Failure::runtime)?;
    if common.end.half {
        checkpoint.write(&path, true).map_err(Failure::runtime)?;
    }
    let Documents { split, unreadable, .. } = documents;
    watch.finish();
    let (name, out, settings) = ("nsp", common.encoder.out.as_path(), checkpoint.settings);
    Done { name, out, split, questions: None, unreadable, report, settings, options }.tell(common.end.json, "trained")
}

/// What the flags say, over `defaults`; `tokens` and `rank` where they do not say how many.
fn options(args: &TrainArgs, base: &Base, (tokens, rank): (usize, usize), defaults: Options) -> Options {
    Options {
        tokens: args.tokens.unwrap_or(tokens.min(base.config.max_tokens())),
        frozen: args.layers.frozen.min(base.config.num_hidden_layers),
        rank: args.layers.rank.unwrap_or(rank),
        epochs: args.epochs.unwrap_or(defaults.epochs),
        batch: args.batch.unwrap_or(defaults.batch),
        micro_batch: args.micro_batch.unwrap_or(defaults.micro_batch),
        learning_rate: args.learning_rate.unwrap_or(defaults.learning_rate),
        head_learning_rate: args.head_learning_rate,
        patience: args.patience,
        validations: args.validations.unwrap_or(defaults.validations),
        max_steps: args.end.max_steps,
        seed: args.end.seed,
        ..defaults
    }
}
