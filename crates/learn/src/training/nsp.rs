use std::path::Path;

use candle_core::{DType, Device, Tensor};
use pericope_segment::random::SplitMix64;
use sha2::Digest;

use super::data::LabelledDocument;
use super::events::{Event, TrainReport, Validation, Watch};
use super::feed::Feed;
use super::fit::{self, Run, Task, fit};
use super::gradients::{Gradients, cross_entropy};
use super::options::{Options, TrainError};
use super::pairs::{Pair, pairs};
use super::state::Progress;
use super::tune::best_odds;
use super::variables::{Start, Variables};
use crate::nsp::{CHECKPOINT, Checkpoint, HEAD, Nsp, POOLER, Settings, Threshold, pair};
use pericope_encode::Base;
use pericope_encode::encoders::LayerByLayer;

/// The least number of tokens of a pair.
const LEAST_TOKENS: usize = 8;

/// Pairs that accuracy is measured on, at most.
const VALIDATION_PAIRS: usize = 2_000;

/// Trains next-sentence prediction on `base`, and writes `out/nsp.safetensors`: the weights that are best on the
/// `validation` documents (the last where there are none) with the threshold that suits these best, and what `start` holds
/// beside them. The checkpoint names the base model as [`Base::named_for`] does; `notes` are kept in it.
///
/// The task is that of BERT: neighbours against a first sentence with one from another place ([`pairs`]), as many of the
/// one as of the other. The loss is the cross-entropy, the mean over a step's pairs. `data` are documents to train on and
/// to validate on. What is trained is the layers from `options.frozen` on, the pooler and the classifier; the last two
/// begin as those of `start`, or else as the base model's where it has them, or else as the identity and zeros.
///
/// Validation measures the accuracy on fixed pairs and the F1 of exact boundaries at the best p; the F1 decides which
/// weights are best, or the accuracy where no document has a boundary. An interrupted training leaves
/// `out/state.safetensors`, written once a minute, and the same call goes on from it, with the same result up to rounding.
///
/// # Errors
/// [`TrainError`]: for a `start` on another base model or that lies where the checkpoint is to be written, for a state of
/// another training, where no pair can be made, for a loss that is no number, and where candle or the disk fails.
pub fn train_nsp(
    base: &Base,
    start: Option<&Checkpoint>,
    data: (&[LabelledDocument], &[LabelledDocument]),
    options: &Options,
    out: &Path,
    notes: &str,
    progress: &mut Watch<'_>,
) -> Result<TrainReport, TrainError> {
    let device = pericope_encode::best_device();
    let (train, validation) = data;
    fit::check(base, options, LEAST_TOKENS)?;
    fit::check_target(start, &out.join(CHECKPOINT))?;
    if let Some(start) = start {
        // Says what does not fit: its base model, its tensors.
        Nsp::on(base, start, &device)?;
    }
    let samples = pairs(train, options.seed);
    if samples.is_empty() {
        return Err(TrainError::Options(
            "there are no two neighbouring sentences to train on, with others apart".into(),
        ));
    }
    let mut asked = pairs(validation, options.seed);
    SplitMix64::new(options.seed).shuffle(&mut asked);
    asked.truncate(VALIDATION_PAIRS);
    fit::make_folder(out)?;
    let initial = Start::of(start);
    let started = initial.checksum()?;
    let mut trainer = Trainer {
        base,
        variables: Variables::new(base, &device, options, initial)?,
        device: device.clone(),
        options,
        out,
        notes,
        train,
        validation,
        asked,
        feed: Feed::new(Vec::new(), 1, 0),
        samples,
    };
    let lengths = (0..trainer.samples.len()).map(|i| trainer.sequence(i).0.len()).collect();
    trainer.feed = Feed::new(lengths, options.batch, options.seed);
    let fingerprint = fit::fingerprint(base, &started, options, |hash| {
        hash.update("nsp");
        for (i, sample) in trainer.samples.iter().enumerate() {
            trainer.sequence(i).0.iter().for_each(|id| hash.update(id.to_le_bytes()));
            hash.update([u8::from(sample.next)]);
        }
        fit::hash_documents(hash, validation);
    });
    fit(&mut trainer, &Run { options, out, device: &device, fingerprint }, progress)
}

struct Trainer<'a> {
    base: &'a Base,
    variables: Variables<'a>,
    device: Device,
    options: &'a Options,
    out: &'a Path,
    notes: &'a str,
    train: &'a [LabelledDocument],
    validation: &'a [LabelledDocument],
    /// Pairs of validation documents.
    asked: Vec<Pair>,
    feed: Feed,
    samples: Vec<Pair>,
}

/// The layers on the first token.
struct Head {
    /// `[hidden, hidden]` and `[hidden]`.
    pooler: (Tensor, Tensor),
    /// `[2, hidden]` and `[2]`.
    classes: (Tensor, Tensor),
}

fn tokens(documents: &[LabelledDocument], (document, sentence): (usize, usize)) -> &[u32] {
    documents[document].sentences.of(sentence)
}

