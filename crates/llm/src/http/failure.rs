//! Tries that failed, and whether they may have cost something.

use std::io::ErrorKind;
use std::time::Duration;

use pericope_net::ureq::{Error, Timeout};
use pericope_util::short_line;
use serde_json::Value;

use super::classify::ApiError;

/// A try that failed.
pub(super) struct Failure {
    pub(super) why: Tried,
    /// True where the model has begun to answer, or may have: services charge for that.
    pub(super) answered: bool,
    /// The part of the answer that tells what it used.
    pub(super) told: Option<Value>,
}

/// The reasons for which one try fails.
pub(super) enum Tried {
    Refused(ApiError, Option<Duration>),
    Broken(String),
    TooLarge,
}

impl Failure {
    /// A try that cannot have cost anything.
    pub(super) fn free(why: Tried) -> Self {
        Self { why, answered: false, told: None }
    }

    /// A try that broke after a success had been promised.
    pub(super) fn answered(why: Tried, told: Option<Value>) -> Self {
        Self { why, answered: true, told }
    }

    /// A try of whose answer nothing came.
    pub(super) fn of(answered: bool, message: String) -> Self {
        Self { why: Tried::Broken(message), answered, told: None }
    }
}

/// Returns true where the request may have reached the server before the error: it then may have been worked on.
pub(super) fn after_sending(error: &Error) -> bool {
    match error {
        Error::Http(_)
        | Error::BadUri(_)
        | Error::HostNotFound
        | Error::InvalidProxyUrl
        | Error::ConnectionFailed
        | Error::Tls(_)
        | Error::Rustls(_)
        | Error::Pem(_)
        | Error::ConnectProxyFailed(_)
        | Error::TlsRequired
        | Error::Timeout(Timeout::Resolve | Timeout::Connect | Timeout::SendRequest | Timeout::SendBody) => false,
        // A connection that was there and broke. Refused ones, names that are not known and handshakes that fail are others.
        Error::Io(error) => matches!(
            error.kind(),
            ErrorKind::ConnectionReset
                | ErrorKind::ConnectionAborted
                | ErrorKind::BrokenPipe
                | ErrorKind::UnexpectedEof
                | ErrorKind::TimedOut
                | ErrorKind::WouldBlock
                | ErrorKind::Interrupted
        ),
        _ => true,
    }
}

/// Returns the words of an error, without the address: a query may hold a key.
pub(super) fn reason(error: &Error) -> String {
    match error {
        Error::Timeout(what) => format!("timed out ({what})"),
        Error::BadUri(_) => "the address cannot be used".to_owned(),
        Error::ConnectionFailed | Error::HostNotFound => format!("cannot connect: {error}"),
        other => short_line(&other.to_string(), 300),
    }
}
