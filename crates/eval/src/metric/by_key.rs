//! Metrics stand for their keys: where they are compared, ordered, printed and kept in files.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Metric;

/// As [`Metric::named`].
impl From<&str> for Metric {
    fn from(key: &str) -> Self {
        Metric::named(key)
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}

impl PartialEq for Metric {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Metric {}

impl Hash for Metric {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl PartialOrd for Metric {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// By key, as files order them; columns are ordered by [`Metric::order`].
impl Ord for Metric {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(other.key())
    }
}

/// Maps by metric can be asked by key.
impl Borrow<str> for Metric {
    fn borrow(&self) -> &str {
        self.key()
    }
}

impl Default for Metric {
    /// Span recall, which headlines speak of.
    fn default() -> Self {
        Metric::SPAN_RECALL
    }
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, into: S) -> Result<S::Ok, S::Error> {
        into.serialize_str(self.key())
    }
}

/// Takes unknown keys as they are: records may be of another version.
impl<'de> Deserialize<'de> for Metric {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Metric::named(&String::deserialize(from)?))
    }
}
