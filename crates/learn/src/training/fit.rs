use std::path::Path;

use candle_core::Device;
use pericope_util::hex;
use sha2::{Digest, Sha256};

use super::adamw::Schedule;
use super::data::LabelledDocument;
use super::events::{Event, TrainReport, Watch};
use super::gradients::Gradients;
use super::numbers::{RATE_OR_REST, check_numbers, may_rest};
use super::options::{Options, TrainError};
use super::sitting::{Plan, STATE, Sitting};
use super::state::Progress;
use super::variables::Variables;
use crate::checkpoint::{Checkpoint, Metadata};
use pericope_encode::Base;
use pericope_encode::encoders::LayerByLayer;

/// A task to train: batches with their losses, and the quality of the variables on validation documents.
pub(super) trait Task {
    /// The variables that are stepped.
    fn variables(&self) -> &Variables<'_>;

    /// Makes the variables beside the encoder's, so that a saved state can be put into them.
    fn heads(&self) -> Result<(), TrainError>;

    /// Batches of an epoch.
    fn batches(&self) -> usize;

    /// Does beforehand what a training of `steps` steps needs. Not called where no step is left to do.
    fn prepare(&mut self, steps: usize, progress: &mut Watch<'_>) -> Result<(), TrainError>;

    /// Goes on as if so many steps had been done.
    fn skip_to(&mut self, steps: usize);

    /// Does what is to be done before step `step` (0-based), which is often nothing.
    fn before(&mut self, _step: usize, _progress: &mut Watch<'_>) -> Result<(), TrainError> {
        Ok(())
    }

    /// True where [`backward`](Self::backward) has an encoder of its own, so that none has to be put together for it.
    fn has_encoder(&self) -> bool {
        false
    }

    /// Adds the gradients of the next batch and gives its loss.
    fn backward(&mut self, encoder: &dyn LayerByLayer, gradients: &mut Gradients) -> Result<f32, TrainError>;

    /// The same of the batch of questions that comes with step `step` (0-based); none where none does.
    fn questions(
        &mut self,
        _encoder: &dyn LayerByLayer,
        _step: usize,
        _gradients: &mut Gradients,
    ) -> Result<Option<f32>, TrainError> {
        Ok(None)
    }

    /// Share of the highest learning rate that is left at the end.
    fn least_rate(&self) -> f64 {
        0.0
    }

    /// True where there is something to validate on.
    fn validates(&self) -> bool;

    /// Measures the variables, [notes](Progress::note) and tells what it found, and where that is better writes the
    /// checkpoint.
    fn validate(&mut self, at: &mut Progress, progress: &mut Watch<'_>) -> Result<(), TrainError>;

    /// Leaves the checkpoint as it is to be used.
    fn finish(&mut self) -> Result<(), TrainError>;
}

/// A training's circumstances.
pub(super) struct Run<'a> {
    pub(super) options: &'a Options,
    pub(super) out: &'a Path,
    pub(super) device: &'a Device,
    /// Says what is trained how; see [`fingerprint`].
    pub(super) fingerprint: String,
}

/// Trains until the steps are done or validation stops getting better.
pub(super) fn fit(task: &mut dyn Task, run: &Run<'_>, progress: &mut Watch<'_>) -> Result<TrainReport, TrainError> {
    let Run { options, out, device, .. } = *run;
    let steps = options.steps(task.batches());
    let schedule = Schedule { steps, warm_up: options.warm_up, least: task.least_rate() };
    let validate_every = options.validate_every(task.batches());
    let plan = Plan { state: Some(out.join(STATE)), steps, validate_every, patience: options.patience };
    // Before anything is worked out: the state may be that of another training.
    let (mut sitting, saved) = Sitting::open(plan, &run.fingerprint, options, device)?;
    let mut encoder = task.variables().encoder()?;
    task.heads()?;
    if let Some(values) = saved {
        task.variables().restore(&values)?;
        let _ = progress(Event::Resumed { step: sitting.at.step });
    }
    if sitting.goes_on() {
        task.prepare(steps, progress)?;
        task.skip_to(sitting.at.step);
    }
    sitting.start_clock();
    while sitting.goes_on() {
        if task.variables().puts_together() && !task.has_encoder() {
            encoder = task.variables().encoder()?;
        }
        let mut gradients = Gradients::default();
        let number = sitting.at.step;
        task.before(number, progress)?;
        let share = schedule.at(number);
        let own = sitting.finite("loss", task.backward(encoder.as_ref(), &mut gradients)?)?;
        if options.questions_apart {
            let own = std::mem::take(&mut gradients);
            own.step(&mut sitting.optimizer, task.variables(), options, (number, share))?;
            if task.variables().puts_together() {
                encoder = task.variables().encoder()?;
            }
        }
        let questions = task.questions(encoder.as_ref(), number, &mut gradients)?;
        let questions = questions.map(|loss| sitting.finite("loss of questions", loss)).transpose()?;
        if !options.questions_apart || questions.is_some() {
            gradients.step(&mut sitting.optimizer, task.variables(), options, (number, share))?;
        }
        let told = sitting.stepped(own, questions, options.learning_rate * share, progress);
        if task.validates() && sitting.validation_is_due() {
            task.validate(&mut sitting.at, progress)?;
        }
        sitting.keep(told, || task.variables().all())?;
    }
    sitting.tell_end(progress);
    task.finish()?;
    Ok(sitting.report())
}

/// Refuses more frozen layers than there are, sequences that the base model does not read, and rates and the like that no training
/// has.
pub(super) fn check(base: &Base, options: &Options, least: usize) -> Result<(), TrainError> {
    let (most, layers) = (base.config.max_tokens(), base.config.num_hidden_layers);
    if options.tokens < least || options.tokens > most {
        let reason = format!("sequences of {} tokens: the base model reads {least} to {most}", options.tokens);
        return Err(TrainError::Options(reason));
    }
    if options.frozen > layers {
        let reason = format!("{} layers frozen: the base model has {layers}", options.frozen);
        return Err(TrainError::Options(reason));
    }
    if options.rank > base.config.hidden_size {
        let (rank, hidden) = (options.rank, base.config.hidden_size);
        return Err(TrainError::Options(format!("changes of rank {rank}: the base model has a width of {hidden}")));
    }
    let Options { epochs, learning_rate, head_learning_rate, warm_up, decay, clip, .. } = *options;
    check_numbers(&[
        ("epochs", epochs, epochs > 0.0 && epochs.is_finite(), "above 0"),
        ("learning_rate", learning_rate, may_rest(learning_rate), RATE_OR_REST),
        ("head_learning_rate", head_learning_rate, may_rest(head_learning_rate), RATE_OR_REST),
        ("warm_up", warm_up, (0.0..=1.0).contains(&warm_up), "0 to 1"),
        ("decay", decay, decay >= 0.0 && decay.is_finite(), "0 or above"),
        ("clip", clip, clip > 0.0, "above 0"),
    ])
}

/// Refuses to write over the checkpoint that training begins from: an interrupted training would find another one.
///
/// # Errors
/// [`TrainError::Options`] where `target` is the file of `start`.
pub fn check_target<S: Metadata>(start: Option<&Checkpoint<S>>, target: &Path) -> Result<(), TrainError> {
    let Some(start) = start else { return Ok(()) };
    let same = |path: &Path| path.canonicalize().ok();
    if same(start.path()).is_some_and(|start| same(target) == Some(start)) {
        let path = target.display();
        return Err(TrainError::Options(format!("{path} is what training begins from: write into another folder")));
    }
    Ok(())
}

/// A number that another base model, another `start` (its checksum), other options or other `data` change.
pub(super) fn fingerprint(base: &Base, start: &str, options: &Options, data: impl FnOnce(&mut Sha256)) -> String {
    let mut hash = Sha256::new();
    hash.update(base.weights.sha256());
    hash.update(start);
    hash.update(format!("{options:?}"));
    data(&mut hash);
    hex(&hash.finalize())
}

/// Takes documents into a fingerprint: what is validated on decides when training ends, and which weights are kept.
pub(super) fn hash_documents(hash: &mut Sha256, documents: &[LabelledDocument]) {
    for document in documents {
        hash.update(format!("{:?}{:?}", document.sentences, document.ends));
    }
}

/// Makes a training's folder.
pub(super) fn make_folder(out: &Path) -> Result<(), TrainError> {
    std::fs::create_dir_all(out).map_err(|source| TrainError::Io { path: out.to_owned(), source })
}
