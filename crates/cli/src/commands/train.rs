//! `pericope train`

use std::ops::ControlFlow;
use std::path::Path;

use pericope_encode::Base;
use pericope_learn::nsp;
use pericope_learn::training::{Data, Event, Options, Validation, train_nsp, train_weswin};
use pericope_learn::weswin::{Checkpoint, open};

use super::train_data::{Counts, Documents, Questions};
use super::train_report::{Done, failure, notes, shown_judged};
use crate::args::{TrainArgs, TrainNspArgs, TrainWeswinArgs};
use crate::commands::dataset::shown_report;
use crate::status::{Failure, Outcome};
use crate::{input, progress};

/// Most tokens of a sequence where none are asked for.
const TOKENS: usize = 512;

/// `pericope train weswin`
pub fn weswin(args: TrainWeswinArgs, quiet: bool) -> Outcome {
    let common = &args.common;
    let base = Base::open(&common.base).map_err(Failure::usage)?;
    let start = common.start.as_deref().map(open).transpose().map_err(Failure::usage)?;
    let began = start.as_ref().map_or((TOKENS, 0), |start| (start.settings.tokens, start.low_rank().rank()));
    let options = Options {
        partition: args.partition.clone(),
        questions_every: args.questions_every,
        questions_apart: args.questions_apart,
        ..options(common, &base, began, Options::default())
    };
    let mut documents = Documents::read(common, &base, options.tokens)?;
    let mut asked = Questions::default();
    let shares = common.split.options(common.no_holdout).shares;
    for path in &args.questions {
        documents.unreadable += input::report(&asked.read(path, &shares, &base)?);
    }
    if !args.questions.is_empty() && asked.train.is_empty() {
        return Err(Failure::usage("no question is left to train on: give more, or --no-holdout"));
    }
    let notes = notes(&common.data, documents.train.len(), &format!(" and {} questions", asked.train.len()));
    let mut watch = Watch::new(quiet);
    watch.note(&shown_report(&documents.split));
    let data = Data {
        train: &documents.train,
        validation: &documents.validation,
        questions: &asked.train,
        validation_questions: &asked.validation,
    };
    let report = train_weswin(&base, start.as_ref(), data, &options, &common.out, &notes, &mut |e| watch.see(e));
    let report = report.map_err(failure)?;
    let path = common.out.join("weswin.safetensors");
    let checkpoint = Checkpoint::read(&path).map_err(Failure::runtime)?;
    if common.half {
        checkpoint.write(&path, true).map_err(Failure::runtime)?;
    }
    let settings = checkpoint.settings;
    let use_it = format!("read as {}, {}, tau {:.2}", settings.partition, settings.weights, settings.threshold);
    let counts = Counts { train: asked.train.len(), validation: asked.validation.len(), test: asked.test };
    let Documents { split, unreadable, .. } = documents;
    watch.finish();
    let (name, out, questions) = ("weswin", common.out.as_path(), Some(counts));
    Done { name, out, split, questions, unreadable, report, settings, options }.tell(common.json, &use_it)
}

/// `pericope train nsp`
pub fn nsp(args: TrainNspArgs, quiet: bool) -> Outcome {
    let common = &args.common;
    let base = Base::open(&common.base).map_err(Failure::usage)?;
    let start = common.start.as_deref().map(|name| {
        let path = Path::new(name);
        let file = if path.is_dir() { path.join(nsp::CHECKPOINT) } else { path.to_owned() };
        nsp::Checkpoint::read(&file).map_err(Failure::usage)
    });
    let start = start.transpose()?;
    let defaults = Options::nsp();
    let rank = start.as_ref().map_or(0, |start| start.low_rank().rank());
    let options = options(common, &base, (defaults.tokens, rank), defaults);
    let documents = Documents::read(common, &base, options.tokens)?;
    let notes = notes(&common.data, documents.train.len(), "");
    let mut watch = Watch::new(quiet);
    watch.note(&shown_report(&documents.split));
    let data = (documents.train.as_slice(), documents.validation.as_slice());
    let report = train_nsp(&base, start.as_ref(), data, &options, &common.out, &notes, &mut |e| watch.see(e));
    let report = report.map_err(failure)?;
    let path = common.out.join(nsp::CHECKPOINT);
    let checkpoint = nsp::Checkpoint::read(&path).map_err(Failure::runtime)?;
    if common.half {
        checkpoint.write(&path, true).map_err(Failure::runtime)?;
    }
    let Documents { split, unreadable, .. } = documents;
    watch.finish();
    let (name, out, settings) = ("nsp", common.out.as_path(), checkpoint.settings);
    Done { name, out, split, questions: None, unreadable, report, settings, options }.tell(common.json, "trained")
}

