//! A training as it is shown on standard error.

use std::ops::ControlFlow;

use pericope_learn::training::{Event, Validation};

use super::report::shown_judged;
use crate::progress;

/// Shows a training on standard error.
pub struct Watch {
    bar: indicatif::ProgressBar,
    quiet: bool,
    f1: Option<f64>,
}

impl Watch {
    pub fn new(quiet: bool) -> Self {
        Self { bar: progress::bar(0, "training", quiet), quiet, f1: None }
    }

    pub fn see(&mut self, event: Event) -> ControlFlow<()> {
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

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    pub fn note(&self, text: &str) {
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
