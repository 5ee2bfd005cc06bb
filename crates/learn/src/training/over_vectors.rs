//! What trainings of models over sentence vectors share.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use candle_core::{Device, Tensor};
use pericope_encode::ModelError;
use pericope_encode::encoders::Tensors;
use pericope_segment::random::SplitMix64;

use super::events::{Event, TrainReport, Watch};
use super::gradients::Gradients;
use super::numbers::{Number, RATE, check_numbers, is_rate};
use super::options::{Options, TrainError};
use super::sitting::{Plan, Sitting};
use super::state::Progress;
use crate::corpus::SentenceVectors;
use crate::sequence::Parameters;

/// The vectors of the sentences that are trained on.
pub trait VectorSource: Sync {
    /// The name of their encoder, and its fingerprint.
    fn encoder(&self) -> (&str, &str);

    /// Numbers of a vector.
    fn dimension(&self) -> usize;

    /// The vectors of texts, row by row.
    ///
    /// # Errors
    /// What is missing, and how to get it.
    fn vectors(&self, texts: &[&str]) -> Result<Vec<f32>, String>;
}

impl VectorSource for SentenceVectors {
    fn encoder(&self) -> (&str, &str) {
        (SentenceVectors::encoder(self), self.fingerprint())
    }

    fn dimension(&self) -> usize {
        SentenceVectors::dimension(self)
    }

    fn vectors(&self, texts: &[&str]) -> Result<Vec<f32>, String> {
        self.rows(texts.iter().copied()).map_err(|e| e.to_string())
    }
}

/// What all trainings over sentence vectors check before anything is trained.
pub(super) struct Checked<'a> {
    /// Sentences of the longest document.
    pub(super) longest: usize,
    pub(super) vectors: &'a dyn VectorSource,
    /// Numbers of a vector that the model reads.
    pub(super) input: usize,
    pub(super) dropout: f64,
    pub(super) learning_rate: f64,
    pub(super) clip: f64,
    pub(super) epochs: f64,
}

impl Checked<'_> {
    /// Refuses what contradicts itself or the data. `own` are the options of one training.
    pub(super) fn check(&self, own: &[Number<'_>]) -> Result<(), TrainError> {
        let Self { longest, input, dropout, learning_rate, clip, epochs, .. } = *self;
        let wrong = |reason: String| Err(TrainError::Options(reason));
        if longest < 2 {
            return wrong("no document of two sentences or more to train on".into());
        }
        if self.vectors.dimension() != input {
            let have = self.vectors.dimension();
            return wrong(format!("the vectors have {have} numbers, the model reads {input}"));
        }
        check_numbers(&[
            ("dropout", dropout, (0.0..1.0).contains(&dropout), "0 or above, and below 1"),
            ("learning_rate", learning_rate, is_rate(learning_rate), RATE),
            ("clip", clip, clip > 0.0, "above 0"),
            ("epochs", epochs, epochs > 0.0 && epochs.is_finite(), "above 0"),
        ])?;
        check_numbers(own)
    }
}

/// A model in training on sentence vectors.
pub(super) trait Learner {
    /// A part of an epoch, before it is made into an example.
    type Item;

    /// The parameters that are stepped.
    fn parameters(&self) -> &Parameters;

    /// What an epoch learns from, in its order.
    fn epoch(&self, epoch: usize) -> Vec<Self::Item>;

    /// The mean loss of some of them and its gradients. `step` counts from 0.
    fn step(&self, items: &[Self::Item], epoch: usize, step: usize) -> Result<(f32, Gradients), TrainError>;

    /// The learning rate at a step (from 0) of so many.
    fn rate(&self, step: usize, steps: usize) -> f64;

    /// The weight decay of a parameter.
    fn decay(&self, _name: &str) -> f64 {
        0.0
    }

    /// True where there is something to validate on.
    fn validates(&self) -> bool;

