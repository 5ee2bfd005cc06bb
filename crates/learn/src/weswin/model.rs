use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use candle_core::Device;
use rayon::prelude::*;

use super::checkpoint::{Checkpoint, Settings, WithSentence};
use super::partition::{Partition, Window};
use super::sequence::{Asking, QUESTION, Special, sequence};
use crate::probability::probability;
use crate::sentences::Sentences;
use pericope_encode::Batches;
use pericope_encode::ModelError;
use pericope_encode::Subwords;
use pericope_encode::encoders::{self, Embed};
use pericope_encode::{Base, short};

/// A sequence's labelled sentences, and the log-odds of a boundary after each.
#[derive(Debug, Clone, PartialEq)]
pub struct Logits {
    /// The sequence.
    pub window: Window,
    /// One number a sentence of `window.active`: the logit of "ends a segment" less that of "does not".
    pub odds: Vec<f32>,
}

/// Sequences that are run together before any of them is kept as logits: bounds memory, some 130,000 tokens.
const GROUP: usize = 256;

/// A trained WeSWin: an encoder, a head that labels sentences, and one that scores them for a question.
///
/// On a CPU, sequences run side by side on all threads of the current rayon pool, each on one thread, so that the result
/// does not depend on their number.
pub struct WeSWin {
    encoder: Box<dyn Embed>,
    words: Arc<Subwords>,
    special: Special,
    hidden: usize,
    /// Row "ends a segment" less row "does not", and their biases' difference.
    boundary: (Vec<f32>, f32),
    retrieval: Option<(Vec<f32>, f32)>,
    settings: Settings,
    fingerprint: String,
    tokens_read: AtomicU64,
}

impl WeSWin {
    /// Puts a checkpoint on its base model, which is found as [`Base::of`] says.
    ///
    /// # Errors
    /// [`ModelError`], naming the file and the tensor: where the base model is missing or another one, or where shapes do
    /// not fit.
    pub fn load(checkpoint: &Checkpoint, device: &Device) -> Result<Self, ModelError> {
        Self::on(&checkpoint.base()?, checkpoint, device)
    }

