use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use candle_core::{Device, Var};
use pericope_encode::encoders::{LowRank, low_rank};
use pericope_encode::registry::CHANGED;
use pericope_segment::random::{SplitMix64, fnv1a};
use pericope_util::hex;
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::examples::{example, ways, whole, windows};
use super::options::{Part, TopicData, TopicOptions};
use super::weigh::{Weighed, looked_at, weigh};
use crate::corpus::Record;
use crate::probability::probability;
use crate::rows::ROWS;
use crate::sequence::Parameters;
use crate::topic::{CHANGEABLE, CHECKPOINT, Checkpoint, Lengths, Network, Settings, Topic, shipped};
use crate::training::adamw::Schedule;
use crate::training::events::{Event, TrainReport, Validation, Watch};
use crate::training::fit::{check_target, make_folder};
use crate::training::gradients::{Gradients, boundary_losses};
use crate::training::options::TrainError;
use crate::training::over_vectors::{Course, Frozen, Learner, VectorSource, dropped, learn};
use crate::training::runs::Labelled;
use crate::training::sitting::STATE;
use crate::training::state::Progress;

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
    options.check(data, start.is_some())?;
    if let Some(start) = start
        && options.part != Part::All
        && options.sizes.without != start.settings.sizes.without
    {
        let problem = "`without` is not that of the model to start from: it can change only where all of it is fitted (--fit all)";
        return Err(TrainError::Options(problem.to_owned()));
    }
    let target = out.join(CHECKPOINT);
    check_target(start, &target)?;
    let (encoder, changes) = encoder(start, data.vectors)?;
    make_folder(out)?;
    let settings = Settings {
        encoder,
        encoder_fingerprint: data.vectors.encoder().1.to_owned(),
        sizes: options.sizes,
        threshold: start.map_or(0.5, |start| start.settings.threshold),
        weights: start.map(|start| start.settings.weights).unwrap_or_default(),
        lengths: Lengths::of(data.train.iter().map(|record| lengths(record).collect())),
        notes: notes.to_owned(),
    };
    settings.check().map_err(TrainError::Options)?;
    let parameters = Parameters::new(&Network::parameters(&settings.sizes), options.seed, &Device::Cpu)?;
    if let Some(start) = start {
        parameters.set(start)?;
    }
    // Where no boundary is known, nothing says which weights are best.
    let validates = data.has_known_boundary();
    if !validates && !data.validation.is_empty() {
        let _ = progress(Event::no_boundary());
    }
    let validation = if validates { validation(data)? } else { Vec::new() };
    let course = Course {
        state: Some(out.join(STATE)),
        fingerprint: digest(start, data, options),
        epochs: options.epochs,
        max_steps: options.max_steps,
        batch: options.batch,
        clip: options.clip,
        validations: options.validations,
        patience: options.patience,
    };
    let is_stepped = |name: &str| options.part == Part::All || name.starts_with("head.");
    let stepped = parameters.all().iter().filter(|(name, _)| is_stepped(name));
    let stepped = stepped.map(|(name, variable)| (name.clone(), variable.clone())).collect();
    let mut training = Training { data, options, parameters, stepped, settings, changes, validation, target };
    let report = match options.part {
        Part::Numbers => {
            training.write()?;
            TrainReport::default()
        }
        Part::Heads | Part::All => learn(&mut training, &course, progress)?,
    };
    training.weigh(progress)?;
    Ok(report)
}