    /// Measures the parameters, [notes](Progress::note) and tells what it found, and where that is better writes the
    /// checkpoint.
    fn validate(&mut self, at: &mut Progress, progress: &mut Watch<'_>) -> Result<(), TrainError>;

    /// Writes the checkpoint.
    fn write(&self) -> Result<(), TrainError>;
}

/// How long a training goes on, and where it is saved.
pub(super) struct Course {
    /// The file that an interrupted training goes on from; none for a training so short that it begins again.
    pub(super) state: Option<PathBuf>,
    /// A number that other data, options or another beginning change.
    pub(super) fingerprint: String,
    /// Passes over the data.
    pub(super) epochs: f64,
    /// Steps at most; 0: as many as the epochs have.
    pub(super) max_steps: usize,
    /// Items of a step.
    pub(super) batch: usize,
    /// Norm that the gradient is scaled down to where it is longer.
    pub(super) clip: f64,
    /// Validations an epoch.
    pub(super) validations: usize,
    /// Validations without a better result after which training ends.
    pub(super) patience: usize,
}

/// Trains until the steps are done or validation stops getting better.
pub(super) fn learn<L: Learner>(
    learner: &mut L,
    course: &Course,
    progress: &mut Watch<'_>,
) -> Result<TrainReport, TrainError> {
    let Course { epochs, max_steps, validations, patience, clip, .. } = *course;
    let batch = course.batch.max(1);
    let batches = learner.epoch(0).len().div_ceil(batch).max(1);
    let lengths = Options { epochs, max_steps, validations, ..Options::default() };
    let (steps, validate_every) = (lengths.steps(batches), lengths.validate_every(batches));
    let plan = Plan { state: course.state.clone(), steps, validate_every, patience };
    let (mut sitting, saved) = Sitting::open(plan, &course.fingerprint, &Options::default(), &Device::Cpu)?;
    if let (Some(path), Some(values)) = (&course.state, &saved) {
        learner.parameters().set(&Saved { path, values })?;
        let _ = progress(Event::Resumed { step: sitting.at.step });
    }
    let mut order = (usize::MAX, Vec::new());
    while sitting.goes_on() {
        let step = sitting.at.step;
        let (epoch, number) = (step / batches, step % batches);
        if order.0 != epoch {
            order = (epoch, learner.epoch(epoch));
        }
        let (loss, gradients) = learner.step(order.1.chunks(batch).nth(number).unwrap_or_default(), epoch, step)?;
        let loss = sitting.finite("loss", loss)?;
        let rate = learner.rate(step, steps);
        let gradients = gradients.clipped(clip, step)?;
        sitting.optimizer.step(learner.parameters().all(), &gradients, |name| (rate, learner.decay(name)))?;
        let told = sitting.stepped(loss, None, rate, progress);
        if learner.validates() && sitting.validation_is_due() {
            learner.validate(&mut sitting.at, progress)?;
        }
        sitting.keep(told, || learner.parameters().all().clone())?;
    }
    sitting.tell_end(progress);
    if !learner.validates() {
        learner.write()?;
    }
    Ok(sitting.report())
}

/// The parameters without their gradients.
pub(super) struct Frozen<'a>(pub(super) &'a Parameters);

impl Tensors for Frozen<'_> {
    fn tensor(&self, name: &str, shape: &[usize], device: &Device) -> Result<Tensor, ModelError> {
        Ok(self.0.tensor(name, shape, device)?.detach())
    }

    fn unusable(&self, reason: String) -> ModelError {
        self.0.unusable(reason)
    }
}

/// Values that were kept, or saved in a file.
pub(super) struct Saved<'a> {
    pub(super) path: &'a Path,
    pub(super) values: &'a HashMap<String, Tensor>,
}

impl Tensors for Saved<'_> {
    fn tensor(&self, name: &str, shape: &[usize], device: &Device) -> Result<Tensor, ModelError> {
        let found = self.values.get(name).filter(|tensor| tensor.dims() == shape);
        let tensor = found.ok_or_else(|| self.unusable(format!("it has no {name} of shape {shape:?}")))?;
        tensor.to_device(device).map_err(|e| self.unusable(e.to_string()))
    }

    fn unusable(&self, reason: String) -> ModelError {
        ModelError::unusable(self.path, reason)
    }
}

/// Leaves out units of `[documents, time, units]`, the same for all sentences of a document, and scales up the others.
pub(super) fn dropped(x: Tensor, rate: f64, random: &mut SplitMix64) -> candle_core::Result<Tensor> {
    if rate <= 0.0 {
        return Ok(x);
    }
    let (documents, _, units) = x.dims3()?;
    let kept = (1.0 / (1.0 - rate)) as f32;
    let bound = (rate * (1u64 << 53) as f64) as u64;
    let mask = (0..documents * units).map(|_| if random.next() >> 11 < bound { 0.0 } else { kept });
    x.broadcast_mul(&Tensor::from_vec(mask.collect(), (documents, 1, units), &Device::Cpu)?)
}
