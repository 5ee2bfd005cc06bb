use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use candle_core::{D, Device, Tensor};
use sha2::{Digest, Sha256};

use super::adamw::{AdamW, Schedule};
use super::data::{Asked, Labelled};
use super::feed::Feed;
use super::frozen::Frozen;
use super::options::{Options, TrainError};
use super::state::{self, Progress};
use super::tune::{Grid, best_threshold, tune};
use super::variables::{Layers, Variables};
use crate::base::Base;
use crate::encoders;
use crate::models::ModelError;
use crate::weswin::{Checkpoint, Curve, Partition, Sentences, Settings, Special, WeSWin, sequence};

/// What happens during a training.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// An interrupted training goes on from here.
    Resumed {
        /// Steps done before.
        step: usize,
    },
    /// The frozen layers are run over the training sequences.
    Cached {
        /// Sequences done.
        done: usize,
        /// Sequences in all.
        of: usize,
    },
    /// A step was done.
    Step {
        /// Steps done.
        step: usize,
        /// Steps in all.
        steps: usize,
        /// Mean boundary loss of the last 100 steps.
        loss: f64,
        /// Learning rate of the encoder.
        rate: f64,
    },
    /// Validation documents were segmented.
    Validated {
        /// Steps done.
        step: usize,
        /// F1 of exact boundaries over all of them, at the threshold that suits best.
        f1: f64,
        /// That threshold.
        tau: f64,
        /// True where no earlier one was better.
        best: bool,
    },
    /// Validations stopped getting better.
    Stopped {
        /// Steps done.
        step: usize,
    },
}

/// Is told what happens. A break ends the training after the step at hand, with its state on disk.
pub type Watch<'a> = dyn FnMut(Event) -> ControlFlow<()> + 'a;

/// What a training came to.
#[derive(Debug, Clone)]
pub struct Report {
    /// The boundary loss of every step.
    pub losses: Vec<f32>,
    /// Best validation F1 and its step; none without validation documents.
    pub best: Option<(f64, usize)>,
    /// Seconds, over all sittings.
    pub seconds: f64,
}

/// A training sequence: its tokens, the places of its labelled `[SNT]`s, and their labels.
struct Sample {
    ids: Vec<u32>,
    places: Vec<usize>,
    labels: Vec<bool>,
}

/// Names of a checkpoint's and of a state's file.
const CHECKPOINT: &str = "weswin.safetensors";
const STATE: &str = "state.safetensors";

