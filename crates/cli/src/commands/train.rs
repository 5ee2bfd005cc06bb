//! `pericope train`

use std::ops::ControlFlow;
use std::path::Path;

use pericope_eval::data::load;
use pericope_eval::segmentation::read::Segmented;
use pericope_neural::training::{
    Asked, Event, Labelled, Options, Part, Report, TrainError, part_of, train_nsp, train_weswin,
};
use pericope_neural::weswin::{Checkpoint, QUESTION, Sentences, open};
use pericope_neural::{Base, nsp};
use pericope_segment::language;
use serde::Serialize;

use crate::args::{TrainArgs, TrainNspArgs, TrainWeswinArgs};
use crate::commands::{dataset::save, print_json, segment_eval::read_set};
use crate::resources::shown;
use crate::status::{Failure, Outcome, Status};
use crate::{input, progress};

/// What `--json` and `training.json` say.
#[derive(Serialize)]
struct Summary<S> {
    model: String,
    documents: Counts,
    #[serde(skip_serializing_if = "Option::is_none")]
    questions: Option<usize>,
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
}

#[derive(Serialize, Clone, Copy)]
struct Counts {
    train: usize,
    validation: usize,
    test: usize,
}

#[derive(Serialize)]
struct Validation {
    step: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    f1: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy: Option<f64>,
    threshold: f64,
}

/// Most tokens of a sequence where none are asked for.
const TOKENS: usize = 512;

/// The documents of a training, by part.
struct Documents {
    train: Vec<Labelled>,
    validation: Vec<Labelled>,
    counts: Counts,
    problems: Vec<String>,
}

impl Documents {
    fn read(args: &TrainArgs, base: &Base, tokens: usize) -> Result<Self, Failure> {
        let (mut train, mut validation, mut test, mut problems) = (Vec::new(), Vec::new(), 0, Vec::new());
        for path in &args.data {
            let set = read_set(path, None, (0, 0), None)?;
            problems.extend(set.skipped);
            for one in &set.documents {
                let part = if args.no_holdout { Part::Train } else { part_of(&one.document.id) };
                match part {
                    Part::Train => train.push(labelled(one, base, tokens)),
                    Part::Validation => validation.push(labelled(one, base, tokens)),
                    Part::Test => test += 1,
                }
            }
        }
        if train.is_empty() {
            return Err(Failure::usage("no document is left to train on: give more data, or --no-holdout"));
        }
        let counts = Counts { train: train.len(), validation: validation.len(), test };
        Ok(Self { train, validation, counts, problems })
    }

    /// What the checkpoint says about its training.
    fn notes(&self, args: &TrainArgs, more: &str) -> String {
        let names = args.data.iter().filter_map(|path| path.file_name()).map(|name| name.to_string_lossy());
        let names = names.collect::<Vec<_>>().join(", ");
        format!("pericope {}: {} documents of {names}{more}", env!("CARGO_PKG_VERSION"), self.counts.train)
    }
}

/// `pericope train weswin`
pub fn weswin(args: TrainWeswinArgs, quiet: bool) -> Outcome {
    let common = &args.common;
    let base = Base::open(&common.base).map_err(Failure::usage)?;
    let start = common.start.as_deref().map(open).transpose().map_err(Failure::usage)?;
    let options = Options {
        partition: args.partition.clone(),
        questions_every: args.questions_every,
        ..options(common, &base, start.as_ref().map(|s| s.settings.tokens).unwrap_or(TOKENS), Options::default())
    };
    let mut documents = Documents::read(common, &base, options.tokens)?;
    let mut asked = Vec::new();
    for path in &args.questions {
        documents.problems.extend(questions(path, common.no_holdout, &base, &mut asked)?);
    }
    let notes = documents.notes(common, &format!(" and {} questions", asked.len()));
    let mut watch = Watch::new(quiet);
    let data = (documents.train.as_slice(), documents.validation.as_slice(), asked.as_slice());
    let report = train_weswin(&base, start.as_ref(), data, &options, &common.out, &notes, &mut |e| watch.see(e));
    let report = report.map_err(failure)?;
    let path = common.out.join("weswin.safetensors");
    let checkpoint = Checkpoint::read(&path).map_err(Failure::runtime)?;
    if common.half {
        checkpoint.write(&path, true).map_err(Failure::runtime)?;
    }
    let settings = checkpoint.settings;
    let use_it = format!("read as {}, {}, tau {:.2}", settings.partition, settings.weights, settings.tau);
    finish("weswin", common, documents, watch, Some(asked.len()), (options, report, settings), &use_it)
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
    questions: Option<usize>,
    (options, report, settings): (Options, Report, S),
    done: &str,
) -> Outcome {
    watch.bar.finish_and_clear();
    let unreadable = input::report(&documents.problems);
    let summary = Summary {
        model: shown(&args.out.join(format!("{name}.safetensors"))),
        documents: documents.counts,
        questions,
        validation_f1: report.best.map(|(f1, _)| f1),
        best_step: report.best.map(|(_, step)| step),
        steps: report.losses.len(),
        seconds: report.seconds,
        settings,
        options,
        validations: watch.validations,
        losses: report.losses,
    };
    let text = serde_json::to_string_pretty(&summary).map_err(anyhow::Error::from)?;
    save(&args.out.join("training.json"), &format!("{text}\n"))?;
    if args.json {
        print_json(&summary)?;
    } else {
        let best =
            report.best.map_or(String::new(), |(f1, step)| format!("validation {:.1} (step {step}); ", 100.0 * f1));
        say!("{}: {best}{done}", summary.model);
        say!("Use it: pericope segment FILE --segmenter {name}:model={}", shown(&args.out));
    }
    Ok(if unreadable > 0 { Status::Incomplete } else { Status::Done })
}

fn failure(error: TrainError) -> Failure {
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
                self.validations.push(Validation { step, f1: Some(f1), accuracy: None, threshold: tau });
                let best = if best { ", the best so far" } else { "" };
                self.note(&format!("step {step}: validation F1 {:.1} at tau {tau:.2}{best}", 100.0 * f1));
            }
            Event::ValidatedPairs { step, accuracy, f1, p, best } => {
                self.f1 = f1;
                self.validations.push(Validation { step, f1, accuracy: Some(accuracy), threshold: p });
                let best = if best { ", the best so far" } else { "" };
                let f1 = f1.map_or(String::new(), |f1| format!(", F1 {:.1} at p = {p}", 100.0 * f1));
                self.note(&format!("step {step}: pairs told apart {:.1} %{f1}{best}", 100.0 * accuracy));
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
