//! Ways to a model: one a file.

mod anthropic;
#[cfg(feature = "candle")]
pub mod candle;
mod learned;
mod openai;

pub use anthropic::Anthropic;
#[cfg(feature = "candle")]
pub use candle::Gguf;
pub use openai::OpenAi;
pub(crate) use openai::identity;

use serde_json::Value;

use crate::config::LlmConfig;
use crate::error::LlmError;
use crate::request::{Reply, Request};
use crate::tokens::Tokens;

/// Names that `provider = "..."` takes.
pub const NAMES: &[&str] = &["openai", "anthropic", "candle"];

/// A model that can be asked. Retries are its own business; caching and money are the [`Client`](crate::Client)'s.
pub trait Provider: Send + Sync {
    /// `openai`, `anthropic`, `candle`.
    fn name(&self) -> &str;

    /// The model's name.
    fn model(&self) -> &str;

    /// Everything but the request that could change an answer. Holds no keys.
    fn identity(&self) -> Value;

    /// Asks, and waits for the answer. A refusal and an empty answer are replies, not errors.
    ///
    /// # Errors
    /// [`LlmError`].
    fn complete(&self, request: &Request) -> Result<Reply, LlmError>;

    /// What was found out about the endpoint that changes what is sent, a line each: for the record of a run.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The provider of a configuration. An `offline` one answers nothing and needs no key.
///
/// # Errors
/// [`LlmError`] that aborts a run.
pub fn build(config: &LlmConfig, offline: bool) -> Result<Box<dyn Provider>, LlmError> {
    config.check().map_err(LlmError::Config)?;
    match config.provider.as_str() {
        "openai" => Ok(Box::new(OpenAi::new(config, offline)?)),
        "anthropic" => Ok(Box::new(Anthropic::new(config, offline)?)),
        #[cfg(feature = "candle")]
        "candle" => Ok(Box::new(Gguf::from_config(config)?)),
        #[cfg(not(feature = "candle"))]
        "candle" => Err(LlmError::Config("provider = \"candle\" needs a build with the feature \"candle\"".into())),
        other => Err(LlmError::Config(format!("provider = \"{other}\" is not known here"))),
    }
}

/// What the configuration says of tokens.
pub(crate) fn tokens(config: &LlmConfig) -> Result<Tokens, LlmError> {
    config.tokenizer.as_deref().map_or_else(|| Ok(Tokens::default()), Tokens::load)
}
