use pericope_util::short_line;
use serde_json::{Value, json};

use super::capabilities::{Capabilities, Parameters, ResponseFormat, in_words};
use super::http_provider::Dialect;
use crate::config::LlmConfig;
use crate::error::LlmError;
use crate::http::{Api, Endpoint, Received};
use crate::request::{Finish, Reply, Request, Role, Usage};

/// Anthropic's messages API.
///
/// An answer's shape is asked for as the input of a tool that the model must use, or in words where tools are refused.
/// The API takes no seed: votes differ as far as its sampling does.
pub(super) struct Anthropic;

impl Dialect for Anthropic {
    const NAME: &'static str = "anthropic";
    const API: Api = Api {
        base: "https://api.anthropic.com/v1",
        path: "/messages",
        key_env: "ANTHROPIC_API_KEY",
        key_header: Some("x-api-key"),
        headers: &[("anthropic-version", "2023-06-01")],
    };

    fn capabilities(_: &LlmConfig) -> Capabilities {
        Capabilities::new(&[ResponseFormat::Schema, ResponseFormat::Words], false)
    }

    fn body(model: &str, request: &Request, parameters: Parameters) -> Value {
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
        let mut body = json!({"model": model, "max_tokens": request.max_tokens});
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

    fn told(body: &Value) -> Option<Usage> {
        let count = |name: &str| body.get("usage").and_then(|usage| usage.get(name)).and_then(Value::as_u64);
        // Tokens that went into or came from the server's cache are counted beside the others.
        let cached = count("cache_read_input_tokens").unwrap_or(0);
        let written = count("cache_creation_input_tokens").unwrap_or(0);
        let prompt = count("input_tokens")?.saturating_add(cached).saturating_add(written);
        Some(Usage { prompt, cached, completion: count("output_tokens")?, estimated: false })
    }

    // What a tool was given is an answer with a schema.
    fn text(body: &Value) -> Option<String> {
        let blocks = body.get("content").and_then(Value::as_array)?;
        let used = blocks.iter().find_map(|block| block.get("input")).map(Value::to_string);
        Some(used.unwrap_or_else(|| blocks.iter().filter_map(|block| block.get("text")?.as_str()).collect()))
    }

    fn reply(received: Received, endpoint: &Endpoint, parameters: Value) -> Result<Reply, LlmError> {
        let body = &received.body;
        let content = Self::text(body).ok_or_else(|| LlmError::Rejected {
            status: 200,
            message: "the answer has no content: is this Anthropic's messages API?".into(),
        })?;
        // A key in two parts is whole only now.
        let text = endpoint.scrub(&content);
        let finish = match body.get("stop_reason").and_then(Value::as_str) {
            Some("end_turn" | "stop_sequence" | "tool_use") | None => Finish::Stop,
            Some("max_tokens") => Finish::Length,
            Some("refusal") => Finish::Refusal,
            Some(other) => Finish::Other(short_line(other, 100)),
        };
        let field = |name: &str| body.get(name).and_then(Value::as_str).map(str::to_owned);
        Ok(Reply {
            refusal: (finish == Finish::Refusal).then(|| text.clone()),
            text,
            finish,
            usage: received.usage,
            model: field("model"),
            request_id: received.request_id.or_else(|| field("id")),
            fingerprint: None,
            latency: received.latency,
            tries: received.tries,
            tokens_per_second: None,
            parameters,
        })
    }
}
