use std::ops::Range;

use candle_core::{Result, Tensor};

/// A model that turns sequences of token ids into vectors.
pub trait Embed: Send + Sync {
    /// Mean-pooled vectors of L2 norm 1, one after the other, for sequences of 1 to [`Config::max_tokens`](super::Config::max_tokens) tokens.
    ///
    /// # Errors
    /// For other sequences, for ids that the model does not have, and where candle fails (out of memory on a GPU, for
    /// instance).
    fn embed(&self, sequences: &[&[u32]]) -> Result<Vec<f32>>;

    /// The last layer's vectors of all tokens, `[tokens, hidden]`, the sequences one after the other.
    ///
    /// # Errors
    /// As [`embed`](Self::embed).
    fn hidden(&self, sequences: &[&[u32]]) -> Result<Vec<f32>>;

    /// The last hidden state of each sequence's first token, `[sequences, hidden]`: what a head reads that classifies
    /// whole sequences. Tokens from place `second[i]` of sequence i on are of segment type 1 where the model has more
    /// than one type (RoBERTa has one); the others are of type 0.
    ///
    /// # Errors
    /// As [`embed`](Self::embed), and where there are not as many places as sequences.
    fn first_of_pairs(&self, sequences: &[&[u32]], second: &[usize]) -> Result<Vec<f32>>;

    /// Tokens of a batch (longest sequence times sequences) that suit it.
    fn batch_tokens(&self) -> usize;

    /// True where batches may run side by side on several threads.
    fn parallel(&self) -> bool;
}

/// A model whose layers can be run one after the other, each with a gradient: what training needs of it.
pub trait LayerByLayer: Embed {
    /// The input of the first layer, `[sequences, longest, hidden]`, and the mask `[sequences, longest]`: 1 for tokens
    /// and 0 for padding.
    ///
    /// # Errors
    /// For no sequences, one that is empty or longer than [`Config::max_tokens`](super::Config::max_tokens), and unknown
    /// ids.
    fn embed_tokens(&self, sequences: &[&[u32]]) -> Result<(Tensor, Tensor)>;

    /// As [`embed_tokens`](Self::embed_tokens), with segment type 1 from place `second[i]` of sequence i on.
    ///
    /// # Errors
    /// As [`embed_tokens`](Self::embed_tokens), and where there are not as many places as sequences.
    fn embed_pairs(&self, sequences: &[&[u32]], second: &[usize]) -> Result<(Tensor, Tensor)>;

    /// The output of the last of `layers`, `[sequences, longest, hidden]`, where `x` is the input of the first and `mask`
    /// is as [`embed_tokens`](Self::embed_tokens) gives it. Lower layers that do not change can be run once, and what
    /// they give be kept.
    ///
    /// # Errors
    /// Where there are no such layers, and where candle fails.
    fn run_layers(&self, x: &Tensor, mask: &Tensor, layers: Range<usize>) -> Result<Tensor>;
}
