//! Similarities of pairs of sentences: the weights of the graph's edges.
//!
//! A similarity implements [`Similarity`].

mod bertscore;
mod embedding;
mod jaccard;
mod neighbours;
mod remembered;
mod repeats;
mod sequence_matcher;
mod token_vectors;

use std::sync::Arc;

use pericope_api::{Document, SegmentError, SentenceEncoder};
use pericope_language::Language;

pub use bertscore::BertScore;
pub use embedding::Cosine;
pub use jaccard::Jaccard;
pub use neighbours::NeighbourSimilarities;
pub use remembered::Remembered;
pub use sequence_matcher::{SequenceMatcher, ratio};
pub use token_vectors::TokenVectors;

/// A measure of how alike two sentences are, from what it has found out about each of them alone.
///
/// A sentence is prepared once and compared with up to 2 K others. Sentences come in order and in batches, of which at
/// most two (and K sentences) are held in memory.
pub trait Similarity: Send + Sync {
    /// The findings about one sentence.
    type Prepared: Send + Sync;

    /// Returns the name, as in `graph:similarity=NAME`.
    fn name(&self) -> &'static str;

    /// Names the weights that it asks, and the way in which words are read; empty for similarities with neither.
    fn fingerprint(&self) -> String {
        String::new()
    }

    /// Prepares texts, one answer each, in order. The answers must not depend on how the texts are batched.
    ///
    /// # Errors
    /// [`SegmentError`] where an encoder fails.
    fn prepare(&self, texts: &[&str]) -> Result<Vec<Self::Prepared>, SegmentError>;

    /// Prepares texts of a document in a language, which `language` finds out, for measures that compare words. By default as
    /// [`prepare`](Self::prepare).
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    fn prepare_in(
        &self,
        texts: &[&str],
        _language: &dyn Fn() -> Language,
    ) -> Result<Vec<Self::Prepared>, SegmentError> {
        self.prepare(texts)
    }

    /// Returns the similarity of two sentences, at most 1 (equal), `left` being the earlier one. Values below 0 count as 0
    /// in the graph.
    fn compare(&self, left: &Self::Prepared, right: &Self::Prepared) -> f64;

    /// The number of texts that are prepared at a time, at least 1.
    fn batch(&self) -> usize {
        4096
    }

    /// The number of bytes of a sentence that are read; the rest is left out.
    fn most_bytes(&self) -> usize {
        usize::MAX
    }
}

/// A [`Similarity`] whose kind is known only when the program runs. Every similarity is one; nothing else need be.
pub trait PairWeights: Send + Sync {
    /// Returns the name, as in `graph:similarity=NAME`.
    fn name(&self) -> &'static str;

    /// Returns [`Similarity::fingerprint`].
    fn fingerprint(&self) -> String;

    /// Compares each of the given sentences of a document with the `k` that follow it among them (fewer at the end).
    /// Pairs are compared in parallel; the numbers do not depend on the number of threads.
    ///
    /// # Errors
    /// As [`Similarity::prepare`].
    fn similarities(
        &self,
        document: &Document,
        sentences: &[usize],
        k: usize,
    ) -> Result<NeighbourSimilarities, SegmentError>;
}

impl<S: Similarity> PairWeights for S {
    fn name(&self) -> &'static str {
        Similarity::name(self)
    }

    fn fingerprint(&self) -> String {
        Similarity::fingerprint(self)
    }

    fn similarities(
        &self,
        document: &Document,
        sentences: &[usize],
        k: usize,
    ) -> Result<NeighbourSimilarities, SegmentError> {
        neighbours::fill(self, document, sentences, k)
    }
}

/// The names that [`by_name`] knows, and whether the similarity asks an encoder.
pub(crate) const NAMES: [(&str, bool); 4] =
    [("embedding", true), ("jaccard", false), ("sequence-matcher", false), ("bertscore", true)];

/// The similarity of a name; `encoder` is called for those that ask one.
///
/// # Errors
/// For a name that is not in [`NAMES`], and with the encoder's own reason.
pub(crate) fn by_name(
    name: &str,
    encoder: impl FnOnce() -> Result<Arc<dyn SentenceEncoder>, String>,
) -> Result<Box<dyn PairWeights>, String> {
    match name {
        "embedding" => Ok(Box::new(Cosine { encoder: encoder()? })),
        "jaccard" => Ok(Box::new(Jaccard)),
        "sequence-matcher" => Ok(Box::new(SequenceMatcher)),
        "bertscore" => Ok(Box::new(Remembered::new(BertScore::new(encoder()?)))),
        _ => Err(format!("no similarity `{name}`; there are {}", NAMES.map(|(name, _)| name).join(", "))),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use pericope_api::{Document, Embeddings, EncodeError, SentenceEncoder};

    use super::{NAMES, by_name};
    use crate::testing::Circle;

    #[test]
    fn every_name_builds_what_it_names() {
        for (name, asks) in NAMES {
            assert_eq!(by_name(name, || Ok(Arc::new(Circle))).map(|s| s.name()), Ok(name));
            assert_eq!(by_name(name, || Err("none".into())).is_err(), asks, "{name}");
        }
        let error = by_name("cosine", || Ok(Arc::new(Circle))).map(|_| ());
        assert!(error.is_err_and(|text| text.contains("sequence-matcher")));
    }

    /// Counts the texts whose tokens it is asked for.
    #[derive(Default)]
    struct Counting(AtomicUsize);

    impl SentenceEncoder for Counting {
        fn name(&self) -> &str {
            "counting"
        }

        fn fingerprint(&self) -> String {
            "counting texts".into()
        }

        fn dimension(&self) -> usize {
            2
        }

        fn max_tokens(&self) -> usize {
            8
        }

        fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
            Circle.encode(texts)
        }

        fn encode_tokens(&self, texts: &[&str]) -> Result<Vec<Embeddings>, EncodeError> {
            self.0.fetch_add(texts.len(), Ordering::Relaxed);
            Circle.encode_tokens(texts)
        }
    }

    #[test]
    fn no_sentence_is_encoded_twice_however_many_segmenters_ask() {
        let encoder = Arc::new(Counting::default());
        let named = || by_name("bertscore", || Ok(encoder.clone())).unwrap();
        let (one, other) = (named(), named());
        let document = Document::from_sentences("d", &["0 1", "2", "0 1", "1 3", "2"]);
        let similarities = one.similarities(&document, &[0, 1, 2, 3, 4], 2).unwrap();
        for similarity in [&one, &other] {
            assert_eq!(similarity.similarities(&document, &[0, 1, 2, 3, 4], 2).unwrap(), similarities);
        }
        assert_eq!(encoder.0.load(Ordering::Relaxed), 3, "distinct sentences");
    }
}
