use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use candle_core::{Device, Tensor};
use pericope_encode::ModelError;
use pericope_encode::encoders::Tensors;
use pericope_segment::random::{SplitMix64, fnv1a};
use pericope_util::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::adamw::AdamW;
use super::events::{Event, TrainReport, Validation, Watch};
use super::fit::{check_target, make_folder};
use super::gradients::{Gradients, cross_entropy};
use super::options::{Options, TrainError};
use super::parsing::{Metric, measure, readings};
use super::state::{self, Progress};
use super::trees::{Example, TreeDocument};
use crate::corpus::SentenceVectors;
use crate::hiercrf::{BinaryNode, Checkpoint, Cut, HierCrf, Kind, Network, Place, Settings, Sizes, TreeLoss, binarise};
use crate::sequence::Parameters;

/// The vectors of the sentences that are trained on.
pub trait VectorSource {
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

/// The data of a training of HierCRF.
pub struct TreeData<'a> {
    /// Documents to learn from.
    pub train: &'a [TreeDocument],
    /// Documents to choose weights, threshold and level by; without any, the last weights stay.
    pub validation: &'a [TreeDocument],
    /// The vectors of all their sentences.
    pub vectors: &'a dyn VectorSource,
}

/// The options of a training of HierCRF. The defaults are as published where that says so (Nair et al. 2023, section 5.3), but
/// for the batch: published are 100 documents, for half a million of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HierCrfOptions {
    /// The sizes of the model; `input` is that of the vectors.
    pub sizes: Sizes,
    /// Sentences of a document that is learned from, at most; longer documents give parts. Windows are as long.
    pub window: usize,
    /// Synthetic documents for each real one.
    pub synthetic: f64,
    /// Sentences below which a section is left out of the documents that are learned from. (Part of the data, not of the
    /// training; noted here.)
    pub least: usize,
    /// Passes over the documents.
    pub epochs: f64,
    /// Documents of a step, real and synthetic.
    pub batch: usize,
    /// Sentences whose gradients are worked out together, padding counted. Bounds memory.
    pub micro_batch: usize,
    /// Learning rate of Adam at the beginning.
    pub learning_rate: f64,
    /// Factor by which the rate falls over `decay_steps` steps.
    pub decay: f64,
    /// Steps over which the rate falls by `decay`.
    pub decay_steps: usize,
    /// Share of the units behind each layer of the LSTM that are left out, the same ones for all sentences of a document.
    pub dropout: f64,
    /// Norm that the gradient is scaled down to where it is longer.
    pub clip: f64,
    /// The metric by which weights, threshold and level are chosen.
    pub metric: Metric,
    /// Validations an epoch.
    pub validations: usize,
    /// Validations without a better result after which training ends.
    pub patience: usize,
    /// Steps at most; 0: as many as the epochs have.
    pub max_steps: usize,
    /// Seed of weights, order, parts and synthetic documents.
    pub seed: u64,
}

impl Default for HierCrfOptions {
    fn default() -> Self {
        Self {
            sizes: Sizes::default(),
            window: 200,
            synthetic: 1.0,
            least: 3,
            epochs: 4.0,
            batch: 16,
            micro_batch: 3200,
            learning_rate: 2e-4,
            decay: 0.75,
            decay_steps: 50_000,
            dropout: 0.33,
            clip: 5.0,
            metric: Metric::F1,
            validations: 1,
            patience: 4,
            max_steps: 0,
            seed: 7,
        }
    }
}

impl HierCrfOptions {
    fn check(&self, data: &TreeData<'_>) -> Result<(), TrainError> {
        let wrong = |reason: String| Err(TrainError::Options(reason));
        if data.train.iter().all(|document| document.sentences.len() < 2) {
            return wrong("no document of two sentences or more to train on".into());
        }
        if data.vectors.dimension() != self.sizes.input {
            let (have, want) = (data.vectors.dimension(), self.sizes.input);
            return wrong(format!("the vectors have {have} numbers, the model reads {want}"));
        }
        for (name, value, fits) in [
            ("dropout", self.dropout, (0.0..1.0).contains(&self.dropout)),
            ("synthetic", self.synthetic, (0.0..=100.0).contains(&self.synthetic)),
            ("learning_rate", self.learning_rate, self.learning_rate > 0.0 && self.learning_rate < 1.0),
            ("decay", self.decay, self.decay > 0.0 && self.decay <= 1.0),
            ("clip", self.clip, self.clip > 0.0),
            ("epochs", self.epochs, self.epochs > 0.0 && self.epochs.is_finite()),
        ] {
            if !fits {
                return wrong(format!("{name} is {value}"));
            }
        }
        Ok(())
    }
}

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

