use serde_json::{Value, json};

use super::capabilities::{Capabilities, Parameters, ResponseFormat, in_words};
use super::common::{estimated_usage, identity, send, tokens};
use super::provider::Provider;
use crate::config::LlmConfig;
use crate::error::LlmError;
use crate::http::{Api, Endpoint, Received};
use crate::request::{Finish, Reply, Request, Usage};
use crate::tokens::Tokens;

const API: Api = Api {
    base: "https://api.openai.com/v1",
    path: "/chat/completions",
    key_env: "OPENAI_API_KEY",
    key_header: None,
    headers: &[],
};
const FORMATS: &[ResponseFormat] = &[ResponseFormat::Schema, ResponseFormat::Object, ResponseFormat::Words];

/// Any server that speaks OpenAI's chat completions: OpenAI, vLLM, Ollama, llama.cpp, and many gateways.
///
/// Such servers disagree on a few things, each of which is found out once and remembered: `response_format` with a schema, then with any JSON
/// object, then in words alone; `max_tokens` or `max_completion_tokens`; models that take no temperature or no seed.
pub(super) struct OpenAi {
    endpoint: Option<Endpoint>,
    identity: Value,
    model: String,
    capabilities: Capabilities,
    tokens: Tokens,
}

impl OpenAi {
    /// Opens the endpoint of a configuration.
    ///
    /// # Errors
    /// [`LlmError::Config`] and [`LlmError::NoKey`].
    pub(super) fn new(config: &LlmConfig, offline: bool) -> Result<Self, LlmError> {
        // OpenAI's newer models take the newer name alone, and the older ones take both; other servers know the older.
        let own = config.base_url.as_deref().is_none_or(|url| url.contains("//api.openai.com/"));
        Ok(Self {
            endpoint: if offline { None } else { Some(Endpoint::new(config, &API)?) },
            identity: identity("openai", config, &API)?,
            model: config.model.clone(),
            capabilities: Capabilities::new(FORMATS, own),
            tokens: tokens(config)?,
        })
    }

    fn body(&self, request: &Request, parameters: Parameters) -> Value {
        let mut messages = json!(request.messages);
        let mut body = json!({"model": self.model, "stream": false});
        let limit = if parameters.max_completion_tokens { "max_completion_tokens" } else { "max_tokens" };
        body[limit] = json!(request.max_tokens);
        if parameters.temperature {
            body["temperature"] = json!(request.temperature);
        }
        if let Some(seed) = request.seed.filter(|_| parameters.seed) {
            body["seed"] = json!(seed);
        }
        if let Some(schema) = &request.schema {
            match parameters.format {
                ResponseFormat::Schema => {
                    let shape = json!({"name": schema.name, "schema": schema.schema, "strict": true});
                    body["response_format"] = json!({"type": "json_schema", "json_schema": shape});
                }
                ResponseFormat::Object => body["response_format"] = json!({"type": "json_object"}),
                ResponseFormat::Words => {}
            }
            if parameters.format != ResponseFormat::Schema
                && let Some(last) = messages.as_array_mut().and_then(|all| all.last_mut())
            {
                let said = last.get("content").and_then(Value::as_str).unwrap_or_default();
                last["content"] = json!(format!("{said}{}", in_words(&schema.schema)));
            }
        }
        body["messages"] = messages;
        body
    }

    fn reply(&self, received: &Received, request: &Request, endpoint: &Endpoint) -> Result<Reply, LlmError> {
        let body = &received.body;
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(|text| endpoint.scrub(text));
        let choice = body.get("choices").and_then(|choices| choices.get(0)).ok_or_else(|| LlmError::Rejected {
            status: 200,
            message: "the answer has no choices: is this an OpenAI-compatible server?".into(),
        })?;
        let message = choice.get("message");
        let content = content(message.and_then(|m| m.get("content")));
        let refusal = text(message.and_then(|m| m.get("refusal"))).filter(|refusal| !refusal.trim().is_empty());
        let finish = match choice.get("finish_reason").and_then(Value::as_str) {
            _ if refusal.is_some() => Finish::Refusal,
            Some("stop") | None => Finish::Stop,
            Some("length") => Finish::Length,
            Some("content_filter") => Finish::Refusal,
            Some(other) => Finish::Other(other.to_owned()),
        };
        let count = |path: &str| body.pointer(path).and_then(Value::as_u64);
        let usage = match (count("/usage/prompt_tokens"), count("/usage/completion_tokens")) {
            (Some(prompt), Some(completion)) => Usage {
                prompt,
                completion,
                cached: count("/usage/prompt_tokens_details/cached_tokens").unwrap_or(0),
                estimated: false,
            },
            _ => estimated_usage(&self.tokens, request, &content),
        };
        Ok(Reply {
            text: endpoint.scrub(&content),
            refusal,
            finish,
            usage,
            model: text(body.get("model")),
            request_id: received.request_id.clone().or_else(|| text(body.get("id"))),
            fingerprint: text(body.get("system_fingerprint")),
            latency: received.latency,
            tries: received.tries,
            tokens_per_second: None,
        })
    }
}

impl Provider for OpenAi {
    fn name(&self) -> &str {
        "openai"
    }

    fn model(&self) -> &str {
        &self.model
    }

    fn identity(&self) -> Value {
        self.identity.clone()
    }

    fn complete(&self, request: &Request) -> Result<Reply, LlmError> {
        let endpoint = self.endpoint.as_ref().ok_or(LlmError::NotCached)?;
        let most = self.tokens.of_request(request) + request.max_tokens as usize;
        let received = send(endpoint, &self.capabilities, request, most, &|parameters| self.body(request, parameters))?;
        let reply = self.reply(&received, request, endpoint)?;
        endpoint.settle(most, reply.usage.prompt + reply.usage.completion);
        Ok(reply)
    }

    fn notes(&self) -> Vec<String> {
        self.capabilities.notes()
    }
}

/// Returns a string, or the text parts of a list.
fn content(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        _ => String::new(),
    }
}
