//! The vectors of a document's sentences, for models that were trained on those of one encoder.

use pericope_api::{Document, SegmentError, SentenceEncoder};
use pericope_segment::embedding::readable;

/// Sentences a call of the encoder: enough to sort them by length.
const BATCH: usize = 4096;

/// The vectors of the sentences `read` of a document, row by row.
pub(crate) fn encoded(
    document: &Document,
    read: &[usize],
    encoder: &dyn SentenceEncoder,
) -> Result<Vec<f32>, SegmentError> {
    let mut values = Vec::with_capacity(read.len() * encoder.dimension());
    for part in read.chunks(BATCH) {
        let texts: Vec<_> = part.iter().map(|&i| readable(document, i, encoder)).collect();
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        values.extend_from_slice(encoder.encode(&texts)?.values());
    }
    Ok(values)
}

/// The encoder of the vectors that a model was trained on.
pub(crate) struct Wanted<'a> {
    pub(crate) name: &'a str,
    pub(crate) fingerprint: &'a str,
    /// Numbers of a vector.
    pub(crate) dimension: usize,
}

impl Wanted<'_> {
    /// Refuses any other encoder.
    pub(crate) fn check(&self, encoder: &dyn SentenceEncoder) -> Result<(), String> {
        let Self { name, fingerprint, dimension } = self;
        if encoder.fingerprint() == *fingerprint && encoder.dimension() == *dimension {
            return Ok(());
        }
        Err(format!(
            "the model was trained on vectors of the encoder {name} ({fingerprint}), and the one at hand is {} ({}): choose \
             that encoder, or train the model anew",
            encoder.name(),
            encoder.fingerprint()
        ))
    }
}
