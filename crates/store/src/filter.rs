use serde::{Deserialize, Serialize};

/// The conditions that a chunk must meet to be found. Each list that is not empty must hold an entry that fits; the
/// default has no condition.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Filter {
    /// Paths of documents. In an embedded index a document's id must begin with one of them. On a server they are
    /// whole ids or folders: `guide` fits `guide/start.md`, `gui` does not.
    pub paths: Vec<String>,
    /// Words of a heading above the chunk or in it. An embedded index compares stems and asks for the words one after the
    /// other in one heading; a server asks for all of them in any order in all headings together. What was indexed before
    /// the headings within chunks were kept is found by those above alone. An entry without a word is ignored.
    pub headings: Vec<String>,
    /// Types of files, see [`file_type`](crate::file_type()). `markdown` is `md`, `htm` is `html`.
    pub file_types: Vec<String>,
}

impl Filter {
    /// Returns true if every chunk passes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds a path.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.paths.push(path.into());
        self
    }

    /// Adds words of a heading.
    #[must_use]
    pub fn heading(mut self, words: impl Into<String>) -> Self {
        self.headings.push(words.into());
        self
    }

    /// Adds a type of files.
    #[must_use]
    pub fn file_type(mut self, kind: impl Into<String>) -> Self {
        self.file_types.push(kind.into());
        self
    }
}
