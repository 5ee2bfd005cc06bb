use std::path::Path;
use std::time::Instant;

use candle_core::Device;
use pericope_segment::random::{SplitMix64, fnv1a};
use pericope_util::hex;
use sha2::{Digest, Sha256};

use super::options::{HierCrfOptions, TreeData};
use super::parsing::{measure, readings};
use crate::hiercrf::{Checkpoint, Cut, HierCrf, Network, Settings};
use crate::sequence::Parameters;
use crate::training::adamw::AdamW;
use crate::training::events::{Event, TrainReport, Validation, Watch};
use crate::training::fit::{check_target, make_folder};
use crate::training::options::{Options, TrainError};
use crate::training::over_vectors::{Frozen, Saved};
use crate::training::state::{self, Progress};

/// Trains a HierCRF and writes `hiercrf.safetensors` into the folder `out`, with the state that an interrupted training goes on
/// from. `start` is a checkpoint to go on from; `notes` go into the new one.
///
/// The loss of a step is the mean over sentences of the trees' negative log-likelihood, plus the mean over nodes of the
/// cross-entropy of their types, plus that of labels where segments have any. Results depend on the seed, not on the number
/// of threads.
///
/// # Errors
/// [`TrainError`], for options that contradict each other or the data before anything is trained.
pub fn train_hiercrf(
    start: Option<&Checkpoint>,
    data: &TreeData<'_>,
    options: &HierCrfOptions,
    out: &Path,
    notes: &str,
    progress: &mut Watch<'_>,
) -> Result<TrainReport, TrainError> {
    options.check(data)?;
    let target = out.join("hiercrf.safetensors");
    check_target(start, &target)?;
    make_folder(out)?;
    let settings = settings(start, data, options, notes)?;
    let parameters =
        Parameters::new(&Network::parameters(&settings.sizes, settings.topics.len()), options.seed, &Device::Cpu)?;
    if let Some(start) = start {
        parameters.set(start)?;
    }
    let mut training = Training { data, options, parameters, settings, target };
    training.run(&out.join("state.safetensors"), &fingerprint(start, data, options), progress)
}

/// The settings of the model to be.
fn settings(
    start: Option<&Checkpoint>,
    data: &TreeData<'_>,
    options: &HierCrfOptions,
    notes: &str,
) -> Result<Settings, TrainError> {
    let mut topics: Vec<String> =
        data.train.iter().flat_map(|document| document.topics.iter().map(|(.., label)| label.clone())).collect();
    topics.sort_unstable();
    topics.dedup();
    let (encoder, fingerprint) = data.vectors.encoder();
    let settings = Settings {
        encoder: encoder.to_owned(),
        encoder_fingerprint: fingerprint.to_owned(),
        sizes: options.sizes,
        window: options.window,
        topics,
        cut: Cut::Scores,
        threshold: 0.5,
        level: 1,
        notes: notes.to_owned(),
    };
    settings.check().map_err(TrainError::Options)?;
    let Some(start) = start.map(|start| &start.settings) else { return Ok(settings) };
    if (start.sizes, &start.encoder_fingerprint) != (settings.sizes, &settings.encoder_fingerprint) {
        return Err(TrainError::Options(
            "the model to begin with has other sizes, or reads another encoder's vectors".into(),
        ));
    }
    if settings.topics.iter().any(|topic| !start.topics.contains(topic)) {
        return Err(TrainError::Options(
            "the data has segment labels that the model to begin with does not know".into(),
        ));
    }
    Ok(Settings {
        topics: start.topics.clone(),
        cut: start.cut,
        threshold: start.threshold,
        level: start.level,
        ..settings
    })
}

/// A number that other data, options or another beginning change.
fn fingerprint(start: Option<&Checkpoint>, data: &TreeData<'_>, options: &HierCrfOptions) -> String {
    let mut hash = Sha256::new();
    hash.update(format!("{options:?} {:?} {:?}", start.map(Checkpoint::sha256), data.vectors.encoder()));
    for document in data.train.iter().chain(data.validation) {
        hash.update(format!("{:?}{:?}{:?}", document.sentences, document.tree.nodes(), document.topics));
    }
    hex(&hash.finalize())
}

/// A training at work.
pub(super) struct Training<'a> {
    pub(super) data: &'a TreeData<'a>,
    pub(super) options: &'a HierCrfOptions,
    pub(super) parameters: Parameters,
    pub(super) settings: Settings,
    target: std::path::PathBuf,
}

/// Seconds between two savings of the state.
const SAVE_EVERY: f64 = 60.0;

