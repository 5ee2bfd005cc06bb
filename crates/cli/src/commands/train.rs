//! `pericope train`

use std::ops::ControlFlow;
use std::path::Path;

use pericope_eval::data::load;
use pericope_eval::segmentation::read::Segmented;
use pericope_neural::Base;
use pericope_neural::training::{Asked, Event, Labelled, Options, Part, TrainError, part_of, train_weswin};
use pericope_neural::weswin::{Checkpoint, QUESTION, Sentences, Settings, open};
use pericope_segment::language;
use serde::Serialize;

use crate::args::TrainWeswinArgs;
use crate::commands::{dataset::save, print_json, segment_eval::read_set};
use crate::resources::shown;
use crate::status::{Failure, Outcome, Status};
use crate::{input, progress};

/// What `--json` and `training.json` say.
#[derive(Serialize)]
struct Summary {
    model: String,
    documents: Documents,
    questions: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    validation_f1: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    best_step: Option<usize>,
    steps: usize,
    seconds: f64,
    settings: Settings,
    options: Options,
    validations: Vec<Validation>,
    losses: Vec<f32>,
}

#[derive(Serialize, Clone, Copy)]
struct Documents {
    train: usize,
    validation: usize,
    test: usize,
}

#[derive(Serialize)]
struct Validation {
    step: usize,
    f1: f64,
    tau: f64,
}

/// Most tokens of a sequence where none are asked for.
const TOKENS: usize = 512;

/// `pericope train weswin`
pub fn weswin(args: TrainWeswinArgs, quiet: bool) -> Outcome {
    let base = Base::open(&args.base).map_err(Failure::usage)?;
    let start = args.start.as_deref().map(open).transpose().map_err(Failure::usage)?;
    let options = options(&args, &base, start.as_ref());
    let mut problems = Vec::new();
    let (mut train, mut validation, mut documents) =
        (Vec::new(), Vec::new(), Documents { train: 0, validation: 0, test: 0 });
    for path in &args.data {
        let set = read_set(path, None, (0, 0), None)?;
        problems.extend(set.skipped);
        for one in &set.documents {
            let part = if args.no_holdout { Part::Train } else { part_of(&one.document.id) };
            match part {
                Part::Train => train.push(labelled(one, &base, options.tokens)),
                Part::Validation => validation.push(labelled(one, &base, options.tokens)),
                Part::Test => documents.test += 1,
            }
        }
    }
    (documents.train, documents.validation) = (train.len(), validation.len());
    if train.is_empty() {
        return Err(Failure::usage("no document is left to train on: give more data, or --no-holdout"));
    }
    let mut asked = Vec::new();
    for path in &args.questions {
        problems.extend(questions(path, args.no_holdout, &base, &mut asked)?);
    }
    let unreadable = input::report(&problems);
    let notes = format!(
        "pericope {}: {} documents of {} and {} questions",
        env!("CARGO_PKG_VERSION"),
        documents.train,
        args.data
            .iter()
            .filter_map(|path| path.file_name())
            .map(|name| name.to_string_lossy())
            .collect::<Vec<_>>()
            .join(", "),
        asked.len()
    );

    let mut watch = Watch::new(quiet);
    let data = (train.as_slice(), validation.as_slice(), asked.as_slice());
    let report = train_weswin(&base, start.as_ref(), data, &options, &args.out, &notes, &mut |event| watch.see(event));
    watch.bar.finish_and_clear();
    let report = report.map_err(|e| match e {
        TrainError::Options(_) => Failure::usage(e),
        _ => Failure::runtime(e),
    })?;
    let model = args.out.join("weswin.safetensors");
    let checkpoint = Checkpoint::read(&model).map_err(Failure::runtime)?;
    if args.half {
        checkpoint.write(&model, true).map_err(Failure::runtime)?;
    }
    let summary = Summary {
        model: shown(&model),
        documents,
        questions: asked.len(),
        validation_f1: report.best.map(|(f1, _)| f1),
        best_step: report.best.map(|(_, step)| step),
        steps: report.losses.len(),
        seconds: report.seconds,
        settings: checkpoint.settings,
        options,
        validations: watch.validations,
        losses: report.losses,
    };
    let text = serde_json::to_string_pretty(&summary).map_err(anyhow::Error::from)?;
    save(&args.out.join("training.json"), &format!("{text}\n"))?;
    if args.json {
        print_json(&summary)?;
    } else {
        let Settings { partition, weights, tau, .. } = &summary.settings;
        let best =
            report.best.map_or(String::new(), |(f1, step)| format!("validation F1 {:.1} (step {step}); ", 100.0 * f1));
        say!("{}: {best}read as {partition}, {weights}, tau {tau:.2}", summary.model);
        say!("Use it: pericope segment FILE --segmenter weswin:model={}", shown(&args.out));
    }
    Ok(if unreadable > 0 { Status::Incomplete } else { Status::Done })
}