/// Seconds between two savings of the state.
const SAVE_EVERY: f64 = 60.0;

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
    let problem = |reason: String| TrainError::Options(reason);
    let most = base.config.max_tokens();
    if options.tokens < 32 || options.tokens > most {
        return Err(problem(format!("sequences of {} tokens: the base model reads 32 to {most}", options.tokens)));
    }
    if options.frozen > base.config.num_hidden_layers {
        let layers = base.config.num_hidden_layers;
        return Err(problem(format!("{} layers frozen: the base model has {layers}", options.frozen)));
    }
    let partition: Partition = options.partition.parse().map_err(problem)?;
    let special = Special {
        start: base.tokens.start(),
        end: base.tokens.end(),
        sentence: u32::try_from(base.config.vocab_size).unwrap_or(u32::MAX),
    };
    let mut samples: Vec<Sample> =
        train.iter().flat_map(|document| boundary_samples(document, partition, options.tokens, special)).collect();
    let own = samples.len();
    if own == 0 {
        return Err(problem("there is no document to train on".into()));
    }
    samples.extend(asked.iter().flat_map(|one| question_samples(one, options.tokens, special)));

    std::fs::create_dir_all(out).map_err(|source| TrainError::Io { path: out.to_owned(), source })?;
    let initial = start.map_or_else(HashMap::new, |c| c.tensors().clone());
    let mut trainer = Trainer {
        base,
        variables: Variables::new(base, &device, options.frozen, initial),
        device: device.clone(),
        options,
        out,
        notes,
        optimizer: AdamW::default(),
        frozen: None,
        samples,
    };
    let lengths = |range: std::ops::Range<usize>| trainer.samples[range].iter().map(|s| s.ids.len()).collect();
    let mut feed = Feed::new(lengths(0..own), options.batch, options.seed);
    let mut questions = Feed::new(lengths(own..trainer.samples.len()), options.batch, options.seed);
    let each = feed.batches();
    let mut steps = (each as f64 * options.epochs) as usize;
    if options.max_steps > 0 {
        steps = steps.min(options.max_steps);
    }
    let steps = steps.max(1);
    let schedule = Schedule { steps, warm_up: options.warm_up };
    let fingerprint = trainer.fingerprint(start);
    trainer.prepare(&fingerprint, progress)?;

    let mut at = Progress {
        fingerprint,
        options: options.clone(),
        step: 0,
        best: None,
        stale: 0,
        losses: Vec::new(),
        seconds: 0.0,
    };
    trainer.first()?;
    if let Some((saved, values, optimizer)) = state::load(&out.join(STATE), &device)? {
        if saved.fingerprint != at.fingerprint {
            let reason = "holds the state of another training (other data, options or base model): name another folder";
            return Err(problem(format!("{} {reason}, or remove it", out.join(STATE).display())));
        }
        trainer.variables.restore(&values)?;
        trainer.optimizer = optimizer;
        at = saved;
        feed.skip_to(at.step);
        questions.skip_to(at.step / options.questions_every.max(1));
        let _ = progress(Event::Resumed { step: at.step });
    }

    let every = (each / options.validations.max(1)).max(1);
    let (mut began, mut saved) = (Instant::now(), Instant::now());
    let mut encoder = trainer.variables.encoder()?;
    while at.step < steps && at.stale < options.patience.max(1) {
        if options.frozen == 0 {
            // The table of embeddings is put together from a variable.
            encoder = trainer.variables.encoder()?;
        }
        let mut gradients = BTreeMap::new();
        let batch = feed.next().unwrap_or_default();
        let loss = trainer.backward(&encoder, &batch, "boundary", &mut gradients)?;
        if (at.step + 1).is_multiple_of(options.questions_every.max(1))
            && let Some(batch) = questions.next()
        {
            let batch: Vec<usize> = batch.into_iter().map(|i| own + i).collect();
            trainer.backward(&encoder, &batch, "retrieval", &mut gradients)?;
        }
        let share = schedule.at(at.step);
        trainer.step(&mut gradients, share)?;
        at.step += 1;
        at.losses.push(loss);
        let last = &at.losses[at.losses.len().saturating_sub(100)..];
        let mean = last.iter().map(|&l| f64::from(l)).sum::<f64>() / last.len() as f64;
        let go_on = progress(Event::Step { step: at.step, steps, loss: mean, rate: options.learning_rate * share });
        if !validation.is_empty() && (at.step.is_multiple_of(every) || at.step == steps) {
            trainer.validate(validation, &mut at, progress)?;
        }
        if saved.elapsed().as_secs_f64() > SAVE_EVERY || at.step == steps || go_on.is_break() {
            at.seconds += began.elapsed().as_secs_f64();
            began = Instant::now();
            state::save(&out.join(STATE), &at, &trainer.variables.all(), &trainer.optimizer)?;
            saved = Instant::now();
        }
        if go_on.is_break() && at.step < steps {
            return Err(TrainError::Interrupted { step: at.step });
        }
    }
    if at.step < steps {
        let _ = progress(Event::Stopped { step: at.step });
    }
    trainer.finish(validation)?;
    at.seconds += began.elapsed().as_secs_f64();
    Ok(Report { losses: at.losses, best: at.best, seconds: at.seconds })
}