impl Trainer<'_> {
    /// The ids of a sample, and the place of its second sentence.
    fn sequence(&self, i: usize) -> (Vec<u32>, usize) {
        let Pair { first, second, .. } = self.samples[i];
        let special = (self.base.tokens.start(), self.base.tokens.end());
        pair(tokens(self.train, first), tokens(self.train, second), self.options.tokens, special)
    }

    fn head(&self) -> Result<Head, TrainError> {
        let hidden = self.base.config.hidden_size;
        let layer = |name: &str, outputs: usize| -> Result<(Tensor, Tensor), TrainError> {
            // A pooler of zeros under a classifier of zeros would get no gradient, ever.
            let weight = self.variables.inherited(&format!("{name}.weight"), &[outputs, hidden], || {
                if outputs == hidden {
                    return Tensor::eye(hidden, DType::F32, &self.device);
                }
                Tensor::zeros((outputs, hidden), DType::F32, &self.device)
            })?;
            let zeros = || Tensor::zeros(outputs, DType::F32, &self.device);
            Ok((weight, self.variables.inherited(&format!("{name}.bias"), &[outputs], zeros)?))
        };
        Ok(Head { pooler: layer(POOLER, hidden)?, classes: layer(HEAD, 2)? })
    }

    /// The variables as they are now.
    fn checkpoint(&self, threshold: Option<Threshold>) -> Result<Checkpoint, TrainError> {
        let settings = Settings {
            base: self.base.named_for(self.out),
            base_sha256: self.base.weights.sha256().to_owned(),
            tokens: self.options.tokens,
            threshold: threshold.map(Threshold::odds),
            notes: self.notes.to_owned(),
        };
        Ok(Checkpoint::new(settings, self.variables.values()?))
    }

    /// The share of validation pairs that the model tells apart.
    fn accuracy(&self, model: &Nsp) -> Result<f64, TrainError> {
        let ids = |at| tokens(self.validation, at);
        let pairs: Vec<(&[u32], &[u32])> = self.asked.iter().map(|pair| (ids(pair.first), ids(pair.second))).collect();
        let logits = model.logits(&pairs)?;
        let right = logits.iter().zip(&self.asked).filter(|([next, other], pair)| (next > other) == pair.next).count();
        Ok(right as f64 / self.asked.len().max(1) as f64)
    }

    /// The F1 of exact boundaries at the best threshold, over all validation documents; `None` where they have none.
    fn boundaries(&self, model: &Nsp) -> Result<Option<(f64, Threshold)>, TrainError> {
        let mut gaps = Vec::new();
        for document in self.validation {
            let odds = model.odds(&document.sentences)?;
            gaps.extend(odds.into_iter().zip(document.ends.iter().copied()));
        }
        Ok(best_odds(gaps))
    }
}

impl Task for Trainer<'_> {
    fn variables(&self) -> &Variables<'_> {
        &self.variables
    }

    fn heads(&self) -> Result<(), TrainError> {
        self.head().map(|_| ())
    }

    fn batches(&self) -> usize {
        self.feed.batches()
    }

    fn prepare(&mut self, _: usize, _: &mut Watch<'_>) -> Result<(), TrainError> {
        Ok(())
    }

    fn skip_to(&mut self, steps: usize) {
        self.feed.skip_to(steps);
    }

    fn backward(&mut self, encoder: &dyn LayerByLayer, gradients: &mut Gradients) -> Result<f32, TrainError> {
        let batch = self.feed.next().unwrap_or_default();
        let layers = self.base.config.num_hidden_layers;
        let mut sum = 0.0;
        for part in batch.chunks(self.options.micro_batch.max(1)) {
            let (ids, second): (Vec<Vec<u32>>, Vec<usize>) = part.iter().map(|&i| self.sequence(i)).unzip();
            let ids: Vec<&[u32]> = ids.iter().map(Vec::as_slice).collect();
            let (x, mask) = encoder.embed_pairs(&ids, &second)?;
            let first = encoder.run_layers(&x, &mask, 0..layers)?.narrow(1, 0, 1)?.squeeze(1)?.contiguous()?;
            let Head { pooler, classes } = self.head()?;
            let pooled = first.matmul(&pooler.0.t()?)?.broadcast_add(&pooler.1)?.tanh()?;
            let logits = pooled.matmul(&classes.0.t()?)?.broadcast_add(&classes.1)?;
            // Class 0 is "is next", as in BERT.
            let wanted: Vec<usize> = part.iter().map(|&i| usize::from(!self.samples[i].next)).collect();
            let loss = (cross_entropy(&logits, &wanted)? / batch.len().max(1) as f64)?;
            sum += loss.to_scalar::<f32>()?;
            gradients.add(&loss, &self.variables)?;
        }
        Ok(sum)
    }

    fn validates(&self) -> bool {
        !self.asked.is_empty()
    }

    fn validate(&mut self, at: &mut Progress, progress: &mut Watch<'_>) -> Result<(), TrainError> {
        let model = Nsp::on(self.base, &self.checkpoint(None)?, &self.device)?;
        let (accuracy, found) = (self.accuracy(&model)?, self.boundaries(&model)?);
        let f1 = found.map(|(f1, _)| f1);
        let score = f1.unwrap_or(accuracy);
        let best = at.better(score);
        let threshold = found.map(|(_, threshold)| threshold);
        if best {
            self.checkpoint(threshold)?.write(&self.out.join(CHECKPOINT), false)?;
        }
        let p = threshold.map_or(0.5, Threshold::p);
        let (step, accuracy) = (at.step, Some(accuracy));
        let found = Validation { step, f1, threshold: p, accuracy, questions: None, judged: None, best };
        at.note(&found, score);
        let _ = progress(Event::Validated(found));
        Ok(())
    }

    fn finish(&mut self) -> Result<(), TrainError> {
        if self.validates() {
            return Ok(());
        }
        Ok(self.checkpoint(None)?.write(&self.out.join(CHECKPOINT), false)?)
    }
}
