use serde_json::Value;

use crate::error::LlmError;
use crate::request::{Reply, Request};

/// A model that can be asked. Retries are its own business; caching and money are the [`Client`](crate::Client)'s.
pub trait Provider: Send + Sync {
    /// Returns the name of its kind: `openai`, `anthropic` or `candle`.
    fn name(&self) -> &str;

    /// Returns the model's name.
    fn model(&self) -> &str;

    /// Returns everything but the request that could change an answer. Holds no keys.
    fn identity(&self) -> Value;

    /// Asks, and waits for the answer. A refusal and an empty answer are replies, not errors.
    ///
    /// # Errors
    /// [`LlmError`].
    fn complete(&self, request: &Request) -> Result<Reply, LlmError>;

    /// Returns what was found out about the endpoint that changes what is sent, a line each: for the record of a run.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}
