//! Services that answer JSON with JSON and are no language models.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::account::Account;
use crate::budget::Budget;
use crate::config::{LlmConfig, ProviderKind};
use crate::error::LlmError;
use crate::http::{Api, Call, Endpoint, Failed};
use crate::request::Usage;

/// What the models' API has and such a service has not.
const API: Api = Api { base: "", path: "", key_env: "", key_header: None, headers: &[] };

/// A service that takes a JSON document by POST and answers with one. Calls are repeated as those of models are, and keys are in nothing
/// that it says.
pub struct JsonService {
    endpoint: Endpoint,
    budget: Arc<Budget>,
    most: u64,
}

/// The answer of a [`JsonService`].
#[derive(Debug, Clone, PartialEq)]
pub struct JsonAnswer {
    /// The document, without keys.
    pub body: Value,
    /// The time of the call that was answered; those that failed before it are not in it.
    pub latency: Duration,
}

impl JsonService {
    /// Names a service by its address. `key_env` is the environment variable with the key that is sent as `Authorization: Bearer KEY`;
    /// `timeout` is for one call; an answer has at most `most` bytes.
    ///
    /// # Errors
    /// [`LlmError`] for an address that is none, and a key that is not set.
    pub fn new(url: &str, key_env: Option<&str>, timeout: Duration, retries: u32, most: u64) -> Result<Self, LlmError> {
        let config = LlmConfig {
            base_url: Some(url.to_owned()),
            api_key_env: key_env.map(str::to_owned),
            timeout_seconds: timeout.as_secs_f64(),
            retries,
            ..LlmConfig::new(ProviderKind::OpenAi, "service")
        };
        Ok(Self { endpoint: Endpoint::new(&config, &API)?, budget: Arc::default(), most })
    }

    /// Sends a document and returns the answer.
    ///
    /// # Errors
    /// [`LlmError`].
    pub fn ask(&self, body: &Value) -> Result<JsonAnswer, LlmError> {
        let call = Call {
            body,
            tokens: 0,
            completion: 0,
            bytes: self.most,
            account: &Account::new(&self.budget, None, 0, 0),
            told: &|_| None,
            estimate: &|_| Some(Usage::default()),
        };
        match self.endpoint.post(&call) {
            Ok(received) => Ok(JsonAnswer { body: received.body, latency: received.latency }),
            Err(Failed::Refused(error)) => Err(LlmError::Rejected { status: error.status, message: error.message }),
            Err(Failed::Error(LlmError::NotFound { endpoint, status, message, .. })) => {
                Err(LlmError::NoService { endpoint, status, message })
            }
            Err(Failed::Error(error)) => Err(error),
        }
    }
}
