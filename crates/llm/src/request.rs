use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The speakers of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions that stand above the conversation.
    System,
    /// The person who asks.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// Returns the name as the APIs spell it.
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
    /// The speaker.
    pub role: Role,
    /// The text.
    pub content: String,
}

impl Message {
    /// Creates a turn of `role`.
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

/// A question to a model. Everything in here is part of the cache's key.
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
    /// The shape of the JSON that is wanted.
    pub schema: Option<Schema>,
    /// A number that tells repeated requests apart that are otherwise the same: each is asked for and kept on its own.
    pub vote: u32,
}

impl Request {
    /// Creates a request at temperature 0.
    #[must_use]
    pub fn new(messages: Vec<Message>, max_tokens: u32) -> Self {
        Self { messages, max_tokens, temperature: 0.0, seed: None, schema: None, vote: 0 }
    }
}

/// The reasons for which a model stops.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Finish {
    /// The answer is complete.
    Stop,
    /// `max_tokens` ended it: the answer is cut off.
    Length,
    /// It declined, or a filter did.
    Refusal,
    /// Anything else, as the server spells it.
    Other(String),
}

impl Finish {
    /// Returns one word, as caches keep it.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::Refusal => "refusal",
            Self::Other(name) => name,
        }
    }

    /// Reads what [`name`](Finish::name) returns.
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

/// The tokens of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// The number of tokens read, those that the server had cached included.
    pub prompt: u64,
    /// The number of tokens read that the server had cached.
    pub cached: u64,
    /// The number of tokens written.
    pub completion: u64,
    /// True where the server did not say, and these are estimates.
    pub estimated: bool,
}

/// The answer of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The answer; empty where there is none.
    pub text: String,
    /// The words of a model that declined.
    pub refusal: Option<String>,
    /// The reason for which it stopped.
    pub finish: Finish,
    /// The tokens that it used.
    pub usage: Usage,
    /// The model that answered, as the server names it.
    pub model: Option<String>,
    /// The server's name for this request.
    pub request_id: Option<String>,
    /// OpenAI's `system_fingerprint`: changes when the servers do.
    pub fingerprint: Option<String>,
    /// The time from sending the request that succeeded to having the answer.
    pub latency: Duration,
    /// The number of requests made until this one succeeded, this one included.
    pub tries: u32,
    /// The number of tokens written a second, where the model runs in this process.
    pub tokens_per_second: Option<f64>,
    /// The [`parameters`](crate::Provider::parameters) that the endpoint took: part of the cache's key, and not kept.
    pub parameters: Value,
}

impl Reply {
    /// Creates an answer of which nothing else is known.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
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
            parameters: Value::Null,
        }
    }
}
