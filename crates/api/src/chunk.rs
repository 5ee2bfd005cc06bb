use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_128;

use crate::{Heading, Span};

/// A piece of a document that is indexed: its byte range, and what is known of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// The id of the document.
    pub document: String,
    /// The place among the document's chunks, from 0.
    pub ordinal: usize,
    /// The byte range: the chunk's text is exactly `source[span]`.
    pub span: Span,
    /// Headings above the chunk's first sentence, outermost first (its own heading included).
    pub heading_path: Vec<Heading>,
    /// The number of tokens of the text, the counter's special tokens included.
    pub tokens: usize,
    /// The XXH3 hash (128 bits, seed 0) of the text.
    pub hash: u128,
}

impl Chunk {
    /// Returns the content hash of a chunk's text: XXH3, 128 bits, seed 0.
    #[must_use]
    pub fn content_hash(text: &str) -> u128 {
        XxHash3_128::oneshot(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::Chunk;

    /// The empty input's value is part of the published XXH3 test vectors.
    #[test]
    fn hash_is_xxh3_128() {
        assert_eq!(Chunk::content_hash(""), 0x99aa_06d3_0147_98d8_6001_c324_468d_497f);
    }
}
