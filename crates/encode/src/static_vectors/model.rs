use std::ops::Range;

use pericope_api::{Embeddings, EncodeError, SentenceEncoder, joined_windows};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::table::Table;
use crate::models::{ModelDir, ModelError};
use crate::sentence::normalise;
use crate::tokens::TokenIds;

/// Tokens that are read of a text, as Model2Vec has it.
const MAX_TOKENS: usize = 512;

/// Texts that a thread embeds at a time.
const TEXTS: usize = 64;

/// Texts that are not worth a second thread.
const ALONE: usize = 4 * TEXTS;

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

    /// Whether a token has a vector.
    fn is_known(&self, id: u32) -> bool {
        self.tokens.unknown() != Some(id)
    }

    fn row(&self, id: u32) -> &[f32] {
        let start = id as usize * self.dimension;
        self.vectors.get(start..start + self.dimension).unwrap_or_default()
    }

    /// Writes the sum of the vectors of those tokens that are known into `to`.
    fn sum(&self, ids: &[u32], to: &mut [f32]) {
        let known = ids.iter().filter(|&&id| self.is_known(id));
        Arch::new().dispatch(Sum { rows: known.map(|&id| self.row(id)), to });
    }

    /// Writes their mean, scaled to length 1, into `to`.
    fn mean(&self, ids: &[u32], to: &mut [f32]) {
        self.sum(ids, to);
        normalise(to);
    }

    /// A matrix with a row for each of `count` items, each written by `write`.
    fn rows(&self, count: usize, write: impl Fn(usize, &mut [f32]) + Sync) -> Embeddings {
        let mut values = vec![0.0; count * self.dimension];
        let fill = |(part, rows): (usize, &mut [f32])| {
            let rows = rows.chunks_exact_mut(self.dimension);
            rows.enumerate().for_each(|(i, row)| write(part * TEXTS + i, row));
        };
        match count < ALONE {
            true => values.chunks_mut(TEXTS * self.dimension).enumerate().for_each(fill),
            false => values.par_chunks_mut(TEXTS * self.dimension).enumerate().for_each(fill),
        }
        Embeddings::new(self.dimension, values)
    }
}

/// Adds rows up, in their order, whatever the processor has.
struct Sum<'a, R> {
    rows: R,
    to: &'a mut [f32],
}

impl<'a, R: Iterator<Item = &'a [f32]> + Clone> WithSimd for Sum<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        /// Numbers that are summed in registers, over all tokens.
        const PART: usize = 64;
        let Self { rows, to } = self;
        for (part, to) in to.chunks_mut(PART).enumerate() {
            let rows = rows.clone().map(|row| row.get(part * PART..).unwrap_or_default());
            if let Ok(to) = <&mut [f32; PART]>::try_from(&mut *to) {
                let mut sums = [0.0; PART];
                for row in rows.filter_map(|row| row.first_chunk::<PART>()) {
                    sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
                }
                *to = sums;
            } else {
                rows.for_each(|row| to.iter_mut().zip(row).for_each(|(sum, x)| *sum += x));
            }
        }
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
        Ok(self.rows(texts.len(), |i, row| {
            let text = texts.get(i).copied().unwrap_or_default();
            self.mean(&self.tokens.ids(text, MAX_TOKENS), row);
        }))
    }

    fn encode_windows(&self, texts: &[&str], windows: &[Range<usize>]) -> Result<Embeddings, EncodeError> {
        if self.tokens.words().is_none() {
            let joined = joined_windows(texts, windows);
            return self.encode(&joined.iter().map(String::as_str).collect::<Vec<&str>>());
        }
        // A word's tokens depend on nothing outside of it: windows that share a text share its sum.
        let tokens = |text: &&str| self.tokens.ids(text, MAX_TOKENS);
        let tokens: Vec<Vec<u32>> = match texts.len() < ALONE {
            true => texts.iter().map(tokens).collect(),
            false => texts.par_iter().map(tokens).collect(),
        };
        let sums = self.rows(tokens.len(), |i, row| self.sum(&tokens[i], row));
        Ok(self.rows(windows.len(), |i, row| {
            let window = windows.get(i).cloned().unwrap_or_default();
            let within = tokens.get(window.clone()).unwrap_or_default();
            // Of texts that there are.
            let window = window.start..window.start + within.len();
            if within.iter().map(Vec::len).sum::<usize>() <= MAX_TOKENS {
                Arch::new().dispatch(Sum { rows: window.map(|text| sums.row(text)), to: row });
                normalise(row);
            } else {
                let read: Vec<u32> = within.iter().flatten().copied().take(MAX_TOKENS).collect();
                self.mean(&read, row);
            }
        }))
    }

    fn encode_tokens(&self, texts: &[&str]) -> Result<Vec<Embeddings>, EncodeError> {
        let of = |text: &&str| {
            let ids = self.tokens.ids(text, MAX_TOKENS);
            let known = ids.into_iter().filter(|&id| self.is_known(id));
            let mut values: Vec<f32> = known.flat_map(|id| self.row(id)).copied().collect();
            values.chunks_exact_mut(self.dimension).for_each(normalise);
            Embeddings::new(self.dimension, values)
        };
        Ok(texts.par_iter().map(of).collect())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::Path;

    use super::*;

    fn tiny() -> StaticVectors {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/static-tiny");
        StaticVectors::load(&ModelDir { name: "tiny".into(), path }).unwrap()
    }

    #[test]
    fn tables_of_large_numbers_are_scaled_or_give_none() {
        let times = |factor: f32| {
            let short = tiny();
            let vectors = short.vectors.iter().map(|x| x * factor).collect();
            StaticVectors { vectors, ..short }
        };
        let texts = ["The river rose.", "bread"];
        let (found, large) = (tiny().encode(&texts).unwrap(), times(1e30).encode(&texts).unwrap());
        assert!(found.values().iter().zip(large.values()).all(|(a, b)| (a - b).abs() < 1e-6), "{large:?}");
        // The sums of these are infinite.
        let none = StaticVectors { vectors: vec![f32::MAX; tiny().vectors.len()], ..tiny() };
        assert!(none.encode(&["The river rose."]).unwrap().values().iter().all(|x| x.is_nan()));
    }

    /// Vectors of 72 numbers: what is summed in registers, and a rest.
    #[test]
    fn long_vectors_are_summed_as_short_ones() {
        let short = tiny();
        let times = 9;
        let vectors = short.vectors.chunks(short.dimension).flat_map(|row| row.repeat(times)).collect();
        let (texts, dimension) = (["The river rose.", "bread", ""], short.dimension);
        let found = short.encode(&texts).unwrap();
        let long = StaticVectors { vectors, dimension: times * dimension, ..short };
        let long = long.encode(&texts).unwrap();
        for (short, long) in found.rows().zip(long.rows()).take(2) {
            let scale = (times as f32).sqrt();
            for (i, x) in long.iter().enumerate() {
                assert!((x * scale - short[i % dimension]).abs() < 1e-6, "{i}");
            }
        }
    }
}
