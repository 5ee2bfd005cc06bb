use pericope_util::short_line;
use serde_json::{Value, json};

use super::capabilities::{Capabilities, Parameters, ResponseFormat, in_words};
use super::http_provider::Dialect;
use crate::config::LlmConfig;
use crate::error::LlmError;
use crate::http::{Api, Endpoint, Received};
use crate::request::{Finish, Reply, Request, Usage};

const FORMATS: &[ResponseFormat] = &[ResponseFormat::Schema, ResponseFormat::Object, ResponseFormat::Words];

/// Any server that speaks OpenAI's chat completions: OpenAI, vLLM, Ollama, llama.cpp, and many gateways.
///
/// Such servers disagree on a few things, each of which is found out once and remembered: `response_format` with a schema, then with any JSON
/// object, then in words alone; `max_tokens` or `max_completion_tokens`; models that take no temperature or no seed.
pub(super) struct OpenAi;

impl Dialect for OpenAi {
    const NAME: &'static str = "openai";
    const API: Api = Api {
        base: "https://api.openai.com/v1",
        path: "/chat/completions",
        key_env: "OPENAI_API_KEY",
        key_header: None,
        headers: &[],
    };

    fn capabilities(config: &LlmConfig) -> Capabilities {
        // OpenAI's newer models take the newer name alone, and the older ones take both; other servers know the older.
        let own = config.base_url.as_deref().is_none_or(|url| url.contains("//api.openai.com/"));
        Capabilities::new(FORMATS, own)
    }

    fn body(model: &str, request: &Request, parameters: Parameters) -> Value {
        let mut messages = json!(request.messages);
        let mut body = json!({"model": model, "stream": false});
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

    fn told(body: &Value) -> Option<Usage> {
        let count = |path: &str| body.pointer(path).and_then(Value::as_u64);
        Some(Usage {
            prompt: count("/usage/prompt_tokens")?,
            completion: count("/usage/completion_tokens")?,
            cached: count("/usage/prompt_tokens_details/cached_tokens").unwrap_or(0),
            estimated: false,
        })
    }

    // The content is a string, or a list of parts.
    fn text(body: &Value) -> Option<String> {
        Some(match choice(body)?.pointer("/message/content") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(parts)) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
            _ => String::new(),
        })
    }

    fn reply(received: Received, endpoint: &Endpoint, parameters: Value) -> Result<Reply, LlmError> {
        let body = &received.body;
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let choice = choice(body).ok_or_else(|| LlmError::Rejected {
            status: 200,
            message: "the answer has no choices: is this an OpenAI-compatible server?".into(),
        })?;
        let refusal = text(choice.pointer("/message/refusal")).filter(|refusal| !refusal.trim().is_empty());
        let finish = match choice.get("finish_reason").and_then(Value::as_str) {
            _ if refusal.is_some() => Finish::Refusal,
            Some("stop") | None => Finish::Stop,
            Some("length") => Finish::Length,
            Some("content_filter") => Finish::Refusal,
            Some(other) => Finish::Other(short_line(other, 100)),
        };
        Ok(Reply {
            // A key in two parts is whole only now.
            text: endpoint.scrub(&Self::text(body).unwrap_or_default()),
            refusal,
            finish,
            usage: received.usage,
            model: text(body.get("model")),
            request_id: received.request_id.or_else(|| text(body.get("id"))),
            fingerprint: text(body.get("system_fingerprint")),
            latency: received.latency,
            tries: received.tries,
            tokens_per_second: None,
            parameters,
        })
    }
}

fn choice(body: &Value) -> Option<&Value> {
    body.get("choices")?.get(0)
}