fn boundary_samples(document: &Labelled, partition: Partition, tokens: usize, special: Special) -> Vec<Sample> {
    let last = document.sentences.len().saturating_sub(1);
    let make = |window| {
        let (ids, mut places) = sequence(&document.sentences, &window, special);
        // The document's end is no boundary to be learnt.
        let active = window.active.start..window.active.end.min(last);
        places.truncate(active.len());
        Sample { ids, places, labels: document.ends[active].to_vec() }
    };
    let windows = partition.windows(&document.sentences.tokens(), tokens - 2);
    windows.into_iter().map(make).filter(|sample| !sample.labels.is_empty()).collect()
}

fn question_samples(asked: &Asked, tokens: usize, special: Special) -> Vec<Sample> {
    let budget = tokens.saturating_sub(3 + asked.question.len()).max(8);
    let cut = Sentences::new((0..asked.sentences.len()).map(|i| asked.sentences.of(i)), budget - 1);
    let make = |window: crate::weswin::Window| {
        let (mut ids, places) = sequence(&cut, &window, special);
        ids.extend_from_slice(&asked.question);
        ids.push(special.end);
        Sample { ids, places, labels: asked.relevant[window.active].to_vec() }
    };
    Partition::Right(1).windows(&cut.tokens(), budget).into_iter().map(make).collect()
}

struct Trainer<'a> {
    base: &'a Base,
    variables: Variables<'a>,
    device: Device,
    options: &'a Options,
    out: &'a Path,
    notes: &'a str,
    optimizer: AdamW,
    frozen: Option<Frozen>,
    samples: Vec<Sample>,
}