/// The name of the encoder of the vectors, and its changes, which the model brings: those of the model to start from, or those of the
/// file that the encoder's name tells, or of the shipped model.
fn encoder(start: Option<&Checkpoint>, vectors: &dyn VectorSource) -> Result<(String, Option<LowRank>), TrainError> {
    let (name, fingerprint) = vectors.encoder();
    if let Some(start) = start {
        let Settings { encoder, encoder_fingerprint, .. } = &start.settings;
        if encoder_fingerprint != fingerprint {
            let problem = format!(
                "the model to start from reads vectors of {encoder} ({encoder_fingerprint}), and these are of {name} \
                 ({fingerprint}): embed the data for it (pericope train embed --for MODEL)"
            );
            return Err(TrainError::Options(problem));
        }
        let changes = Some(start.low_rank()).filter(|changes| !changes.is_empty());
        return Ok((encoder.clone(), changes));
    }
    let Some(file) = name.strip_prefix(CHANGED) else { return Ok((name.to_owned(), None)) };
    // Vectors that were made for the shipped model name no file: it is in the program.
    let shipped = shipped()?;
    let changes = if shipped.path() == Path::new(file) { shipped.low_rank() } else { LowRank::read(Path::new(file))? };
    if !fingerprint.contains(&low_rank::mark(&changes.checksum()?)) {
        let problem = format!("{file} changed since the vectors were made with it: embed the data anew");
        return Err(TrainError::Options(problem));
    }
    Ok((CHANGEABLE.to_owned(), Some(changes)))
}

/// A document that is measured on, as it is read.
struct Measured<'a> {
    record: &'a Record,
    labelled: Labelled,
}

/// The documents for validation.
fn validation<'a>(data: &TopicData<'a>) -> Result<Vec<Measured<'a>>, TrainError> {
    let read = |(record, paragraphs): (&'a Record, bool)| {
        Ok(Measured { record, labelled: whole(record, paragraphs, data.vectors)? })
    };
    ways(data.validation).into_par_iter().map(read).collect()
}

/// The F1 of each document's exact boundaries where a model and the weights in its checkpoint cut it, the number of segments
/// unknown; 1 where there is no boundary and none is proposed.
///
/// # Errors
/// Where vectors are missing and where the model fails.
pub fn topic_f1(
    checkpoint: &Checkpoint,
    documents: &[Record],
    vectors: &dyn VectorSource,
) -> Result<Vec<f64>, TrainError> {
    let model = Topic::load(checkpoint, &Device::Cpu)?;
    let Settings { weights, lengths, .. } = &checkpoint.settings;
    let f1 = |record: &Record| {
        let Labelled { inputs, ends } = whole(record, true, vectors)?;
        let odds = model.log_odds(&inputs)?;
        let f1 = Weighed::new(record, inputs.vectors(), &odds, &ends).f1(weights, lengths.as_ref());
        f1.map_err(|e| TrainError::Options(e.to_string()))
    };
    documents.iter().map(f1).collect()
}

/// The lengths, in sentences, of a document's segments.
fn lengths(record: &Record) -> impl Iterator<Item = usize> + '_ {
    let starts = std::iter::once(0).chain(record.boundaries.iter().copied());
    let ends = record.boundaries.iter().copied().chain([record.sentences.len()]);
    starts.zip(ends).map(|(start, end)| end.saturating_sub(start))
}

/// A number that other data, options or another beginning change.
fn digest(start: Option<&Checkpoint>, data: &TopicData<'_>, options: &TopicOptions) -> String {
    let mut hash = Sha256::new();
    hash.update(format!("{ROWS} {options:?} {:?} {:?}", start.map(Checkpoint::sha256), data.vectors.encoder()));
    for record in data.train.iter().chain(data.validation) {
        hash.update(format!("{:?}{:?}{:?}", record.sentences, record.boundaries, record.paragraphs));
        // Sentences of half of the examples; without them levels say nothing.
        if !record.headings.is_empty() {
            hash.update(format!("{:?}{:?}", record.headings, record.levels));
        }
    }
    hex(&hash.finalize())
}

/// A training at work.
struct Training<'a> {
    data: &'a TopicData<'a>,
    options: &'a TopicOptions,
    parameters: Parameters,
    /// Those of them that learn.
    stepped: BTreeMap<String, Var>,
    settings: Settings,
    /// Of the encoder, which the model brings.
    changes: Option<LowRank>,
    validation: Vec<Measured<'a>>,
    target: PathBuf,
}

