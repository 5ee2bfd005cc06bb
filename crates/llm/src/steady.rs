//! What those who ask a model about parts of documents have in common.

use std::sync::{Arc, Mutex, PoisonError};

use pericope_api::ModelUse;
use pericope_util::Semaphore;
use serde_json::Value;

use crate::client::Client;
use crate::config::LlmConfig;
use crate::error::LlmError;
use crate::fence::Material;
use crate::prompt::Prompt;
use crate::request::{Request, Schema};

/// Digits of a checksum in a fingerprint.
const DIGITS: usize = 12;

/// A model with one prompt: asks, limits how many calls are under way, and counts.
pub(crate) struct Steady {
    client: Arc<Client>,
    prompt: Prompt,
    max_tokens: u32,
    temperature: f64,
    seed: u64,
    pub(crate) workers: usize,
    permits: Semaphore,
    used: Mutex<ModelUse>,
}

impl Steady {
    pub(crate) fn new(client: Arc<Client>, config: &LlmConfig, prompt: Prompt) -> Self {
        Self {
            client,
            prompt,
            max_tokens: config.max_tokens,
            temperature: config.temperature,
            seed: config.seed,
            workers: config.concurrency.max(1),
            permits: Semaphore::new(config.concurrency),
            used: Mutex::default(),
        }
    }

    pub(crate) fn prompt(&self) -> &Prompt {
        &self.prompt
    }

    pub(crate) fn used(&self) -> ModelUse {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn count(&self, more: ModelUse) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) += more;
    }

    /// Model, prompt and sampling: what answers depend on beside what is asked. The address is no part of it, so that a model may move.
    pub(crate) fn fingerprint(&self) -> String {
        let provider = self.client.provider();
        let identity = provider.identity();
        let model = match identity.get("sha256").and_then(Value::as_str) {
            Some(sum) => format!("sha256={sum}"),
            None => format!("model={}", provider.model()),
        };
        let sum = self.prompt.sha256();
        let (prompt, temperature, seed) = (sum.get(..DIGITS).unwrap_or(&sum), self.temperature, self.seed);
        format!("{}:{model}:prompt={prompt}:temperature={temperature}:seed={seed}", provider.name())
    }

    /// Asks for an object of this shape, once more where `check` finds fault with it; counts what came of it.
    ///
    /// # Errors
    /// [`LlmError`], which is not counted.
    pub(crate) fn ask<T: PartialEq>(
        &self,
        values: &[(&str, Material<'_>)],
        schema: Schema,
        check: impl Fn(&Value) -> Result<T, String>,
    ) -> Result<T, LlmError> {
        let messages = self.prompt.fill_fenced(self.seed, values);
        let request = Request {
            temperature: self.temperature,
            seed: Some(self.seed),
            schema: Some(schema),
            ..Request::new(messages, self.max_tokens)
        };
        let _permit = self.permits.acquire();
        let checked = self.client.structured(&request, check, PartialEq::eq)?;
        let spent = checked.spent;
        self.count(ModelUse {
            asked: 1,
            repaired: u64::from(checked.repaired),
            failed: 0,
            calls: spent.calls,
            cached: spent.cached,
            prompt_tokens: spent.prompt_tokens,
            completion_tokens: spent.completion_tokens,
            price: spent.cost,
        });
        Ok(checked.value)
    }
}
