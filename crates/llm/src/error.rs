use std::path::PathBuf;

use crate::prompt::PromptError;

/// The reasons for no answer.
///
/// Some errors are about one item, and the next item may do better; after others, every further call would fail the same
/// way: [`aborts_run`](LlmError::aborts_run) tells them apart.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LlmError {
    /// The configuration makes no sense.
    #[error("{0}")]
    Config(String),
    /// A prompt file that cannot be used.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// The variable that should hold the key is not set.
    #[error("the environment variable {variable} is not set: it should hold the key for {endpoint}")]
    NoKey {
        /// The variable.
        variable: String,
        /// The endpoint that the key is for.
        endpoint: String,
    },
    /// 401 or 403: the key is wrong, or may not do this.
    #[error("{endpoint} refuses the key ({status}): {message}")]
    Denied {
        /// The endpoint.
        endpoint: String,
        /// HTTP status.
        status: u16,
        /// The server's message.
        message: String,
    },
    /// 404, or a redirection: no such address, or no such model.
    #[error("{endpoint} does not know the address or the model {model:?} ({status}): {message}")]
    NotFound {
        /// The endpoint.
        endpoint: String,
        /// The model asked for.
        model: String,
        /// HTTP status.
        status: u16,
        /// The server's message.
        message: String,
    },
    /// 404, or a redirection: no service at the address.
    #[error("{endpoint} is no service ({status}): {message}")]
    NoService {
        /// The endpoint.
        endpoint: String,
        /// HTTP status.
        status: u16,
        /// The server's message.
        message: String,
    },
    /// The account has no money or no quota left.
    #[error("{endpoint} wants to be paid ({status}): {message}")]
    Billing {
        /// The endpoint.
        endpoint: String,
        /// HTTP status.
        status: u16,
        /// The server's message.
        message: String,
    },
    /// The server asks for a longer pause than a run should sit through.
    #[error("{endpoint} asks to wait {seconds} s: {message}; resume later, nothing is lost")]
    Wait {
        /// The endpoint.
        endpoint: String,
        /// The pause.
        seconds: u64,
        /// The server's message.
        message: String,
    },
    /// Item after item failed to reach the server.
    #[error("{endpoint} has failed {failures} items in a row, the last with: {message}")]
    Down {
        /// The endpoint.
        endpoint: String,
        /// Items in a row.
        failures: u32,
        /// The last failure.
        message: String,
    },
    /// The next call could cost more than is left, whatever calls under way give back.
    #[error(
        "the budget of {budget} is used up: {spent:.4} spent, {reserved:.4} reserved by calls under way, \
         and the next call may cost {next:.4}; nothing is lost, and with a higher budget the run goes on"
    )]
    Budget {
        /// The limit.
        budget: f64,
        /// The sum that has been spent.
        spent: f64,
        /// The sum that calls under way have set aside.
        reserved: f64,
        /// The most that the next call may cost.
        next: f64,
    },
    /// The cache cannot be read or written.
    #[error("the response cache {path}: {source}")]
    Cache {
        /// The path of the file.
        path: PathBuf,
        /// SQLite's error.
        source: rusqlite::Error,
    },
    /// A file of the cache that is none of ours, or of a later version.
    #[error("{path} is no response cache that this version reads (version {found}, expected {expected})")]
    CacheVersion {
        /// The file.
        path: PathBuf,
        /// Version found.
        found: i64,
        /// Version expected.
        expected: i64,
    },
    /// A model on this machine cannot be loaded.
    #[error("the model {path}: {reason}")]
    Model {
        /// The path of the file.
        path: PathBuf,
        /// The reason, on one line.
        reason: String,
    },
    /// Only the cache may be used, and it has no answer to this.
    #[error("offline, and the answer is not in the cache")]
    NotCached,
    /// The prompt is longer than the model reads.
    #[error("the prompt is longer than the model's context: {0}")]
    ContextLength(String),
    /// 400, 413 or 422: the server does not take this request.
    #[error("the request was rejected ({status}): {message}")]
    Rejected {
        /// HTTP status.
        status: u16,
        /// The server's message.
        message: String,
    },
    /// The answer is larger than any answer to the request can be; it was not read to its end.
    #[error("the answer is larger than {limit} MiB, and was not read further")]
    TooLarge {
        /// The most that is read, in MiB.
        limit: u64,
    },
    /// The server kept failing or the connection kept breaking.
    #[error("{endpoint} gave no answer after {tries} tries: {message}")]
    Unavailable {
        /// The endpoint.
        endpoint: String,
        /// Requests made.
        tries: u32,
        /// The last failure.
        message: String,
    },
    /// The model declined.
    #[error("the model refused: {0}")]
    Refused(String),
    /// The model answered nothing.
    #[error("the answer is empty (finish reason {0})")]
    Empty(String),
    /// The answer is not what was asked for, and neither was a second one.
    #[error("the answer cannot be used: {problem}; it was: {answer}")]
    Invalid {
        /// The fault, in words.
        problem: String,
        /// The beginning of the answer.
        answer: String,
    },
}

impl LlmError {
    /// Returns true where every further call would fail the same way, so that a run should stop (and may be resumed); false where
    /// one item has failed.
    #[must_use]
    pub fn aborts_run(&self) -> bool {
        !matches!(
            self,
            Self::NotCached
                | Self::ContextLength(_)
                | Self::Rejected { .. }
                | Self::TooLarge { .. }
                | Self::Unavailable { .. }
                | Self::Refused(_)
                | Self::Empty(_)
                | Self::Invalid { .. }
        )
    }

    /// Returns true where the configuration is at fault, or a key or a file that it names, so that no call is made.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Config(_) | Self::Prompt(_) | Self::NoKey { .. } | Self::Model { .. })
    }

    /// Returns one word for tables and run files: `refused`, `empty`, `context-length` ...
    #[must_use]
    pub fn status(&self) -> &'static str {
        match self {
            Self::Config(_) | Self::Prompt(_) => "configuration",
            Self::NoKey { .. } | Self::Denied { .. } => "denied",
            Self::NotFound { .. } | Self::NoService { .. } => "not-found",
            Self::Billing { .. } => "billing",
            Self::Wait { .. } => "wait",
            Self::Down { .. } => "down",
            Self::Budget { .. } => "budget",
            Self::Cache { .. } | Self::CacheVersion { .. } => "cache",
            Self::Model { .. } => "model",
            Self::NotCached => "not-cached",
            Self::ContextLength(_) => "context-length",
            Self::Rejected { .. } => "rejected",
            Self::TooLarge { .. } => "too-large",
            Self::Unavailable { .. } => "unavailable",
            Self::Refused(_) => "refused",
            Self::Empty(_) => "empty",
            Self::Invalid { .. } => "invalid",
        }
    }
}
