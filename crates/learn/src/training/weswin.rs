use std::path::Path;

use candle_core::{Device, Tensor};

use super::data::{Data, LabelledDocument};
use super::events::{Event, TrainReport, Validation, Watch};
use super::feed::Feed;
use super::fit::{self, Run, Task, fit};
use super::frozen::{self, Frozen};
use super::gradients::{Gradients, cross_entropy};
use super::options::{Options, TrainError};
use super::ranking::ranking;
use super::sequences::{Sample, boundary_samples, question_samples};
use super::state::Progress;
use super::tune::{Grid, best_threshold, tune};
use super::variables::{Start, Variables};
use crate::weswin::{CHECKPOINT, Checkpoint, Curve, Partition, Settings, Special, WORDS, WeSWin};
use pericope_encode::Base;
use pericope_encode::ModelError;
use pericope_encode::encoders::{self, LayerByLayer};

/// The least number of tokens of a sequence.
const LEAST_TOKENS: usize = 32;

/// The head for boundaries, and that for sentences which answer, before their `.weight` and `.bias`.
const BOUNDARY: &str = "boundary";
const RETRIEVAL: &str = "retrieval";

/// Trains WeSWin on `base`, and its retrieval head where there are questions, and writes `out/weswin.safetensors`: the
/// weights with the best F1 on the validation documents (the last where none of these has a boundary), with the partition,
/// weighting and threshold that suit them best, and with what `start` holds beside them. The checkpoint names the base
/// model as [`Base::named_for`] does; `notes` are kept in it.
///
/// Layers below `options.frozen` stay as they are in `start`. Its retrieval head is trained on with questions; without
/// any it is left out, since it would not fit the trained layers, and [`Event::Warning`] says so.
///
/// The loss is the cross-entropy over labelled sentences, their mean over a step; the document's last sentence is not
/// labelled. A batch of questions every `options.questions_every` steps adds its own mean, or has
/// a step of its own (`options.questions_apart`). An interrupted training leaves
/// `out/state.safetensors`, written once a minute, and the same call goes on from it, with the same result up to rounding.
///
/// # Errors
/// [`TrainError`]: for a `start` on another base model, with tensors of another shape, or that lies where the checkpoint is
/// to be written; for a state of another training; for a loss that is no number; where candle or the disk fails.
pub fn train_weswin(
    base: &Base,
    start: Option<&Checkpoint>,
    data: Data<'_>,
    options: &Options,
    out: &Path,
    notes: &str,
    progress: &mut Watch<'_>,
) -> Result<TrainReport, TrainError> {
    let device = pericope_encode::best_device();
    fit::check(base, options, LEAST_TOKENS)?;
    let partition: Partition = options.partition.parse().map_err(TrainError::Options)?;
    fit::check_target(start, &out.join(CHECKPOINT))?;
    if let Some(start) = start {
        // Says what does not fit: its base model, its tensors.
        WeSWin::on(base, start, &device)?;
        if start.has(WORDS) {
            let reason = format!("it replaces {WORDS}, which training does not go on from");
            return Err(ModelError::unusable(start.path(), reason).into());
        }
    }
    let special = Special {
        start: base.tokens.start(),
        end: base.tokens.end(),
        sentence: u32::try_from(base.config.vocab_size).unwrap_or(u32::MAX),
    };
    let mut samples: Vec<Sample> =
        data.train.iter().flat_map(|document| boundary_samples(document, partition, options.tokens, special)).collect();
    let own = samples.len();
    if own == 0 {
        return Err(TrainError::Options("there is no document to train on".into()));
    }
    samples.extend(data.questions.iter().flat_map(|one| question_samples(one, options.tokens, special)));

    fit::make_folder(out)?;
    let mut initial = Start::of(start);
    if samples.len() == own && initial.forget(RETRIEVAL) {
        let text = "without questions the model gets no retrieval head: that of the model begun with is left out";
        let _ = progress(Event::Warning { text: text.into() });
    }
    let validates = data.validation.iter().any(LabelledDocument::has_boundary);
    if !validates && !data.validation.is_empty() {
        let _ = progress(Event::no_boundary());
    }
    let started = initial.checksum()?;
    let lengths = |range: std::ops::Range<usize>| samples[range].iter().map(|s| s.ids.len()).collect();
    let mut trainer = Trainer {
        base,
        variables: Variables::new(base, &device, options, initial)?.with_sentence(),
        device: device.clone(),
        options,
        out,
        notes,
        data,
        validates,
        lower: format!("{} {started} {}", base.weights.sha256(), options.frozen),
        frozen: None,
        feed: Feed::new(lengths(0..own), options.batch, options.seed),
        questions: Feed::new(lengths(own..samples.len()), options.batch, options.seed),
        own,
        samples,
    };
    let fingerprint = fit::fingerprint(base, &started, options, |hash| {
        use sha2::Digest;
        hash.update(own.to_le_bytes());
        for Sample { ids, places, labels } in &trainer.samples {
            ids.iter().for_each(|id| hash.update(id.to_le_bytes()));
            hash.update(format!("{places:?}{labels:?}"));
        }
        fit::hash_documents(hash, data.validation);
        data.validation_questions.iter().for_each(|one| hash.update(format!("{one:?}")));
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
    data: Data<'a>,
    validates: bool,
    /// Which frozen layers of which weights there are.
    lower: String,
    frozen: Option<Frozen>,
    feed: Feed,
    questions: Feed,
    /// Samples of documents; those of questions follow.
    own: usize,
    samples: Vec<Sample>,
}

impl Trainer<'_> {
    /// True for each sample that is read in a training of `steps` steps: of questions far fewer windows than there are.
    fn drawn(&self, steps: usize) -> Vec<bool> {
        let mut drawn = vec![true; self.own];
        drawn.resize(self.samples.len(), false);
        for i in self.questions.clone().take(steps / self.options.questions_every.max(1)).flatten() {
            drawn[self.own + i] = true;
        }
        drawn
    }

    fn asks(&self) -> bool {
        self.own < self.samples.len()
    }

    /// A head's `[2, hidden]` weight and `[2]` bias, of zeros to begin with.
    fn head(&self, name: &str) -> Result<(Tensor, Tensor), TrainError> {
        let weight = self.variables.zeros(&format!("{name}.weight"), &[2, self.base.config.hidden_size])?;
        Ok((weight, self.variables.zeros(&format!("{name}.bias"), &[2])?))
    }

    /// Adds a batch's gradients, a few sequences at a time, and gives its loss: the mean over its labels.
    fn batch(
        &mut self,
        encoder: &dyn LayerByLayer,
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
                    encoder.run_layers(&x, &mask, self.options.frozen..layers)?
                }
                None => {
                    let (x, mask) = encoder.embed_tokens(&ids)?;
                    encoder.run_layers(&x, &mask, 0..layers)?
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

    fn settings(&self, threshold: f64) -> Settings {
        Settings {
            base: self.base.named_for(self.out),
            base_sha256: self.base.weights.sha256().to_owned(),
            tokens: self.options.tokens,
            partition: "cr-1".into(),
            weights: "mean:uniform".into(),
            threshold,
            curve: Curve::default(),
            notes: self.notes.to_owned(),
        }
    }

    /// The variables as they are now.
    fn checkpoint(&self, threshold: f64) -> Result<Checkpoint, TrainError> {
        let mut tensors = self.variables.values()?;
        if !tensors.contains_key("snt") {
            tensors.insert("snt".into(), self.variables.sentence()?.to_device(&Device::Cpu)?);
        }
        Ok(Checkpoint::new(self.settings(threshold), tensors))
    }
}

impl Task for Trainer<'_> {
    fn variables(&self) -> &Variables<'_> {
        &self.variables
    }

    fn heads(&self) -> Result<(), TrainError> {
        self.head(BOUNDARY)?;
        if self.asks() {
            self.head(RETRIEVAL)?;
        }
        Ok(())
    }

    fn batches(&self) -> usize {
        self.feed.batches()
    }

    /// Runs the frozen layers over the sequences that are read, or finds that this was done.
    fn prepare(&mut self, steps: usize, progress: &mut Watch<'_>) -> Result<(), TrainError> {
        if self.options.frozen == 0 {
            return Ok(());
        }
        let drawn = self.drawn(steps);
        let one = |(sample, drawn): (&'_ Sample, bool)| if drawn { sample.ids.len() } else { 0 };
        let lengths: Vec<usize> = self.samples.iter().zip(drawn).map(one).collect();
        let sequences: Vec<&[u32]> = self.samples.iter().zip(lengths).map(|(s, length)| &s.ids[..length]).collect();
        let mut config = self.variables.config();
        config.num_hidden_layers = self.options.frozen;
        let lower = || Ok(encoders::build(&config, &self.variables, &self.device)?);
        let of = sequences.len();
        self.frozen = Some(Frozen::open(self.out, &self.lower, &sequences, config.hidden_size, lower, |done| {
            let _ = progress(Event::Cached { done, of });
        })?);
        Ok(())
    }

    fn skip_to(&mut self, steps: usize) {
        self.feed.skip_to(steps);
        self.questions.skip_to(steps / self.options.questions_every.max(1));
    }

    fn backward(&mut self, encoder: &dyn LayerByLayer, gradients: &mut Gradients) -> Result<f32, TrainError> {
        let batch = self.feed.next().unwrap_or_default();
        self.batch(encoder, &batch, BOUNDARY, gradients)
    }

    fn questions(
        &mut self,
        encoder: &dyn LayerByLayer,
        step: usize,
        gradients: &mut Gradients,
    ) -> Result<Option<f32>, TrainError> {
        if !(step + 1).is_multiple_of(self.options.questions_every.max(1)) {
            return Ok(None);
        }
        let Some(batch) = self.questions.next() else { return Ok(None) };
        let batch: Vec<usize> = batch.into_iter().map(|i| self.own + i).collect();
        self.batch(encoder, &batch, RETRIEVAL, gradients).map(Some)
    }

    fn validates(&self) -> bool {
        self.validates
    }

    fn validate(&mut self, at: &mut Progress, progress: &mut Watch<'_>) -> Result<(), TrainError> {
        let model = WeSWin::on(self.base, &self.checkpoint(0.5)?, &self.device)?;
        let (f1, threshold) = best_threshold(&model, self.data.validation)?;
        let questions = ranking(&model, self.data.validation_questions)?;
        let best = at.better(f1);
        if best {
            self.checkpoint(threshold)?.write(&self.out.join(CHECKPOINT), false)?;
        }
        let found =
            Validation { step: at.step, f1: Some(f1), threshold, accuracy: None, questions, judged: None, best };
        at.note(&found, f1);
        let _ = progress(Event::Validated(found));
        Ok(())
    }

    /// Tunes the best checkpoint, or keeps the last where there is nothing to tune on; then the caches go.
    fn finish(&mut self) -> Result<(), TrainError> {
        let path = self.out.join(CHECKPOINT);
        if self.validates {
            let mut checkpoint = Checkpoint::read(&path)?;
            let model = WeSWin::on(self.base, &checkpoint, &self.device)?;
            let tuning = tune(&model, self.data.validation, &Grid::default())?;
            checkpoint.settings = tuning.applied(checkpoint.settings.clone());
            checkpoint.write(&path, false)?;
        } else {
            self.checkpoint(0.5)?.write(&path, false)?;
        }
        self.frozen = None;
        frozen::remove_all(self.out);
        Ok(())
    }
}