impl Trainer<'_> {
    fn fingerprint(&self, start: Option<&Checkpoint>) -> String {
        let mut hash = Sha256::new();
        hash.update(self.base.weights.sha256());
        hash.update(start.map_or("", Checkpoint::sha256));
        hash.update(format!("{:?}", self.options));
        for Sample { ids, places, labels } in &self.samples {
            ids.iter().for_each(|id| hash.update(id.to_le_bytes()));
            hash.update(format!("{places:?}{labels:?}"));
        }
        format!("{:x}", hash.finalize())
    }

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

    /// Makes all variables, so that a saved state can be put into them.
    fn first(&self) -> Result<(), TrainError> {
        self.variables.encoder()?;
        self.head("boundary")?;
        self.head("retrieval")?;
        Ok(())
    }

    /// A head's `[2, hidden]` weight and `[2]` bias, of zeros to begin with.
    fn head(&self, name: &str) -> Result<(Tensor, Tensor), TrainError> {
        let zeros = |shape: &[usize]| {
            let made = Tensor::zeros(shape, candle_core::DType::F32, &self.device);
            made.map_err(|e| ModelError::unusable(self.out, e))
        };
        let hidden = self.base.config.hidden_size;
        let weight = self.variables.variable(&format!("{name}.weight"), || zeros(&[2, hidden]))?;
        Ok((weight, self.variables.variable(&format!("{name}.bias"), || zeros(&[2]))?))
    }

    /// Adds a batch's gradients, a few sequences at a time, and gives its loss: the mean over its labels.
    fn backward(
        &mut self,
        encoder: &Layers,
        batch: &[usize],
        head: &str,
        gradients: &mut BTreeMap<String, Tensor>,
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
            let (mut places, mut wanted) = (Vec::new(), Vec::new());
            for (row, sample) in part.iter().map(|&i| &self.samples[i]).enumerate() {
                places.extend(sample.places.iter().map(|place| (row * longest + place) as u32));
                wanted.extend(sample.labels.iter().flat_map(|&yes| if yes { [0f32, 1.0] } else { [1.0, 0.0] }));
            }
            if places.is_empty() {
                continue;
            }
            let count = places.len();
            let places = Tensor::from_vec(places, count, &self.device)?;
            let wanted = Tensor::from_vec(wanted, (count, 2), &self.device)?;
            let (weight, bias) = self.head(head)?;
            let read = x.reshape(((), hidden))?.index_select(&places, 0)?;
            let logits = read.matmul(&weight.t()?)?.broadcast_add(&bias)?;
            let logits = logits.broadcast_sub(&logits.max_keepdim(D::Minus1)?.detach())?;
            let log = logits.broadcast_sub(&logits.exp()?.sum_keepdim(D::Minus1)?.log()?)?;
            let loss = ((log * wanted)?.sum_all()?.neg()? / labels.max(1) as f64)?;
            sum += loss.to_scalar::<f32>()?;
            let store = loss.backward()?;
            for (name, variable) in self.variables.all() {
                let Some(own) = store.get(&variable) else { continue };
                let total = match gradients.remove(&name) {
                    Some(before) => (before + own)?,
                    None => own.clone(),
                };
                gradients.insert(name, total.detach());
            }
        }
        Ok(sum)
    }

    /// Scales gradients down to the norm allowed, and steps.
    fn step(&mut self, gradients: &mut BTreeMap<String, Tensor>, share: f64) -> Result<(), TrainError> {
        let mut squares = 0.0;
        for gradient in gradients.values() {
            squares += f64::from(gradient.sqr()?.sum_all()?.to_scalar::<f32>()?);
        }
        let scale = self.options.clip / (squares.sqrt() + 1e-6);
        if scale < 1.0 {
            for gradient in gradients.values_mut() {
                *gradient = (&*gradient * scale)?;
            }
        }
        let Options { learning_rate, head_learning_rate, decay, .. } = *self.options;
        let variables = self.variables.all();
        self.optimizer.step(&variables, gradients, |name| {
            let encoder = name.starts_with("encoder.");
            let matrix = variables.get(name).is_some_and(|v| v.rank() > 1);
            let rate = if encoder { learning_rate } else { head_learning_rate };
            (rate * share, if encoder && matrix { decay } else { 0.0 })
        })?;
        Ok(())
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
        let mut tensors: HashMap<String, Tensor> = HashMap::new();
        for (name, variable) in self.variables.all() {
            tensors.insert(name, variable.as_detached_tensor().copy()?.to_device(&Device::Cpu)?);
        }
        if !tensors.contains_key("snt") {
            tensors.insert("snt".into(), self.variables.sentence()?.to_device(&Device::Cpu)?);
        }
        Ok(Checkpoint::new(self.settings(tau), tensors))
    }

    fn validate(&self, validation: &[Labelled], at: &mut Progress, progress: &mut Watch<'_>) -> Result<(), TrainError> {
        let model = WeSWin::on(self.base, &self.checkpoint(0.5)?, &self.device)?;
        let (f1, tau) = best_threshold(&model, validation)?;
        let best = at.best.is_none_or(|(before, _)| f1 > before);
        if best {
            at.best = Some((f1, at.step));
            at.stale = 0;
            self.checkpoint(tau)?.write(&self.out.join(CHECKPOINT), false)?;
        } else {
            at.stale += 1;
        }
        let _ = progress(Event::Validated { step: at.step, f1, tau, best });
        Ok(())
    }

    /// Tunes the best checkpoint, or keeps the last where there is nothing to tune on; then the caches go.
    fn finish(self, validation: &[Labelled]) -> Result<(), TrainError> {
        let path = self.out.join(CHECKPOINT);
        if validation.is_empty() {
            self.checkpoint(0.5)?.write(&path, false)?;
        } else {
            let mut checkpoint = Checkpoint::read(&path)?;
            let model = WeSWin::on(self.base, &checkpoint, &self.device)?;
            let tuning = tune(&model, validation, &Grid::default())?;
            checkpoint.settings = tuning.applied(checkpoint.settings.clone());
            checkpoint.write(&path, false)?;
        }
        if let Some(frozen) = self.frozen {
            frozen.remove();
        }
        Ok(())
    }
}
