//! Bodies of responses, read with a limit.

use std::io::Read;

use pericope_net::ureq;
use pericope_net::ureq::Body;

/// What was read of a body.
pub(super) struct Bytes {
    pub(super) text: String,
    /// Why it is not whole.
    pub(super) end: End,
}

/// How reading a body ended.
pub(super) enum End {
    Whole,
    /// It is larger than the limit.
    TooLarge,
    /// The connection broke, or was too slow.
    Broken(ureq::Error),
}

/// Reads at most `limit` bytes of a body; of a larger one the beginning.
pub(super) fn read(body: &mut Body, limit: u64) -> Bytes {
    // What says itself that it is too large is not waited for.
    if body.content_length().is_some_and(|length| length > limit) {
        return Bytes { text: String::new(), end: End::TooLarge };
    }
    let mut bytes = Vec::new();
    // One more than the limit, to know whether it ends there.
    let read = body.as_reader().take(limit.saturating_add(1)).read_to_end(&mut bytes);
    let end = match read {
        Err(error) => End::Broken(ureq::Error::from(error)),
        Ok(_) if bytes.len() as u64 > limit => End::TooLarge,
        Ok(_) => End::Whole,
    };
    Bytes { text: String::from_utf8_lossy(&bytes).into_owned(), end }
}
