//! Encoders whose vectors are no numbers: nothing is measured with them.

use std::sync::Arc;

use pericope_api::{Document, Embeddings, EncodeError, SentenceEncoder};
use pericope_eval::answer::{Context, Extractive, ExtractiveOptions};

/// Gives texts that speak of the moon a number that is none.
struct Broken;

impl SentenceEncoder for Broken {
    fn name(&self) -> &str {
        "broken"
    }

    fn fingerprint(&self) -> String {
        "broken".to_owned()
    }

    fn dimension(&self) -> usize {
        2
    }

    fn max_tokens(&self) -> usize {
        512
    }

    fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
        let values = texts.iter().flat_map(|text| [1.0, if text.contains("moon") { f32::NAN } else { 0.0 }]);
        Ok(Embeddings::new(2, values.collect()))
    }
}

#[test]
fn the_extractive_reader_refuses_vectors_that_are_not_finite() {
    let documents = Arc::new(vec![Document::from_sentences("tides", &["Harbours differ.", "Tides follow the moon."])]);
    let context = Context { document: 0, span: documents[0].span_of(0..2) };
    let mut reader = Extractive::new(Arc::clone(&documents), Some(Arc::new(Broken)), ExtractiveOptions::default());
    let warmed = reader.warm([context].iter()).unwrap_err().to_string();
    assert!(
        warmed.contains("the embedder broken gives vectors that are not finite (the first is number 2 of 2)"),
        "{warmed}"
    );
    let read = reader.text_vectors(&["Ships sail.", "The moon."]).unwrap_err().to_string();
    assert!(read.contains("the embedder broken gives vectors that are not finite"), "{read}");
}
