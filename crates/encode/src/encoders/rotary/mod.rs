//! ModernBERT (Warner et al. 2024, arXiv:2412.13663), Nomic's BERT (Nussbaum et al. 2024, arXiv:2402.01613) and Qwen3
//! (arXiv:2505.09388): places by rotation (Su et al. 2021, arXiv:2104.09864), and a gate in the feed-forward part.
//!
//! They run in candle's own operations, on any of its devices, without padding: the tokens of a batch lie one after the
//! other, and attention sees each sequence alone, some rows of it at a time, so that its memory grows with the length of a
//! text and not with the square.

mod modernbert;
mod nomic;
mod ops;
mod qwen3;
mod settings;

use std::ops::Range;
use std::path::Path;

use candle_core::{Device, Result, Tensor};

use super::embed::Embed;
use super::weights::Tensors;
use crate::kernels::mean_pool;
use crate::models::ModelError;
use modernbert::ModernBert;
use nomic::NomicBert;
use ops::Rotation;
use qwen3::Qwen3;

/// Tokens of a batch: enough for products that keep all cores busy.
const BATCH_TOKENS: usize = 2_048;

/// A model of this kind: its layers, and what it can read.
pub struct Rotary {
    layers: Box<dyn Layers>,
    size: Size,
    device: Device,
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
    /// The rows of all tokens, `[tokens, hidden]`; `sequences` are ranges of them.
    fn run(&self, ids: &Tensor, sequences: &[Range<usize>]) -> Result<Tensor>;
}

/// The values of `model_type` that this reads.
pub(super) const NAMES: [&str; 3] = ["modernbert", "nomic_bert", "qwen3"];

impl Rotary {
    /// Reads the model of `weights` as the `config.json` at `path` describes it. `model_type` is one of
    /// `modernbert`, `nomic_bert` and `qwen3`.
    ///
    /// # Errors
    /// [`ModelError`], naming the file and the field or tensor.
    pub fn read(
        model_type: &str,
        path: &Path,
        weights: &dyn Tensors,
        device: &Device,
    ) -> std::result::Result<Self, ModelError> {
        let (layers, size): (Box<dyn Layers>, Size) = match model_type {
            "modernbert" => {
                let settings = settings::ModernBert::read(path)?;
                (Box::new(ModernBert::new(&settings, weights, device)?), settings.size())
            }
            "nomic_bert" => {
                let settings = settings::NomicBert::read(path)?;
                (Box::new(NomicBert::new(&settings, weights, device)?), settings.size())
            }
            _ => {
                let settings = settings::Qwen3::read(path)?;
                (Box::new(Qwen3::new(&settings, weights, device)?), settings.size())
            }
        };
        Ok(Self { layers, size, device: device.clone() })
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
        if ids.is_empty() {
            return Ok((Vec::new(), ranges));
        }
        let count = ids.len();
        let ids = Tensor::from_vec(ids, count, &self.device)?;
        Ok((self.layers.run(&ids, &ranges)?.flatten_all()?.to_vec1()?, ranges))
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
        BATCH_TOKENS
    }

    fn parallel(&self) -> bool {
        false
    }
}
