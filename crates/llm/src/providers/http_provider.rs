//! Models behind an HTTP API: all that such providers share, whatever their API.

use std::marker::PhantomData;
use std::sync::PoisonError;

use serde_json::{Value, json};

use super::capabilities::{Capabilities, Parameters};
use super::common::{identity, tokens};
use super::provider::Provider;
use crate::account::Account;
use crate::config::LlmConfig;
use crate::error::LlmError;
use crate::http::{Api, ApiError, Call, Endpoint, Failed, Received};
use crate::request::{Reply, Request, Usage};
use crate::tokens::Tokens;

/// Bytes of a short answer with everything around it.
const ROOM: u64 = 4 << 20;
/// Bytes that a token takes in JSON at most, nearly always: characters outside of ASCII may be written as escapes.
const BYTES_A_TOKEN: u64 = 64;
/// The most bytes of any answer.
const MOST: u64 = 64 << 20;

/// An API's own way to put a request and to answer it.
pub(super) trait Dialect: Send + Sync + 'static {
    /// The name of the provider: `openai`.
    const NAME: &'static str;
    /// Where the API is, and how it is paid.
    const API: Api;

    /// Returns what the endpoint of a configuration is taken to understand until it says otherwise.
    fn capabilities(config: &LlmConfig) -> Capabilities;

    /// Returns the body of a request.
    fn body(model: &str, request: &Request, parameters: Parameters) -> Value;

    /// Reads what the server says that it used.
    fn told(body: &Value) -> Option<Usage>;

    /// Returns the text of an answer; `None` where it is none.
    fn text(body: &Value) -> Option<String>;

    /// Returns an answer, which was asked for with `parameters`.
    ///
    /// # Errors
    /// [`LlmError::Rejected`] where it is no answer of this API.
    fn reply(received: Received, endpoint: &Endpoint, parameters: Value) -> Result<Reply, LlmError>;
}

/// A model on a server.
pub(super) struct HttpProvider<D> {
    /// None where nothing may be asked.
    endpoint: Option<Endpoint>,
    identity: Value,
    model: String,
    capabilities: Capabilities,
    tokens: Tokens,
    dialect: PhantomData<D>,
}

impl<D: Dialect> HttpProvider<D> {
    /// Opens the endpoint of a configuration.
    ///
    /// # Errors
    /// [`LlmError::Config`] and [`LlmError::NoKey`].
    pub(super) fn new(config: &LlmConfig, offline: bool) -> Result<Self, LlmError> {
        Ok(Self {
            endpoint: if offline { None } else { Some(Endpoint::new(config, &D::API)?) },
            identity: identity(D::NAME, config, &D::API)?,
            model: config.model.clone(),
            capabilities: D::capabilities(config),
            tokens: tokens(config)?,
            dialect: PhantomData,
        })
    }

    /// Sends a request with the parameters that the endpoint takes, and returns those with which it was taken. Where they are
    /// not known they are found out, by one request at a time, so that many do not make the same discovery.
    fn send(
        &self,
        endpoint: &Endpoint,
        request: &Request,
        account: &Account<'_>,
    ) -> Result<(Received, Value), LlmError> {
        let shaped = request.schema.is_some();
        let mut probing = None;
        if !self.capabilities.known(shaped) {
            let guard = self.capabilities.probe.lock().unwrap_or_else(PoisonError::into_inner);
            // Another request may have found it out meanwhile.
            if !self.capabilities.known(shaped) {
                probing = Some(guard);
            }
        }
        let most = self.tokens.of_request(request).saturating_add(request.max_tokens as usize);
        let completion = u64::from(request.max_tokens);
        let estimate = |body: &Value| D::text(body).map(|text| estimated_usage(&self.tokens, request, &text));
        let mut parameters = self.capabilities.parameters();
        let mut first: Option<ApiError> = None;
        loop {
            let call = Call {
                body: &D::body(&self.model, request, parameters),
                tokens: most,
                completion,
                bytes: (ROOM + completion * BYTES_A_TOKEN).min(MOST),
                account,
                told: &D::told,
                estimate: &estimate,
            };
            match endpoint.post(&call) {
                Ok(received) => {
                    if probing.is_some() || parameters != self.capabilities.parameters() {
                        self.capabilities.accepted(parameters, shaped);
                    }
                    endpoint.settle(most, received.usage);
                    return Ok((received, parameters.key(shaped)));
                }
                Err(Failed::Error(error)) => return Err(error),
                Err(Failed::Refused(error)) => match self.capabilities.instead(parameters, &error, shaped) {
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
}

impl<D: Dialect> Provider for HttpProvider<D> {
    fn name(&self) -> &str {
        D::NAME
    }

    fn model(&self) -> &str {
        &self.model
    }

    fn identity(&self) -> Value {
        self.identity.clone()
    }

    fn complete(&self, request: &Request, account: &Account<'_>) -> Result<Reply, LlmError> {
        let endpoint = self.endpoint.as_ref().ok_or(LlmError::NotCached)?;
        let (received, parameters) = self.send(endpoint, request, account)?;
        D::reply(received, endpoint, parameters)
    }

    fn parameters(&self, shaped: bool) -> Value {
        self.capabilities.parameters().key(shaped)
    }

    fn learned(&self) -> Value {
        json!(self.capabilities.parameters())
    }

    fn recall(&self, learned: &Value) {
        self.capabilities.recall(learned);
    }

    fn notes(&self) -> Vec<String> {
        let odd = self.endpoint.as_ref().and_then(Endpoint::note);
        self.capabilities.notes().into_iter().chain(odd).collect()
    }
}

/// Returns the usage that a server did not tell.
fn estimated_usage(tokens: &Tokens, request: &Request, answer: &str) -> Usage {
    Usage {
        prompt: tokens.of_request(request) as u64,
        cached: 0,
        completion: tokens.count(answer) as u64,
        estimated: true,
    }
}
