//! Which failures may pass, and how long to wait for that.

use std::error::Error;
use std::time::Duration;

use tonic::{Code, Status};

use crate::Settings;

/// The number of characters of a server's message that are shown.
const SHOWN: usize = 600;

/// What a failure means for the call. All our calls may be made twice: ids are given by the content, and what is
/// deleted is named.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It may work the next time.
    Again,
    /// It never will.
    Refused,
    /// The answer is larger than what is accepted.
    TooLarge,
}

pub(super) fn verdict(status: &Status) -> Verdict {
    match status.code() {
        Code::Unavailable | Code::DeadlineExceeded | Code::ResourceExhausted | Code::Aborted => Verdict::Again,
        // A server that lost one of its nodes says `internal` until another takes over.
        Code::Internal => Verdict::Again,
        // What is not the server's answer but the connection's end has a source: reset, broken, closed.
        Code::Unknown if status.source().is_some() => Verdict::Again,
        // The call went down together with its connection.
        Code::Cancelled => Verdict::Again,
        // Said on this side, when the length of the answer is known and nothing of it has been read.
        Code::OutOfRange if status.message().contains("message length too large") => Verdict::TooLarge,
        _ => Verdict::Refused,
    }
}

/// The longest wait before the next attempt after `made` of them: `backoff * 2^(made - 1)`, at most `most`. The wait
/// itself is drawn from 0 to this, so that many workers do not come back at the same moment.
pub(super) fn longest_wait(backoff: Duration, most: Duration, made: u32) -> Duration {
    let factor = 2_u32.saturating_pow(made.saturating_sub(1).min(31));
    backoff.saturating_mul(factor).min(most)
}

/// How long to wait after so many attempts: a random time, and not less than the server asks for.
pub(super) fn wait(settings: &Settings, made: u32, status: &Status) -> Duration {
    let longest = longest_wait(settings.backoff, settings.max_backoff, made);
    longest.mul_f64(rand::random::<f64>()).max(retry_after(status))
}

/// How long the server asks to be left alone: seconds, perhaps with a fraction. Who calls has a limit of their own.
fn retry_after(status: &Status) -> Duration {
    let seconds: f64 =
        status.metadata().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok()).unwrap_or(0.0);
    Duration::try_from_secs_f64(seconds.clamp(0.0, 1e9)).unwrap_or(Duration::ZERO)
}

/// True where nobody listens at the address.
pub(super) fn is_connection_refused(status: &Status) -> bool {
    let mut next = status.source();
    while let Some(error) = next {
        let io = error.downcast_ref::<std::io::Error>();
        if io.is_some_and(|io| io.kind() == std::io::ErrorKind::ConnectionRefused) {
            return true;
        }
        next = error.source();
    }
    false
}

/// What happened, on one line, for the user.
pub(super) fn reason(status: &Status) -> String {
    let message = shown(status.message());
    let code = match status.code() {
        Code::Unavailable => "unavailable",
        Code::DeadlineExceeded => "timeout",
        Code::ResourceExhausted => "too busy",
        Code::Aborted => "aborted",
        Code::Internal => "internal error",
        Code::InvalidArgument => "invalid request",
        Code::NotFound => "not found",
        Code::AlreadyExists => "already exists",
        Code::Unauthenticated => "not authenticated",
        Code::PermissionDenied => "permission denied",
        Code::Unimplemented => "not known to the server",
        _ => "connection",
    };
    let behind = status.source().map(error_chain).filter(|text| *text != message);
    match behind {
        _ if message.is_empty() && status.source().is_none() => code.to_owned(),
        None => format!("{code}, {message}"),
        Some(behind) if message.is_empty() || behind.starts_with(&message) => format!("{code}, {behind}"),
        Some(behind) => format!("{code}, {message}: {behind}"),
    }
}

/// The text on one line, its beginning where it is long.
fn shown(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or("")),
        None => text,
    }
}

/// An error and what is behind it, on one line.
pub(crate) fn error_chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let text = shown(&error.to_string());
        // Layers that repeat what is below them add nothing.
        if !parts.iter().any(|part| part.contains(&text)) {
            parts.push(text);
        }
        next = error.source();
    }
    parts.join(": ")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_may_pass_is_tried_again_and_what_never_will_is_not() {
        for code in [Code::Unavailable, Code::DeadlineExceeded, Code::ResourceExhausted, Code::Aborted] {
            assert_eq!(verdict(&Status::new(code, "")), Verdict::Again, "{code:?}");
        }
        for code in [
            Code::InvalidArgument,
            Code::Unauthenticated,
            Code::PermissionDenied,
            Code::NotFound,
            Code::AlreadyExists,
            Code::Unimplemented,
            Code::Unknown,
        ] {
            assert_eq!(verdict(&Status::new(code, "")), Verdict::Refused, "{code:?}");
        }
        let reset = std::io::Error::new(std::io::ErrorKind::ConnectionReset, "reset by peer");
        let status = Status::from_error(Box::new(reset));
        assert_eq!((status.code(), verdict(&status)), (Code::Unknown, Verdict::Again));
    }

    #[test]
    fn waits_double_up_to_the_most() {
        let wait = |made| longest_wait(Duration::from_millis(250), Duration::from_secs(15), made).as_secs_f64();
        assert_eq!([1, 2, 3, 6, 7, 1000].map(wait), [0.25, 0.5, 1.0, 8.0, 15.0, 15.0]);
    }

    #[test]
    fn the_server_may_ask_for_longer() {
        let mut status = Status::resource_exhausted("slow down");
        assert_eq!(retry_after(&status), Duration::ZERO);
        status.metadata_mut().insert("retry-after", "7".parse().unwrap());
        assert_eq!(retry_after(&status), Duration::from_secs(7));
        for (value, seconds) in [("0.25", 0.25), ("Wed, 21 Oct 2015", 0.0), ("-3", 0.0), ("NaN", 0.0), ("1e308", 1e9)] {
            status.metadata_mut().insert("retry-after", value.parse().unwrap());
            assert_eq!(retry_after(&status), Duration::from_secs_f64(seconds), "{value}");
        }
    }

    #[test]
    fn refused_connections_are_told_from_other_failures() {
        let of = |kind| Status::from_error(Box::new(std::io::Error::new(kind, "no")));
        assert!(is_connection_refused(&of(std::io::ErrorKind::ConnectionRefused)));
        assert!(!is_connection_refused(&of(std::io::ErrorKind::ConnectionReset)));
        assert!(!is_connection_refused(&Status::unavailable("connection refused")));
    }

    #[test]
    fn reasons_are_one_line() {
        assert_eq!(reason(&Status::unavailable("not\nnow")), "unavailable, not now");
        assert_eq!(reason(&Status::aborted("")), "aborted");
        let long = reason(&Status::aborted("é".repeat(100_000)));
        assert!(long.ends_with('…') && long.chars().count() < 700, "{}", long.len());
    }
}
