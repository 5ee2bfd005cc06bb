use std::fmt;

/// The words in the place of a key in everything that can be read.
const HIDDEN: &str = "[hidden]";

/// A key or password. It shows itself in no `Debug` output, cannot be printed or serialised, and can be removed from
/// texts that a server sends back.
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

    /// Returns the value itself: for the header of a request and for nothing else.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns `text` without this secret: servers repeat keys in their error messages.
    pub(crate) fn scrub(&self, text: &str) -> String {
        // A secret of a letter or two is none, and would tear every text apart.
        if self.0.len() < 4 { text.to_owned() } else { text.replace(&self.0, HIDDEN) }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn shows_nothing() {
        let key = Secret::new("sk-0123456789");
        assert_eq!(format!("{key:?} {:?}", Some(&key)), "[hidden] Some([hidden])");
        assert_eq!(key.scrub("bad key sk-0123456789."), "bad key [hidden].");
        assert_eq!(Secret::new("a").scrub("banana"), "banana");
    }
}
