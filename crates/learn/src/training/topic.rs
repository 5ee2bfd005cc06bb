use std::path::{Path, PathBuf};
use std::time::Instant;

use candle_core::{Device, Tensor};
use pericope_api::{Document, Kind};
use pericope_segment::random::{SplitMix64, fnv1a};
use pericope_util::hex;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::adamw::{AdamW, Schedule};
use super::events::{Event, TrainReport, Validation, Watch};
use super::fit::{check_target, make_folder};
use super::gradients::Gradients;
use super::hiercrf::VectorSource;
use super::options::{Options, TrainError};
use super::over_vectors::{Frozen, Saved, dropped};
use super::state::{self, Progress};
use crate::corpus::{Headings, Record, SequenceDocument};
use crate::sequence::Parameters;
use crate::topic::{Checkpoint, Inputs, Network, Settings, Sizes, Topic, batch};

/// The data of a training of the sequence model.
pub struct TopicData<'a> {
    /// Documents to learn from.
    pub train: &'a [Record],
    /// Documents to choose the weights by; without any, the last weights stay.
    pub validation: &'a [Record],
    /// The vectors of all their sentences and headings.
    pub vectors: &'a dyn VectorSource,
}

/// The options of a training of the sequence model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TopicOptions {
    /// The sizes of the model; `input` is that of the vectors.
    pub sizes: Sizes,
    /// Sentences of an example at most; longer documents give several.
    pub window: usize,
    /// Share of the examples that are joined with parts of other documents, 0 to 1.
    pub joined: f64,
    /// Share of the examples with known paragraphs whose paragraphs are hidden, 0 to 1.
    pub hidden_paragraphs: f64,
    /// Passes over the documents.
    pub epochs: f64,
    /// Examples of a step.
    pub batch: usize,
    /// Highest learning rate of AdamW.
    pub learning_rate: f64,
    /// Share of the steps in which the rate rises from 0; then it falls to 0 at the end.
    pub warm_up: f64,
    /// Weight decay of matrices.
    pub decay: f64,
    /// Share of the numbers that each layer does not see, 0 to 1.
    pub dropout: f64,
    /// Norm that the gradient is scaled down to where it is longer.
    pub clip: f64,
    /// Validations an epoch.
    pub validations: usize,
    /// Validations without a better F1 after which training ends.
    pub patience: usize,
    /// Steps at most; 0: as many as the epochs have.
    pub max_steps: usize,
    /// Seed of weights, order, parts and dropout.
    pub seed: u64,
}

impl Default for TopicOptions {
    fn default() -> Self {
        Self {
            sizes: Sizes::default(),
            window: 256,
            joined: 0.4,
            hidden_paragraphs: 0.5,
            epochs: 6.0,
            batch: 16,
            learning_rate: 1e-3,
            warm_up: 0.05,
            decay: 0.01,
            dropout: 0.3,
            clip: 1.0,
            validations: 1,
            patience: 4,
            max_steps: 0,
            seed: 7,
        }
    }
}

/// Sentences of another document that join an example: at least, and at most.
const JOINED: (usize, usize) = (5, 80);

/// Parts of other documents that join an example at most.
const PARTS: usize = 3;

/// Seconds between two savings of the state.
const SAVE_EVERY: f64 = 60.0;

/// Trains the sequence model of `topic` and writes `topic.safetensors` into the folder `out`, with the state that an interrupted
/// training goes on from. `start` is a checkpoint to go on from; `notes` go into the new one.
///
/// An example is a run of sentences of one document, its headings dropped or kept, in part joined with runs of others; the loss is
/// the mean cross-entropy over gaps. Results depend on the seed, not on the number of threads.
///
/// # Errors
/// [`TrainError`], for options that contradict each other or the data before anything is trained.
pub fn train_topic(
    start: Option<&Checkpoint>,
    data: &TopicData<'_>,
    options: &TopicOptions,
    out: &Path,
    notes: &str,
    progress: &mut Watch<'_>,
) -> Result<TrainReport, TrainError> {
    options.check(data)?;
    let target = out.join("topic.safetensors");
    check_target(start, &target)?;
    make_folder(out)?;
    let (encoder, fingerprint) = data.vectors.encoder();
    let settings = Settings {
        encoder: encoder.to_owned(),
        encoder_fingerprint: fingerprint.to_owned(),
        sizes: options.sizes,
        threshold: start.map_or(0.5, |start| start.settings.threshold),
        notes: notes.to_owned(),
    };
    settings.check().map_err(TrainError::Options)?;
    let parameters = Parameters::new(&Network::parameters(&settings.sizes), options.seed, &Device::Cpu)?;
    if let Some(start) = start {
        parameters.set(start)?;
    }
    let validation = data.validation.par_iter().map(|record| Labelled::of(record, data.vectors));
    let validation = validation.collect::<Result<Vec<_>, _>>()?;
    let mut training = Training { data, options, parameters, settings, validation, target };
    training.run(&out.join("state.safetensors"), &digest(start, data, options), progress)
}

