use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

/// The events of a training.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// Something that whoever trains should know: what is left out of the model, for instance.
    Warning {
        /// One line.
        text: String,
    },
    /// An interrupted training goes on from here.
    Resumed {
        /// Steps done before.
        step: usize,
    },
    /// The frozen layers are run over the training sequences.
    Cached {
        /// Sequences done.
        done: usize,
        /// Sequences in all.
        of: usize,
    },
    /// A step was done.
    Step {
        /// Steps done.
        step: usize,
        /// Steps in all.
        steps: usize,
        /// Mean loss of the last 100 steps (WeSWin: of boundaries).
        loss: f64,
        /// Mean loss of the last 100 batches of questions, where there was one.
        question_loss: Option<f64>,
        /// Learning rate of the encoder.
        rate: f64,
    },
    /// The variables were measured on validation documents.
    Validated(Validation),
    /// Interventions changed which blocks count as relevant (the judge, without relevance labels).
    Relabelled {
        /// Epochs done.
        epoch: usize,
        /// Blocks that became relevant.
        up: usize,
        /// Blocks that became irrelevant.
        down: usize,
        /// Blocks that are relevant now, of all questions.
        relevant: usize,
    },
    /// The weights of what stands beside the model were fitted on validation documents.
    Weighed {
        /// F1 of exact boundaries where the number of segments is not known, before: the mean over sources of the means over
        /// their documents.
        before: f64,
        /// The same, after.
        after: f64,
    },
    /// Validations stopped getting better.
    Stopped {
        /// Steps done.
        step: usize,
    },
}

impl Event {
    /// Warns that there is nothing to choose weights by.
    pub(super) fn no_boundary() -> Self {
        let text = "no validation document has a boundary: all steps are done, and the last weights stay";
        Self::Warning { text: text.to_owned() }
    }
}

/// The result of a validation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Validation {
    /// Steps done.
    pub step: usize,
    /// F1 of exact boundaries over all validation documents, at the threshold that suits best; none where no boundary is
    /// known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub f1: Option<f64>,
    /// That threshold, in `[0, 1]`: threshold of WeSWin, p of NSP (0.5 where no boundary is known).
    pub threshold: f64,
    /// NSP: the share of validation pairs that are told apart, neighbours from others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
    /// WeSWin: how the sentences of validation questions' documents are ranked; none without such questions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub questions: Option<Ranking>,
    /// The judge: how it tells blocks apart and finds answers; none for other models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<Judged>,
    /// True where no earlier one was better.
    pub best: bool,
}

/// The ranks that the retrieval head gives sentences that answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    /// Questions with an answering sentence.
    pub questions: usize,
    /// Mean reciprocal rank of the first answering sentence among its document's sentences, 0 to 1. Of equal scores the
    /// sentences that do not answer come first.
    pub mrr: f64,
    /// Share of questions whose first sentence answers.
    pub hit_at_1: f64,
}

/// What a judge makes of validation questions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// Questions with a relevant block and another one.
    pub questions: usize,
    /// Mean area under the ROC curve of a question's blocks, each read by itself: the probability that a relevant block has a
    /// higher score than another one, 0 to 1.
    pub auc: f64,
    /// The same of BM25, for comparison.
    pub bm25_auc: f64,
    /// Questions whose answer lies wholly in the blocks that are read together.
    pub answers: usize,
    /// Mean F1 of the tokens of their answers, 0 to 1; none without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span_f1: Option<f64>,
}

/// Is told what happens. A break ends the training after the step at hand, with its state on disk.
pub type Watch<'a> = dyn FnMut(Event) -> ControlFlow<()> + 'a;

/// The result of a training.
#[derive(Debug, Clone, Default)]
pub struct TrainReport {
    /// The loss of every step (WeSWin: of boundaries).
    pub losses: Vec<f32>,
    /// The loss of every batch of questions.
    pub question_losses: Vec<f32>,
    /// Every validation, over all sittings.
    pub validations: Vec<Validation>,
    /// Best validation F1 (NSP: accuracy, where no boundary is known) and its step; none without validation documents.
    pub best: Option<(f64, usize)>,
    /// Seconds, over all sittings.
    pub seconds: f64,
}
