use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::weswin::Partition;
use pericope_encode::ModelError;

/// The reasons why a training ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrainError {
    /// The base model or a checkpoint cannot be used, or not be written.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// candle failed: out of memory, most likely.
    #[error("training failed: {0}")]
    Candle(#[from] candle_core::Error),
    /// A file of the training's own.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// It was asked to stop; the same call goes on from here.
    #[error("interrupted after {step} steps; the same command goes on from there")]
    Interrupted {
        /// Steps done.
        step: usize,
    },
    /// A number that is none came out of a step: nothing was stepped or saved with it.
    #[error("step {step}: the {what} is {value}: try a lower learning rate, into another folder")]
    NotFinite {
        /// The step, 1-based.
        step: usize,
        /// The quantity that is no number.
        what: &'static str,
        /// Its value: infinite or not a number.
        value: f64,
    },
    /// There is nothing to train on, or the options contradict each other.
    #[error("{0}")]
    Options(String),
}

/// The options of a training. The defaults are for WeSWin on MiniLM and two cores; [`Options::nsp`] has those of NSP,
/// [`Options::judge`] those of the judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// Tokens of a sequence (NSP: of a pair, at most), special tokens included.
    pub tokens: usize,
    /// The partition of documents into training sequences: `cr-1`, or `ss-4` where documents are few. WeSWin's alone.
    pub partition: String,
    /// Lower layers that stay as they are. WeSWin works their outputs out once and keeps them on disk; with 0, `[SNT]`'s
    /// own embedding is trained too; else it stays that of `[SEP]`.
    pub frozen: usize,
    /// Rank of the changes of matrices that are trained in place of the upper layers (LoRA; Hu et al. 2021): a small model, though every
    /// layer changes. 0: all numbers of those layers are trained.
    #[serde(default)]
    pub rank: usize,
    /// Passes over the training sequences, at most.
    pub epochs: f64,
    /// Sequences of a step.
    pub batch: usize,
    /// Sequences (of the judge: questions, with all that is read of them) whose gradients are worked out together; those of a step are
    /// added up. Bounds memory.
    pub micro_batch: usize,
    /// Highest learning rate of the encoder.
    pub learning_rate: f64,
    /// Highest learning rate of the heads.
    pub head_learning_rate: f64,
    /// Share of the steps in which the rate rises from 0; then it falls to 0 at the end.
    pub warm_up: f64,
    /// Weight decay of the encoder's matrices.
    pub decay: f64,
    /// Norm that the gradient is scaled down to where it is longer.
    pub clip: f64,
    /// Validations without a better F1 after which training ends.
    pub patience: usize,
    /// Validations an epoch.
    pub validations: usize,
    /// A batch of questions comes with every so many steps, where there are questions. WeSWin's alone.
    pub questions_every: usize,
    /// Whether the batch of questions has a step of the optimizer of its own, after that of the boundaries; else the
    /// gradients of both are added up to one step. With `questions_every` = 1 the two kinds of batches then alternate, as
    /// published (Abbasi 2024, section 4.3.2). Both steps have one learning rate, that of the step's number.
    pub questions_apart: bool,
    /// Steps at most; 0: as many as the epochs have.
    pub max_steps: usize,
    /// Seed of the order of sequences.
    pub seed: u64,
}

impl Options {
    /// Steps of a training whose epochs have `batches` batches each; at least one.
    #[must_use]
    pub fn steps(&self, batches: usize) -> usize {
        let steps = (batches as f64 * self.epochs) as usize;
        if self.max_steps > 0 { steps.min(self.max_steps).max(1) } else { steps.max(1) }
    }

    /// Steps from one validation to the next.
    #[must_use]
    pub fn validate_every(&self, batches: usize) -> usize {
        (batches / self.validations.max(1)).max(1)
    }

    /// For the judge: warm-up and no weight decay as published; the rates suit MiniLM.
    #[must_use]
    pub fn judge() -> Self {
        Self {
            epochs: 1.0,
            batch: 32,
            micro_batch: 4,
            learning_rate: 1e-4,
            warm_up: 0.1,
            decay: 0.0,
            validations: 8,
            ..Self::default()
        }
    }

    /// For NSP: pairs are short, so a step has more of them.
    #[must_use]
    pub fn nsp() -> Self {
        Self {
            tokens: 256,
            epochs: 1.0,
            batch: 32,
            micro_batch: 8,
            learning_rate: 1e-4,
            validations: 8,
            ..Self::default()
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tokens: 512,
            partition: Partition::Right(1).to_string(),
            frozen: 3,
            rank: 0,
            epochs: 4.0,
            batch: 8,
            micro_batch: 2,
            learning_rate: 1.5e-4,
            head_learning_rate: 1e-3,
            warm_up: 0.05,
            decay: 0.01,
            clip: 1.0,
            patience: 3,
            validations: 4,
            questions_every: 6,
            questions_apart: false,
            max_steps: 0,
            seed: 7,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Options;

    #[test]
    fn training_can_stop_early_as_it_comes() {
        for options in [Options::default(), Options::nsp(), Options::judge()] {
            for batches in [8, 57, 4_000] {
                let validations = options.steps(batches) / options.validate_every(batches);
                // The first is the best there is, and patience runs out before the last.
                assert!(validations > options.patience + 1, "{validations} of {options:?}");
            }
        }
        let short = Options { epochs: 0.01, ..Options::default() };
        assert_eq!((short.steps(5), short.validate_every(0)), (1, 1));
        assert_eq!(Options { max_steps: 7, ..Options::default() }.steps(1_000), 7);
    }
}
