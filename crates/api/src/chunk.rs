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
    /// A sentence or two that place the chunk in its document, written by somebody who read both. They are no part of its
    /// text: embedders and full-text indexes read them too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
}

impl Chunk {
    /// Returns the content hash of a chunk's text: XXH3, 128 bits, seed 0.
    #[must_use]
    pub fn content_hash(text: &str) -> u128 {
        XxHash3_128::oneshot(text.as_bytes())
    }
}

/// What stands around a chunk in its document. With it, the chunks give back the source byte for byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Joint<'a> {
    /// Bytes at the beginning of the chunk that chunks before it have too; 0 without overlap.
    pub overlap: usize,
    /// The source before the first chunk; empty at every other chunk.
    pub before: &'a str,
    /// The source from the furthest end of the chunks so far to the start of the next one; at the last chunk, the rest.
    pub after: &'a str,
}

/// Returns the joint of each chunk of a document, in their order. The source is, over all chunks, `before`, the chunk's text
/// from byte `overlap` on, and `after`.
///
/// The chunks are ordered by their starts, and lie on character boundaries of the source.
///
/// ```
/// use pericope_api::{Chunk, Span, joints};
///
/// let source = "\r\n One.\tTwo.\n";
/// let chunk = |ordinal, start, end| Chunk {
///     document: "d".into(), ordinal, span: Span::new(start, end), heading_path: vec![], tokens: 1, hash: 0, context: None,
/// };
/// let chunks = [chunk(0, 3, 7), chunk(1, 3, 12)];
/// let joined: String = (chunks.iter().zip(joints(source, &chunks)))
///     .map(|(chunk, joint)| format!("{}{}{}", joint.before, &chunk.span.of(source)[joint.overlap..], joint.after))
///     .collect();
/// assert_eq!(joined, source);
/// ```
pub fn joints<'a>(source: &'a str, chunks: &'a [Chunk]) -> impl Iterator<Item = Joint<'a>> {
    let between = |from: usize, to: usize| source.get(from..to).unwrap_or_default();
    let mut covered = 0;
    chunks.iter().enumerate().map(move |(i, chunk)| {
        let Span { start, end } = chunk.span;
        let before = if i == 0 { between(0, start) } else { "" };
        let overlap = covered.clamp(start, end.max(start)) - start;
        covered = covered.max(end);
        let next = chunks.get(i + 1).map_or(source.len(), |next| next.span.start);
        Joint { overlap, before, after: between(covered, next) }
    })
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