impl Training<'_> {
    fn run(&mut self, state: &Path, fingerprint: &str, progress: &mut Watch<'_>) -> Result<TrainReport, TrainError> {
        let options = self.options;
        let batches = self.epoch(0).len().div_ceil(options.batch.max(1)).max(1);
        let steps =
            Options { epochs: options.epochs, max_steps: options.max_steps, ..Options::default() }.steps(batches);
        let every = (batches / options.validations.max(1)).max(1);
        let mut at = Progress::new(fingerprint, &Options::default());
        let mut adam = AdamW::default();
        if let Some((saved, values, moments)) = state::load(state, &Device::Cpu)? {
            if saved.fingerprint != at.fingerprint {
                let reason = "holds the state of another training (other data or options): name another folder";
                return Err(TrainError::Options(format!("{} {reason}, or remove it", state.display())));
            }
            self.parameters.set(&Saved { path: state, values: &values })?;
            (at, adam) = (saved, moments);
            let _ = progress(Event::Resumed { step: at.step });
        }
        let goes_on = |at: &Progress| at.step < steps && at.stale < options.patience.max(1);
        let network = Network::new(&self.parameters, &self.settings.sizes, self.settings.topics.len(), &Device::Cpu)?;
        let (mut began, mut saved) = (Instant::now(), Instant::now());
        let mut order = (usize::MAX, Vec::new());
        while goes_on(&at) {
            let (epoch, batch) = (at.step / batches, at.step % batches);
            if order.0 != epoch {
                order = (epoch, self.epoch(epoch));
            }
            let from = (batch * options.batch).min(order.1.len());
            let tasks = &order.1[from..(from + options.batch.max(1)).min(order.1.len())];
            let (loss, gradients) = self.step(&network, tasks, epoch, at.step)?;
            let rate = options.learning_rate * options.decay.powf(at.step as f64 / options.decay_steps.max(1) as f64);
            adam.step(self.parameters.all(), &gradients.clipped(options.clip, at.step)?, |_| (rate, 0.0))?;
            at.step += 1;
            at.losses.push(loss);
            let recent = at.losses.get(at.losses.len().saturating_sub(100)..).unwrap_or_default();
            let mean = recent.iter().map(|&loss| f64::from(loss)).sum::<f64>() / recent.len().max(1) as f64;
            let told = progress(Event::Step { step: at.step, steps, loss: mean, question_loss: None, rate });
            if !self.data.validation.is_empty() && (at.step.is_multiple_of(every) || at.step == steps) {
                self.validate(&mut at, progress)?;
            }
            if saved.elapsed().as_secs_f64() > SAVE_EVERY || !goes_on(&at) || told.is_break() {
                at.seconds += began.elapsed().as_secs_f64();
                began = Instant::now();
                state::save(state, &at, self.parameters.all(), &adam)?;
                saved = Instant::now();
            }
            if told.is_break() && goes_on(&at) {
                return Err(TrainError::Interrupted { step: at.step });
            }
        }
        if at.step < steps {
            let _ = progress(Event::Stopped { step: at.step });
        }
        if self.data.validation.is_empty() {
            self.write()?;
        }
        at.seconds += began.elapsed().as_secs_f64();
        Ok(TrainReport {
            losses: at.losses,
            question_losses: Vec::new(),
            validations: at.validations,
            best: at.best,
            seconds: at.seconds,
        })
    }

    /// What an epoch learns from, in its order: documents by their place, and synthetic ones by their number behind them.
    fn epoch(&self, epoch: usize) -> Vec<usize> {
        let documents = self.data.train.len();
        let synthetic = (documents as f64 * self.options.synthetic).round() as usize;
        let mut order: Vec<usize> = (0..documents + synthetic).collect();
        SplitMix64::new(fnv1a(self.options.seed, epoch.to_le_bytes())).shuffle(&mut order);
        order
    }

    /// Reads the validation documents, chooses threshold and level, and writes the checkpoint where it is the best so far.
    fn validate(&mut self, at: &mut Progress, progress: &mut Watch<'_>) -> Result<(), TrainError> {
        let sizes = self.settings.sizes;
        let network = Network::new(&Frozen(&self.parameters), &sizes, self.settings.topics.len(), &Device::Cpu)?;
        let model = HierCrf::of(network, self.settings.clone(), &Device::Cpu);
        let found = readings(&model, self.data.validation, self.data.vectors)?;
        let chosen = measure(self.data.validation, &found, self.options.metric);
        let best = at.better(chosen.goodness);
        let validation = Validation {
            step: at.step,
            f1: Some(chosen.f1),
            threshold: chosen.threshold,
            accuracy: None,
            questions: None,
            best,
        };
        if best {
            self.settings.cut = chosen.cut;
            self.settings.threshold = chosen.threshold;
            self.settings.level = chosen.level;
            self.write()?;
        }
        at.note(&validation, chosen.goodness);
        let _ = progress(Event::Validated(validation));
        Ok(())
    }

    fn write(&self) -> Result<(), TrainError> {
        Ok(Checkpoint::new(self.settings.clone(), self.parameters.values()?).write(&self.target, true)?)
    }
}
