//! Keys, and the one place where they are cut out of what a server sends.

mod layers;
mod scrub;

use std::fmt;

pub(crate) use scrub::Scrubber;

/// The words in the place of a key in everything that can be read.
const HIDDEN: &str = "[hidden]";

/// A key or password. It shows itself in no `Debug` output, and cannot be printed or serialised.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(String);

impl Secret {
    /// Keeps `value` secret.
    pub(crate) fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// Reads an environment variable; `None` where it is not set or blank. White space around the key (the line end of
    /// a file that it was read from) is no part of it.
    pub(crate) fn from_env(variable: &str) -> Option<Self> {
        let value = std::env::var(variable).ok()?;
        let value = value.trim();
        (!value.is_empty()).then(|| Self::new(value))
    }

    /// Returns the value itself: for the header of a request and for what removes it from texts.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

/// Returns true for a part of an address that looks like a key: a long run of letters and digits, or a UUID.
pub(crate) fn looks_secret(part: &str) -> bool {
    let random = |run: &str| {
        run.len() >= 16 && run.bytes().any(|b| b.is_ascii_digit()) && run.bytes().any(|b| b.is_ascii_alphabetic())
    };
    let uuid = part.len() == 36 && part.split('-').map(str::len).eq([8, 4, 4, 4, 12]);
    uuid || part.split(|c: char| !c.is_ascii_alphanumeric()).any(random)
}

#[cfg(test)]
mod tests {
    use super::{Secret, looks_secret};

    #[test]
    fn shows_nothing() {
        let key = Secret::new("sk-0123456789");
        assert_eq!(format!("{key:?} {:?}", Some(&key)), "[hidden] Some([hidden])");
    }

    #[test]
    fn parts_of_addresses() {
        for part in ["0123456789abcdef01", "sk-AbCd1234567890efgh", "123e4567-e89b-12d3-a456-426614174000"] {
            assert!(looks_secret(part), "{part}");
        }
        for part in ["v1", "deployments", "gpt-4o-mini-2024-07-18", "openai", "chat"] {
            assert!(!looks_secret(part), "{part}");
        }
    }
}
