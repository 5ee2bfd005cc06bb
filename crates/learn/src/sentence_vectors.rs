//! The vectors of a document's sentences, for models that were trained on those of one encoder.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pericope_api::{Document, SegmentError, SentenceEncoder};
use pericope_segment::embedding::readable;
use rayon::prelude::*;

/// Sentences a call of the encoder: enough to sort them by length.
const BATCH: usize = 4096;

/// An encoder that reads sentences, and how many of their tokens it read. Clones count together.
#[derive(Clone)]
pub(crate) struct SentenceReader {
    pub(crate) encoder: Arc<dyn SentenceEncoder>,
    tokens: Arc<AtomicU64>,
}

impl SentenceReader {
    pub(crate) fn new(encoder: Arc<dyn SentenceEncoder>) -> Self {
        Self { encoder, tokens: Arc::default() }
    }

    /// The vectors of the sentences `read` of a document, row by row.
    ///
    /// # Errors
    /// Where the encoder fails, and where a number that it gives is not finite.
    pub(crate) fn vectors(&self, document: &Document, read: &[usize]) -> Result<Vec<f32>, SegmentError> {
        let encoder = self.encoder.as_ref();
        let mut values = Vec::with_capacity(read.len() * encoder.dimension());
        for part in read.chunks(BATCH) {
            let texts: Vec<_> = part.iter().map(|&i| readable(document, i, encoder)).collect();
            let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
            let counted = texts.par_iter().filter_map(|text| encoder.count_tokens(text));
            let tokens: usize = counted.map(|tokens| tokens.min(encoder.max_tokens())).sum();
            self.tokens.fetch_add(tokens as u64, Ordering::Relaxed);
            values.extend_from_slice(encoder.encode(&texts)?.finite(encoder.name())?.values());
        }
        Ok(values)
    }

    /// Tokens that were read so far, special ones included, those that a cache knew among them; nothing where the encoder does not
    /// count them.
    pub(crate) fn tokens_read(&self) -> Option<u64> {
        self.encoder.count_tokens("").map(|_| self.tokens.load(Ordering::Relaxed))
    }
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pericope_api::{Document, Embeddings, EncodeError, SentenceEncoder};

    use super::SentenceReader;

    /// A vector is the number that its text is.
    struct Numbers;

    impl SentenceEncoder for Numbers {
        fn name(&self) -> &str {
            "numbers"
        }
        fn fingerprint(&self) -> String {
            "numbers".to_owned()
        }
        fn dimension(&self) -> usize {
            1
        }
        fn max_tokens(&self) -> usize {
            8
        }
        fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
            Ok(Embeddings::new(1, texts.iter().map(|text| text.parse().unwrap_or(0.0)).collect()))
        }
    }

    #[test]
    fn vectors_of_numbers_that_are_none_are_refused() {
        let reader = SentenceReader::new(Arc::new(Numbers));
        let read = |texts: &[&str]| reader.vectors(&Document::from_sentences("d", texts), &[0, 1]);
        assert!(read(&["1", "2"]).is_ok_and(|values| values == [1.0, 2.0]));
        for none in ["NaN", "inf", "-inf"] {
            let said = read(&["1", none]).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(
                said.contains("the embedder numbers gives vectors that are not finite (the first is number 2 of 2)"),
                "{said}"
            );
        }
    }
}
