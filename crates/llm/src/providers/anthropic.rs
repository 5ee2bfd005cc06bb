use serde_json::{Value, json};

use super::capabilities::{Capabilities, Parameters, ResponseFormat, in_words};
use super::common::{estimated_usage, identity, send, tokens};
use super::provider::Provider;
use crate::config::LlmConfig;
use crate::error::LlmError;
use crate::http::{Api, Endpoint, Received};
use crate::request::{Finish, Reply, Request, Role, Usage};
use crate::tokens::Tokens;

const API: Api = Api {
    base: "https://api.anthropic.com/v1",
    path: "/messages",
    key_env: "ANTHROPIC_API_KEY",
    key_header: Some("x-api-key"),
    headers: &[("anthropic-version", "2023-06-01")],
};

/// Anthropic's messages API.
///
/// An answer's shape is asked for as the input of a tool that the model must use, or in words where tools are refused.
/// The API takes no seed: votes differ as far as its sampling does.
pub(super) struct Anthropic {
    endpoint: Option<Endpoint>,
    identity: Value,
    model: String,
    capabilities: Capabilities,
    tokens: Tokens,
}

impl Anthropic {
    /// Opens the endpoint of a configuration.
    ///
    /// # Errors
    /// [`LlmError::Config`] and [`LlmError::NoKey`].
    pub(super) fn new(config: &LlmConfig, offline: bool) -> Result<Self, LlmError> {
        Ok(Self {
            endpoint: if offline { None } else { Some(Endpoint::new(config, &API)?) },
            identity: identity("anthropic", config, &API)?,
            model: config.model.clone(),
            capabilities: Capabilities::new(&[ResponseFormat::Schema, ResponseFormat::Words], false),
            tokens: tokens(config)?,
        })
    }

    fn body(&self, request: &Request, parameters: Parameters) -> Value {
        let mut turns: Vec<(Role, String)> = Vec::new();
        let mut system = String::new();
        for message in &request.messages {
            match (message.role, turns.last_mut()) {
                (Role::System, _) => {
                    system.push_str(if system.is_empty() { "" } else { "\n\n" });
                    system.push_str(&message.content);
                }
                (role, Some((last, said))) if *last == role => {
                    said.push_str("\n\n");
                    said.push_str(&message.content);
                }
                (role, _) => turns.push((role, message.content.clone())),
            }
        }
        let mut body = json!({"model": self.model, "max_tokens": request.max_tokens});
        if parameters.temperature {
            // The API's scale ends at 1.
            body["temperature"] = json!(request.temperature.min(1.0));
        }
        if let Some(schema) = &request.schema {
            match (parameters.format, turns.last_mut()) {
                (ResponseFormat::Words, Some((_, said))) => said.push_str(&in_words(&schema.schema)),
                (ResponseFormat::Words, None) => {}
                _ => {
                    body["tools"] = json!([{
                        "name": schema.name,
                        "description": "Records the answer.",
                        "input_schema": schema.schema,
                    }]);
                    body["tool_choice"] = json!({"type": "tool", "name": schema.name});
                }
            }
        }
        if !system.is_empty() {
            body["system"] = json!(system);
        }
        let turns: Vec<Value> =
            turns.iter().map(|(role, said)| json!({"role": role.name(), "content": said})).collect();
        body["messages"] = json!(turns);
        body
    }

    fn reply(&self, received: &Received, request: &Request, endpoint: &Endpoint) -> Result<Reply, LlmError> {
        let body = &received.body;
        let blocks = body.get("content").and_then(Value::as_array).ok_or_else(|| LlmError::Rejected {
            status: 200,
            message: "the answer has no content: is this Anthropic's messages API?".into(),
        })?;
        let used = blocks.iter().find_map(|block| block.get("input")).map(Value::to_string);
        let said = || blocks.iter().filter_map(|block| block.get("text")?.as_str()).collect::<String>();
        let text = endpoint.scrub(&used.unwrap_or_else(said));
        let finish = match body.get("stop_reason").and_then(Value::as_str) {
            Some("end_turn" | "stop_sequence" | "tool_use") | None => Finish::Stop,
            Some("max_tokens") => Finish::Length,
            Some("refusal") => Finish::Refusal,
            Some(other) => Finish::Other(other.to_owned()),
        };
        let count = |name: &str| body.get("usage").and_then(|usage| usage.get(name)).and_then(Value::as_u64);
        let usage = match (count("input_tokens"), count("output_tokens")) {
            (Some(input), Some(completion)) => {
                // Tokens that went into or came from the server's cache are counted beside the others.
                let cached = count("cache_read_input_tokens").unwrap_or(0);
                let written = count("cache_creation_input_tokens").unwrap_or(0);
                Usage { prompt: input + cached + written, cached, completion, estimated: false }
            }
            _ => estimated_usage(&self.tokens, request, &text),
        };
        let field = |name: &str| body.get(name).and_then(Value::as_str).map(|text| endpoint.scrub(text));
        Ok(Reply {
            refusal: (finish == Finish::Refusal).then(|| text.clone()),
            text,
            finish,
            usage,
            model: field("model"),
            request_id: received.request_id.clone().or_else(|| field("id")),
            fingerprint: None,
            latency: received.latency,
            tries: received.tries,
            tokens_per_second: None,
        })
    }
}

impl Provider for Anthropic {
    fn name(&self) -> &str {
        "anthropic"
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
