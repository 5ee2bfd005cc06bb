use std::collections::HashMap;
use std::path::Path;

use candle_core::{Device, Tensor};

use super::data::{Asked, Labelled};
use super::events::{Event, Report, Watch};
use super::feed::Feed;
use super::fit::{self, Run, Task, fit};
use super::frozen::Frozen;
use super::gradients::{Gradients, cross_entropy};
use super::options::{Options, TrainError};
use super::sequences::{Sample, boundary_samples, question_samples};
use super::state::Progress;
use super::tune::{Grid, best_threshold, tune};
use super::variables::{Layers, Variables};
use crate::base::Base;
use crate::encoders;
use crate::weswin::{Checkpoint, Curve, Partition, Settings, Special, WeSWin};

/// Name of the checkpoint's file.
const CHECKPOINT: &str = "weswin.safetensors";

/// Fewest tokens of a sequence.
const LEAST_TOKENS: usize = 32;

/// Trains WeSWin on `base` (named `name` in the checkpoint), and its retrieval head where there are questions, and writes
/// `out/weswin.safetensors`: the weights with the best F1 on `validation` (the last where there is none), with the
/// partition, weighting and threshold that suit them best.
///
/// The loss is the cross-entropy over labelled sentences, their mean over a step; the document's last sentence is not
/// labelled. A batch of questions every few steps adds its own mean. An interrupted training leaves
/// `out/state.safetensors`, and the same call goes on from it, with the same result up to rounding.
///
/// # Errors
/// [`TrainError`]; for a state of another training, too.
pub fn train_weswin(
    base: &Base,
    start: Option<&Checkpoint>,
    data: (&[Labelled], &[Labelled], &[Asked]),
    options: &Options,
    out: &Path,
    notes: &str,
    progress: &mut Watch<'_>,
) -> Result<Report, TrainError> {
    let device = crate::minilm::best_device();
    let (train, validation, asked) = data;
    fit::check(base, options, LEAST_TOKENS)?;
    let partition: Partition = options.partition.parse().map_err(TrainError::Options)?;
    let special = Special {
        start: base.tokens.start(),
        end: base.tokens.end(),
        sentence: u32::try_from(base.config.vocab_size).unwrap_or(u32::MAX),
    };
    let mut samples: Vec<Sample> =
        train.iter().flat_map(|document| boundary_samples(document, partition, options.tokens, special)).collect();
    let own = samples.len();
    if own == 0 {
        return Err(TrainError::Options("there is no document to train on".into()));
    }
    samples.extend(asked.iter().flat_map(|one| question_samples(one, options.tokens, special)));

    fit::make_folder(out)?;
    let initial = start.map_or_else(HashMap::new, |c| c.tensors().clone());
    let lengths = |range: std::ops::Range<usize>| samples[range].iter().map(|s| s.ids.len()).collect();
    let mut trainer = Trainer {
        base,
        variables: Variables::new(base, &device, options.frozen, initial).with_sentence(),
        device: device.clone(),
        options,
        out,
        notes,
        validation,
        frozen: None,
        feed: Feed::new(lengths(0..own), options.batch, options.seed),
        questions: Feed::new(lengths(own..samples.len()), options.batch, options.seed),
        own,
        samples,
    };
    let fingerprint = fit::fingerprint(base, start.map_or("", Checkpoint::sha256), options, |hash| {
        use sha2::Digest;
        for Sample { ids, places, labels } in &trainer.samples {
            ids.iter().for_each(|id| hash.update(id.to_le_bytes()));
            hash.update(format!("{places:?}{labels:?}"));
        }
    });
    trainer.prepare(&fingerprint, progress)?;
    fit(&mut trainer, &Run { options, out, device: &device, fingerprint }, progress)
}

struct Trainer<'a> {
    base: &'a Base,
    variables: Variables<'a>,
    device: Device,
    options: &'a Options,
    out: &'a Path,
    notes: &'a str,
    validation: &'a [Labelled],
    frozen: Option<Frozen>,
    feed: Feed,
    questions: Feed,
    /// Samples of documents; those of questions follow.
    own: usize,
    samples: Vec<Sample>,
}

