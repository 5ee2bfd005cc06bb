use std::path::Path;
use std::time::Instant;

use candle_core::Device;
use sha2::{Digest, Sha256};

use super::adamw::{AdamW, Schedule};
use super::events::{Event, Report, Watch};
use super::gradients::Gradients;
use super::options::{Options, TrainError};
use super::state::{self, Progress};
use super::variables::{Layers, Variables};
use crate::base::Base;

/// What is trained: batches with their losses, and how good the variables are on validation documents.
pub(super) trait Task {
    /// What is stepped.
    fn variables(&self) -> &Variables<'_>;

    /// Makes the variables beside the encoder's, so that a saved state can be put into them.
    fn heads(&self) -> Result<(), TrainError>;

    /// Batches of an epoch.
    fn batches(&self) -> usize;

    /// Goes on as if so many steps had been done.
    fn skip_to(&mut self, steps: usize);

    /// Adds the gradients of the next batch, that of step `step` (0-based), and gives its loss.
    fn backward(&mut self, encoder: &Layers, step: usize, gradients: &mut Gradients) -> Result<f32, TrainError>;

    /// True where there is something to validate on.
    fn validates(&self) -> bool;

    /// Measures the variables, tells [`Progress::better`], and where they are better writes the checkpoint.
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
pub(super) fn fit(task: &mut dyn Task, run: &Run<'_>, progress: &mut Watch<'_>) -> Result<Report, TrainError> {
    let Run { options, out, device, .. } = *run;
    let each = task.batches();
    let mut steps = (each as f64 * options.epochs) as usize;
    if options.max_steps > 0 {
        steps = steps.min(options.max_steps);
    }
    let steps = steps.max(1);
    let schedule = Schedule { steps, warm_up: options.warm_up };
    let mut optimizer = AdamW::default();
    let mut at = Progress::new(&run.fingerprint, options);
    let mut encoder = task.variables().encoder()?;
    task.heads()?;
    let path = out.join(STATE);
    if let Some((saved, values, moments)) = state::load(&path, device)? {
        if saved.fingerprint != at.fingerprint {
            let reason = "holds the state of another training (other data, options or base model): name another folder";
            return Err(TrainError::Options(format!("{} {reason}, or remove it", path.display())));
        }
        task.variables().restore(&values)?;
        optimizer = moments;
        at = saved;
        task.skip_to(at.step);
        let _ = progress(Event::Resumed { step: at.step });
    }

    let every = (each / options.validations.max(1)).max(1);
    let (mut began, mut saved) = (Instant::now(), Instant::now());
    while at.step < steps && at.stale < options.patience.max(1) {
        if task.variables().puts_together() {
            encoder = task.variables().encoder()?;
        }
        let mut gradients = Gradients::default();
        let loss = task.backward(&encoder, at.step, &mut gradients)?;
        let share = schedule.at(at.step);
        gradients.step(&mut optimizer, task.variables(), options, share)?;
        at.step += 1;
        at.losses.push(loss);
        let last = &at.losses[at.losses.len().saturating_sub(100)..];
        let mean = last.iter().map(|&l| f64::from(l)).sum::<f64>() / last.len() as f64;
        let go_on = progress(Event::Step { step: at.step, steps, loss: mean, rate: options.learning_rate * share });
        if task.validates() && (at.step.is_multiple_of(every) || at.step == steps) {
            task.validate(&mut at, progress)?;
        }
        if saved.elapsed().as_secs_f64() > SAVE_EVERY || at.step == steps || go_on.is_break() {
            at.seconds += began.elapsed().as_secs_f64();
            began = Instant::now();
            state::save(&path, &at, &task.variables().all(), &optimizer)?;
            saved = Instant::now();
        }
        if go_on.is_break() && at.step < steps {
            return Err(TrainError::Interrupted { step: at.step });
        }
    }
    if at.step < steps {
        let _ = progress(Event::Stopped { step: at.step });
    }
    task.finish()?;
    at.seconds += began.elapsed().as_secs_f64();
    Ok(Report { losses: at.losses, best: at.best, seconds: at.seconds })
}

/// Refuses more frozen layers than there are, and sequences that the base model does not read.
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
    Ok(())
}

/// A number that another base model, another start (its checksum), other options or other `data` change.
pub(super) fn fingerprint(base: &Base, start: &str, options: &Options, data: impl FnOnce(&mut Sha256)) -> String {
    let mut hash = Sha256::new();
    hash.update(base.weights.sha256());
    hash.update(start);
    hash.update(format!("{options:?}"));
    data(&mut hash);
    format!("{:x}", hash.finalize())
}

/// Makes a training's folder.
pub(super) fn make_folder(out: &Path) -> Result<(), TrainError> {
    std::fs::create_dir_all(out).map_err(|source| TrainError::Io { path: out.to_owned(), source })
}
