//! The parts that the clients of services share.

use std::sync::PoisonError;

use serde_json::{Value, json};

use super::capabilities::{Capabilities, Parameters};
use crate::config::LlmConfig;
use crate::error::LlmError;
use crate::http::{Api, ApiError, Endpoint, Failed, Received, address};
use crate::request::{Request, Usage};
use crate::tokens::Tokens;
use pericope_util::sha256_hex;

/// Returns the configured way to count tokens.
pub(crate) fn tokens(config: &LlmConfig) -> Result<Tokens, LlmError> {
    config.tokenizer.as_deref().map_or_else(|| Ok(Tokens::default()), Tokens::load)
}

/// Returns the usage that a server did not tell.
pub(super) fn estimated_usage(tokens: &Tokens, request: &Request, answer: &str) -> Usage {
    Usage {
        prompt: tokens.of_request(request) as u64,
        cached: 0,
        completion: tokens.count(answer) as u64,
        estimated: true,
    }
}

/// Returns everything of a configuration that could change answers. Headers are hashed as they are written, before
/// variables are filled in; so is a query.
pub(crate) fn identity(provider: &str, config: &LlmConfig, api: &Api) -> Result<Value, LlmError> {
    let (url, shown) = address(config.base_url.as_deref().unwrap_or(api.base), api.path)?;
    let headers = (!config.headers.is_empty()).then(|| sha256_hex(json!(config.headers).to_string()));
    Ok(json!({
        "provider": provider,
        "url": shown,
        "query": url.query().map(sha256_hex),
        "model": config.model,
        "headers": headers,
    }))
}

/// Sends a request with the parameters that the endpoint takes. Where they are not known they are found out, by one
/// request at a time, so that many do not make the same discovery.
pub(super) fn send(
    endpoint: &Endpoint,
    capabilities: &Capabilities,
    request: &Request,
    most: usize,
    body: &dyn Fn(Parameters) -> Value,
) -> Result<Received, LlmError> {
    let shaped = request.schema.is_some();
    let mut probing = None;
    if !capabilities.known(shaped) {
        let guard = capabilities.probe.lock().unwrap_or_else(PoisonError::into_inner);
        // Another request may have found it out meanwhile.
        if !capabilities.known(shaped) {
            probing = Some(guard);
        }
    }
    let mut parameters = capabilities.parameters();
    let mut first: Option<ApiError> = None;
    loop {
        match endpoint.post(&body(parameters), most) {
            Ok(received) => {
                if probing.is_some() || parameters != capabilities.parameters() {
                    capabilities.accepted(parameters, shaped);
                }
                return Ok(received);
            }
            Err(Failed::Error(error)) => return Err(error),
            Err(Failed::Refused(error)) => match capabilities.instead(parameters, &error, shaped) {
                Some(other) => {
                    parameters = other;
                    first.get_or_insert(error);
                }
                None => {
                    // What the server said before we began to guess.
                    let ApiError { status, message, .. } = first.unwrap_or(error);
                    return Err(LlmError::Rejected { status, message });
                }
            },
        }
    }
}