impl Trainer<'_> {
    /// Runs the frozen layers over all sequences, or finds that this was done.
    fn prepare(&mut self, fingerprint: &str, progress: &mut Watch<'_>) -> Result<(), TrainError> {
        if self.options.frozen == 0 {
            return Ok(());
        }
        let path = self.out.join(format!("frozen-{}.f16", crate::base::short(fingerprint)));
        let sequences: Vec<Vec<u32>> = self.samples.iter().map(|sample| sample.ids.clone()).collect();
        let mut config = self.variables.config();
        config.num_hidden_layers = self.options.frozen;
        let lower = || Ok(encoders::build(&config, &self.variables, &self.device)?);
        let of = sequences.len();
        let hidden = config.hidden_size;
        let frozen = Frozen::open(&path, &sequences, hidden, lower, |done| {
            let _ = progress(Event::Cached { done, of });
        })?;
        self.frozen = Some(frozen);
        Ok(())
    }

    /// A head's `[2, hidden]` weight and `[2]` bias, of zeros to begin with.
    fn head(&self, name: &str) -> Result<(Tensor, Tensor), TrainError> {
        let weight = self.variables.zeros(&format!("{name}.weight"), &[2, self.base.config.hidden_size])?;
        Ok((weight, self.variables.zeros(&format!("{name}.bias"), &[2])?))
    }

    /// Adds a batch's gradients, a few sequences at a time, and gives its loss: the mean over its labels.
    fn batch(
        &mut self,
        encoder: &Layers,
        batch: &[usize],
        head: &str,
        gradients: &mut Gradients,
    ) -> Result<f32, TrainError> {
        let labels: usize = batch.iter().map(|&i| self.samples[i].labels.len()).sum();
        let layers = self.base.config.num_hidden_layers;
        let mut sum = 0.0;
        for part in batch.chunks(self.options.micro_batch.max(1)) {
            let ids: Vec<&[u32]> = part.iter().map(|&i| self.samples[i].ids.as_slice()).collect();
            let x = match &mut self.frozen {
                Some(frozen) => {
                    let x = frozen.rows(part, &self.device)?;
                    let longest = x.dim(1)?;
                    let mask = ids.iter().flat_map(|ids| (0..longest).map(|i| if i < ids.len() { 1f32 } else { 0.0 }));
                    let mask = Tensor::from_iter(mask, &self.device)?.reshape((part.len(), longest))?;
                    encoder.run(&x, &mask, self.options.frozen..layers)?
                }
                None => {
                    let (x, mask) = encoder.embed(&ids)?;
                    encoder.run(&x, &mask, 0..layers)?
                }
            };
            let (_, longest, hidden) = x.dims3()?;
            let (mut places, mut classes) = (Vec::new(), Vec::new());
            for (row, sample) in part.iter().map(|&i| &self.samples[i]).enumerate() {
                places.extend(sample.places.iter().map(|place| (row * longest + place) as u32));
                classes.extend(sample.labels.iter().map(|&yes| usize::from(yes)));
            }
            if places.is_empty() {
                continue;
            }
            let count = places.len();
            let places = Tensor::from_vec(places, count, &self.device)?;
            let (weight, bias) = self.head(head)?;
            let read = x.reshape(((), hidden))?.index_select(&places, 0)?;
            let logits = read.matmul(&weight.t()?)?.broadcast_add(&bias)?;
            let loss = (cross_entropy(&logits, &classes)? / labels.max(1) as f64)?;
            sum += loss.to_scalar::<f32>()?;
            gradients.add(&loss, &self.variables)?;
        }
        Ok(sum)
    }

    fn settings(&self, tau: f64) -> Settings {
        Settings {
            base: self.base.dir.name.clone(),
            base_sha256: self.base.weights.sha256().to_owned(),
            tokens: self.options.tokens,
            partition: "cr-1".into(),
            weights: "mean:uniform".into(),
            tau,
            curve: Curve::default(),
            notes: self.notes.to_owned(),
        }
    }

    /// The variables as they are now.
    fn checkpoint(&self, tau: f64) -> Result<Checkpoint, TrainError> {
        let mut tensors = self.variables.values()?;
        if !tensors.contains_key("snt") {
            tensors.insert("snt".into(), self.variables.sentence()?.to_device(&Device::Cpu)?);
        }
        Ok(Checkpoint::new(self.settings(tau), tensors))
    }
}

impl Task for Trainer<'_> {
    fn variables(&self) -> &Variables<'_> {
        &self.variables
    }

    fn heads(&self) -> Result<(), TrainError> {
        self.head("boundary")?;
        self.head("retrieval")?;
        Ok(())
    }

    fn batches(&self) -> usize {
        self.feed.batches()
    }

    fn skip_to(&mut self, steps: usize) {
        self.feed.skip_to(steps);
        self.questions.skip_to(steps / self.options.questions_every.max(1));
    }

    fn backward(&mut self, encoder: &Layers, step: usize, gradients: &mut Gradients) -> Result<f32, TrainError> {
        let batch = self.feed.next().unwrap_or_default();
        let loss = self.batch(encoder, &batch, "boundary", gradients)?;
        if (step + 1).is_multiple_of(self.options.questions_every.max(1))
            && let Some(batch) = self.questions.next()
        {
            let batch: Vec<usize> = batch.into_iter().map(|i| self.own + i).collect();
            self.batch(encoder, &batch, "retrieval", gradients)?;
        }
        Ok(loss)
    }

    fn validates(&self) -> bool {
        !self.validation.is_empty()
    }

    fn validate(&mut self, at: &mut Progress, progress: &mut Watch<'_>) -> Result<(), TrainError> {
        let model = WeSWin::on(self.base, &self.checkpoint(0.5)?, &self.device)?;
        let (f1, tau) = best_threshold(&model, self.validation)?;
        let best = at.better(f1);
        if best {
            self.checkpoint(tau)?.write(&self.out.join(CHECKPOINT), false)?;
        }
        let _ = progress(Event::Validated { step: at.step, f1, tau, best });
        Ok(())
    }

    /// Tunes the best checkpoint, or keeps the last where there is nothing to tune on; then the caches go.
    fn finish(&mut self) -> Result<(), TrainError> {
        let path = self.out.join(CHECKPOINT);
        if self.validation.is_empty() {
            self.checkpoint(0.5)?.write(&path, false)?;
        } else {
            let mut checkpoint = Checkpoint::read(&path)?;
            let model = WeSWin::on(self.base, &checkpoint, &self.device)?;
            let tuning = tune(&model, self.validation, &Grid::default())?;
            checkpoint.settings = tuning.applied(checkpoint.settings.clone());
            checkpoint.write(&path, false)?;
        }
        if let Some(frozen) = self.frozen.take() {
            frozen.remove();
        }
        Ok(())
    }
}
