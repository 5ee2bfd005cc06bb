//! The parts that the clients of services share.

use std::sync::PoisonError;

use serde_json::{Value, json};

use super::capabilities::{Capabilities, Parameters};
use crate::account::Account;
use crate::config::LlmConfig;
use crate::error::LlmError;
use crate::http::{Api, ApiError, Call, Endpoint, Failed, Received, address};
use crate::request::{Request, Usage};
use crate::tokens::Tokens;
use pericope_util::sha256_hex;

/// Bytes of a short answer with everything around it.
const ROOM: u64 = 4 << 20;
/// Bytes that a token takes in JSON at most, nearly always: characters outside of ASCII may be written as escapes.
const BYTES_A_TOKEN: u64 = 64;
/// The most bytes of any answer.
const MOST: u64 = 64 << 20;

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

/// The ways in which an API answers.
pub(super) struct Dialect<'a> {
    /// Makes the body of a request.
    pub body: &'a dyn Fn(Parameters) -> Value,
    /// Reads what the server says that it used.
    pub told: &'a dyn Fn(&Value) -> Option<Usage>,
    /// Returns the text of an answer; `None` where it is none.
    pub text: &'a dyn Fn(&Value) -> Option<String>,
}

/// Sends a request with the parameters that the endpoint takes, and returns those with which it was taken. Where they are
/// not known they are found out, by one request at a time, so that many do not make the same discovery.
pub(super) fn send(
    endpoint: &Endpoint,
    capabilities: &Capabilities,
    tokens: &Tokens,
    request: &Request,
    account: &Account<'_>,
    dialect: &Dialect<'_>,
) -> Result<(Received, Value), LlmError> {
    let shaped = request.schema.is_some();
    let mut probing = None;
    if !capabilities.known(shaped) {
        let guard = capabilities.probe.lock().unwrap_or_else(PoisonError::into_inner);
        // Another request may have found it out meanwhile.
        if !capabilities.known(shaped) {
            probing = Some(guard);
        }
    }
    let most = tokens.of_request(request).saturating_add(request.max_tokens as usize);
    let completion = u64::from(request.max_tokens);
    let estimate = |body: &Value| (dialect.text)(body).map(|text| estimated_usage(tokens, request, &text));
    let mut parameters = capabilities.parameters();
    let mut first: Option<ApiError> = None;
    loop {
        let call = Call {
            body: &(dialect.body)(parameters),
            tokens: most,
            completion,
            bytes: (ROOM + completion * BYTES_A_TOKEN).min(MOST),
            account,
            told: dialect.told,
            estimate: &estimate,
        };
        match endpoint.post(&call) {
            Ok(received) => {
                if probing.is_some() || parameters != capabilities.parameters() {
                    capabilities.accepted(parameters, shaped);
                }
                endpoint.settle(most, received.usage);
                return Ok((received, parameters.key(shaped)));
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
