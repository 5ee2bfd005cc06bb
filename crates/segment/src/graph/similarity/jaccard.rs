use std::hash::{DefaultHasher, Hash, Hasher};

use pericope_api::SegmentError;
use pericope_language::{Language, WordReader};
use rayon::prelude::*;

use super::Similarity;
use crate::language::WORDS;

/// Words in both sentences over words in either, by their lower-case forms; 0 where neither has a word. Words are those of the
/// document's language ([`WordReader::each`]), of texts by themselves those of English.
#[derive(Debug, Clone, Copy, Default)]
pub struct Jaccard;

impl Similarity for Jaccard {
    /// The words' hashes, in order, without repeats. At 64 bits, two words of a sentence pair share one by chance less
    /// often than memory fails.
    type Prepared = Vec<u64>;

    fn name(&self) -> &'static str {
        "jaccard"
    }

    fn fingerprint(&self) -> String {
        WORDS.to_owned()
    }

    fn prepare(&self, texts: &[&str]) -> Result<Vec<Vec<u64>>, SegmentError> {
        self.prepare_in(texts, &Language::default)
    }

    fn prepare_in(&self, texts: &[&str], language: &dyn Fn() -> Language) -> Result<Vec<Vec<u64>>, SegmentError> {
        let reader = WordReader::of(language());
        Ok(texts.par_iter().map(|text| word_set(text, &reader)).collect())
    }

    fn compare(&self, left: &Vec<u64>, right: &Vec<u64>) -> f64 {
        let (mut i, mut j, mut both) = (0, 0, 0usize);
        while let (Some(a), Some(b)) = (left.get(i), right.get(j)) {
            both += usize::from(a == b);
            i += usize::from(a <= b);
            j += usize::from(b <= a);
        }
        let either = left.len() + right.len() - both;
        if either == 0 { 0.0 } else { both as f64 / either as f64 }
    }
}

fn word_set(text: &str, reader: &WordReader) -> Vec<u64> {
    let hash = |word: &str| {
        let mut hasher = DefaultHasher::new();
        word.to_lowercase().hash(&mut hasher);
        hasher.finish()
    };
    let mut words = Vec::new();
    reader.each(text, |_, word| words.push(hash(word)));
    words.sort_unstable();
    words.dedup();
    words
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use pericope_api::Document;

    use super::Jaccard;
    use crate::graph::similarity::{PairWeights, Similarity};

    fn jaccard(a: &str, b: &str) -> f64 {
        let sets = Jaccard.prepare(&[a, b]).unwrap();
        Jaccard.compare(&sets[0], &sets[1])
    }

    #[test]
    fn words_are_counted_once_whatever_their_case() {
        assert_eq!(jaccard("The cat, the cat!", "A CAT sat."), 0.25);
        assert_eq!(jaccard("Été.", "été"), 1.0);
        assert_eq!(jaccard("one two", "three"), 0.0);
        assert_eq!(jaccard("...", "?!"), 0.0);
        assert_eq!(jaccard("", "word"), 0.0);
    }

    #[test]
    fn words_are_those_of_the_documents_language() {
        let texts = ["検索の結果です。", "果物の検索です。"];
        let document = Document::from_sentences("d", &texts);
        let found = Jaccard.similarities(&document, &[0, 1], 1).unwrap();
        // 検索, の, 結果, です and 果物, の, 検索, です. English has characters instead, and takes 果 for a word of both.
        assert_eq!(found.pairs().collect::<Vec<_>>(), [(0, 1, 3.0 / 5.0)]);
        assert_eq!(jaccard(texts[0], texts[1]), 6.0 / 8.0);
    }
}
