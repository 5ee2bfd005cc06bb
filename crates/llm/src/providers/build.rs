use super::anthropic::Anthropic;
#[cfg(feature = "candle")]
use super::gguf::Gguf;
use super::http_provider::HttpProvider;
use super::openai::OpenAi;
use super::provider::Provider;
use crate::config::{LlmConfig, ProviderKind};
use crate::error::LlmError;

/// Opens the provider of a configuration. An `offline` one answers nothing and needs no key.
///
/// # Errors
/// [`LlmError`] that aborts a run.
pub fn build(config: &LlmConfig, offline: bool) -> Result<Box<dyn Provider>, LlmError> {
    config.check().map_err(LlmError::Config)?;
    match config.provider {
        ProviderKind::OpenAi => Ok(Box::new(HttpProvider::<OpenAi>::new(config, offline)?)),
        ProviderKind::Anthropic => Ok(Box::new(HttpProvider::<Anthropic>::new(config, offline)?)),
        #[cfg(feature = "candle")]
        ProviderKind::Candle => Ok(Box::new(Gguf::from_config(config)?)),
        #[cfg(not(feature = "candle"))]
        ProviderKind::Candle => {
            Err(LlmError::Config("provider = \"candle\" needs a build with the feature \"candle\"".into()))
        }
    }
}
