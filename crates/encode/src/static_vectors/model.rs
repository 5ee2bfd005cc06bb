use pericope_api::{Embeddings, EncodeError, SentenceEncoder};
use rayon::prelude::*;

use super::table::Table;
use crate::models::{ModelDir, ModelError};
use crate::tokens::TokenIds;

/// Tokens that are read of a text, as Model2Vec has it.
const MAX_TOKENS: usize = 512;

/// Texts that a thread embeds at a time.
const TEXTS: usize = 64;

/// Static vectors from a Model2Vec folder (`model.safetensors`, `tokenizer.json`, `config.json`), such as
/// `pericope models distil` makes: the mean of a text's token vectors, of L2 norm 1. Tokens that are not known are left out.
///
/// A text without a known token gets the vector that is 0 but for its first number, which is 1: it is no nearer to one text than to
/// any other whose first number is small.
pub struct StaticVectors {
    name: String,
    tokens: TokenIds,
    dimension: usize,
    vectors: Vec<f32>,
    fingerprint: String,
}

impl StaticVectors {
    /// Reads a folder.
    ///
    /// # Errors
    /// [`ModelError::Io`] or [`ModelError::Unusable`], naming the file and the tensor.
    pub fn load(dir: &ModelDir) -> Result<Self, ModelError> {
        let file = dir.file("model.safetensors");
        let (table, tokens) = rayon::join(|| Table::read(&file), || TokenIds::load(&dir.file("tokenizer.json")));
        let (Table { dimension, vectors, sha256 }, tokens) = (table?, tokens?);
        let (known, rows) = (tokens.vocabulary(), vectors.len() / dimension);
        if known > rows {
            let reason = format!("tokenizer.json has {known} tokens, the table {rows} rows");
            return Err(ModelError::unusable(&dir.path, reason));
        }
        let fingerprint = format!("static:sha256={sha256}:{dimension}:mean:l2:{MAX_TOKENS}");
        Ok(Self { name: dir.name.clone(), tokens, dimension, vectors, fingerprint })
    }

    /// The ids of a text's tokens that are known.
    fn ids(&self, text: &str) -> Vec<u32> {
        let mut ids = self.tokens.ids(text, MAX_TOKENS);
        if let Some(unknown) = self.tokens.unknown() {
            ids.retain(|&id| id != unknown);
        }
        ids
    }

    fn row(&self, id: u32) -> &[f32] {
        let start = id as usize * self.dimension;
        self.vectors.get(start..start + self.dimension).unwrap_or_default()
    }

    /// Writes the vector of a text into `to`.
    fn embed(&self, text: &str, to: &mut [f32]) {
        for id in self.ids(text) {
            to.iter_mut().zip(self.row(id)).for_each(|(sum, x)| *sum += x);
        }
        scale(to);
    }
}

/// Scales a vector to norm 1; one without a direction gets that of its first number.
fn scale(vector: &mut [f32]) {
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if norm > 1e-12 {
        vector.iter_mut().for_each(|x| *x /= norm);
    } else {
        vector.fill(0.0);
        vector.iter_mut().take(1).for_each(|x| *x = 1.0);
    }
}

impl std::fmt::Debug for StaticVectors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StaticVectors").field("fingerprint", &self.fingerprint).finish_non_exhaustive()
    }
}

impl SentenceEncoder for StaticVectors {
    fn name(&self) -> &str {
        &self.name
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

    fn is_static(&self) -> bool {
        true
    }

    fn count_tokens(&self, text: &str) -> Option<usize> {
        Some(self.tokens.ids(text, usize::MAX).len())
    }

    fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
        let mut values = vec![0.0; texts.len() * self.dimension];
        values.par_chunks_mut(TEXTS * self.dimension).zip(texts.par_chunks(TEXTS)).for_each(|(rows, texts)| {
            rows.chunks_exact_mut(self.dimension).zip(texts).for_each(|(row, text)| self.embed(text, row));
        });
        Ok(Embeddings::new(self.dimension, values))
    }

    fn encode_tokens(&self, texts: &[&str]) -> Result<Vec<Embeddings>, EncodeError> {
        let of = |text: &&str| {
            let mut values: Vec<f32> = self.ids(text).iter().flat_map(|&id| self.row(id)).copied().collect();
            values.chunks_exact_mut(self.dimension).for_each(scale);
            Embeddings::new(self.dimension, values)
        };
        Ok(texts.par_iter().map(of).collect())
    }
}
