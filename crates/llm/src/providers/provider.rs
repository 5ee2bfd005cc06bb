use serde_json::Value;

use crate::account::Account;
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

    /// Asks, and waits for the answer. A refusal and an empty answer are replies, not errors. Each try is paid for from
    /// `account`.
    ///
    /// # Errors
    /// [`LlmError`].
    fn complete(&self, request: &Request, account: &Account<'_>) -> Result<Reply, LlmError>;

    /// Returns the parameters that the endpoint takes, as far as they are known: they change requests of this kind
    /// (`shaped`: with a schema), and so they are part of an answer's key. `null` where there is nothing to find out.
    fn parameters(&self, _shaped: bool) -> Value {
        Value::Null
    }

    /// Returns all that was found out about the endpoint, for [`recall`](Provider::recall).
    fn learned(&self) -> Value {
        Value::Null
    }

    /// Begins with what an earlier session [`learned`](Provider::learned). What makes no sense is ignored.
    fn recall(&self, _learned: &Value) {}

    /// Returns what was found out about the endpoint that changes what is sent, a line each: for the record of a run.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}
