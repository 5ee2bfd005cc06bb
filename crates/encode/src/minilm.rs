use std::collections::HashMap;
use std::sync::Arc;

use candle_core::Device;
use pericope_api::{Embeddings, EncodeError, SentenceEncoder};
use rayon::prelude::*;

use crate::batches::Batches;
use crate::device::best_device;
use crate::encoders::{self, Config, Embed};
use crate::kernels::Precision;
use crate::models::{ModelDir, ModelError};
use crate::tokens::{WordPiece, WordPieceCounter};

/// Tokens that the model reads of a text, as published (`max_seq_length` of its sentence-transformers configuration).
const MAX_TOKENS: usize = 256;

/// Texts that are tokenised and sorted together: bounds the memory for token ids to some 16 MB.
const GROUP: usize = 16_384;

/// Members of a batch (indices into its texts), and what the model made of them, one after the other.
type Batch = (Vec<usize>, Vec<f32>);

/// all-MiniLM-L6-v2: mean-pooled BERT vectors of 384 numbers with L2 norm 1.
///
/// On a CPU, batches run side by side on all threads of the current rayon pool, each on one thread, so the result does
/// not depend on their number. With the cargo feature `cuda` and a GPU that works, the model runs there.
pub struct MiniLm {
    tokens: Arc<WordPiece>,
    model: Box<dyn Embed>,
    dimension: usize,
    fingerprint: String,
}

impl MiniLm {
    /// Loads an installed model on the best device: a GPU with feature `cuda`, else the CPU.
    ///
    /// # Errors
    /// [`ModelError::Io`] or [`ModelError::Unusable`], naming the file and the field or tensor.
    pub fn load(dir: &ModelDir) -> Result<Self, ModelError> {
        Self::open(dir, || encoders::load(dir, &best_device()))
    }

    /// Loads an installed model on the CPU, to multiply in `precision` whatever is quickest there.
    ///
    /// # Errors
    /// As [`MiniLm::load`].
    pub fn load_in(dir: &ModelDir, precision: Precision) -> Result<Self, ModelError> {
        Self::open(dir, || encoders::load_in(dir, &Device::Cpu, precision))
    }

    fn open(
        dir: &ModelDir,
        load: impl FnOnce() -> Result<(Box<dyn Embed>, Config, String), ModelError> + Send,
    ) -> Result<Self, ModelError> {
        // The tokenizer and the weights are about equally slow to read.
        let (tokens, model) = rayon::join(|| WordPiece::load(&dir.file("tokenizer.json")), load);
        let ((model, config, checksum), tokens) = (model?, tokens?);
        encoders::check_vocabulary(dir, tokens.vocabulary(), &config)?;
        let fingerprint = format!("{}:sha256={checksum}:mean:l2:{MAX_TOKENS}", dir.name);
        Ok(Self { tokens: Arc::new(tokens), model, dimension: config.hidden_size, fingerprint })
    }

    /// A token counter that shares this model's tokenizer.
    #[must_use]
    pub fn counter(&self) -> WordPieceCounter {
        WordPieceCounter::new(Arc::clone(&self.tokens))
    }

    /// Encodes texts that all differ, at most [`GROUP`] of them, into `rows`.
    fn encode_group(&self, texts: &[&str], rows: &mut [f32]) -> Result<(), EncodeError> {
        let ids: Vec<Vec<u32>> = texts.par_iter().map(|text| self.tokens.encode(text, MAX_TOKENS)).collect();
        for (members, vectors) in self.in_batches(&ids, |sequences| self.model.embed(sequences))? {
            for (i, vector) in members.into_iter().zip(vectors.chunks_exact(self.dimension)) {
                rows[i * self.dimension..(i + 1) * self.dimension].copy_from_slice(vector);
            }
        }
        Ok(())
    }

    /// Runs batches of sequences of like length, side by side where the model can: for each batch its members (indices into
    /// `ids`) and what `run` made of them.
    fn in_batches(
        &self,
        ids: &[Vec<u32>],
        run: impl Fn(&[&[u32]]) -> candle_core::Result<Vec<f32>> + Sync,
    ) -> Result<Vec<Batch>, EncodeError> {
        let lengths: Vec<usize> = ids.iter().map(Vec::len).collect();
        let batches = Batches::new(&lengths, self.model.batch_tokens());
        let done = batches.run(self.model.parallel(), |members| {
            let sequences: Vec<&[u32]> = members.iter().map(|&i| ids[i].as_slice()).collect();
            run(&sequences).map(|vectors| (members.to_vec(), vectors))
        });
        done.map_err(|e| EncodeError::Run(Box::new(e)))
    }

    /// The rows of a sequence's tokens, each scaled to norm 1, without `[CLS]` and `[SEP]`.
    fn without_ends(&self, rows: &[f32]) -> Embeddings {
        let count = (rows.len() / self.dimension).saturating_sub(2);
        let mut values = rows[self.dimension.min(rows.len())..].to_vec();
        values.truncate(count * self.dimension);
        for row in values.chunks_exact_mut(self.dimension) {
            let norm = row.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-12);
            row.iter_mut().for_each(|x| *x /= norm);
        }
        Embeddings::new(self.dimension, values)
    }
}

impl std::fmt::Debug for MiniLm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MiniLm").field("fingerprint", &self.fingerprint).finish_non_exhaustive()
    }
}

impl SentenceEncoder for MiniLm {
    fn name(&self) -> &str {
        "minilm"
    }

    fn fingerprint(&self) -> String {
        self.fingerprint.clone()
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn max_tokens(&self) -> usize {
        MAX_TOKENS
    }

    fn count_tokens(&self, text: &str) -> Option<usize> {
        Some(self.tokens.encode(text, usize::MAX).len())
    }

    fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
        let mut places: HashMap<&str, usize> = HashMap::with_capacity(texts.len());
        let mut distinct = Vec::new();
        let mut place = Vec::with_capacity(texts.len());
        for &text in texts {
            place.push(*places.entry(text).or_insert_with(|| {
                distinct.push(text);
                distinct.len() - 1
            }));
        }
        let mut rows = vec![0.0; distinct.len() * self.dimension];
        for (texts, rows) in distinct.chunks(GROUP).zip(rows.chunks_mut(GROUP * self.dimension)) {
            self.encode_group(texts, rows)?;
        }
        if distinct.len() == texts.len() {
            return Ok(Embeddings::new(self.dimension, rows));
        }
        let rows = Embeddings::new(self.dimension, rows);
        let values = place.into_iter().flat_map(|i| rows.row(i)).copied().collect();
        Ok(Embeddings::new(self.dimension, values))
    }

    fn encode_tokens(&self, texts: &[&str]) -> Result<Vec<Embeddings>, EncodeError> {
        let ids: Vec<Vec<u32>> = texts.par_iter().map(|text| self.tokens.encode(text, MAX_TOKENS)).collect();
        let mut found: Vec<Embeddings> = texts.iter().map(|_| Embeddings::default()).collect();
        for (members, rows) in self.in_batches(&ids, |sequences| self.model.hidden(sequences))? {
            let mut rest = rows.as_slice();
            for i in members {
                let (own, others) = rest.split_at(ids[i].len() * self.dimension);
                rest = others;
                found[i] = self.without_ends(own);
            }
        }
        Ok(found)
    }
}
