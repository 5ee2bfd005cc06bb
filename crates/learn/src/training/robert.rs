use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

use candle_core::{Device, Tensor};
use pericope_api::{ClassifierData, ClassifierError, Embeddings, LabelledSequence, TrainedClassifier};
use pericope_encode::encoders::Tensors;
use pericope_segment::random::fnv1a;

use super::events::{Event, Validation, Watch};
use super::feed::Feed;
use super::gradients::{Gradients, cross_entropy};
use super::numbers::{RATE, is_rate};
use super::options::TrainError;
use super::over_vectors::{Course, Frozen, Learner, Saved, learn};
use super::state::Progress;
use crate::robert::{Network, Robert, RobertClassifier, batch};
use crate::sequence::Parameters;

/// Norm that the gradient is scaled down to where it is longer.
const CLIP: f64 = 1.0;

/// Documents whose loss is worked out together where nothing is learnt.
const TOGETHER: usize = 32;

/// Trains a classifier in memory; see [`Robert`].
pub(crate) fn train_robert(options: &Robert, data: &ClassifierData<'_>) -> Result<TrainedClassifier, ClassifierError> {
    check(options, data).map_err(ClassifierError::Unusable)?;
    trained(options, data).map_err(|error| match error {
        TrainError::Options(reason) => ClassifierError::Unusable(reason),
        other => ClassifierError::Run(Box::new(other)),
    })
}

fn check(options: &Robert, data: &ClassifierData<'_>) -> Result<(), String> {
    let Robert { hidden, head, learning_rate, epochs, batch, .. } = *options;
    let all = || data.train.iter().chain(data.validation);
    if data.train.iter().all(|one| one.vectors.is_empty()) {
        return Err("no document with a segment to train on".into());
    }
    if data.classes < 2 {
        return Err(format!("{} class: there is nothing to tell apart", data.classes));
    }
    if let Some(one) = all().find(|one| one.class >= data.classes) {
        return Err(format!("a document has class {} of {}", one.class, data.classes));
    }
    if hidden == 0 || head == 0 || epochs == 0 || batch == 0 {
        return Err(format!(
            "hidden = {hidden}, head = {head}, epochs = {epochs}, batch = {batch}: all must be at least 1"
        ));
    }
    match is_rate(learning_rate) {
        true => Ok(()),
        false => Err(format!("learning_rate is {learning_rate}: {RATE}")),
    }
}

fn trained(options: &Robert, data: &ClassifierData<'_>) -> Result<TrainedClassifier, TrainError> {
    let list = Network::parameters(options, data.dimension, data.classes);
    let parameters = Parameters::new(&list, data.seed, &Device::Cpu)?;
    let mut training = Training { options, data, best: parameters.values()?, parameters };
    let course = Course {
        state: None,
        fingerprint: String::new(),
        epochs: options.epochs as f64,
        max_steps: 0,
        batch: options.batch,
        clip: CLIP,
        validations: 1,
        patience: options.patience,
    };
    let report = learn(&mut training, &course, &mut |_| ControlFlow::Continue(()))?;
    let batches = training.epoch(0).len().div_ceil(options.batch.max(1)).max(1);
    let epoch = |step: usize| step.div_ceil(batches);
    if report.best.is_none() {
        training.best = training.parameters.values()?;
    }
    let epochs = epoch(report.losses.len());
    let best = Saved { path: Path::new("(in training)"), values: &training.best };
    let classifier = RobertClassifier { network: training.network(&best)?, dimension: data.dimension };
    Ok(TrainedClassifier {
        classifier: Box::new(classifier),
        epochs,
        best_epoch: report.best.map_or(epochs, |(_, step)| epoch(step)),
    })
}

struct Training<'a> {
    options: &'a Robert,
    data: &'a ClassifierData<'a>,
    parameters: Parameters,
    /// The weights with the lowest loss on the validation documents.
    best: HashMap<String, Tensor>,
}

impl Training<'_> {
    fn network(&self, from: &dyn Tensors) -> Result<Network, TrainError> {
        Ok(Network::new(from, self.options, self.data.dimension, self.data.classes)?)
    }
}

/// The sum of the losses of some documents.
fn loss(network: &Network, some: &[&LabelledSequence<'_>], dimension: usize) -> Result<Tensor, TrainError> {
    let vectors: Vec<&Embeddings> = some.iter().map(|one| one.vectors).collect();
    let classes: Vec<usize> = some.iter().map(|one| one.class).collect();
    let (x, lengths) = batch(&vectors, dimension).map_err(|error| TrainError::Options(error.to_string()))?;
    Ok(cross_entropy(&network.forward(&x, &lengths)?, &classes)?)
}

impl Learner for Training<'_> {
    type Item = usize;

    fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Documents of like length come together.
    fn epoch(&self, epoch: usize) -> Vec<usize> {
        let lengths = self.data.train.iter().map(|one| one.vectors.len()).collect();
        let feed = Feed::new(lengths, self.options.batch, fnv1a(self.data.seed, epoch.to_le_bytes()));
        let batches = feed.batches();
        feed.take(batches).flatten().collect()
    }

    fn step(&self, items: &[usize], _epoch: usize, _step: usize) -> Result<(f32, Gradients), TrainError> {
        let some: Vec<&LabelledSequence<'_>> = items.iter().filter_map(|&at| self.data.train.get(at)).collect();
        let loss = (loss(&self.network(&self.parameters)?, &some, self.data.dimension)? / some.len().max(1) as f64)?;
        let mut gradients = Gradients::default();
        gradients.add_by(&loss, self.parameters.all())?;
        Ok((loss.to_scalar::<f32>()?, gradients))
    }

    fn rate(&self, _step: usize, _steps: usize) -> f64 {
        self.options.learning_rate
    }

    fn validates(&self) -> bool {
        !self.data.validation.is_empty()
    }

    /// Keeps the weights where the mean loss on the validation documents is the lowest so far.
    fn validate(&mut self, at: &mut Progress, progress: &mut Watch<'_>) -> Result<(), TrainError> {
        let network = self.network(&Frozen(&self.parameters))?;
        let mut order: Vec<&LabelledSequence<'_>> = self.data.validation.iter().collect();
        order.sort_by_key(|one| one.vectors.len());
        let mut total = 0.0;
        for some in order.chunks(TOGETHER) {
            total += f64::from(loss(&network, some, self.data.dimension)?.to_scalar::<f32>()?);
        }
        let goodness = -total / order.len().max(1) as f64;
        let best = at.better(goodness);
        if best {
            self.best = self.parameters.values()?;
        }
        let validation =
            Validation { step: at.step, f1: None, threshold: 0.5, accuracy: None, questions: None, judged: None, best };
        at.note(&validation, goodness);
        let _ = progress(Event::Validated(validation));
        Ok(())
    }

    /// Nothing is written: the classifier stays in memory.
    fn write(&self) -> Result<(), TrainError> {
        Ok(())
    }
}