struct Training<'a> {
    data: &'a TreeData<'a>,
    options: &'a HierCrfOptions,
    parameters: Parameters,
    settings: Settings,
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

    /// The examples of a step, longest first.
    fn examples(&self, tasks: &[usize], epoch: usize) -> Vec<Example> {
        let (documents, limit) = (self.data.train, self.options.window);
        let made = tasks.iter().map(|&task| {
            let seed = fnv1a(self.options.seed, [epoch.to_le_bytes(), task.to_le_bytes()].concat());
            let mut random = SplitMix64::new(seed);
            match task < documents.len() {
                true => Example::of(documents, task, limit, &mut random),
                false => Example::synthetic(documents, limit, &mut random),
            }
        });
        let mut made: Vec<Example> = made.filter(|example| example.sentences.len() > 1).collect();
        made.sort_by_key(|example| std::cmp::Reverse(example.sentences.len()));
        made
    }

    /// The mean loss of a step and its gradients.
    fn step(
        &self,
        network: &Network,
        tasks: &[usize],
        epoch: usize,
        step: usize,
    ) -> Result<(f32, Gradients), TrainError> {
        let examples = self.examples(tasks, epoch);
        let mut gradients = Gradients::default();
        let mut total = 0.0;
        let all = Totals::of(&examples);
        let mut rest = examples.as_slice();
        let mut random = SplitMix64::new(fnv1a(self.options.seed ^ 0x5eed, step.to_le_bytes()));
        while let Some(first) = rest.first() {
            // As many as fit, each as long as the first.
            let count = (self.options.micro_batch / first.sentences.len().max(1)).clamp(1, rest.len());
            let (some, others) = rest.split_at(count);
            rest = others;
            let loss = self.loss(network, some, &all, &mut random)?;
            let value = loss.to_scalar::<f32>()?;
            if !value.is_finite() {
                return Err(TrainError::NotFinite { step: step + 1, what: "loss", value: value.into() });
            }
            total += value;
            gradients.add_by(&loss, self.parameters.all())?;
        }
        Ok((total, gradients))
    }

    /// The part of some examples in the loss of a step.
    fn loss(
        &self,
        network: &Network,
        examples: &[Example],
        all: &Totals,
        random: &mut SplitMix64,
    ) -> Result<Tensor, TrainError> {
        let x = self.vectors(examples)?;
        let lengths: Vec<usize> = examples.iter().map(|example| example.sentences.len()).collect();
        let rate = self.options.dropout;
        let read = network.read(&x, &lengths, &mut |x| dropped(x, rate, random))?;
        let trees: Vec<Vec<BinaryNode>> = examples.iter().map(|example| binarise(&example.tree)).collect();
        let gold: Vec<Vec<(usize, usize)>> =
            trees.iter().map(|tree| tree.iter().map(|node| (node.start, node.end)).collect()).collect();
        let (mut places, mut kinds): (Vec<Place>, Vec<usize>) = (Vec::new(), Vec::new());
        for (document, tree) in trees.iter().enumerate() {
            places.extend(tree.iter().map(|node| (document, (node.start, node.end))));
            kinds.extend(tree.iter().map(|node| usize::from(node.kind == Kind::Irreducible)));
        }
        let scores = network.spans(&read)?.contiguous()?;
        let trees = scores.apply_op1(TreeLoss::new(gold, lengths))?.sum_all()?;
        let types = cross_entropy(&network.kinds(&read, &places)?, &kinds)?;
        let mut loss = ((trees / all.sentences)? + (types / all.nodes)?)?;
        let (mut places, mut labels): (Vec<Place>, Vec<usize>) = (Vec::new(), Vec::new());
        for (document, example) in examples.iter().enumerate() {
            for &(start, end, (from, at)) in &example.topics {
                let label = self.data.train.get(from).and_then(|one| one.topics.get(at));
                let place = label.and_then(|(.., label)| self.settings.topics.binary_search(label).ok());
                if let Some(place) = place {
                    places.push((document, (start, end)));
                    labels.push(place);
                }
            }
        }
        if !places.is_empty()
            && let Some(scores) = network.topics(&read, &places)?
        {
            loss = (loss + (cross_entropy(&scores, &labels)? / all.topics.max(1.0))?)?;
        }
        Ok(loss)
    }

    /// The vectors of a batch, `[examples, time, input]`.
    fn vectors(&self, examples: &[Example]) -> Result<Tensor, TrainError> {
        let width = self.settings.sizes.input;
        let time = examples.iter().map(|example| example.sentences.len()).max().unwrap_or(0);
        let mut x = vec![0f32; examples.len() * time * width];
        for (example, rows) in examples.iter().zip(x.chunks_exact_mut((time * width).max(1))) {
            let text = |&(document, sentence): &(usize, usize)| -> &str {
                let sentences = self.data.train.get(document).map(|one| one.sentences.as_slice());
                sentences.and_then(|all| all.get(sentence)).map_or("", String::as_str)
            };
            let texts: Vec<&str> = example.sentences.iter().map(text).collect();
            let found = self.data.vectors.vectors(&texts).map_err(TrainError::Options)?;
            match rows.get_mut(..found.len()) {
                Some(rows) if found.len() == texts.len() * width => rows.copy_from_slice(&found),
                _ => return Err(TrainError::Options(format!("{} numbers for {} texts", found.len(), texts.len()))),
            }
        }
        Ok(Tensor::from_vec(x, (examples.len(), time, width), &Device::Cpu)?)
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

/// What the losses of a step are divided by.
struct Totals {
    sentences: f64,
    nodes: f64,
    topics: f64,
}

impl Totals {
    fn of(examples: &[Example]) -> Self {
        let sum = |number: fn(&Example) -> usize| examples.iter().map(number).sum::<usize>() as f64;
        Self {
            sentences: sum(|example| example.sentences.len()).max(1.0),
            nodes: sum(|example| example.sentences.len().saturating_sub(1)).max(1.0),
            topics: sum(|example| example.topics.len()),
        }
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

/// The values in a saved state.
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
