//! The models in candle's own operations, on any of its devices.

mod modernbert;
mod nomic;
mod ops;
mod qwen3;

use std::ops::Range;

use candle_core::{Device, Result, Tensor};

use super::{Size, check_pairs, joined};
use crate::encoders::embed::Embed;
use crate::kernels::mean_pool;
pub(super) use modernbert::ModernBert;
pub(super) use nomic::NomicBert;
pub(super) use qwen3::Qwen3;

/// Tokens of a batch: enough for products that keep all cores busy.
const BATCH_TOKENS: usize = 2_048;

/// The layers of a model, and what it can read.
pub(super) struct Plain {
    pub(super) layers: Box<dyn Layers>,
    pub(super) size: Size,
    pub(super) device: Device,
}

/// What turns the ids of a batch into the last layer's rows.
pub(super) trait Layers: Send + Sync {
    /// The rows of all tokens, `[tokens, hidden]`; `sequences` are ranges of them.
    fn run(&self, ids: &Tensor, sequences: &[Range<usize>]) -> Result<Tensor>;
}

impl Plain {
    /// The rows of all tokens, one sequence after the other, and where each sequence's are.
    fn rows(&self, sequences: &[&[u32]]) -> Result<(Vec<f32>, Vec<Range<usize>>)> {
        let (ids, ranges) = joined(self.size, sequences)?;
        if ids.is_empty() {
            return Ok((Vec::new(), ranges));
        }
        let count = ids.len();
        let ids = Tensor::from_vec(ids, count, &self.device)?;
        Ok((self.layers.run(&ids, &ranges)?.flatten_all()?.to_vec1()?, ranges))
    }
}

impl Embed for Plain {
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
        check_pairs(sequences, second)?;
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
