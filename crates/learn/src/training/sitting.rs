//! What every training does beside its steps: it goes on where it was interrupted, tells how far it is, is saved, and ends early.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use candle_core::{Device, Tensor, Var};

use super::adamw::AdamW;
use super::events::{Event, TrainReport, Watch};
use super::options::{Options, TrainError};
use super::state::{self, Progress};

/// The file in a training's folder that an interrupted training goes on from.
pub(super) const STATE: &str = "state.safetensors";

/// Seconds between two savings of the state.
const SAVE_EVERY: f64 = 60.0;

/// How long a training goes on, and where it is saved.
pub(super) struct Plan {
    /// The file that an interrupted training goes on from; none for a training so short that it begins again.
    pub(super) state: Option<PathBuf>,
    /// Steps at most.
    pub(super) steps: usize,
    /// Steps from one validation to the next.
    pub(super) validate_every: usize,
    /// Validations without a better result after which training ends.
    pub(super) patience: usize,
}

/// Values of variables by name.
type Values = HashMap<String, Tensor>;

/// A training at work.
pub(super) struct Sitting {
    plan: Plan,
    /// How far it is.
    pub(super) at: Progress,
    pub(super) optimizer: AdamW,
    /// When the seconds that are not counted yet began.
    began: Instant,
    saved: Instant,
}

impl Sitting {
    /// Begins, or goes on from a saved state; then the values of the variables come too. `fingerprint` says what is trained how, and
    /// `options` are kept in the state.
    ///
    /// # Errors
    /// Where the state is that of another training, and where it cannot be read.
    pub(super) fn open(
        plan: Plan,
        fingerprint: &str,
        options: &Options,
        device: &Device,
    ) -> Result<(Self, Option<Values>), TrainError> {
        let (mut at, mut optimizer, mut values) = (Progress::new(fingerprint, options), AdamW::default(), None);
        if let Some(path) = &plan.state
            && let Some((saved, variables, moments)) = state::load(path, device)?
        {
            if saved.fingerprint != fingerprint {
                let reason =
                    "holds the state of another training (other data, options or beginning): name another folder";
                return Err(TrainError::Options(format!("{} {reason}, or remove it", path.display())));
            }
            (at, optimizer, values) = (saved, moments, Some(variables));
        }
        let now = Instant::now();
        Ok((Self { plan, at, optimizer, began: now, saved: now }, values))
    }

    /// Counts the seconds from now on: what was worked out beforehand is no part of the training.
    pub(super) fn start_clock(&mut self) {
        self.began = Instant::now();
        self.saved = self.began;
    }

    /// True until the steps are done or validation stops getting better.
    pub(super) fn goes_on(&self) -> bool {
        self.at.step < self.plan.steps && self.at.stale < self.plan.patience.max(1)
    }

    /// Refuses a loss of the step at hand that is no number.
    pub(super) fn finite(&self, what: &'static str, loss: f32) -> Result<f32, TrainError> {
        match loss.is_finite() {
            true => Ok(loss),
            false => Err(TrainError::NotFinite { step: self.at.step + 1, what, value: loss.into() }),
        }
    }

    /// Takes note of a step that was done at this learning `rate`, and tells of it.
    pub(super) fn stepped(
        &mut self,
        loss: f32,
        question_loss: Option<f32>,
        rate: f64,
        progress: &mut Watch<'_>,
    ) -> ControlFlow<()> {
        self.at.step += 1;
        self.at.losses.push(loss);
        self.at.question_losses.extend(question_loss);
        progress(Event::Step {
            step: self.at.step,
            steps: self.plan.steps,
            loss: recent(&self.at.losses).unwrap_or(0.0),
            question_loss: recent(&self.at.question_losses),
            rate,
        })
    }

    /// True where the variables are to be measured after the step that was done.
    pub(super) fn validation_is_due(&self) -> bool {
        self.at.step.is_multiple_of(self.plan.validate_every) || self.at.step == self.plan.steps
    }

    /// Saves the state where it is time to, and ends the training where it was `told` to.
    ///
    /// # Errors
    /// [`TrainError::Interrupted`], and where the disk fails.
    pub(super) fn keep(
        &mut self,
        told: ControlFlow<()>,
        variables: impl FnOnce() -> BTreeMap<String, Var>,
    ) -> Result<(), TrainError> {
        if self.saved.elapsed().as_secs_f64() > SAVE_EVERY || !self.goes_on() || told.is_break() {
            self.count_seconds();
            if let Some(path) = &self.plan.state {
                state::save(path, &self.at, &variables(), &self.optimizer)?;
            }
            self.saved = Instant::now();
        }
        if told.is_break() && self.goes_on() {
            return Err(TrainError::Interrupted { step: self.at.step });
        }
        Ok(())
    }

    /// Tells where a training ended before its steps were done.
    pub(super) fn tell_end(&self, progress: &mut Watch<'_>) {
        if self.at.step < self.plan.steps {
            let _ = progress(Event::Stopped { step: self.at.step });
        }
    }

    /// What came of it.
    pub(super) fn report(mut self) -> TrainReport {
        self.count_seconds();
        let Progress { losses, question_losses, validations, best, seconds, .. } = self.at;
        TrainReport { losses, question_losses, validations, best, seconds }
    }

    fn count_seconds(&mut self) {
        self.at.seconds += self.began.elapsed().as_secs_f64();
        self.began = Instant::now();
    }
}

/// The mean of the last 100 losses.
fn recent(losses: &[f32]) -> Option<f64> {
    let last = losses.get(losses.len().saturating_sub(100)..).unwrap_or(losses);
    (!last.is_empty()).then(|| last.iter().map(|&loss| f64::from(loss)).sum::<f64>() / last.len() as f64)
}
