//! ModernBERT (Warner et al. 2024, arXiv:2412.13663), Nomic's BERT (Nussbaum et al. 2024, arXiv:2402.01613) and Qwen3
//! (arXiv:2505.09388): places by rotation (Su et al. 2021, arXiv:2104.09864), and a gate in the feed-forward part.
//!
//! They run without padding: the tokens of a batch lie one after the other, and attention sees each sequence alone, some rows of it at
//! a time, so that its memory grows with the length of a text and not with the square. On a CPU the kernels do the work where the
//! shapes fit ([`packed`]), else, and on other devices, candle's own operations ([`plain`]).

mod packed;
mod plain;
mod settings;

use std::ops::Range;
use std::path::Path;

use candle_core::{Device, Result};

use super::embed::Embed;
use super::weights::Tensors;
use crate::kernels::{Precision, mean_pool};
use crate::models::ModelError;
use packed::Packed;
use plain::{ModernBert, NomicBert, Plain, Qwen3};

/// A model of this kind: its layers, and what it can read.
pub struct Rotary {
    layers: Box<dyn Layers>,
    size: Size,
}

/// The sizes by which inputs are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Numbers of a token's vector.
    pub hidden: usize,
    /// Tokens of the longest text, special tokens included.
    pub max_tokens: usize,
    /// Tokens that have an embedding.
    pub vocabulary: usize,
}

/// What turns the ids of a batch into the last layer's rows.
trait Layers: Send + Sync {
    /// The rows of all tokens, `[tokens, hidden]`, of at least one; `sequences` are ranges of them.
    fn rows(&self, ids: &[u32], sequences: &[Range<usize>]) -> Result<Vec<f32>>;

    /// As [`Embed::batch_tokens`].
    fn batch_tokens(&self) -> usize;

    /// As [`Embed::parallel`].
    fn parallel(&self) -> bool;
}

/// The values of `model_type` that this reads.
pub(super) const NAMES: [&str; 3] = ["modernbert", "nomic_bert", "qwen3"];

impl Rotary {
    /// Reads the model of `weights` as the `config.json` at `path` describes it. `model_type` is one of
    /// `modernbert`, `nomic_bert` and `qwen3`; kernels multiply in `precision`, candle's operations in single precision.
    ///
    /// # Errors
    /// [`ModelError`], naming the file and the field or tensor.
    pub fn read(
        model_type: &str,
        path: &Path,
        weights: &dyn Tensors,
        device: &Device,
        precision: Precision,
    ) -> std::result::Result<Self, ModelError> {
        Self::read_by(model_type, path, weights, device, device.is_cpu().then_some(precision))
    }

    /// By the kernels where there is a `precision` and the shapes fit.
    fn read_by(
        model_type: &str,
        path: &Path,
        weights: &dyn Tensors,
        device: &Device,
        precision: Option<Precision>,
    ) -> std::result::Result<Self, ModelError> {
        match model_type {
            "modernbert" => {
                let settings = settings::ModernBert::read(path)?;
                let packed = |precision| Packed::modernbert(&settings, weights, precision);
                Self::of(settings.size(), device, precision.map(packed), || {
                    Ok(Box::new(ModernBert::new(&settings, weights, device)?))
                })
            }
            "nomic_bert" => {
                let settings = settings::NomicBert::read(path)?;
                let packed = |precision| Packed::nomic(&settings, weights, precision);
                Self::of(settings.size(), device, precision.map(packed), || {
                    Ok(Box::new(NomicBert::new(&settings, weights, device)?))
                })
            }
            _ => {
                let settings = settings::Qwen3::read(path)?;
                let packed = |precision| Packed::qwen3(&settings, weights, precision);
                Self::of(settings.size(), device, precision.map(packed), || {
                    Ok(Box::new(Qwen3::new(&settings, weights, device)?))
                })
            }
        }
    }

    /// The packed model, where there is one, else the other.
    fn of(
        size: Size,
        device: &Device,
        packed: Option<std::result::Result<Option<Packed>, ModelError>>,
        model: impl FnOnce() -> std::result::Result<Box<dyn plain::Model>, ModelError>,
    ) -> std::result::Result<Self, ModelError> {
        let layers: Box<dyn Layers> = match packed.transpose()?.flatten() {
            Some(packed) => Box::new(packed),
            None => Box::new(Plain { model: model()?, device: device.clone() }),
        };
        Ok(Self { layers, size })
    }

    /// The sizes of the model.
    #[must_use]
    pub fn size(&self) -> Size {
        self.size
    }

    /// The rows of all tokens, one sequence after the other, and where each sequence's are.
    fn rows(&self, sequences: &[&[u32]]) -> Result<(Vec<f32>, Vec<Range<usize>>)> {
        let Size { max_tokens, vocabulary, .. } = self.size;
        let (mut ids, mut ranges) = (Vec::new(), Vec::with_capacity(sequences.len()));
        for sequence in sequences {
            if sequence.is_empty() || sequence.len() > max_tokens {
                candle_core::bail!("a sequence of {} tokens; the model reads 1 to {max_tokens}", sequence.len());
            }
            if let Some(id) = sequence.iter().find(|&&id| id as usize >= vocabulary) {
                candle_core::bail!("there is no token {id}; the model has {vocabulary}");
            }
            ranges.push(ids.len()..ids.len() + sequence.len());
            ids.extend_from_slice(sequence);
        }
        let rows = if ids.is_empty() { Vec::new() } else { self.layers.rows(&ids, &ranges)? };
        Ok((rows, ranges))
    }
}

impl Embed for Rotary {
    fn embed(&self, sequences: &[&[u32]]) -> Result<Vec<f32>> {
        let hidden = self.size.hidden;
        let (rows, ranges) = self.rows(sequences)?;
        let mut pooled = vec![0.0; ranges.len() * hidden];
        for (range, out) in ranges.iter().zip(pooled.chunks_exact_mut(hidden)) {
            mean_pool(rows.get(range.start * hidden..range.end * hidden).unwrap_or_default(), out);
        }
        Ok(pooled)
    }

    fn hidden(&self, sequences: &[&[u32]]) -> Result<Vec<f32>> {
        Ok(self.rows(sequences)?.0)
    }

    fn first_of_pairs(&self, sequences: &[&[u32]], second: &[usize]) -> Result<Vec<f32>> {
        if sequences.len() != second.len() {
            candle_core::bail!("{} sequences, and {} places in them", sequences.len(), second.len());
        }
        let hidden = self.size.hidden;
        let (rows, ranges) = self.rows(sequences)?;
        let first = |range: &Range<usize>| rows.get(range.start * hidden..(range.start + 1) * hidden);
        Ok(ranges.iter().filter_map(first).flatten().copied().collect())
    }

    fn batch_tokens(&self) -> usize {
        self.layers.batch_tokens()
    }

    fn parallel(&self) -> bool {
        self.layers.parallel()
    }
}

#[cfg(test)]
mod tests;