impl TopicOptions {
    fn check(&self, data: &TopicData<'_>) -> Result<(), TrainError> {
        let wrong = |reason: String| Err(TrainError::Options(reason));
        if data.train.iter().all(|record| record.sentences.len() < 2) {
            return wrong("no document of two sentences or more to train on".into());
        }
        if data.vectors.dimension() != self.sizes.input {
            let (have, want) = (data.vectors.dimension(), self.sizes.input);
            return wrong(format!("the vectors have {have} numbers, the model reads {want}"));
        }
        for (name, value, fits) in [
            ("dropout", self.dropout, (0.0..1.0).contains(&self.dropout)),
            ("joined", self.joined, (0.0..=1.0).contains(&self.joined)),
            ("hidden_paragraphs", self.hidden_paragraphs, (0.0..=1.0).contains(&self.hidden_paragraphs)),
            ("learning_rate", self.learning_rate, self.learning_rate > 0.0 && self.learning_rate < 1.0),
            ("clip", self.clip, self.clip > 0.0),
            ("epochs", self.epochs, self.epochs > 0.0 && self.epochs.is_finite()),
            ("window", self.window as f64, self.window >= 2),
        ] {
            if !fits {
                return wrong(format!("{name} is {value}"));
            }
        }
        Ok(())
    }
}

/// A number that other data, options or another beginning change.
fn digest(start: Option<&Checkpoint>, data: &TopicData<'_>, options: &TopicOptions) -> String {
    let mut hash = Sha256::new();
    hash.update(format!("{options:?} {:?} {:?}", start.map(Checkpoint::sha256), data.vectors.encoder()));
    for record in data.train.iter().chain(data.validation) {
        hash.update(format!("{:?}{:?}{:?}", record.sentences, record.boundaries, record.paragraphs));
    }
    hex(&hash.finalize())
}

/// A run of sentences with what is known of it.
#[derive(Default)]
struct Run {
    sentences: Vec<String>,
    kinds: Vec<Kind>,
    /// Numbers that rise where a paragraph begins.
    paragraphs: Vec<u32>,
    /// Whether a segment ends behind each sentence.
    ends: Vec<bool>,
}

impl Run {
    /// Adds sentences of a document, behind a boundary.
    fn add(&mut self, document: &SequenceDocument, range: std::ops::Range<usize>, paragraphs: bool, headings: bool) {
        if let Some(last) = self.ends.last_mut() {
            *last = true;
        }
        let ends = document.boundary_flags();
        let known = document.paragraph_flags().filter(|_| paragraphs);
        let mut paragraph = self.paragraphs.last().map_or(0, |last| last + 1);
        for i in range {
            let Some(sentence) = document.sentences.get(i) else { break };
            let level = document.headings.get(i).copied().unwrap_or(0);
            self.sentences.push(sentence.clone());
            self.kinds.push(if level > 0 && headings { Kind::Heading(level) } else { Kind::Prose });
            self.paragraphs.push(paragraph);
            self.ends.push(ends.get(i).copied().unwrap_or(false));
            let ended = known.as_ref().is_none_or(|known| known.get(i).copied().unwrap_or(true));
            paragraph += u32::from(ended);
        }
    }
}

/// What the model reads of a run, and whether a segment ends at each gap.
struct Labelled {
    inputs: Inputs,
    ends: Vec<bool>,
}

impl Labelled {
    /// A whole document as it is measured: without its headings.
    fn of(record: &Record, vectors: &dyn VectorSource) -> Result<Self, TrainError> {
        let document = SequenceDocument::new(record, Headings::Dropped);
        let mut run = Run::default();
        run.add(&document, 0..document.len(), true, false);
        Self::read(run, vectors)
    }

    fn read(run: Run, vectors: &dyn VectorSource) -> Result<Self, TrainError> {
        let mut document = Document::from_sentences("", &run.sentences);
        for ((sentence, &paragraph), &kind) in document.sentences.iter_mut().zip(&run.paragraphs).zip(&run.kinds) {
            (sentence.paragraph, sentence.kind) = (paragraph, kind);
        }
        let texts: Vec<&str> = run.sentences.iter().map(String::as_str).collect();
        let rows = vectors.vectors(&texts).map_err(TrainError::Options)?;
        let inputs = Inputs::new(&document, &rows, vectors.dimension());
        let inputs = inputs.ok_or_else(|| TrainError::Options("a sentence of the data is blank".into()))?;
        Ok(Self { inputs, ends: run.ends })
    }
}

