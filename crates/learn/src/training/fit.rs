use std::path::Path;
use std::time::Instant;

use candle_core::Device;
use pericope_util::hex;
use sha2::{Digest, Sha256};

use super::adamw::{AdamW, Schedule};
use super::data::LabelledDocument;
use super::events::{Event, TrainReport, Watch};
use super::gradients::Gradients;
use super::numbers::{RATE_OR_REST, check_numbers, may_rest};
use super::options::{Options, TrainError};
use super::state::{self, Progress};
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

/// The file that an interrupted training goes on from.
const STATE: &str = "state.safetensors";

/// Seconds between two savings of the state.
const SAVE_EVERY: f64 = 60.0;

/// Trains until the steps are done or validation stops getting better.
pub(super) fn fit(task: &mut dyn Task, run: &Run<'_>, progress: &mut Watch<'_>) -> Result<TrainReport, TrainError> {
    let Run { options, out, device, .. } = *run;
    let steps = options.steps(task.batches());
    let schedule = Schedule { steps, warm_up: options.warm_up, least: task.least_rate() };
    let mut optimizer = AdamW::default();
    let mut at = Progress::new(&run.fingerprint, options);
    let path = out.join(STATE);
    // Before anything is worked out: the state may be that of another training.
    let before = state::load(&path, device)?;
    if before.as_ref().is_some_and(|(saved, ..)| saved.fingerprint != at.fingerprint) {
        let reason = "holds the state of another training (other data, options or base model): name another folder";
        return Err(TrainError::Options(format!("{} {reason}, or remove it", path.display())));
    }
    let mut encoder = task.variables().encoder()?;
    task.heads()?;
    if let Some((saved, values, moments)) = before {
        task.variables().restore(&values)?;
        optimizer = moments;
        at = saved;
        let _ = progress(Event::Resumed { step: at.step });
    }
    let goes_on = |at: &Progress| at.step < steps && at.stale < options.patience.max(1);
    if goes_on(&at) {
        task.prepare(steps, progress)?;
        task.skip_to(at.step);
    }

    let every = options.validate_every(task.batches());
    let (mut began, mut saved) = (Instant::now(), Instant::now());
    while goes_on(&at) {
        if task.variables().puts_together() && !task.has_encoder() {
            encoder = task.variables().encoder()?;
        }
        let mut gradients = Gradients::default();
        let number = at.step;
        task.before(number, progress)?;
        let finite = |what, loss: f32| match loss.is_finite() {
            true => Ok(loss),
            false => Err(TrainError::NotFinite { step: number + 1, what, value: loss.into() }),
        };
        let share = schedule.at(number);
        let own = finite("loss", task.backward(encoder.as_ref(), &mut gradients)?)?;
        if options.questions_apart {
            std::mem::take(&mut gradients).step(&mut optimizer, task.variables(), options, (number, share))?;
            if task.variables().puts_together() {
                encoder = task.variables().encoder()?;
            }
        }
        let questions = task.questions(encoder.as_ref(), number, &mut gradients)?;
        let questions = questions.map(|loss| finite("loss of questions", loss)).transpose()?;
        if !options.questions_apart || questions.is_some() {
            gradients.step(&mut optimizer, task.variables(), options, (number, share))?;
        }
        at.step += 1;
        at.losses.push(own);
        at.question_losses.extend(questions);
        let told = progress(Event::Step {
            step: at.step,
            steps,
            loss: recent(&at.losses).unwrap_or(0.0),
            question_loss: recent(&at.question_losses),
            rate: options.learning_rate * share,
        });
        if task.validates() && (at.step.is_multiple_of(every) || at.step == steps) {
            task.validate(&mut at, progress)?;
        }
        if saved.elapsed().as_secs_f64() > SAVE_EVERY || !goes_on(&at) || told.is_break() {
            at.seconds += began.elapsed().as_secs_f64();
            began = Instant::now();
            state::save(&path, &at, &task.variables().all(), &optimizer)?;
            saved = Instant::now();
        }
        if told.is_break() && goes_on(&at) {
            return Err(TrainError::Interrupted { step: at.step });
        }
    }
    if at.step < steps {
        let _ = progress(Event::Stopped { step: at.step });
    }
    task.finish()?;
    at.seconds += began.elapsed().as_secs_f64();
    Ok(TrainReport {
        losses: at.losses,
        question_losses: at.question_losses,
        validations: at.validations,
        best: at.best,
        seconds: at.seconds,
    })
}

/// The mean of the last 100 losses.
fn recent(losses: &[f32]) -> Option<f64> {
    let last = losses.get(losses.len().saturating_sub(100)..).unwrap_or(losses);
    (!last.is_empty()).then(|| last.iter().map(|&loss| f64::from(loss)).sum::<f64>() / last.len() as f64)
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
pub(super) fn check_target<S: Metadata>(start: Option<&Checkpoint<S>>, target: &Path) -> Result<(), TrainError> {
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
