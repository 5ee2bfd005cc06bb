//! From texts to vectors.

use std::sync::Arc;

use pericope_api::{Embeddings, SentenceEncoder, Span};

use crate::{Encoded, Query, StoreError};

/// The way in which a store's chunks are embedded.
#[derive(Clone)]
pub struct Embedding {
    /// The encoder that embeds them.
    pub encoder: Arc<dyn SentenceEncoder>,
    /// Whether the encoder reads what stands above a chunk in front of its text; see [`text`](Self::text).
    pub prefix_headings: bool,
    /// Whether the encoder reads a chunk within its document ([`SentenceEncoder::encode_spans`]); see
    /// [`encoded`](Self::encoded). It goes neither with heading prefixes nor with contexts.
    pub late_chunking: bool,
    /// The name of the token counter behind `Chunk::tokens`: the encoder's own counts are believed.
    pub tokenizer: String,
}

/// The effort that embedding took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct EmbedCounts {
    /// The number of texts that the encoder was given.
    pub encoded: u64,
    /// The number of texts whose vectors were known already, from the store or from a cache.
    pub reused: u64,
    /// The number of texts whose known vectors were of another length or not finite, so that the encoder was given them.
    pub rejected: u64,
    /// The time in the encoder, in seconds.
    pub seconds: f64,
}

impl EmbedCounts {
    /// Adds the effort of another batch.
    pub fn add(&mut self, more: Self) {
        self.encoded += more.encoded;
        self.reused += more.reused;
        self.rejected += more.rejected;
        self.seconds += more.seconds;
    }
}

/// Knows the vectors of texts that were embedded before, by the XXH3 hash (128 bits) of what the encoder read
/// ([`Encoded::key`]).
///
/// A cache belongs to one encoder: it never answers with vectors of another.
pub trait VectorCache: Send + Sync {
    /// Returns the vectors that are known, in the order of the hashes. One that is damaged may be given as it is, or as an
    /// empty one: its text is embedded again.
    ///
    /// # Errors
    /// Where the cache cannot be read.
    fn find(&self, hashes: &[u128]) -> Result<Vec<Option<Vec<f32>>>, StoreError>;