    /// The same on a base model that has been read already.
    ///
    /// # Errors
    /// As [`WeSWin::load`].
    pub fn on(base: &Base, checkpoint: &Checkpoint, device: &Device) -> Result<Self, ModelError> {
        let settings = checkpoint.settings.clone();
        base.expect(&settings.base_sha256, checkpoint.path())?;
        let mut config = base.config.clone();
        let most = config.max_tokens();
        if settings.tokens < LEAST_TOKENS || settings.tokens > most {
            let asked = settings.tokens;
            let reason = format!("its sequences have {asked} tokens; its base model reads {LEAST_TOKENS} to {most}");
            return Err(ModelError::unusable(checkpoint.path(), reason));
        }
        let sentence = u32::try_from(config.vocab_size).unwrap_or(u32::MAX);
        config.vocab_size += 1;
        let hidden = config.hidden_size;
        let encoder = encoders::build(&config, &WithSentence::new(base, checkpoint), device)?;
        let head = |name: &str| -> Result<(Vec<f32>, f32), ModelError> {
            let weight = checkpoint.numbers(&format!("{name}.weight"), &[2, hidden])?;
            let bias = checkpoint.numbers(&format!("{name}.bias"), &[2])?;
            let (no, yes) = weight.split_at(hidden);
            let offset = bias.iter().rev().copied().reduce(|yes, no| yes - no).unwrap_or(0.0);
            Ok((yes.iter().zip(no).map(|(yes, no)| yes - no).collect(), offset))
        };
        let boundary = head("boundary")?;
        let retrieval = if checkpoint.has("retrieval.weight") { Some(head("retrieval")?) } else { None };
        let words = Arc::clone(&base.tokens);
        let special = Special { start: words.start(), end: words.end(), sentence };
        let fingerprint = format!("weswin:{}:{}", short(&settings.base_sha256), short(checkpoint.sha256()));
        Ok(Self {
            encoder,
            words,
            special,
            hidden,
            boundary,
            retrieval,
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

    /// True where it has a head that scores sentences for a question: it was trained with questions.
    #[must_use]
    pub fn scores_relevance(&self) -> bool {
        self.retrieval.is_some()
    }

    /// Tokens that went through the encoder since it was loaded, special tokens included.
    #[must_use]
    pub fn tokens_read(&self) -> u64 {
        self.tokens_read.load(Ordering::Relaxed)
    }

    /// The tokens of sentences; a sentence that no sequence can hold is cut off.
    #[must_use]
    pub fn tokenize(&self, sentences: &[&str]) -> Sentences {
        let limit = self.budget() - 1;
        let ids: Vec<Vec<u32>> = sentences.par_iter().map(|text| self.words.ids(text, limit)).collect();
        Sentences::new(ids.iter().map(Vec::as_slice), limit)
    }

    /// Tokens that sentences and their `[SNT]`s may take in a sequence.
    #[must_use]
    pub fn budget(&self) -> usize {
        self.settings.tokens - 2
    }

    /// The windows of a document under a partition.
    #[must_use]
    pub fn windows(&self, document: &Sentences, partition: Partition) -> Vec<Window> {
        partition.windows(&document.tokens(), self.budget())
    }

    /// Reads windows of documents (by their index in `documents`) and labels their active sentences. Sequences of like
    /// length run together, whatever document they come from. In the order of `windows`.
    ///
    /// # Errors
    /// Where candle fails (out of memory on a GPU, for instance).
    pub fn read(&self, documents: &[&Sentences], windows: Vec<(usize, Window)>) -> candle_core::Result<Vec<Logits>> {
        let mut read = Vec::with_capacity(windows.len());
        let mut windows = windows.into_iter().peekable();
        while windows.peek().is_some() {
            let group: Vec<(usize, Window)> = windows.by_ref().take(GROUP).collect();
            let build = |(d, window): &(usize, Window)| sequence(documents[*d], window, self.special);
            let sequences: Vec<(Vec<u32>, Vec<usize>)> = group.iter().map(build).collect();
            let odds = self.run(&sequences, &self.boundary)?;
            read.extend(group.into_iter().zip(odds).map(|((_, window), odds)| Logits { window, odds }));
        }
        Ok(read)
    }

    /// Returns the probability, 0..=1, that a sentence holds the answer to `question` (WeSWin-Ret): sequences are
    /// `[CLS] s_a [SNT] ... s_b [SNT] [SEP] question [EOS]`, parted as `cr-1`. `None` where the model has no head for it: it
    /// was trained without questions.
    ///
    /// # Errors
    /// As [`WeSWin::read`].
    pub fn relevance(&self, sentences: &Sentences, question: &str) -> candle_core::Result<Option<Vec<f32>>> {
        self.relevance_to(sentences, &self.words.ids(question, QUESTION))
    }

    /// The same for a question's tokens, without special ones.
    ///
    /// # Errors
    /// As [`WeSWin::read`].
    pub fn relevance_to(&self, sentences: &Sentences, question: &[u32]) -> candle_core::Result<Option<Vec<f32>>> {
        let Some(head) = &self.retrieval else { return Ok(None) };
        let asking = Asking::new(sentences, question, self.settings.tokens);
        let mut relevance = vec![0.0; sentences.len()];
        for group in asking.windows().chunks(GROUP) {
            let sequences: Vec<_> = group.iter().map(|window| asking.sequence(window, self.special)).collect();
            for (window, odds) in group.iter().zip(self.run(&sequences, head)?) {
                for (score, odds) in relevance[window.active.clone()].iter_mut().zip(odds) {
                    *score = probability(odds);
                }
            }
        }
        Ok(Some(relevance))
    }

    /// Returns for each passage the greatest log-odds that one of its sentences (one at least) holds the answer to
    /// `question`, as [`relevance`](Self::relevance) reads them; `None` where the model has no head for it. Sequences of
    /// like length run together, whatever passage they come from.
    ///
    /// # Errors
    /// As [`WeSWin::read`].
    pub fn best_odds(&self, passages: &[Sentences], question: &str) -> candle_core::Result<Option<Vec<f32>>> {
        let Some(head) = &self.retrieval else { return Ok(None) };
        let question = self.words.ids(question, QUESTION);
        let asking: Vec<Asking> =
            passages.iter().map(|passage| Asking::new(passage, &question, self.settings.tokens)).collect();
        let windows =
            asking.iter().enumerate().flat_map(|(p, asking)| asking.windows().into_iter().map(move |w| (p, w)));
        let windows: Vec<(usize, Window)> = windows.collect();
        let mut best = vec![f32::MIN; passages.len()];
        for group in windows.chunks(GROUP) {
            let sequences: Vec<_> = group.iter().map(|(p, window)| asking[*p].sequence(window, self.special)).collect();
            for ((p, _), odds) in group.iter().zip(self.run(&sequences, head)?) {
                best[*p] = odds.into_iter().fold(best[*p], f32::max);
            }
        }
        Ok(Some(best))
    }

    /// Runs sequences and reads a head at their places.
    fn run(&self, sequences: &[(Vec<u32>, Vec<usize>)], head: &(Vec<f32>, f32)) -> candle_core::Result<Vec<Vec<f32>>> {
        let lengths: Vec<usize> = sequences.iter().map(|(ids, _)| ids.len()).collect();
        self.tokens_read.fetch_add(lengths.iter().sum::<usize>() as u64, Ordering::Relaxed);
        let batches = Batches::new(&lengths, self.encoder.batch_tokens());
        let done = batches.run(self.encoder.parallel(), |members| {
            let ids: Vec<&[u32]> = members.iter().map(|&i| sequences[i].0.as_slice()).collect();
            let rows = self.encoder.hidden(&ids)?;
            let mut first = 0;
            let mut found = Vec::with_capacity(members.len());
            for &i in members {
                let (ids, places) = &sequences[i];
                let odds = places.iter().map(|place| {
                    let row = &rows[(first + place) * self.hidden..(first + place + 1) * self.hidden];
                    row.iter().zip(&head.0).map(|(x, w)| x * w).sum::<f32>() + head.1
                });
                found.push((i, odds.collect::<Vec<f32>>()));
                first += ids.len();
            }
            Ok(found)
        })?;
        let mut odds = vec![Vec::new(); sequences.len()];
        for (i, own) in done.into_iter().flatten() {
            odds[i] = own;
        }
        Ok(odds)
    }
}

/// The least number of tokens of a sequence: `[CLS]`, a few words, `[SNT]` and `[EOS]`.
const LEAST_TOKENS: usize = 16;

impl std::fmt::Debug for WeSWin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WeSWin").field("fingerprint", &self.fingerprint).finish_non_exhaustive()
    }
}
