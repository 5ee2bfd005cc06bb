use std::ops::ControlFlow;

/// What happens during a training.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
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
        /// Learning rate of the encoder.
        rate: f64,
    },
    /// Validation documents were segmented.
    Validated {
        /// Steps done.
        step: usize,
        /// F1 of exact boundaries over all of them, at the threshold that suits best.
        f1: f64,
        /// That threshold.
        tau: f64,
        /// True where no earlier one was better.
        best: bool,
    },
    /// Validation documents were read pair by pair ([`train_nsp`](super::train_nsp)).
    ValidatedPairs {
        /// Steps done.
        step: usize,
        /// Share of validation pairs that are told apart, neighbours from others.
        accuracy: f64,
        /// F1 of exact boundaries over all documents, at the threshold that suits best; none where no boundary is known.
        f1: Option<f64>,
        /// That threshold's p (0.5 where there is none).
        p: f64,
        /// True where no earlier one was better.
        best: bool,
    },
    /// Validations stopped getting better.
    Stopped {
        /// Steps done.
        step: usize,
    },
}

/// Is told what happens. A break ends the training after the step at hand, with its state on disk.
pub type Watch<'a> = dyn FnMut(Event) -> ControlFlow<()> + 'a;

/// What a training came to.
#[derive(Debug, Clone)]
pub struct Report {
    /// The loss of every step (WeSWin: of boundaries).
    pub losses: Vec<f32>,
    /// Best validation F1 (NSP: accuracy, where no boundary is known) and its step; none without validation documents.
    pub best: Option<(f64, usize)>,
    /// Seconds, over all sittings.
    pub seconds: f64,
}
