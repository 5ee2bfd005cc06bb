use std::path::Path;

use candle_core::Device;
use pericope_segment::random::{SplitMix64, fnv1a};
use pericope_util::hex;
use sha2::{Digest, Sha256};

use super::options::{HierCrfOptions, TreeData};
use super::parsing::{Found, measure, readings};
use super::trees::TreeDocument;
use crate::hiercrf::{CHECKPOINT, Checkpoint, Cut, HierCrf, Network, Reads, Settings};
use crate::rows::ROWS;
use crate::sequence::Parameters;
use crate::training::events::{Event, TrainReport, Validation, Watch};
use crate::training::fit::{check_target, make_folder};
use crate::training::gradients::Gradients;
use crate::training::options::TrainError;
use crate::training::over_vectors::{Course, Frozen, Learner, learn};
use crate::training::sitting::STATE;
use crate::training::state::Progress;

/// Trains a HierCRF and writes `hiercrf.safetensors` into the folder `out`, with the state that an interrupted training goes on
/// from. `start` is a checkpoint to go on from; `notes` go into the new one.
///
/// The loss of a step is the mean over sentences of the trees' negative log-likelihood, plus the mean over nodes of the
/// cross-entropy of their types, plus that of labels where segments have any, plus that of the head of gaps where the options
/// give it a weight. Results depend on the seed, not on the number
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
    let target = out.join(CHECKPOINT);
    check_target(start, &target)?;
    make_folder(out)?;
    let settings = settings(start, data, options, notes)?;
    let parameters = Parameters::new(&Network::parameters(&settings), options.seed, &Device::Cpu)?;
    if let Some(start) = start {
        parameters.set(start)?;
    }
    let mut training = Training { data, options, parameters, settings, target };
    if !training.validates() && !data.validation.plain.is_empty() {
        let _ = progress(Event::no_boundary());
    }
    let course = Course {
        state: Some(out.join(STATE)),
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
        data.train.all().flat_map(|document| document.topics.iter().map(|(.., label)| label.clone())).collect();
    topics.sort_unstable();
    topics.dedup();
    let (encoder, fingerprint) = data.vectors.encoder();
    let settings = Settings {
        encoder: encoder.to_owned(),
        encoder_fingerprint: fingerprint.to_owned(),
        reads: options.reads,
        sizes: options.sizes,
        window: options.window,
        topics,
        cut: Cut::Scores,
        threshold: 0.5,
        level: 1,
        gap_share: 0.0,
        notes: notes.to_owned(),
    };
    settings.check().map_err(TrainError::Options)?;
    let Some(start) = start.map(|start| &start.settings) else {
        return Ok(settings);
    };
    if start.reads != settings.reads {
        let (before, now) = (named(start.reads), named(settings.reads));
        return Err(TrainError::Options(format!("the model to begin with reads {before}, not {now}")));
    }
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
        gap_share: start.gap_share,
        ..settings
    })
}

fn named(reads: Reads) -> &'static str {
    match reads {
        Reads::Vectors => "vectors",
        Reads::Rows => "rows",
    }
}

/// A number that other data, options or another beginning change.
fn fingerprint(start: Option<&Checkpoint>, data: &TreeData<'_>, options: &HierCrfOptions) -> String {
    let mut hash = Sha256::new();
    if options.reads == Reads::Rows {
        hash.update(ROWS);
    }
    hash.update(format!("{options:?} {:?} {:?}", start.map(Checkpoint::sha256), data.vectors.encoder()));
    for document in data.train.all().chain(data.validation.all()) {
        hash.update(format!("{:?}{:?}{:?}", document.sentences, document.tree.nodes(), document.topics));
        hash.update(format!("{:?}{:?}{:?}", document.headings, document.boundaries, document.paragraphs));
    }
    hex(&hash.finalize())
}

/// A document by its place, or a synthetic one by its number behind them; and the how-manieth part of it.
pub(super) type Task = (usize, usize);

/// A training at work.
pub(super) struct Training<'a> {
    pub(super) data: &'a TreeData<'a>,
    pub(super) options: &'a HierCrfOptions,
    pub(super) parameters: Parameters,
    pub(super) settings: Settings,
    target: std::path::PathBuf,
}

impl Learner for Training<'_> {
    type Item = Task;

    fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Documents by their place, and synthetic ones by their number behind them. Where rows are read, a document that is longer than
    /// a window gives as many parts as it has windows.
    fn epoch(&self, epoch: usize) -> Vec<Task> {
        let documents = self.data.train.plain;
        let parts = |document: &TreeDocument| match self.settings.reads {
            Reads::Vectors => 1,
            Reads::Rows => document.sentences.len().div_ceil(self.options.window).max(1),
        };
        let real = documents.iter().enumerate().flat_map(|(at, one)| (0..parts(one)).map(move |part| (at, part)));
        let mut order: Vec<Task> = real.collect();
        let synthetic = (order.len() as f64 * self.options.synthetic).round() as usize;
        order.extend((0..synthetic).map(|at| (documents.len() + at, 0)));
        SplitMix64::new(fnv1a(self.options.seed, epoch.to_le_bytes())).shuffle(&mut order);
        order
    }

    fn step(&self, items: &[Task], epoch: usize, step: usize) -> Result<(f32, Gradients), TrainError> {
        let network = Network::new(&self.parameters, &self.settings, &Device::Cpu)?;
        self.gradients(&network, items, epoch, step)
    }

    fn rate(&self, step: usize, _steps: usize) -> f64 {
        let HierCrfOptions { learning_rate, decay, decay_steps, .. } = *self.options;
        learning_rate * decay.powf(step as f64 / decay_steps.max(1) as f64)
    }

    fn validates(&self) -> bool {
        self.data.validation.plain.iter().any(|document| !document.boundaries.is_empty())
    }

    /// Reads the validation documents, chooses threshold and level, and writes the checkpoint where it is the best so far.
    fn validate(&mut self, at: &mut Progress, progress: &mut Watch<'_>) -> Result<(), TrainError> {
        let network = Network::new(&Frozen(&self.parameters), &self.settings, &Device::Cpu)?;
        let by_trees = Settings { gap_share: 0.0, ..self.settings.clone() };
        let model = HierCrf::of(network, by_trees, &Device::Cpu);
        let mut found: Vec<Found<'_>> = Vec::new();
        for documents in self.data.validation.each() {
            found.push((documents, readings(&model, documents, true, self.data.vectors)?));
        }
        if self.settings.reads == Reads::Rows {
            // As text without blank lines is read.
            let documents = self.data.validation.plain;
            found.push((documents, readings(&model, documents, false, self.data.vectors)?));
        }
        let chosen = measure(&found, self.options.metric);
        let best = at.better(chosen.goodness);
        let validation = Validation {
            step: at.step,
            f1: Some(chosen.f1),
            threshold: chosen.threshold,
            accuracy: None,
            questions: None,
            judged: None,
            best,
        };
        if best {
            self.settings.cut = chosen.cut;
            self.settings.threshold = chosen.threshold;
            self.settings.gap_share = chosen.gap_share;
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
