use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use candle_core::{Device, Result};
use pericope_util::dot;
use rayon::prelude::*;

use super::checkpoint::{CHECKPOINT, Checkpoint, HEAD, POOLER};
use super::pair::pair;
use super::threshold::Threshold;
use crate::checkpoint::Overlaid;
use crate::sentences::Sentences;
use pericope_encode::Batches;
use pericope_encode::ModelError;
use pericope_encode::Subwords;
use pericope_encode::encoders::{self, Config, Embed, Tensors};
use pericope_encode::{Base, short};

type Loaded<T> = std::result::Result<T, ModelError>;

/// The number of tokens of a pair, where the model reads as many.
const TOKENS: usize = 512;

/// The least number of tokens of a pair that a model must read: three special ones and a few words.
const LEAST_TOKENS: usize = 8;

/// Pairs that are made into sequences together: bounds memory.
const GROUP: usize = 1_024;

/// A model of next-sentence prediction: an encoder, the pooler on its first token, and the classifier on that.
///
/// On a CPU, pairs run side by side on all threads of the current rayon pool, each on one thread, so that the result does
/// not depend on their number.
pub struct Nsp {
    encoder: Box<dyn Embed>,
    words: Arc<Subwords>,
    head: Head,
    tokens: usize,
    threshold: Option<Threshold>,
    fingerprint: String,
    tokens_read: AtomicU64,
}

/// tanh of a layer on the first token, and two logits on that.
struct Head {
    hidden: usize,
    /// `[hidden, hidden]` and `[hidden]`.
    pooler: (Vec<f32>, Vec<f32>),
    /// `[2, hidden]` and `[2]`; row 0 is "is next".
    classes: (Vec<f32>, Vec<f32>),
}

impl Nsp {
    /// Reads a model: a checkpoint's file, a folder with `nsp.safetensors`, the folder of a BERT, or the name of an
    /// installed one.
    ///
    /// # Errors
    /// [`ModelError`], naming the file and the tensor.
    pub fn open(name: &str, device: &Device) -> Loaded<Self> {
        let path = Path::new(name);
        let trained = path.join(CHECKPOINT);
        if path.is_file() || trained.is_file() {
            let file = if path.is_file() { path } else { &trained };
            return Self::load(&Checkpoint::read(file)?, device);
        }
        Self::of_base(&Base::open(name)?, device)
    }

    /// Puts a checkpoint on its base model, which is found as [`Base::of`] says.
    ///
    /// # Errors
    /// [`ModelError`], naming the file and the tensor: where the base model is missing or another one, or where shapes do
    /// not fit.
    pub fn load(checkpoint: &Checkpoint, device: &Device) -> Loaded<Self> {
        Self::on(&checkpoint.base()?, checkpoint, device)
    }

    /// The same on a base model that has been read already.
    ///
    /// # Errors
    /// As [`Nsp::load`].
    pub fn on(base: &Base, checkpoint: &Checkpoint, device: &Device) -> Loaded<Self> {
        let settings = &checkpoint.settings;
        base.expect(&settings.base_sha256, checkpoint.path())?;
        let (tokens, most) = (settings.tokens, base.config.max_tokens());
        if tokens < LEAST_TOKENS || tokens > most {
            let reason = format!("its pairs have {tokens} tokens; its base model reads {LEAST_TOKENS} to {most}");
            return Err(ModelError::unusable(checkpoint.path(), reason));
        }
        let all = Overlaid::new(&base.weights, checkpoint);
        let encoder = encoders::build(&base.config, &all, device)?;
        let fingerprint = format!("nsp:{}:{}", short(&settings.base_sha256), short(checkpoint.sha256()));
        Ok(Self {
            encoder,
            words: Arc::clone(&base.tokens),
            head: Head::read(&base.config, checkpoint)?,
            tokens,
            threshold: settings.threshold.map(Threshold::of_odds),
            fingerprint,
            tokens_read: AtomicU64::new(0),
        })
    }

    /// A BERT that was trained with next-sentence prediction, as it was released: its weights hold
    /// `bert.pooler.dense` and `cls.seq_relationship`, class 0 being "is next".
    ///
    /// # Errors
    /// [`ModelError::Unusable`], naming the file and the tensor.
    pub fn of_base(base: &Base, device: &Device) -> Loaded<Self> {
        let tokens = base.config.max_tokens().min(TOKENS);
        if tokens < LEAST_TOKENS {
            let reason = format!("it reads {tokens} tokens; pairs need {LEAST_TOKENS}");
            return Err(base.weights.unusable(reason));
        }
        Ok(Self {
            head: Head::read(&base.config, &base.weights)?,
            encoder: encoders::build(&base.config, &base.weights, device)?,
            words: Arc::clone(&base.tokens),
            tokens,
            threshold: None,
            fingerprint: format!("nsp:{}", short(base.weights.sha256())),
            tokens_read: AtomicU64::new(0),
        })
    }

