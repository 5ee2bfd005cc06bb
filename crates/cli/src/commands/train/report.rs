//! What the trainings of `pericope train` say when they are done, in `training.json` and on the terminal.

use std::path::{Path, PathBuf};

use pericope_learn::corpus::SplitReport;
use pericope_learn::training::{Judged, TrainError, TrainReport, Validation};
use serde::Serialize;

use super::data::Counts;
use crate::commands::dataset::save;
use crate::commands::print_json;
use crate::resources::shown;
use crate::status::{Failure, Outcome, Status};

/// What `--json` and `training.json` say.
#[derive(Serialize)]
struct Summary<'a, S, O> {
    model: String,
    documents: Counts,
    split: &'a SplitReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    questions: Option<Counts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    validation_f1: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    best_step: Option<usize>,
    steps: usize,
    seconds: f64,
    settings: &'a S,
    options: &'a O,
    validations: &'a [Validation],
    losses: &'a [f32],
    #[serde(skip_serializing_if = "<[f32]>::is_empty")]
    question_losses: &'a [f32],
}

/// A training that is done: the settings of what it made, its options, and what it read.
pub(super) struct Done<'a, S, O> {
    /// The name of the segmenter.
    pub(super) name: &'a str,
    /// The folder of the model.
    pub(super) out: &'a Path,
    pub(super) split: SplitReport,
    pub(super) questions: Option<Counts>,
    /// How much of the data could not be read.
    pub(super) unreadable: usize,
    pub(super) report: TrainReport,
    pub(super) settings: S,
    pub(super) options: O,
}

impl<S: Serialize, O: Serialize> Done<'_, S, O> {
    /// Writes `training.json`, and says what came out and how it is used: as one JSON document where `json`. `how` is how the model is
    /// read where nothing else is asked for.
    pub(super) fn tell(&self, json: bool, how: &str) -> Outcome {
        let Self { name, out, split, questions, report, settings, options, .. } = self;
        let best = report.validations.iter().rev().find(|one| one.best);
        let summary = Summary {
            model: shown(&out.join(format!("{name}.safetensors"))),
            documents: Counts::of(split),
            split,
            questions: *questions,
            validation_f1: best.and_then(|one| one.f1),
            best_step: report.best.map(|(_, step)| step),
            steps: report.losses.len(),
            seconds: report.seconds,
            settings,
            options,
            validations: &report.validations,
            losses: &report.losses,
            question_losses: &report.question_losses,
        };
        let text = serde_json::to_string_pretty(&summary).map_err(anyhow::Error::from)?;
        save(&out.join("training.json"), &format!("{text}\n"))?;
        if json {
            print_json(&summary)?;
        } else {
            say!("{}: {}{how}", summary.model, best.map_or(String::new(), shown_best));
            match *name {
                "judge" => say!("Use it: [answer] generator = \"cogltx\", model = \"{}\" in an experiment", shown(out)),
                _ => say!("Use it: pericope segment FILE --segmenter {name}:model={}", shown(out)),
            }
        }
        Ok(if self.unreadable > 0 { Status::Incomplete } else { Status::Done })
    }
}

/// How a judge tells blocks apart, and finds answers.
pub(super) fn shown_judged(found: &Judged) -> String {
    let answers =
        found.span_f1.map_or(String::new(), |f1| format!(", F1 of {} answers {:.1}", found.answers, 100.0 * f1));
    format!("{} questions: AUC of blocks {:.3} (BM25 {:.3}){answers}", found.questions, found.auc, found.bm25_auc)
}

fn shown_best(best: &Validation) -> String {
    let mut said = Vec::new();
    match (best.f1, best.accuracy) {
        (Some(f1), _) => said.push(format!("validation F1 {:.1} (step {})", 100.0 * f1, best.step)),
        (None, Some(share)) => said.push(format!("pairs told apart {:.1} % (step {})", 100.0 * share, best.step)),
        (None, None) => {}
    }
    said.extend(best.judged.as_ref().map(|judged| format!("step {}, {}", best.step, shown_judged(judged))));
    said.extend(
        best.questions
            .map(|ranking| format!("answers first {:.1} %, MRR {:.3}", 100.0 * ranking.hit_at_1, ranking.mrr)),
    );
    said.iter().map(|one| format!("{one}; ")).collect()
}

/// What a checkpoint says about its training on so many documents, `more` behind it.
pub(super) fn notes(data: &[PathBuf], documents: usize, more: &str) -> String {
    let names = data.iter().filter_map(|path| path.file_name()).map(|name| name.to_string_lossy());
    let names = names.collect::<Vec<_>>().join(", ");
    format!("pericope {}: {documents} documents of {names}{more}", env!("CARGO_PKG_VERSION"))
}

pub(super) fn failure(error: TrainError) -> Failure {
    match error {
        TrainError::Options(_) => Failure::usage(error),
        _ => Failure::runtime(error),
    }
}
