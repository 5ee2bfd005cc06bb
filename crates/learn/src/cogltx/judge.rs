use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use candle_core::{Device, Result};
use pericope_encode::encoders::{self, Embed};
use pericope_encode::{Base, Batches, ModelError, Subwords, short};
use pericope_util::dot;

use super::checkpoint::{Checkpoint, DENSE, MATCH, SCORE, SPAN, Settings};
use super::sequence::{QUERY, Sequence};
use crate::checkpoint::Overlaid;
use crate::probability::probability;

/// The least number of tokens of a block or a query.
const LEAST: usize = 4;

/// The judge and the reasoner: an encoder, an MLP and a sigmoid for the relevance of tokens, and a head for the ends of answers.
///
/// Beside the paper's MLP, the logit of a block's tokens has a term for the block: the products of the mean hidden state of its tokens
/// and that of the query's, both of length 1, added up by trained weights. An encoder of sentences says by it from the start what
/// resembles the query; the MLP by itself has to learn that from questions.
///
/// On a CPU, sequences run side by side on all threads of the current rayon pool, each on one thread, so that the result does not
/// depend on their number.
pub struct Judge {
    encoder: Box<dyn Embed>,
    words: Arc<Subwords>,
    hidden: usize,
    /// `[hidden, hidden]` and `[hidden]`.
    dense: (Vec<f32>, Vec<f32>),
    /// `[hidden]`, and the bias.
    score: (Vec<f32>, f32),
    /// `[hidden]`, and the bias.
    matching: Option<(Vec<f32>, f32)>,
    /// `[2, hidden]` and `[2]`.
    span: (Vec<f32>, Vec<f32>),
    settings: Settings,
    fingerprint: String,
    tokens_read: AtomicU64,
}

impl Judge {
    /// Puts a checkpoint on its base model, which is found as [`Base::of`] says.
    ///
    /// # Errors
    /// [`ModelError`], naming the file and the tensor: where the base model is missing or another one, or where shapes do not fit.
    pub fn load(checkpoint: &Checkpoint, device: &Device) -> std::result::Result<Self, ModelError> {
        Self::on(&checkpoint.base()?, checkpoint, device)
    }

    /// The same on a base model that has been read already.
    ///
    /// # Errors
    /// As [`Judge::load`].
    pub fn on(base: &Base, checkpoint: &Checkpoint, device: &Device) -> std::result::Result<Self, ModelError> {
        let settings = checkpoint.settings.clone();
        base.expect(&settings.base_sha256, checkpoint.path())?;
        check(&settings, base.config.max_tokens()).map_err(|reason| ModelError::unusable(checkpoint.path(), reason))?;
        let all = Overlaid::new(&base.weights, checkpoint);
        let encoder = encoders::build(&base.config, &all, device)?;
        let hidden = base.config.hidden_size;
        let layer = |name: &str, outputs: usize| -> std::result::Result<(Vec<f32>, Vec<f32>), ModelError> {
            let weight = checkpoint.numbers(&format!("{name}.weight"), &[outputs, hidden])?;
            Ok((weight, checkpoint.numbers(&format!("{name}.bias"), &[outputs])?))
        };
        let single = |name: &str| layer(name, 1).map(|(weight, bias)| (weight, bias.first().copied().unwrap_or(0.0)));
        let fingerprint = format!("judge:{}:{}", short(&settings.base_sha256), short(checkpoint.sha256()));
        Ok(Self {
            encoder,
            words: Arc::clone(&base.tokens),
            hidden,
            dense: layer(DENSE, hidden)?,
            score: single(SCORE)?,
            matching: checkpoint.has(&format!("{MATCH}.weight")).then(|| single(MATCH)).transpose()?,
            span: layer(SPAN, 2)?,
            settings,
            fingerprint,
            tokens_read: AtomicU64::new(0),
        })
    }

    /// The settings of its training and of its use.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
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

    /// The tokenizer.
    #[must_use]
    pub fn words(&self) -> &Arc<Subwords> {
        &self.words
    }

    /// The ids of `[CLS]` and `[SEP]`.
    #[must_use]
    pub fn special(&self) -> (u32, u32) {
        (self.words.start(), self.words.end())
    }

    /// The tokens of a query, as many as are read.
    #[must_use]
    pub fn query(&self, text: &str) -> Vec<u32> {
        self.words.ids(text, self.settings.query)
    }

