use std::borrow::Cow;

use pericope_api::{Document, SentenceEncoder};

use crate::chars::floor;

/// Texts a call of the encoder: enough to sort them by length, few enough for the vectors of a long document not to lie in
/// memory all at once.
pub(super) const BATCH: usize = 4096;

/// Bytes of a text for each token that the encoder reads. No tokenizer gives fewer tokens than that to what people
/// write, so what is cut off here would not be read anyway, and a line of ten megabytes is not tokenised for nothing.
const BYTES_A_TOKEN: usize = 64;

/// Bytes of a sentence beyond which the encoder reads nothing.
pub(crate) fn bytes_read(encoder: &dyn SentenceEncoder) -> usize {
    encoder.max_tokens().saturating_mul(BYTES_A_TOKEN)
}

/// Sentence `i` as a person reads it, as far as the encoder reads it.
#[must_use]
pub fn readable<'a>(document: &'a Document, i: usize, encoder: &dyn SentenceEncoder) -> Cow<'a, str> {
    shortened(document, i, bytes_read(encoder))
}

/// The first `most` bytes (whole characters) of sentence `i`, as a person reads them.
pub(crate) fn shortened(document: &Document, i: usize, most: usize) -> Cow<'_, str> {
    let Some(sentence) = document.sentences.get(i) else { return Cow::Borrowed("") };
    let mut span = sentence.span;
    if span.len() > most {
        span.end = floor(&document.source, span.start + most);
    }
    document.visible(span)
}
