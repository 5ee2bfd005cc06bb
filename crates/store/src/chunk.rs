use pericope_api::{Chunk, Document, Heading, Span};
use pericope_language::Language;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::file_type::file_type;

/// Namespace of the chunk ids: a random UUID, fixed for ever.
const NAMESPACE: Uuid = Uuid::from_u128(0x3a5c_71f0_9d0e_5b0c_8f27_70e6_c1f0_4b11);

/// The id of a chunk, the same in every store; see [`chunk_id`].
pub type ChunkId = Uuid;

/// Returns the UUIDv5 of the document's id, the range, the text's hash and the hash of what the encoder reads of it
/// (`encoded`, the [key](crate::Encoded::key) of that; without an encoder the text itself, behind its context if it has one).
///
/// The same chunk has the same id in every run, so that writing it again overwrites it. A chunk whose text changed has
/// another id.
#[must_use]
pub fn chunk_id(document: &str, span: Span, text: &str, encoded: &str) -> ChunkId {
    let mut key = Vec::with_capacity(document.len() + 64);
    key.extend_from_slice(document.as_bytes());
    // No UTF-8 text holds this byte, so no two keys run together.
    key.push(0xff);
    key.extend_from_slice(&(span.start as u64).to_le_bytes());
    key.extend_from_slice(&(span.end as u64).to_le_bytes());
    key.extend_from_slice(&Chunk::content_hash(text).to_le_bytes());
    key.extend_from_slice(&Chunk::content_hash(encoded).to_le_bytes());
    Uuid::new_v5(&NAMESPACE, &key)
}

/// A chunk as stores keep it.
///
/// In JSON the file type is called `type`, and the leading whitespace is left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChunkRecord {
    /// The id of the document.
    pub document: String,
    /// The first byte in the document's source.
    pub start: usize,
    /// One past the last byte in the document's source.
    pub end: usize,
    /// The headings above the chunk, outermost first.
    pub heading_path: Vec<Heading>,
    /// The source under `start..end`, byte for byte.
    pub text: String,
    /// The title of the document.
    pub title: Option<String>,
    /// The name of the place on the page where the chunk begins (`#id`, without `#`).
    pub anchor: Option<String>,
    /// The kind of file that the document is: `md`, `html`, `txt`; see [`file_type`](crate::file_type()).
    #[serde(rename = "type")]
    pub file_type: String,
    /// The number of the chunk among the document's chunks, from 0.
    pub ordinal: usize,
    /// The number of tokens in the text.
    pub tokens: usize,
    /// The source between the chunk before and this one, if it is blank: it joins the two again.
    #[serde(skip)]
    pub leading: String,
    /// Where it begins in lines and characters; `None` in a store of an earlier version.
    #[serde(skip)]
    pub begins: Option<Position>,
    /// Where it ends, for chunks that were joined to one with something left out between them (see
    /// [`Passage`](crate::Passage)); `None` where that is behind the text.
    #[serde(skip)]
    pub ends: Option<Position>,
    /// What places the chunk in its document, if somebody wrote it ([`Chunk::context`]). It is found by its words, and is no
    /// part of the text.
    #[serde(skip)]
    pub context: Option<String>,
    /// The language in which its words were read: that of its document. English in a store of an earlier version.
    #[serde(skip)]
    pub language: Language,
}

/// A place in a source, as people and editors count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Position {
    /// The line, from 1; lines end at line feeds.
    pub line: usize,
    /// The number of characters (Unicode scalar values) before it.
    pub char: usize,
}

impl Position {
    /// The beginning of a source.
    pub const START: Self = Self { line: 1, char: 0 };

    /// Returns the position behind a text that begins here.
    #[must_use]
    pub fn behind(self, text: &str) -> Self {
        let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count();
        Self { line: self.line + lines, char: self.char + text.chars().count() }
    }

    /// Returns the lines in which the first and the last character of a text are that begins here; a line end at its end
    /// belongs to the line that it ends.
    #[must_use]
    pub fn lines(self, text: &str) -> [usize; 2] {
        [self.line, self.behind(text.strip_suffix('\n').unwrap_or(text)).line]
    }
}

