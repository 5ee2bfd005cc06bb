//! An analyzer without stems.

use pericope_api::Span;
use pericope_store::{Analyzer, Language, Word};

/// Runs of letters and digits in lower case.
pub struct PlainWords;

impl Analyzer for PlainWords {
    fn name(&self) -> &str {
        "words-1"
    }

    fn analyze(&self, text: &str, _: Language, each: &mut dyn FnMut(Word<'_>)) {
        let mut at = 0;
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        for (position, word) in words.enumerate() {
            let start = at + text[at..].find(word).unwrap();
            at = start + word.len();
            each(Word { text: &word.to_lowercase(), span: Span::new(start, at), position });
        }
    }
}
