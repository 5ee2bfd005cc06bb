//! What clients of services take from their configuration.

use pericope_util::sha256_hex;
use serde_json::{Value, json};

use crate::config::LlmConfig;
use crate::error::LlmError;
use crate::http::{Api, address};
use crate::tokens::Tokens;

/// Returns the configured way to count tokens.
pub(crate) fn tokens(config: &LlmConfig) -> Result<Tokens, LlmError> {
    config.tokenizer.as_deref().map_or_else(|| Ok(Tokens::default()), Tokens::load)
}

/// Returns everything of a configuration that could change answers. Headers are hashed as they are written, before
/// variables are filled in; so is a query.
pub(crate) fn identity(provider: &str, config: &LlmConfig, api: &Api) -> Result<Value, LlmError> {
    let (url, shown) = address(config.base_url.as_deref().unwrap_or(api.base), api.path)?;
    let headers = (!config.headers.is_empty()).then(|| sha256_hex(json!(config.headers).to_string()));
    // What messages do not show of the path.
    let hidden = (!shown.ends_with(url.path())).then(|| sha256_hex(url.path()));
    Ok(json!({
        "provider": provider,
        "url": shown,
        "path": hidden,
        "query": url.query().map(sha256_hex),
        "model": config.model,
        "headers": headers,
    }))
}
