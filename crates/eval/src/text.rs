//! Words as retrieval sees them: lower case, stemmed, without function words.

use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation;

/// Words that carry no subject of a question.
const FUNCTION_WORDS: &str = "a an and any are as at be been but by can could did do does doing for from had has have \
    he her his how i if in into is it its may me might my no not of on or our shall she should so some such than that \
    the their them then there these they this those to too us was we were what when where which while who whom whose \
    why will with would you your";

/// Turns text into stem numbers (hashes of stems).
pub(crate) struct Stems {
    stemmer: Stemmer,
    stop: std::collections::HashSet<&'static str>,
}

impl Default for Stems {
    fn default() -> Self {
        Self { stemmer: Stemmer::create(Algorithm::English), stop: FUNCTION_WORDS.split_whitespace().collect() }
    }
}

impl Stems {
    /// The stems of `text`, each once, sorted.
    pub(crate) fn distinct(&self, text: &str) -> Box<[u32]> {
        let mut stems = self.of(text);
        stems.sort_unstable();
        stems.dedup();
        stems.into_boxed_slice()
    }

    /// The stems of `text` in order, function words left out.
    pub(crate) fn of(&self, text: &str) -> Vec<u32> {
        text.unicode_words()
            .filter_map(|word| {
                let word = word.to_lowercase();
                (!self.stop.contains(word.as_str())).then(|| fnv(self.stemmer.stem(&word).as_bytes()))
            })
            .collect()
    }
}

/// FNV-1a, 32 bits: the same number on every machine and run.
fn fnv(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::Stems;

    #[test]
    fn inflections_meet_and_function_words_go() {
        let stems = Stems::default();
        assert_eq!(stems.of("How do the tides rise?"), stems.of("tide RISES"));
        assert!(stems.of("what is it").is_empty());
    }
}
