//! Chunks that wait for their vectors.

use std::collections::HashMap;

use pericope_api::{Document, Embeddings, SentenceEncoder, Span};

use crate::{Entry, IndexError};

/// A batch is encoded when it holds this many chunks,
const BATCH_CHUNKS: usize = 4096;
/// or this much text. Large, since encoders sort a batch by length; bounded, since it lies in memory.
const BATCH_BYTES: usize = 4 << 20;

/// What the encoder reads of a chunk: the visible text, behind the heading path where `prefix` is set.
#[must_use]
pub fn encoder_text(document: &Document, span: Span, heading_path: &[String], prefix: bool) -> String {
    let visible = document.visible(span);
    match prefix && !heading_path.is_empty() {
        true => format!("{}\n\n{visible}", heading_path.join(" > ")),
        false => visible.into_owned(),
    }
}

/// Entries and the texts to embed for them, up to a batch.
#[derive(Default)]
pub(crate) struct EmbedQueue {
    entries: Vec<Entry>,
    texts: Vec<String>,
    bytes: usize,
}

impl EmbedQueue {
    pub fn push(&mut self, entry: Entry, text: String) {
        self.bytes += text.len();
        self.entries.push(entry);
        self.texts.push(text);
    }

    pub fn is_full(&self) -> bool {
        self.texts.len() >= BATCH_CHUNKS || self.bytes >= BATCH_BYTES
    }

    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Empties the queue: the entries and one vector each. Equal texts are embedded once.
    pub fn encode(&mut self, encoder: &dyn SentenceEncoder) -> Result<Encoded, IndexError> {
        let (entries, texts) = (std::mem::take(&mut self.entries), std::mem::take(&mut self.texts));
        self.bytes = 0;
        let mut rows = HashMap::with_capacity(texts.len());
        let mut distinct: Vec<&str> = Vec::with_capacity(texts.len());
        let row_of: Vec<usize> = texts
            .iter()
            .map(|text| {
                *rows.entry(text.as_str()).or_insert_with(|| {
                    distinct.push(text);
                    distinct.len() - 1
                })
            })
            .collect();
        let found = encode_checked(encoder, &distinct)?;
        let texts = distinct.len();
        if texts == entries.len() {
            return Ok(Encoded { entries, vectors: found, texts });
        }
        let mut values = Vec::with_capacity(entries.len() * found.dimension());
        for row in row_of {
            values.extend_from_slice(found.row(row));
        }
        Ok(Encoded { entries, vectors: Embeddings::new(found.dimension(), values), texts })
    }
}

/// A batch with its vectors.
pub(crate) struct Encoded {
    pub entries: Vec<Entry>,
    pub vectors: Embeddings,
    /// How many texts the encoder was given.
    pub texts: usize,
}

/// Encodes, and checks that the answer is one finite vector a text, of the dimension that was promised.
pub(crate) fn encode_checked(encoder: &dyn SentenceEncoder, texts: &[&str]) -> Result<Embeddings, IndexError> {
    if texts.is_empty() {
        return Ok(Embeddings::new(encoder.dimension(), Vec::new()));
    }
    let found = encoder.encode(texts)?;
    let broken = |reason| Err(IndexError::EncoderOutput { name: encoder.name().to_owned(), reason });
    if found.len() != texts.len() || found.dimension() != encoder.dimension() {
        return broken(format!(
            "{} vectors of {} dimensions for {} texts of {}",
            found.len(),
            found.dimension(),
            texts.len(),
            encoder.dimension()
        ));
    }
    if let Some(at) = found.values().iter().position(|v| !v.is_finite()) {
        let text: String = texts.get(at / found.dimension()).unwrap_or(&"").chars().take(40).collect();
        return broken(format!("the vector of {text:?} is not finite"));
    }
    Ok(found)
}
