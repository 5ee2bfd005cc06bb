use serde::{Deserialize, Serialize};

/// What the numbers of a range count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Offsets {
    /// Bytes of UTF-8.
    #[default]
    Bytes,
    /// Characters: Unicode code points, as Python counts.
    Chars,
}

impl Offsets {
    /// The words that specs and files use, in the order of the variants.
    pub(crate) const WORDS: [&'static str; 2] = ["bytes", "chars"];

    /// The variant of a place in [`Offsets::WORDS`].
    pub(crate) fn at(place: usize) -> Self {
        if place == 1 { Offsets::Chars } else { Offsets::Bytes }
    }
}

/// A chunk as others give it: a range, or a text, or both.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
pub struct Given {
    /// The first byte or character.
    pub start: Option<u64>,
    /// One past the last.
    pub end: Option<u64>,
    /// The text, as it stands in the document.
    pub text: Option<String>,
}