fn options(args: &TrainWeswinArgs, base: &Base, start: Option<&Checkpoint>) -> Options {
    let tokens = args.tokens.or(start.map(|s| s.settings.tokens)).unwrap_or(TOKENS.min(base.config.max_tokens()));
    Options {
        tokens,
        partition: args.partition.clone(),
        frozen: args.frozen.min(base.config.num_hidden_layers),
        epochs: args.epochs,
        batch: args.batch,
        micro_batch: args.micro_batch,
        learning_rate: args.learning_rate,
        head_learning_rate: args.head_learning_rate,
        patience: args.patience,
        validations: args.validations,
        questions_every: args.questions_every,
        max_steps: args.max_steps,
        seed: args.seed,
        ..Options::default()
    }
}

/// A document as the trainer reads it: as the segmenter will, without code and tables.
pub(super) fn labelled(one: &Segmented, base: &Base, tokens: usize) -> Labelled {
    let Segmented { document, reference } = one;
    let read = language::sentences(document);
    let limit = tokens.saturating_sub(3);
    let ids: Vec<Vec<u32>> =
        read.iter().map(|&i| base.tokens.ids(&document.visible(document.sentences[i].span), limit)).collect();
    // A boundary behind what is not read belongs to the last sentence that is.
    let mut ends = vec![false; read.len()];
    for &after in reference.after() {
        if let Some(end) = read.partition_point(|&i| i < after).checked_sub(1).and_then(|at| ends.get_mut(at)) {
            *end = true;
        }
    }
    Labelled { id: document.id.clone(), sentences: Sentences::new(ids.iter().map(Vec::as_slice), limit), ends }
}

/// Adds a file's questions whose documents train; gives what was left out.
fn questions(path: &Path, all: bool, base: &Base, asked: &mut Vec<Asked>) -> Result<Vec<String>, Failure> {
    let set = load("squad", path).map_err(Failure::usage)?;
    for question in &set.questions {
        let Some(document) = set.documents.get(question.document) else { continue };
        if !all && part_of(&document.id) != Part::Train {
            continue;
        }
        let read = language::sentences(document);
        let ids: Vec<Vec<u32>> =
            read.iter().map(|&i| base.tokens.ids(&document.visible(document.sentences[i].span), usize::MAX)).collect();
        let relevant = read.iter().map(|&i| {
            let span = document.sentences[i].span;
            question.gold.iter().any(|gold| gold.start < span.end && span.start < gold.end)
        });
        asked.push(Asked {
            relevant: relevant.collect(),
            sentences: Sentences::new(ids.iter().map(Vec::as_slice), usize::MAX),
            question: base.tokens.ids(&question.text, QUESTION),
        });
    }
    Ok(set.skipped)
}

/// Shows a training on standard error.
struct Watch {
    bar: indicatif::ProgressBar,
    quiet: bool,
    f1: Option<f64>,
    validations: Vec<Validation>,
}

impl Watch {
    fn new(quiet: bool) -> Self {
        Self { bar: progress::bar(0, "training", quiet), quiet, f1: None, validations: Vec::new() }
    }

    fn see(&mut self, event: Event) -> ControlFlow<()> {
        match event {
            Event::Cached { done, of } => {
                self.bar.set_message("frozen layers");
                self.bar.set_length(of as u64);
                self.bar.set_position(done as u64);
            }
            Event::Resumed { step } => self.note(&format!("goes on after step {step}")),
            Event::Step { step, steps, loss, .. } => {
                self.bar.set_length(steps as u64);
                self.bar.set_position(step as u64);
                let f1 = self.f1.map_or(String::new(), |f1| format!("  F1 {:.1}", 100.0 * f1));
                self.bar.set_message(format!("loss {loss:.4}{f1}"));
            }
            Event::Validated { step, f1, tau, best } => {
                self.f1 = Some(f1);
                self.validations.push(Validation { step, f1, tau });
                let best = if best { ", the best so far" } else { "" };
                self.note(&format!("step {step}: validation F1 {:.1} at tau {tau:.2}{best}", 100.0 * f1));
            }
            Event::Stopped { step } => self.note(&format!("stopped after step {step}: no better F1 any more")),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn note(&self, text: &str) {
        if !self.quiet {
            self.bar.suspend(|| eprintln!("{text}"));
        }
    }
}