impl Learner for Training<'_> {
    type Item = (usize, usize);

    fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    fn epoch(&self, epoch: usize) -> Vec<(usize, usize)> {
        windows(self.data.train, self.options, epoch)
    }

    fn step(&self, items: &[(usize, usize)], epoch: usize, step: usize) -> Result<(f32, Gradients), TrainError> {
        let network = Network::new(&self.parameters, &self.settings.sizes, &Device::Cpu)?;
        let examples: Vec<Labelled> =
            items.par_iter().map(|&item| example(self.data, self.options, item, epoch)).collect::<Result<_, _>>()?;
        let parts: Vec<_> = examples.iter().map(|one| (&one.inputs, 0..one.inputs.len())).collect();
        let mut random = SplitMix64::new(fnv1a(self.options.seed ^ 0x5eed, step.to_le_bytes()));
        let odds = network.read(&parts, &Device::Cpu, &mut |x| dropped(x, self.options.dropout, &mut random))?;
        let ends: Vec<&[bool]> = examples.iter().map(|one| one.ends.as_slice()).collect();
        let (losses, gaps) = boundary_losses(&odds, &ends)?;
        let loss = (losses / gaps)?;
        let mut gradients = Gradients::default();
        gradients.add_by(&loss, &self.stepped)?;
        Ok((loss.to_scalar::<f32>()?, gradients))
    }

    fn rate(&self, step: usize, steps: usize) -> f64 {
        self.options.learning_rate * Schedule { steps, warm_up: self.options.warm_up, least: 0.0 }.at(step)
    }

    fn decay(&self, name: &str) -> f64 {
        if name.ends_with(".weight") { self.options.decay } else { 0.0 }
    }

    fn validates(&self) -> bool {
        !self.validation.is_empty()
    }

    fn validate(&mut self, at: &mut Progress, progress: &mut Watch<'_>) -> Result<(), TrainError> {
        let network = Network::new(&Frozen(&self.parameters), &self.settings.sizes, &Device::Cpu)?;
        let model = Topic::of(network, self.settings.clone(), &Device::Cpu);
        let mut scored: Vec<(f64, bool)> = Vec::new();
        for Measured { labelled, .. } in &self.validation {
            let odds = model.log_odds(&labelled.inputs)?;
            scored.extend(odds.into_iter().map(probability).zip(labelled.ends.iter().copied()));
        }
        let (threshold, f1) = best_threshold(scored);
        let best = f1.is_some_and(|f1| at.better(f1));
        let found = Validation { step: at.step, f1, threshold, accuracy: None, questions: None, judged: None, best };
        at.note(&found, f1.unwrap_or(0.0));
        let _ = progress(Event::Validated(found));
        if best {
            self.settings.threshold = threshold;
            self.write()?;
        }
        Ok(())
    }

    fn write(&self) -> Result<(), TrainError> {
        let mut tensors = self.parameters.values()?;
        if let Some(changes) = &self.changes {
            tensors.extend(changes.tensors().iter().map(|(name, tensor)| (name.clone(), tensor.clone())));
        }
        let checkpoint = Checkpoint::new(self.settings.clone(), tensors);
        Ok(checkpoint.write(&self.target, true)?)
    }
}

impl Training<'_> {
    /// Fits the weights of what stands beside the best model, and writes them into its checkpoint.
    fn weigh(&mut self, progress: &mut Watch<'_>) -> Result<(), TrainError> {
        if self.validation.is_empty() {
            return Ok(());
        }
        let mut checkpoint = Checkpoint::read(&self.target)?;
        let model = Topic::load(&checkpoint, &Device::Cpu)?;
        let readings = looked_at(&self.validation, |one| one.record.source.as_str());
        let odds = readings.iter().map(|one| model.log_odds(&one.labelled.inputs)).collect::<Result<Vec<_>, _>>()?;
        let documents: Vec<Weighed<'_>> = (readings.par_iter().zip(&odds))
            .map(|(one, odds)| Weighed::new(one.record, one.labelled.inputs.vectors(), odds, &one.labelled.ends))
            .collect();
        let Settings { weights, lengths, .. } = &checkpoint.settings;
        let (weights, [before, after]) =
            weigh(&documents, *weights, lengths.as_ref()).map_err(|e| TrainError::Options(e.to_string()))?;
        let _ = progress(Event::Weighed { before, after });
        checkpoint.settings.weights = weights;
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
