//! From text to index words: in lower case, folded to ASCII, with the stems of their language.

mod hint;
mod stems;
mod stop_words;
mod words;

use std::sync::{Arc, Mutex, PoisonError};

use pericope_api::Span;
use pericope_store::{Analyzer, Language, Word};
use tantivy::tokenizer::{TextAnalyzer, TokenStream};

pub(crate) use self::hint::{hinted, without_hint};
pub(crate) use self::words::HintedTokenizer;
pub use self::words::{WordStream, WordTokenizer};

/// The name under which the analyzer of new indexes is registered, with its version: an index names it in its metadata and
/// its schema.
pub const TEXT_ANALYZER: &str = "pericope-2";
/// The analyzer of earlier indexes, which took every text for English.
pub const ENGLISH_ANALYZER: &str = "pericope-en-1";

/// Returns the analyzer that takes every text for English, and pairs of characters for the words of scripts without spaces,
/// for indexes of your own.
#[must_use]
pub fn text_analyzer() -> TextAnalyzer {
    TextAnalyzer::from(WordTokenizer::default())
}

/// Returns the analyzer of texts in one language, for indexes of your own.
#[must_use]
pub fn text_analyzer_of(language: Language) -> TextAnalyzer {
    TextAnalyzer::from(WordTokenizer::of(language))
}

/// Returns the analyzer that a store recorded by its name; `None` for one that this version does not know.
#[must_use]
pub fn analyzer_named(name: &str) -> Option<Arc<dyn Analyzer>> {
    match name {
        TEXT_ANALYZER => Some(Arc::new(LanguageAnalyzer::default())),
        ENGLISH_ANALYZER => Some(Arc::new(EnglishAnalyzer::default())),
        _ => None,
    }
}

/// The words of texts in their languages, for what all stores share: queries, snippets, stores that count words themselves.
/// May be shared between threads.
///
/// A word is a run of letters and digits. Chinese, Japanese, Thai, Lao, Khmer and Burmese words are found by a dictionary,
/// in texts of whatever language; Korean, and Han characters in a row that the dictionary leaves alone, are given in
/// overlapping pairs. Words are in lower case, without
/// accents, and have the stem that tantivy's stemmer of the language gives them, where there is one.
#[derive(Default)]
pub struct LanguageAnalyzer {
    idle: Idle,
}

impl Analyzer for LanguageAnalyzer {
    fn name(&self) -> &str {
        TEXT_ANALYZER
    }

    fn analyze(&self, text: &str, language: Language, each: &mut dyn FnMut(Word<'_>)) {
        self.idle.analyze(text, Some(language), each);
    }

    fn is_stop_word(&self, word: &str, language: Language) -> bool {
        stop_words::is_one(word, language)
    }
}

/// The words of indexes that were made before languages were told apart: everything is English, and scripts without spaces
/// are given in overlapping pairs of characters. May be shared between threads.
#[derive(Default)]
pub struct EnglishAnalyzer {
    idle: Idle,
}

impl Analyzer for EnglishAnalyzer {
    fn name(&self) -> &str {
        ENGLISH_ANALYZER
    }

    fn analyze(&self, text: &str, _: Language, each: &mut dyn FnMut(Word<'_>)) {
        self.idle.analyze(text, None, each);
    }

    fn is_stop_word(&self, word: &str, _: Language) -> bool {
        stop_words::is_one(word, Language::English)
    }
}

/// Tokenizers that nobody uses now, with the stems that they remember: one or two a language and thread.
#[derive(Default)]
struct Idle(Mutex<Vec<(Option<Language>, TextAnalyzer)>>);

impl Idle {
    /// Without a language, as earlier indexes do.
    fn analyze(&self, text: &str, language: Option<Language>, each: &mut dyn FnMut(Word<'_>)) {
        let found = {
            let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let at = idle.iter().position(|(of, _)| *of == language);
            at.map(|at| idle.swap_remove(at).1)
        };
        let mut analyzer = found.unwrap_or_else(|| language.map_or_else(text_analyzer, text_analyzer_of));
        let mut stream = analyzer.token_stream(text);
        while stream.advance() {
            let token = stream.token();
            let span = Span::new(token.offset_from, token.offset_to);
            each(Word { text: &token.text, span, position: token.position });
        }
        drop(stream);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((language, analyzer));
    }
}

#[cfg(test)]
mod tests;