    /// Keeps fresh vectors. By default nothing is kept.
    ///
    /// # Errors
    /// Where the cache cannot be written.
    fn keep(&self, _fresh: &[(u128, &[f32])]) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Encodes passages, and checks that the answer is one finite vector a text, of the dimension that was promised. Chunks of one
/// document that stand side by side are read together where they are read within it.
///
/// # Errors
/// [`StoreError::Encoder`] and [`StoreError::EncoderOutput`].
pub fn encode_checked(encoder: &dyn SentenceEncoder, texts: &[&Encoded]) -> Result<Embeddings, StoreError> {
    if texts.is_empty() {
        return Ok(Embeddings::new(encoder.dimension(), Vec::new()));
    }
    let found = match texts.iter().all(|text| matches!(text, Encoded::Alone(_))) {
        true => encoder.encode_passages(&texts.iter().map(|text| text.as_str()).collect::<Vec<_>>())?,
        false => {
            let mut documents: Vec<(&str, Vec<Span>)> = Vec::new();
            for (document, span) in texts.iter().map(|text| text.within()) {
                match documents.last_mut() {
                    Some((last, spans)) if std::ptr::eq(*last, document) => spans.push(span),
                    _ => documents.push((document, vec![span])),
                }
            }
            let documents: Vec<(&str, &[Span])> =
                documents.iter().map(|(document, spans)| (*document, spans.as_slice())).collect();
            encoder.encode_spans(&documents)?
        }
    };
    checked(encoder, texts.len(), found)
}

/// Encodes a query, and checks the answer as [`encode_checked`] does.
///
/// # Errors
/// As [`encode_checked`].
pub fn encode_query(encoder: &dyn SentenceEncoder, query: &str) -> Result<Vec<f32>, StoreError> {
    let found = encoder.encode_queries(&[query])?;
    Ok(checked(encoder, 1, found)?.into_values())
}

fn checked(encoder: &dyn SentenceEncoder, texts: usize, found: Embeddings) -> Result<Embeddings, StoreError> {
    if found.len() != texts || found.dimension() != encoder.dimension() {
        let (vectors, wide, wanted) = (found.len(), found.dimension(), encoder.dimension());
        let reason = format!("{vectors} vectors of {wide} dimensions for {texts} texts of {wanted}");
        return Err(StoreError::EncoderOutput { name: encoder.name().to_owned(), reason });
    }
    Ok(found.finite(encoder.name())?)
}

/// Returns the query's vector: its own, or what the encoder makes of its text. `name` is the embedder that the store was
/// built with.
///
/// # Errors
/// [`StoreError::NoEncoder`] without either, and as [`encode_checked`].
pub fn query_vector(
    query: &Query,
    encoder: Option<&dyn SentenceEncoder>,
    name: Option<&str>,
) -> Result<Vec<f32>, StoreError> {
    if let Some(vector) = &query.vector {
        return Ok(vector.clone());
    }
    let encoder = encoder.ok_or_else(|| StoreError::NoEncoder { name: name.unwrap_or("none").to_owned() })?;
    encode_query(encoder, &query.text)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use pericope_api::{Chunk, Document, EncodeError};

    use super::*;
    use crate::late::within_document;

    /// Two numbers of a span: the length of its document and its own; of a text by itself, 0 and its length. The text
    /// `endless` has no length.
    struct Lengths;

    impl SentenceEncoder for Lengths {
        fn name(&self) -> &str {
            "lengths"
        }

        fn fingerprint(&self) -> String {
            String::new()
        }

        fn dimension(&self) -> usize {
            2
        }

        fn max_tokens(&self) -> usize {
            9
        }

        fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
            let length = |text: &&str| if *text == "endless" { f32::INFINITY } else { text.len() as f32 };
            Ok(Embeddings::new(2, texts.iter().flat_map(|text| [0.0, length(text)]).collect()))
        }

        fn encode_spans(&self, documents: &[(&str, &[Span])]) -> Result<Embeddings, EncodeError> {
            let of = |(text, spans): &(&str, &[Span])| {
                let length = text.len() as f32;
                spans.iter().flat_map(move |span| [length, span.len() as f32]).collect::<Vec<_>>()
            };
            Ok(Embeddings::new(2, documents.iter().flat_map(of).collect()))
        }
    }

    fn chunk(start: usize, end: usize) -> Chunk {
        let span = Span::new(start, end);
        Chunk { document: "d".into(), ordinal: 0, span, heading_path: vec![], tokens: 2, hash: 0, context: None }
    }

    #[test]
    fn chunks_are_read_with_their_document_and_no_other() {
        let [one, other] = ["Water boils.", "Bread needs time."].map(|text| Document::from_sentences("d", &[text]));
        let mut read = within_document(&one, &[chunk(0, 5), chunk(6, 12)]);
        read.extend(within_document(&other, &[chunk(0, 5), chunk(6, 17)]));
        read.push(Encoded::Alone("alone".into()));
        let vectors = encode_checked(&Lengths, &read.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!(vectors.values(), [12.0, 5.0, 12.0, 6.0, 17.0, 5.0, 17.0, 11.0, 5.0, 5.0]);
        let alone = encode_checked(&Lengths, &read.iter().skip(4).collect::<Vec<_>>()).unwrap();
        assert_eq!(alone.values(), [0.0, 5.0]);
    }

    #[test]
    fn vectors_that_are_not_finite_are_told_as_everywhere() {
        let read = ["some", "endless"].map(|text| Encoded::Alone(text.into()));
        let chunks = encode_checked(&Lengths, &read.each_ref()).unwrap_err();
        let query = encode_query(&Lengths, "endless").unwrap_err();
        for (error, number) in [(chunks, "2 of 2"), (query, "1 of 1")] {
            let says = format!("the embedder lengths gives vectors that are not finite (the first is number {number})");
            assert!(error.to_string().starts_with(&says), "{error}");
        }
    }
}
