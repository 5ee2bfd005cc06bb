use std::collections::HashMap;
use std::time::Duration;

use serde_json::Value;

/// A call as it arrived.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Path of the address, without its query.
    pub path: String,
    /// Body; `null` where it is no JSON.
    pub body: Value,
    /// All messages, one after the other.
    pub prompt: String,
    /// Number of earlier calls whose first user message was the same.
    pub before: usize,
    /// Number of earlier calls.
    pub number: usize,
    /// Headers, names in lower case.
    pub headers: HashMap<String, String>,
}

impl Seen {
    /// Returns the `type` of its `response_format`: `json_schema` or `json_object`.
    #[must_use]
    pub fn format(&self) -> Option<&str> {
        self.body.pointer("/response_format/type").and_then(Value::as_str)
    }
}

/// The ways in which the server treats a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    /// Answers.
    Answer,
    /// Answers after a while.
    Slow(Duration),
    /// Another text than the one that it would answer with.
    Text(String),
    /// The answer in a code fence, with prose around it.
    Fence,
    /// The answer, cut off in the middle; `finish_reason` is `length`.
    Truncated,
    /// Declines.
    Refuse,
    /// Answers nothing.
    Empty,
    /// 400: the prompt is too long.
    TooLong,
    /// 400 or another status with this message.
    Error(u16, String),
    /// A status with nothing else to say.
    Status(u16),
    /// 429 with `retry-after` in this form.
    RetryAfter(String),
    /// 429: no money left.
    Billing,
    /// Repeats the key in an error with this status.
    EchoKey(u16),
    /// Ends the connection in the middle of the answer.
    Cut,
    /// Ends the connection in the middle of an answer that says first what it used.
    CutAfterUsage,
    /// Ends the connection without an answer, when the request has arrived.
    Reset,
    /// Answers a byte at a time, with this pause between two.
    Drip(Duration),
    /// Answers without end.
    Endless,
    /// Answers with these numbers of tokens, of prompt and answer.
    Usage(u64, u64),
    /// 302 to another address.
    Redirect(String),
    /// This status with this body.
    Raw(u16, String),
    /// A body that is no JSON.
    Garbage,
}

impl Act {
    /// Returns true where a service would charge for the call: the model has written an answer, whether it arrives or not.
    #[must_use]
    pub fn is_charged(&self) -> bool {
        match self {
            Self::TooLong
            | Self::Error(..)
            | Self::Status(_)
            | Self::RetryAfter(_)
            | Self::Billing
            | Self::EchoKey(_)
            | Self::Redirect(_) => false,
            Self::Raw(status, _) => *status < 300,
            _ => true,
        }
    }
}
