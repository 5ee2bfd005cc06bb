//! `pericope train`

use std::ops::ControlFlow;
use std::path::Path;

use pericope_encode::Base;
use pericope_learn::corpus::SplitReport;
use pericope_learn::nsp;
use pericope_learn::training::{Data, Event, Options, TrainError, TrainReport, Validation, train_nsp, train_weswin};
use pericope_learn::weswin::{Checkpoint, open};
use serde::Serialize;

use super::train_data::{Counts, Documents, Questions};
use crate::args::{TrainArgs, TrainNspArgs, TrainWeswinArgs};
use crate::commands::dataset::{save, shown_report};
use crate::commands::print_json;
use crate::resources::shown;
use crate::status::{Failure, Outcome, Status};
use crate::{input, progress};

/// What `--json` and `training.json` say.
#[derive(Serialize)]
struct Summary<S> {
    model: String,
    documents: Counts,
    split: SplitReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    questions: Option<Counts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    validation_f1: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    best_step: Option<usize>,
    steps: usize,
    seconds: f64,
    settings: S,
    options: Options,
    validations: Vec<Validation>,
    losses: Vec<f32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    question_losses: Vec<f32>,
}

/// Most tokens of a sequence where none are asked for.
const TOKENS: usize = 512;

/// `pericope train weswin`
pub fn weswin(args: TrainWeswinArgs, quiet: bool) -> Outcome {
    let common = &args.common;
    let base = Base::open(&common.base).map_err(Failure::usage)?;
    let start = common.start.as_deref().map(open).transpose().map_err(Failure::usage)?;
    let options = Options {
        partition: args.partition.clone(),
        questions_every: args.questions_every,
        questions_apart: args.questions_apart,
        ..options(common, &base, start.as_ref().map(|s| s.settings.tokens).unwrap_or(TOKENS), Options::default())
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
    let notes = documents.notes(common, &format!(" and {} questions", asked.train.len()));
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
    finish("weswin", common, documents, watch, Some(counts), (options, report, settings), &use_it)
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
    let options = options(common, &base, defaults.tokens, defaults);
    let documents = Documents::read(common, &base, options.tokens)?;
    let notes = documents.notes(common, "");
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
    finish("nsp", common, documents, watch, None, (options, report, checkpoint.settings), "trained")
}

/// Writes `training.json`, and says what came out and how it is used.
fn finish<S: Serialize>(
    name: &str,
    args: &TrainArgs,
    documents: Documents,
    watch: Watch,
    questions: Option<Counts>,
    (options, report, settings): (Options, TrainReport, S),
    done: &str,
) -> Outcome {
    watch.bar.finish_and_clear();
    let summary = Summary {
        model: shown(&args.out.join(format!("{name}.safetensors"))),
        documents: documents.counts(),
        split: documents.split,
        questions,
        validation_f1: report.best.map(|(f1, _)| f1),
        best_step: report.best.map(|(_, step)| step),
        steps: report.losses.len(),
        seconds: report.seconds,
        settings,
        options,
        validations: report.validations,
        losses: report.losses,
        question_losses: report.question_losses,
    };
    let text = serde_json::to_string_pretty(&summary).map_err(anyhow::Error::from)?;
    save(&args.out.join("training.json"), &format!("{text}\n"))?;
    if args.json {
        print_json(&summary)?;
    } else {
        let best =
            report.best.map_or(String::new(), |(f1, step)| format!("validation {:.1} (step {step}); ", 100.0 * f1));
        let at_best = summary.validations.iter().rev().find(|one| one.best).and_then(|one| one.questions);
        let found = at_best.map_or(String::new(), |ranking| {
            format!("answers first {:.1} %, MRR {:.3}; ", 100.0 * ranking.hit_at_1, ranking.mrr)
        });
        say!("{}: {best}{found}{done}", summary.model);
        say!("Use it: pericope segment FILE --segmenter {name}:model={}", shown(&args.out));
    }
    Ok(if documents.unreadable > 0 { Status::Incomplete } else { Status::Done })
}

pub(super) fn failure(error: TrainError) -> Failure {
    match error {
        TrainError::Options(_) => Failure::usage(error),
        _ => Failure::runtime(error),
    }
}

/// What the flags say, over `defaults`; `tokens` where they do not say how many.
fn options(args: &TrainArgs, base: &Base, tokens: usize, defaults: Options) -> Options {
    Options {
        tokens: args.tokens.unwrap_or(tokens.min(base.config.max_tokens())),
        frozen: args.frozen.min(base.config.num_hidden_layers),
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
            Event::Stopped { step } => self.note(&format!("stopped after step {step}: no better F1 any more")),
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
    let Validation { step, f1, threshold, accuracy, questions, best } = found;
    let mut said = Vec::new();
    said.extend(accuracy.map(|share| format!("pairs told apart {:.1} %", 100.0 * share)));
    let name = if accuracy.is_some() { "p =" } else { "tau" };
    said.extend(f1.map(|f1| format!("validation F1 {:.1} at {name} {threshold:.2}", 100.0 * f1)));
    said.extend(questions.map(|found| {
        let share = 100.0 * found.hit_at_1;
        format!("{} questions: first sentence answers {share:.1} %, MRR {:.3}", found.questions, found.mrr)
    }));
    said.extend(best.then(|| "the best so far".to_owned()));
    format!("step {step}: {}", said.join(", "))
}
