//! The client's half of BM25: how much a term counts in a text. The other half, how rare the term is, the server adds.

use std::collections::BTreeMap;

use twox_hash::XxHash3_128;

/// The saturation of repeated terms: a smaller value makes them stop counting sooner.
pub const K1: f64 = 1.2;

/// The strength of length normalisation, 0..=1.
pub const B: f64 = 0.75;

/// The mean length that is recorded where none is given, in terms.
pub const DEFAULT_MEAN_WORDS: f64 = 100.0;

/// A function that makes terms of a text and calls another with each, in order. Texts and queries must go through the same one.
pub type Analyze<'a> = dyn Fn(&str, &mut dyn FnMut(&str)) + 'a;

/// The number of a term in the sparse vectors: the low 32 bits of XXH3-128 (seed 0) of its UTF-8 bytes.
///
/// Two terms may share a number; among the 100,000 different terms of a large corpus about one does in a pair with
/// another (`n^2 / 2^33`), and then counts as the same term.
#[must_use]
pub fn term_index(term: &str) -> u32 {
    // The low bits are what the number is made of.
    #[allow(clippy::cast_possible_truncation)]
    let index = XxHash3_128::oneshot(term.as_bytes()) as u32;
    index
}

/// The weights of one collection.
///
/// A term's weight in a chunk is `f * (K1 + 1) / (f + K1 * (1 - B + B * length / mean))`, where `f` is how often it
/// occurs. The server multiplies by the term's inverse frequency among the chunks and adds up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bm25 {
    mean_words: f64,
}

impl Bm25 {
    /// With the mean length of a chunk in terms; what is not above 0 becomes [`DEFAULT_MEAN_WORDS`].
    #[must_use]
    pub fn new(mean_words: f64) -> Self {
        let usable = mean_words.is_finite() && mean_words > 0.0;
        Self { mean_words: if usable { mean_words } else { DEFAULT_MEAN_WORDS } }
    }

    /// The sparse vector of a chunk's text, ordered by index.
    #[must_use]
    pub fn chunk(&self, text: &str, analyze: &Analyze) -> Vec<(u32, f32)> {
        self.chunk_with(text, &[], analyze)
    }

    /// The same with further texts, as headings and a title: an occurrence of a term there counts as `weight` of one
    /// in the text (BM25F with the text's length).
    #[must_use]
    pub fn chunk_with(&self, text: &str, others: &[(&str, f64)], analyze: &Analyze) -> Vec<(u32, f32)> {
        let mut counts: BTreeMap<u32, f64> = BTreeMap::new();
        let mut length = 0.0;
        analyze(text, &mut |term| {
            *counts.entry(term_index(term)).or_default() += 1.0;
            length += 1.0;
        });
        for &(other, weight) in others.iter().filter(|(_, weight)| *weight > 0.0) {
            analyze(other, &mut |term| *counts.entry(term_index(term)).or_default() += weight);
        }
        let norm = K1 * (1.0 - B + B * length / self.mean_words);
        // Sparse vectors are 32 bits wide.
        #[allow(clippy::cast_possible_truncation)]
        counts.into_iter().map(|(index, f)| (index, (f * (K1 + 1.0) / (f + norm)) as f32)).collect()
    }

    /// The sparse vector of a query: how often each term occurs.
    #[must_use]
    pub fn query(text: &str, analyze: &Analyze) -> Vec<(u32, f32)> {
        let mut counts: BTreeMap<u32, f32> = BTreeMap::new();
        analyze(text, &mut |term| *counts.entry(term_index(term)).or_default() += 1.0);
        counts.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, each: &mut dyn FnMut(&str)) {
        text.split_whitespace().for_each(each);
    }

    /// The empty input's hash is part of the published XXH3 test vectors: 99aa06d3014798d86001c324468d497f.
    #[test]
    fn indices_are_the_low_bits_of_xxh3() {
        assert_eq!(term_index(""), 0x468d_497f);
        assert_ne!(term_index("moon"), term_index("tide"));
    }

    #[test]
    fn weights_are_those_of_the_formula() {
        let bm25 = Bm25::new(4.0);
        // Two of eight: 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 8 / 4)).
        let found = bm25.chunk("a b a c d e f g", &words);
        let weight = |term| found.iter().find(|(i, _)| *i == term_index(term)).map(|(_, w)| f64::from(*w));
        assert!((weight("a").unwrap_or(0.0) - 2.0 * 2.2 / (2.0 + 1.2 * 1.75)).abs() < 1e-6);
        assert!((weight("b").unwrap_or(0.0) - 2.2 / (1.0 + 1.2 * 1.75)).abs() < 1e-6);
        assert!(found.is_sorted_by(|a, b| a.0 < b.0));
        // A text of mean length has a norm of K1 alone.
        assert_eq!(bm25.chunk("a a a a", &words), [(term_index("a"), (4.0 * 2.2 / 5.2) as f32)]);
    }

    #[test]
    fn headings_count_by_their_weight_and_do_not_lengthen() {
        let bm25 = Bm25::new(2.0);
        let found = bm25.chunk_with("x y", &[("x", 0.5), ("z", 0.5), ("w", 0.0)], &words);
        let weight = |term| found.iter().find(|(i, _)| *i == term_index(term)).map(|(_, w)| f64::from(*w));
        assert!((weight("x").unwrap_or(0.0) - 1.5 * 2.2 / 2.7).abs() < 1e-6);
        assert!((weight("z").unwrap_or(0.0) - 0.5 * 2.2 / 1.7).abs() < 1e-6);
        assert_eq!(weight("w"), None);
    }

    #[test]
    fn nonsense_lengths_and_empty_texts_do_no_harm() {
        for mean in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Bm25::new(mean), Bm25::new(DEFAULT_MEAN_WORDS));
        }
        assert!(Bm25::new(5.0).chunk("", &words).is_empty());
        assert_eq!(Bm25::query("b a b", &words).iter().map(|(_, n)| *n).sum::<f32>(), 3.0);
    }
}
