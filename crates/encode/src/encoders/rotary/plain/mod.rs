//! The models in candle's own operations, on any of its devices.

mod modernbert;
mod nomic;
mod ops;
mod qwen3;

use std::ops::Range;

use candle_core::{Device, Result, Tensor};

use super::Layers;
pub(super) use modernbert::ModernBert;
pub(super) use nomic::NomicBert;
pub(super) use qwen3::Qwen3;

/// Tokens of a batch: enough for products that keep all cores busy.
const BATCH_TOKENS: usize = 2_048;

/// A model, and where it runs.
pub(super) struct Plain {
    pub(super) model: Box<dyn Model>,
    pub(super) device: Device,
}

/// The layers of a model.
pub(super) trait Model: Send + Sync {
    /// The rows of all tokens, `[tokens, hidden]`; `sequences` are ranges of them.
    fn run(&self, ids: &Tensor, sequences: &[Range<usize>]) -> Result<Tensor>;
}

impl Layers for Plain {
    fn rows(&self, ids: &[u32], sequences: &[Range<usize>]) -> Result<Vec<f32>> {
        let ids = Tensor::new(ids, &self.device)?;
        self.model.run(&ids, sequences)?.flatten_all()?.to_vec1()
    }

    fn batch_tokens(&self) -> usize {
        BATCH_TOKENS
    }

    fn parallel(&self) -> bool {
        false
    }
}
