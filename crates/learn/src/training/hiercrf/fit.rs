use std::path::Path;

use candle_core::Device;
use pericope_segment::random::{SplitMix64, fnv1a};
use pericope_util::hex;
use sha2::{Digest, Sha256};

use super::options::{HierCrfOptions, TreeData};
use super::parsing::{measure, readings};
use crate::hiercrf::{Checkpoint, Cut, HierCrf, Network, Settings};
use crate::sequence::Parameters;
use crate::training::events::{Event, TrainReport, Validation, Watch};
use crate::training::fit::{check_target, make_folder};
use crate::training::gradients::Gradients;
use crate::training::options::TrainError;
use crate::training::over_vectors::{Course, Frozen, Learner, learn};
use crate::training::state::Progress;

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
    let course = Course {
        state: out.join("state.safetensors"),
        fingerprint: fingerprint(start, data, options),
        epochs: options.epochs,
        max_steps: options.max_steps,
        batch: options.batch,
        clip: options.clip,
        validations: options.validations,
        patience: options.patience,
    };
    learn(&mut training, &course, progress)
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
    let Some(start) = start.map(|start| &start.settings) else {
        return Ok(settings);
    };
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

impl Learner for Training<'_> {
    type Item = usize;

    fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Documents by their place, and synthetic ones by their number behind them.
    fn epoch(&self, epoch: usize) -> Vec<usize> {
        let documents = self.data.train.len();
        let synthetic = (documents as f64 * self.options.synthetic).round() as usize;
        let mut order: Vec<usize> = (0..documents + synthetic).collect();
        SplitMix64::new(fnv1a(self.options.seed, epoch.to_le_bytes())).shuffle(&mut order);
        order
    }

    fn step(&self, items: &[usize], epoch: usize, step: usize) -> Result<(f32, Gradients), TrainError> {
        let topics = self.settings.topics.len();
        let network = Network::new(&self.parameters, &self.settings.sizes, topics, &Device::Cpu)?;
        self.gradients(&network, items, epoch, step)
    }

    fn rate(&self, step: usize, _steps: usize) -> f64 {
        let HierCrfOptions { learning_rate, decay, decay_steps, .. } = *self.options;
        learning_rate * decay.powf(step as f64 / decay_steps.max(1) as f64)
    }

    fn validates(&self) -> bool {
        !self.data.validation.is_empty()
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
