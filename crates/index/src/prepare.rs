//! From a document and its chunks to entries: checked, numbered, named, with what the encoder will read.

use std::collections::HashSet;
use std::sync::Arc;

use pericope_api::{Chunk, Document, SentenceEncoder, Span};
use uuid::Uuid;

use crate::embed::encoder_text;
use crate::entry::point_id;
use crate::{Entry, IndexError};

/// How chunks are embedded at a destination.
#[derive(Clone)]
pub struct Embedding {
    /// What embeds them.
    pub encoder: Arc<dyn SentenceEncoder>,
    /// Whether the encoder reads the heading path in front of a chunk's text.
    pub prefix_headings: bool,
    /// Name of the token counter behind `Chunk::tokens`: where it is the encoder's, its counts are believed.
    pub tokenizer: String,
}

/// An entry, and what the encoder reads of it (nothing where there is no encoder).
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The chunk.
    pub entry: Entry,
    /// What is embedded.
    pub encoded: String,
}

/// The entries of a document's chunks, in their order; a chunk that is listed twice is kept once.
///
/// # Errors
/// [`IndexError::BadChunk`] where a chunk is not of this document, or its span is no range of the source's characters.
pub fn prepare(
    document: &Document,
    chunks: &[Chunk],
    embedding: Option<&Embedding>,
) -> Result<Vec<Prepared>, IndexError> {
    let mut seen: HashSet<Uuid> = HashSet::with_capacity(chunks.len());
    let mut prepared = Vec::with_capacity(chunks.len());
    let mut end_before = 0;
    for (ordinal, chunk) in chunks.iter().enumerate() {
        let bad = |reason: String| IndexError::BadChunk { document: document.id.clone(), ordinal, reason };
        if chunk.document != document.id {
            return Err(bad(format!("it is a chunk of `{}`", chunk.document)));
        }
        let span = chunk.span;
        let Some(text) = document.source.get(span.start..span.end).filter(|text| !text.is_empty()) else {
            return Err(bad(format!("{}..{} is no range of the source's characters", span.start, span.end)));
        };
        let encoded = embedding.map(|e| encoder_text(document, span, &chunk.heading_path, e.prefix_headings));
        let id = point_id(&document.id, span, text, encoded.as_deref().unwrap_or(text));
        if seen.insert(id) {
            let mut entry = Entry::new(document, chunk, prepared.len(), id, encoded.as_deref());
            entry.lead = lead(document, end_before, span.start).to_owned();
            prepared.push(Prepared { entry, encoded: encoded.unwrap_or_default() });
            end_before = span.end;
        }
    }
    Ok(prepared)
}

/// The source between two chunks, where it is blank; chunks that overlap or leave text out have nothing between them.
fn lead(document: &Document, from: usize, until: usize) -> &str {
    let between = if from < until { Span::new(from, until).of(&document.source) } else { "" };
    if between.trim().is_empty() { between } else { "" }
}

/// How many of the texts the encoder will not read to the end.
pub(crate) fn beyond_reach(prepared: &[Prepared], embedding: Option<&Embedding>) -> u64 {
    let Some(embedding) = embedding else { return 0 };
    let encoder = &embedding.encoder;
    let limit = encoder.max_tokens() as u64;
    // The chunks' own counts stand for the encoder's where both count alike, and where it does not say.
    let alike = embedding.tokenizer == encoder.name() && !embedding.prefix_headings;
    let beyond = |one: &&Prepared| match alike && one.entry.tokens <= limit {
        true => false,
        false => encoder.count_tokens(&one.encoded).map_or(one.entry.tokens, |n| n as u64) > limit,
    };
    prepared.iter().filter(beyond).count() as u64
}