/// Finds the positions of bytes in a source. As long as they are asked for in order, the source is counted once.
///
/// ```
/// use pericope_store::{Position, Positions};
///
/// let mut positions = Positions::new("où?\r\n日本");
/// assert_eq!(positions.at(3), Position { line: 1, char: 2 });
/// assert_eq!(positions.at(6), Position { line: 2, char: 5 });
/// assert_eq!(positions.at(0), Position::START);
/// ```
#[derive(Debug, Clone)]
pub struct Positions<'a> {
    source: &'a str,
    /// The byte up to which was counted, and its position.
    counted: (usize, Position),
}

impl<'a> Positions<'a> {
    /// Begins to count a source.
    #[must_use]
    pub fn new(source: &'a str) -> Self {
        Self { source, counted: (0, Position::START) }
    }

    /// Returns the position of a byte: that of the byte before, for one that begins no character or lies behind the source.
    pub fn at(&mut self, byte: usize) -> Position {
        if byte < self.counted.0 {
            self.counted = (0, Position::START);
        }
        let (from, position) = self.counted;
        let between = Span::new(from, byte).of(self.source);
        self.counted = (from + between.len(), position.behind(between));
        self.counted.1
    }
}

impl ChunkRecord {
    /// Returns the record of a document's chunk, without leading whitespace, and in English.
    #[must_use]
    pub fn new(document: &Document, chunk: &Chunk, ordinal: usize) -> Self {
        Self {
            document: document.id.clone(),
            start: chunk.span.start,
            end: chunk.span.end,
            heading_path: chunk.heading_path.clone(),
            text: document.text(chunk.span).to_owned(),
            title: document.title.clone(),
            anchor: document.anchor_at(chunk.span.start).map(str::to_owned),
            file_type: file_type(document),
            ordinal,
            tokens: chunk.tokens,
            leading: String::new(),
            begins: None,
            ends: None,
            context: chunk.context.clone(),
            language: Language::default(),
        }
    }

    /// Returns the lines of the source in which its first and its last character are, from 1.
    #[must_use]
    pub fn lines(&self) -> Option<[usize; 2]> {
        let begins = self.begins?;
        let at_line_end = usize::from(self.text.ends_with('\n'));
        Some(self.ends.map_or_else(|| begins.lines(&self.text), |ends| [begins.line, ends.line - at_line_end]))
    }

    /// Returns the range in the document's source, in characters instead of bytes.
    #[must_use]
    pub fn chars(&self) -> Option<Span> {
        let begins = self.begins?;
        Some(Span::new(begins.char, self.ends.unwrap_or_else(|| begins.behind(&self.text)).char))
    }

    /// Returns the byte range in the document's source.
    #[must_use]
    pub fn span(&self) -> Span {
        Span::new(self.start, self.end)
    }
}

/// A chunk on its way into a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkEntry {
    /// The id under which the store keeps it.
    pub id: ChunkId,
    /// The chunk itself.
    pub chunk: ChunkRecord,
    /// What is searched for words in place of its text, each for itself: of HTML what a reader sees (tags gone, entities as
    /// characters), of other formats the text, and the words that stand there in another form (`**im**portant`). Empty where
    /// that is the text alone. Stores do not keep it.
    pub searched: Vec<String>,
    /// The headings that the chunk holds, beside those of its path, and those above them: a chunk is found by a filter of
    /// any of these. They change neither its id nor its score.
    pub headings: Vec<Heading>,
    /// XXH3 (128 bits) of the [key](crate::Encoded::key) of what the encoder reads of it; `None` without an encoder.
    pub encoded: Option<u128>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_depend_on_document_place_text_and_what_is_encoded() {
        let at = |start| Span::new(start, start + 4);
        let base = chunk_id("d", at(0), "fish", "fish");
        assert_eq!(base, chunk_id("d", at(0), "fish", "fish"));
        assert_eq!(base.get_version_num(), 5);
        for other in [
            chunk_id("e", at(0), "fish", "fish"),
            chunk_id("d", at(1), "fish", "fish"),
            chunk_id("d", at(0), "dish", "fish"),
            chunk_id("d", at(0), "fish", "Sea > fish"),
        ] {
            assert_ne!(base, other);
        }
    }
}