    /// The scores, 0 to 1, of the blocks of each sequence that `wanted` names: the mean relevance of their tokens; 0 for a block without
    /// tokens. In the order of `sequences`.
    ///
    /// # Errors
    /// Where candle fails (out of memory on a GPU, for instance), and for sequences that are longer than the base model reads.
    pub fn scores(
        &self,
        sequences: &[Sequence],
        wanted: impl Fn(usize) -> Range<usize> + Sync,
    ) -> Result<Vec<Vec<f32>>> {
        self.run(sequences, |i, rows| {
            let rows_of = |places: Range<usize>| &rows[places.start * self.hidden..places.end * self.hidden];
            let query = self.direction(rows_of(sequences[i].query()));
            let blocks = sequences[i].blocks.get(wanted(i)).unwrap_or_default();
            blocks.iter().map(|places| self.score_of(&query, rows_of(places.clone()))).collect()
        })
    }

    /// The reasoner's logits of a sequence's tokens: "the answer begins here", "it ends here".
    ///
    /// # Errors
    /// As [`Judge::scores`].
    pub fn spans(&self, sequences: &[Sequence]) -> Result<Vec<Vec<[f32; 2]>>> {
        let (starts, ends) = self.span.0.split_at(self.hidden);
        let bias = |i: usize| self.span.1.get(i).copied().unwrap_or(0.0);
        self.run(sequences, |_, rows| {
            let rows = rows.chunks_exact(self.hidden);
            rows.map(|row| [dot(row, starts) + bias(0), dot(row, ends) + bias(1)]).collect()
        })
    }

    /// The mean relevance of a block's tokens by their last hidden states; `query` is the [direction](Self::direction) of its query.
    fn score_of(&self, query: &[f32], rows: &[f32]) -> f32 {
        let (weight, bias) = &self.dense;
        let likeness = self.matching.as_ref().map_or(0.0, |(weights, bias)| {
            let products = query.iter().zip(self.direction(rows)).zip(weights).map(|((q, b), weight)| q * b * weight);
            products.sum::<f32>() + bias
        });
        let mut inner = vec![0.0; self.hidden];
        let mut sum = 0.0;
        let rows = rows.chunks_exact(self.hidden);
        let count = rows.len();
        for row in rows {
            for ((out, weight), bias) in inner.iter_mut().zip(weight.chunks_exact(self.hidden)).zip(bias) {
                *out = (dot(row, weight) + bias).tanh();
            }
            let logit = dot(&inner, &self.score.0) + self.score.1 + likeness;
            sum += probability(logit);
        }
        sum / count.max(1) as f32
    }

    /// The mean of rows at length 1; zeros where they have none.
    fn direction(&self, rows: &[f32]) -> Vec<f32> {
        let mut sum = vec![0.0; self.hidden];
        for row in rows.chunks_exact(self.hidden) {
            sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
        }
        let length = dot(&sum, &sum).sqrt();
        if length > 0.0 {
            sum.iter_mut().for_each(|x| *x /= length);
        }
        sum
    }

    /// What `read` makes of each sequence's last hidden states, `[tokens, hidden]`. Sequences of like length run together.
    fn run<T: Send>(&self, sequences: &[Sequence], read: impl Fn(usize, &[f32]) -> T + Sync) -> Result<Vec<T>> {
        let lengths: Vec<usize> = sequences.iter().map(|one| one.ids.len()).collect();
        self.tokens_read.fetch_add(lengths.iter().sum::<usize>() as u64, Ordering::Relaxed);
        let batches = Batches::new(&lengths, self.encoder.batch_tokens());
        let done = batches.run(self.encoder.parallel(), |members| {
            let ids: Vec<&[u32]> = members.iter().map(|&i| sequences[i].ids.as_slice()).collect();
            let rows = self.encoder.hidden(&ids)?;
            let mut rest = rows.as_slice();
            let mut found = Vec::with_capacity(members.len());
            for &i in members {
                let (own, others) = rest.split_at(sequences[i].ids.len() * self.hidden);
                found.push((i, read(i, own)));
                rest = others;
            }
            Ok(found)
        })?;
        let mut all: Vec<(usize, T)> = done.into_iter().flatten().collect();
        all.sort_by_key(|(i, _)| *i);
        Ok(all.into_iter().map(|(_, found)| found).collect())
    }
}

/// Refuses settings that no text could be read with: a sequence holds a query, a block that is kept and one that competes.
pub(crate) fn check(settings: &Settings, most: usize) -> std::result::Result<(), String> {
    let Settings { tokens, block, query, .. } = *settings;
    if tokens > most {
        return Err(format!("its sequences have {tokens} tokens; its base model reads {most}"));
    }
    if !(LEAST..=tokens).contains(&block) || !(LEAST..=QUERY.max(LEAST)).contains(&query) {
        return Err(format!("its blocks have {block} tokens and its queries {query}"));
    }
    match query + 2 + 2 * (block + 1) {
        least if least > tokens => {
            Err(format!("its sequences have {tokens} tokens, too few for a query of {query} and two blocks of {block}"))
        }
        _ => Ok(()),
    }
}

impl std::fmt::Debug for Judge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Judge").field("fingerprint", &self.fingerprint).finish_non_exhaustive()
    }
}
