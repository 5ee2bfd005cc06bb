use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The text of a heading, shared by everything that stands below it.
///
/// A heading belongs to the path of each section, chunk and record under it. A clone costs a pointer, not the text.
///
/// ```
/// use pericope_api::Heading;
///
/// let path: Vec<Heading> = vec!["Pumps".into(), "Priming".into()];
/// assert_eq!(path, ["Pumps", "Priming"]);
/// assert_eq!(path.join(" > "), "Pumps > Priming");
/// ```
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Heading(Arc<str>);

impl Heading {
    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for Heading {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Heading {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Heading {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Heading {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Heading {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl From<Heading> for String {
    fn from(heading: Heading) -> Self {
        heading.as_str().to_owned()
    }
}

impl PartialEq<str> for Heading {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Heading {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Debug for Heading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Heading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl Serialize for Heading {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for Heading {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}
