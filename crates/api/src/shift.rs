use crate::{ModelUse, SegmentError};

/// Says where the content of a run of passages shifts: what the segmenter `llm` asks (Duarte et al. 2024, LumberChunker).
pub trait ShiftFinder: Send + Sync {
    /// Names all that the answers depend on: model, prompt, sampling. It changes whenever the answers could.
    fn fingerprint(&self) -> String;

    /// Returns the index, from 1 to `passages.len() - 1`, of the first passage whose content is clearly other than that of the passages before it;
    /// `None` where there is none, and where no usable answer could be had (which [`used`](ShiftFinder::used) counts as failed).
    /// The same passages get the same answer.
    ///
    /// # Errors
    /// [`SegmentError::Model`] where nobody answers.
    fn first_shift(&self, passages: &[&str]) -> Result<Option<usize>, SegmentError>;

    /// The number of documents, at least 1, that are worth asking about at once.
    fn workers(&self) -> usize {
        1
    }

    /// Returns what was asked so far, and what came of it.
    fn used(&self) -> ModelUse;
}
