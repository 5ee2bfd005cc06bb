use serde_json::{Value, json};

use super::learned::{Learned, Shape, Takes, in_words};
use super::{Provider, tokens};
use crate::config::LlmConfig;
use crate::error::LlmError;
use crate::http::{Api, Endpoint, Failed, Received, Refusal, address, block};
use crate::prompt::hex;
use crate::request::{Finish, Reply, Request, Usage};
use crate::tokens::Tokens;

const API: Api = Api {
    base: "https://api.openai.com/v1",
    path: "/chat/completions",
    key_env: "OPENAI_API_KEY",
    key_header: None,
    headers: &[],
};

/// Any server that speaks OpenAI's chat completions: OpenAI, vLLM, Ollama, llama.cpp, and many gateways.
///
/// What such servers disagree on is found out once and remembered: `response_format` with a schema, then with any JSON
/// object, then in words alone; `max_tokens` or `max_completion_tokens`; models that take no temperature or no seed.
pub struct OpenAi {
    endpoint: Option<Endpoint>,
    identity: Value,
    model: String,
    learned: Learned,
    tokens: Tokens,
}

impl OpenAi {
    /// The endpoint of a configuration.
    ///
    /// # Errors
    /// [`LlmError::Config`] and [`LlmError::NoKey`].
    pub fn new(config: &LlmConfig, offline: bool) -> Result<Self, LlmError> {
        // OpenAI's newer models take the newer name alone, and the older ones take both; other servers know the older.
        let own = config.base_url.as_deref().is_none_or(|url| url.contains("//api.openai.com/"));
        Ok(Self {
            endpoint: if offline { None } else { Some(Endpoint::new(config, &API)?) },
            identity: identity("openai", config, &API)?,
            model: config.model.clone(),
            learned: Learned::new(&[Shape::Schema, Shape::Object, Shape::Words], own),
            tokens: tokens(config)?,
        })
    }

    fn body(&self, request: &Request, takes: Takes) -> Value {
        let mut messages = json!(request.messages);
        let mut body = json!({"model": self.model, "stream": false});
        let limit = if takes.completion_tokens { "max_completion_tokens" } else { "max_tokens" };
        body[limit] = json!(request.max_tokens);
        if takes.temperature {
            body["temperature"] = json!(request.temperature);
        }
        if let Some(seed) = request.seed.filter(|_| takes.seed) {
            body["seed"] = json!(seed);
        }
        if let Some(schema) = &request.schema {
            match takes.shape {
                Shape::Schema => {
                    let shape = json!({"name": schema.name, "schema": schema.schema, "strict": true});
                    body["response_format"] = json!({"type": "json_schema", "json_schema": shape});
                }
                Shape::Object => body["response_format"] = json!({"type": "json_object"}),
                Shape::Words => {}
            }
            if takes.shape != Shape::Schema
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
            _ => guessed(&self.tokens, request, &content),
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
        let received = block(ask(endpoint, &self.learned, request, most, &|takes| self.body(request, takes)))?;
        let reply = self.reply(&received, request, endpoint)?;
        endpoint.settle(most, reply.usage.prompt + reply.usage.completion);
        Ok(reply)
    }

    fn notes(&self) -> Vec<String> {
        self.learned.notes()
    }
}

/// A string, or the text parts of a list.
fn content(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        _ => String::new(),
    }
}

/// What a server did not say of tokens.
pub(super) fn guessed(tokens: &Tokens, request: &Request, answer: &str) -> Usage {
    Usage {
        prompt: tokens.of_request(request) as u64,
        cached: 0,
        completion: tokens.count(answer) as u64,
        estimated: true,
    }
}

/// What of a configuration could change answers. Headers are hashed as they are written, before variables are filled in;
/// so is a query.
pub(crate) fn identity(provider: &str, config: &LlmConfig, api: &Api) -> Result<Value, LlmError> {
    use sha2::{Digest, Sha256};
    let (url, shown) = address(config.base_url.as_deref().unwrap_or(api.base), api.path)?;
    let hash = |text: &str| hex(&Sha256::digest(text.as_bytes()));
    let headers = (!config.headers.is_empty()).then(|| hash(&json!(config.headers).to_string()));
    Ok(json!({
        "provider": provider,
        "url": shown,
        "query": url.query().map(hash),
        "model": config.model,
        "headers": headers,
    }))
}

/// Sends a request in the way that the endpoint takes, and finds that out where it is not known: one request at a time,
/// so that many do not make the same discovery.
pub(super) async fn ask(
    endpoint: &Endpoint,
    learned: &Learned,
    request: &Request,
    most: usize,
    body: &(dyn Fn(Takes) -> Value + Sync),
) -> Result<Received, LlmError> {
    let shaped = request.schema.is_some();
    let mut probing = None;
    if !learned.known(shaped) {
        let guard = learned.probe.lock().await;
        // Another request may have found it out meanwhile.
        if !learned.known(shaped) {
            probing = Some(guard);
        }
    }
    let mut takes = learned.takes();
    let mut first: Option<Refusal> = None;
    loop {
        match endpoint.post(&body(takes), most).await {
            Ok(received) => {
                if probing.is_some() || takes != learned.takes() {
                    learned.worked(takes, shaped);
                }
                return Ok(received);
            }
            Err(Failed::Error(error)) => return Err(error),
            Err(Failed::Refused(refusal)) => match learned.instead(takes, &refusal, shaped) {
                Some(other) => {
                    takes = other;
                    first.get_or_insert(refusal);
                }
                None => {
                    // What the server said before we began to guess.
                    let Refusal { status, message, .. } = first.unwrap_or(refusal);
                    return Err(LlmError::Rejected { status, message });
                }
            },
        }
    }
}