struct Training<'a> {
    data: &'a TopicData<'a>,
    options: &'a TopicOptions,
    parameters: Parameters,
    settings: Settings,
    validation: Vec<Labelled>,
    target: PathBuf,
}

impl Training<'_> {
    fn run(&mut self, state: &Path, fingerprint: &str, progress: &mut Watch<'_>) -> Result<TrainReport, TrainError> {
        let options = self.options;
        let batches = self.epoch(0).len().div_ceil(options.batch.max(1)).max(1);
        let steps =
            Options { epochs: options.epochs, max_steps: options.max_steps, ..Options::default() }.steps(batches);
        let schedule = Schedule { steps, warm_up: options.warm_up };
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
        let network = Network::new(&self.parameters, &self.settings.sizes, &Device::Cpu)?;
        let (mut began, mut saved) = (Instant::now(), Instant::now());
        let mut order = (usize::MAX, Vec::new());
        while goes_on(&at) {
            let (epoch, number) = (at.step / batches, at.step % batches);
            if order.0 != epoch {
                order = (epoch, self.epoch(epoch));
            }
            let from = (number * options.batch).min(order.1.len());
            let tasks = order.1.get(from..(from + options.batch.max(1)).min(order.1.len())).unwrap_or_default();
            let (loss, gradients) = self.step(&network, tasks, epoch, at.step)?;
            let rate = options.learning_rate * schedule.at(at.step);
            let matrix = |name: &str| name.ends_with(".weight");
            adam.step(self.parameters.all(), &gradients.clipped(options.clip, at.step)?, |name| {
                (rate, if matrix(name) { options.decay } else { 0.0 })
            })?;
            at.step += 1;
            at.losses.push(loss);
            let recent = at.losses.get(at.losses.len().saturating_sub(100)..).unwrap_or_default();
            let mean = recent.iter().map(|&loss| f64::from(loss)).sum::<f64>() / recent.len().max(1) as f64;
            let told = progress(Event::Step { step: at.step, steps, loss: mean, question_loss: None, rate });
            if !self.validation.is_empty() && (at.step.is_multiple_of(every) || at.step == steps) {
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
        if self.validation.is_empty() {
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

    /// What an epoch learns from, in its order: each document as often as it has windows.
    fn epoch(&self, epoch: usize) -> Vec<(usize, usize)> {
        let windows = |(i, record): (usize, &Record)| {
            let n = record.sentences.len();
            let count = if n < 2 { 0 } else { n.div_ceil(self.options.window) };
            (0..count).map(move |window| (i, window))
        };
        let mut order: Vec<(usize, usize)> = self.data.train.iter().enumerate().flat_map(windows).collect();
        SplitMix64::new(fnv1a(self.options.seed, epoch.to_le_bytes())).shuffle(&mut order);
        order
    }

    /// An example: a window of a document, beginning anywhere near its place, maybe with runs of other documents.
    fn example(&self, (document, window): (usize, usize), epoch: usize) -> Result<Labelled, TrainError> {
        let options = self.options;
        let key = [epoch.to_le_bytes(), document.to_le_bytes(), window.to_le_bytes()].concat();
        let mut random = SplitMix64::new(fnv1a(options.seed, key));
        let mut share = || (random.next() >> 11) as f64 / (1u64 << 53) as f64;
        let paragraphs = share() >= options.hidden_paragraphs;
        let headings = share() < 0.5;
        let kept = if share() < 0.5 { Headings::Kept } else { Headings::Dropped };
        let own = |i: usize| self.data.train.get(i).map(|record| SequenceDocument::new(record, kept));
        let mut run = Run::default();
        let others = if share() < options.joined { 1 + (share() * PARTS as f64) as usize } else { 0 };
        let before = (share() * (others + 1) as f64) as usize;
        for part in 0..=others {
            if part == before.min(others) {
                let Some(one) = own(document) else { continue };
                let windows = one.len().div_ceil(options.window).max(1);
                let length = options.window.min(one.len());
                // Windows lie evenly, and begin somewhat earlier or later in every epoch.
                let room = (one.len() - length) as f64;
                let place = (window as f64 + share()) / windows as f64;
                let start = (room * place.min(1.0)) as usize;
                run.add(&one, start..start + length, paragraphs, headings);
            } else {
                let Some(one) = own((share() * self.data.train.len() as f64) as usize) else { continue };
                let length = JOINED.0 + (share() * (JOINED.1 - JOINED.0) as f64) as usize;
                let length = length.min(one.len());
                let start = (share() * (one.len() - length + 1) as f64) as usize;
                run.add(&one, start..start + length, paragraphs, headings);
            }
        }
        Labelled::read(run, self.data.vectors)
    }

    fn step(
        &self,
        network: &Network,
        tasks: &[(usize, usize)],
        epoch: usize,
        step: usize,
    ) -> Result<(f32, Gradients), TrainError> {
        let examples: Vec<Labelled> =
            tasks.par_iter().map(|&task| self.example(task, epoch)).collect::<Result<_, _>>()?;
        let parts: Vec<_> = examples.iter().map(|one| (&one.inputs, 0..one.inputs.len())).collect();
        let (rows, lengths) = batch(&parts, &Device::Cpu)?;
        let mut random = SplitMix64::new(fnv1a(self.options.seed ^ 0x5eed, step.to_le_bytes()));
        let odds = network.forward(&rows, &lengths, &mut |x| dropped(x, self.options.dropout, &mut random))?;
        let (_, time) = odds.dims2()?;
        let mut wanted = vec![0f32; examples.len() * time];
        let mut counts = wanted.clone();
        for (i, one) in examples.iter().enumerate() {
            let gaps = one.inputs.len().saturating_sub(1);
            for (gap, &end) in one.ends.iter().take(gaps).enumerate() {
                if let (Some(label), Some(count)) = (wanted.get_mut(i * time + gap), counts.get_mut(i * time + gap)) {
                    (*label, *count) = (f32::from(u8::from(end)), 1.0);
                }
            }
        }
        let total = counts.iter().sum::<f32>().max(1.0);
        let shape = (examples.len(), time);
        let (wanted, counts) =
            (Tensor::from_vec(wanted, shape, &Device::Cpu)?, Tensor::from_vec(counts, shape, &Device::Cpu)?);
        // ln(1 + e^x) - x y, without overflow.
        let soft = (odds.relu()? + (odds.abs()?.neg()?.exp()? + 1.0)?.log()?)?;
        let loss = (((soft - (&odds * wanted)?)? * counts)?.sum_all()? / f64::from(total))?;
        let mut gradients = Gradients::default();
        gradients.add_by(&loss, self.parameters.all())?;
        let loss = loss.to_scalar::<f32>()?;
        if !loss.is_finite() {
            return Err(TrainError::NotFinite { step: step + 1, what: "loss", value: loss.into() });
        }
        Ok((loss, gradients))
    }

    fn validate(&mut self, at: &mut Progress, progress: &mut Watch<'_>) -> Result<(), TrainError> {
        let network = Network::new(&Frozen(&self.parameters), &self.settings.sizes, &Device::Cpu)?;
        let model = Topic::of(network, self.settings.clone(), &Device::Cpu);
        let mut scored: Vec<(f64, bool)> = Vec::new();
        for one in &self.validation {
            let odds = model.log_odds(&one.inputs)?;
            scored.extend(odds.into_iter().map(|x| 1.0 / (1.0 + (-x).exp())).zip(one.ends.iter().copied()));
        }
        let (threshold, f1) = best_threshold(scored);
        let best = f1.is_some_and(|f1| at.better(f1));
        let found = Validation { step: at.step, f1, threshold, accuracy: None, questions: None, best };
        at.note(&found, f1.unwrap_or(0.0));
        let _ = progress(Event::Validated(found));
        if best {
            self.settings.threshold = threshold;
            self.write()?;
        }
        Ok(())
    }

    fn write(&self) -> Result<(), TrainError> {
        let checkpoint = Checkpoint::new(self.settings.clone(), self.parameters.values()?);
        Ok(checkpoint.write(&self.target, true)?)
    }
}

/// The threshold with the highest F1 over all gaps, and that F1; none where no boundary is known.
fn best_threshold(mut scored: Vec<(f64, bool)>) -> (f64, Option<f64>) {
    let boundaries = scored.iter().filter(|(_, end)| *end).count();
    if boundaries == 0 {
        return (0.5, None);
    }
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut hits, mut best) = (0usize, (0.5, 0.0));
    for (i, &(score, end)) in scored.iter().enumerate() {
        hits += usize::from(end);
        let next = scored.get(i + 1).map_or(0.0, |next| next.0);
        let f1 = 2.0 * hits as f64 / (i + 1 + boundaries) as f64;
        if next < score && f1 > best.1 {
            best = (f64::midpoint(score, next), f1);
        }
    }
    (best.0, Some(best.1))
}
