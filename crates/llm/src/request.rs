use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions that stand above the conversation.
    System,
    /// The one who asks.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// As the APIs spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: String,
}

impl Message {
    /// A turn of `role`.
    #[must_use]
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        Self { role, content: content.into() }
    }
}

/// The shape that an answer must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    /// Letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// A JSON Schema of an object in the strict subset: every key required, `additionalProperties` false.
    pub schema: Value,
}

/// What is asked of a model. Everything in here is part of the cache's key.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The conversation; the last turn is the user's.
    pub messages: Vec<Message>,
    /// Most tokens of the answer.
    pub max_tokens: u32,
    /// Sampling temperature; 0 is the likeliest token each time.
    pub temperature: f64,
    /// Seed of the sampling, for servers that take one.
    pub seed: Option<u64>,
    /// JSON of this shape is wanted.
    pub schema: Option<Schema>,
    /// Tells repeated requests apart that are otherwise the same: each is asked for and kept on its own.
    pub vote: u32,
}

impl Request {
    /// A request at temperature 0.
    #[must_use]
    pub fn new(messages: Vec<Message>, max_tokens: u32) -> Self {
        Self { messages, max_tokens, temperature: 0.0, seed: None, schema: None, vote: 0 }
    }
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Finish {
    /// It was done.
    Stop,
    /// `max_tokens` ended it: the answer is cut off.
    Length,
    /// It declined, or a filter did.
    Refusal,
    /// Anything else, as the server spells it.
    Other(String),
}

impl Finish {
    /// One word.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::Refusal => "refusal",
            Self::Other(name) => name,
        }
    }

    /// The opposite of [`name`](Finish::name).
    #[must_use]
    pub fn parse(name: &str) -> Self {
        match name {
            "stop" => Self::Stop,
            "length" => Self::Length,
            "refusal" => Self::Refusal,
            other => Self::Other(other.to_owned()),
        }
    }
}

/// Tokens of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read, those that the server had cached included.
    pub prompt: u64,
    /// Tokens read that the server had cached.
    pub cached: u64,
    /// Tokens written.
    pub completion: u64,
    /// The server did not say, and these are our estimates.
    pub estimated: bool,
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The answer; empty where there is none.
    pub text: String,
    /// What a model said that declined.
    pub refusal: Option<String>,
    /// Why it stopped.
    pub finish: Finish,
    /// Tokens.
    pub usage: Usage,
    /// The model that answered, as the server names it.
    pub model: Option<String>,
    /// The server's name for this request.
    pub request_id: Option<String>,
    /// OpenAI's `system_fingerprint`: changes when the servers do.
    pub fingerprint: Option<String>,
    /// Time from sending the request that succeeded to having the answer.
    pub latency: Duration,
    /// Requests made until this one succeeded, this one included.
    pub tries: u32,
    /// Tokens written a second, where the model runs in this process.
    pub tokens_per_second: Option<f64>,
}

impl Reply {
    /// An answer with nothing else known of it.
    #[must_use]
    pub fn of(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            refusal: None,
            finish: Finish::Stop,
            usage: Usage::default(),
            model: None,
            request_id: None,
            fingerprint: None,
            latency: Duration::ZERO,
            tries: 1,
            tokens_per_second: None,
        }
    }
}
