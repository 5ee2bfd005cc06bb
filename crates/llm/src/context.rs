use crate::client::{Answered, Client};
use crate::error::LlmError;
use crate::request::Request;
use crate::spent::Spent;

/// An answer to a prompt that had to fit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct InContext {
    /// The answer.
    pub(crate) answered: Answered,
    /// The tokens and the money of all calls that it took.
    pub(crate) spent: Spent,
    /// The number of chunks that were left out, from the end, so that the prompt fitted.
    pub(crate) dropped: usize,
}

impl Client {
    /// Asks with all of `chunks`, best first, and where the model's context is too short for them, without the last, the
    /// last two ... until it fits.
    ///
    /// # Errors
    /// [`LlmError::ContextLength`] where even the best chunk alone is too long; else as
    /// [`complete_whole`](Client::complete_whole).
    pub(crate) fn answer_with_context(
        &self,
        chunks: &[&str],
        request: impl Fn(&[&str]) -> Request,
    ) -> Result<InContext, LlmError> {
        let mut kept = chunks;
        loop {
            match (self.complete_whole(&request(kept)), kept) {
                (Err(LlmError::ContextLength(_)), [fewer @ .., _]) if !fewer.is_empty() => kept = fewer,
                (result, _) => {
                    let (answered, spent) = result?;
                    return Ok(InContext { answered, spent, dropped: chunks.len() - kept.len() });
                }
            }
        }
    }
}