/// What the flags say, over `defaults`; `tokens` and `rank` where they do not say how many.
fn options(args: &TrainArgs, base: &Base, (tokens, rank): (usize, usize), defaults: Options) -> Options {
    Options {
        tokens: args.tokens.unwrap_or(tokens.min(base.config.max_tokens())),
        frozen: args.frozen.min(base.config.num_hidden_layers),
        rank: args.rank.unwrap_or(rank),
        epochs: args.epochs.unwrap_or(defaults.epochs),
        batch: args.batch.unwrap_or(defaults.batch),
        micro_batch: args.micro_batch.unwrap_or(defaults.micro_batch),
        learning_rate: args.learning_rate.unwrap_or(defaults.learning_rate),
        head_learning_rate: args.head_learning_rate,
        patience: args.patience,
        validations: args.validations.unwrap_or(defaults.validations),
        max_steps: args.max_steps,
        seed: args.seed,
        ..defaults
    }
}

/// Shows a training on standard error.
pub(super) struct Watch {
    bar: indicatif::ProgressBar,
    quiet: bool,
    f1: Option<f64>,
}

impl Watch {
    pub(super) fn new(quiet: bool) -> Self {
        Self { bar: progress::bar(0, "training", quiet), quiet, f1: None }
    }

    pub(super) fn see(&mut self, event: Event) -> ControlFlow<()> {
        match event {
            Event::Warning { text } => self.note(&format!("warning: {text}")),
            Event::Cached { done, of } => {
                self.bar.set_message("frozen layers");
                self.bar.set_length(of as u64);
                self.bar.set_position(done as u64);
            }
            Event::Resumed { step } => self.note(&format!("goes on after step {step}")),
            Event::Step { step, steps, loss, question_loss, .. } => {
                self.bar.set_length(steps as u64);
                self.bar.set_position(step as u64);
                let questions = question_loss.map_or(String::new(), |loss| format!("  questions {loss:.4}"));
                let f1 = self.f1.map_or(String::new(), |f1| format!("  F1 {:.1}", 100.0 * f1));
                self.bar.set_message(format!("loss {loss:.4}{questions}{f1}"));
            }
            Event::Validated(found) => {
                self.f1 = found.f1;
                self.note(&shown_validation(&found));
            }
            Event::Relabelled { epoch, up, down, relevant } => self.note(&format!(
                "after pass {epoch}: {up} blocks became relevant, {down} irrelevant; {relevant} are relevant now"
            )),
            Event::Weighed { before, after } => self.note(&format!(
                "weights of words, lengths and bias: F1 {:.1} -> {:.1}, the number of sections unknown, each source alike",
                100.0 * before,
                100.0 * after
            )),
            Event::Stopped { step } => self.note(&format!("stopped after step {step}: no better result any more")),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    pub(super) fn note(&self, text: &str) {
        if !self.quiet {
            self.bar.suspend(|| tell!("{text}"));
        }
    }
}

fn shown_validation(found: &Validation) -> String {
    let Validation { step, f1, threshold, accuracy, questions, judged, best } = found;
    let mut said = Vec::new();
    said.extend(accuracy.map(|share| format!("pairs told apart {:.1} %", 100.0 * share)));
    let name = if accuracy.is_some() { "p =" } else { "tau" };
    said.extend(f1.map(|f1| format!("validation F1 {:.1} at {name} {threshold:.2}", 100.0 * f1)));
    said.extend(questions.map(|found| {
        let share = 100.0 * found.hit_at_1;
        format!("{} questions: first sentence answers {share:.1} %, MRR {:.3}", found.questions, found.mrr)
    }));
    said.extend(judged.as_ref().map(shown_judged));
    said.extend(best.then(|| "the best so far".to_owned()));
    format!("step {step}: {}", said.join(", "))
}