    /// The threshold that suited its validation documents, where it knows one.
    #[must_use]
    pub fn threshold(&self) -> Option<Threshold> {
        self.threshold
    }

    /// Changes whenever its answers could.
    #[must_use]
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Tokens that went through the encoder since it was loaded, special tokens included.
    #[must_use]
    pub fn tokens_read(&self) -> u64 {
        self.tokens_read.load(Ordering::Relaxed)
    }

    /// The tokens of sentences, at most `limit` of each.
    #[must_use]
    pub fn tokenize(&self, sentences: &[&str], limit: usize) -> Sentences {
        let ids: Vec<Vec<u32>> = sentences.par_iter().map(|text| self.words.ids(text, limit)).collect();
        Sentences::new(ids.iter().map(Vec::as_slice), limit)
    }

    /// The logits of pairs of sentences (their token ids): "is next", "is not next".
    ///
    /// # Errors
    /// Where candle fails (out of memory on a GPU, for instance), and for ids that the model does not have.
    pub fn logits(&self, pairs: &[(&[u32], &[u32])]) -> Result<Vec<[f32; 2]>> {
        let mut all = Vec::with_capacity(pairs.len());
        for group in pairs.chunks(GROUP) {
            all.extend(self.group(group)?);
        }
        Ok(all)
    }

    /// The log-odds of "sentence i + 1 follows sentence i", a number for each gap.
    ///
    /// # Errors
    /// As [`Nsp::logits`].
    pub fn odds(&self, sentences: &Sentences) -> Result<Vec<f64>> {
        let gaps = 1..sentences.len().max(1);
        let pairs: Vec<(&[u32], &[u32])> = gaps.map(|i| (sentences.of(i - 1), sentences.of(i))).collect();
        let odds = |[next, other]: [f32; 2]| f64::from(next) - f64::from(other);
        Ok(self.logits(&pairs)?.into_iter().map(odds).collect())
    }

    fn group(&self, pairs: &[(&[u32], &[u32])]) -> Result<Vec<[f32; 2]>> {
        let special = (self.words.start(), self.words.end());
        let sequences: Vec<(Vec<u32>, usize)> =
            pairs.iter().map(|(first, second)| pair(first, second, self.tokens, special)).collect();
        let lengths: Vec<usize> = sequences.iter().map(|(ids, _)| ids.len()).collect();
        self.tokens_read.fetch_add(lengths.iter().sum::<usize>() as u64, Ordering::Relaxed);
        let batches = Batches::new(&lengths, self.encoder.batch_tokens());
        let done = batches.run(self.encoder.parallel(), |members| {
            let ids: Vec<&[u32]> = members.iter().map(|&i| sequences[i].0.as_slice()).collect();
            let second: Vec<usize> = members.iter().map(|&i| sequences[i].1).collect();
            let rows = self.encoder.first_of_pairs(&ids, &second)?;
            Ok(members.iter().copied().zip(self.head.apply(&rows)).collect::<Vec<_>>())
        })?;
        let mut logits = vec![[0.0; 2]; pairs.len()];
        for (i, own) in done.into_iter().flatten() {
            logits[i] = own;
        }
        Ok(logits)
    }
}

impl Head {
    fn read(config: &Config, weights: &dyn Tensors) -> Loaded<Self> {
        let hidden = config.hidden_size;
        let layer = |name: &str, outputs: usize| -> Loaded<(Vec<f32>, Vec<f32>)> {
            let weight = weights.numbers(&format!("{name}.weight"), &[outputs, hidden])?;
            Ok((weight, weights.numbers(&format!("{name}.bias"), &[outputs])?))
        };
        Ok(Self { hidden, classes: layer(HEAD, 2)?, pooler: layer(POOLER, hidden)? })
    }

    /// The logits of rows of first tokens, `[sequences, hidden]`.
    fn apply(&self, rows: &[f32]) -> Vec<[f32; 2]> {
        let logits = |row: &[f32]| {
            let pooled: Vec<f32> = linear(row, &self.pooler).map(f32::tanh).collect();
            let mut logits = linear(&pooled, &self.classes);
            [logits.next().unwrap_or(0.0), logits.next().unwrap_or(0.0)]
        };
        rows.chunks_exact(self.hidden).map(logits).collect()
    }
}

/// A fully connected layer on one row.
fn linear<'a>(row: &'a [f32], (weight, bias): &'a (Vec<f32>, Vec<f32>)) -> impl Iterator<Item = f32> + 'a {
    weight.chunks_exact(row.len().max(1)).zip(bias).map(|(weight, bias)| dot(row, weight) + bias)
}

impl std::fmt::Debug for Nsp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Nsp").field("fingerprint", &self.fingerprint).finish_non_exhaustive()
    }
}
