//! From text to index words: in lower case, folded to ASCII, with the stems of their language.

mod composed;
mod hint;
mod stems;
mod stop_words;
mod words;

use std::sync::{Arc, Mutex, PoisonError};

use pericope_api::Span;
use pericope_store::{Analyzer, Language, Word};
use tantivy::tokenizer::{TextAnalyzer, TokenStream, Tokenizer};

use self::composed::Composed;

pub(crate) use self::hint::{hinted, without_hint};
pub(crate) use self::words::HintedTokenizer;
pub use self::words::{WordStream, WordTokenizer};

/// The name under which the analyzer of new indexes is registered, with its version: an index names it in its metadata and
/// its schema.
pub const TEXT_ANALYZER: &str = "pericope-3";
/// That of indexes in which marks end a word and the words are those of the source, markup included.
pub(crate) const SOURCE_ANALYZER: &str = "pericope-2";
/// The analyzer of the first indexes, which took every text for English.
pub const ENGLISH_ANALYZER: &str = "pericope-en-1";

/// How words are made of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rules {
    /// Everything is English.
    English,
    /// Texts have languages; a word ends at every mark.
    Source,
    /// Today's: texts are composed first, and words have their marks.
    Composed,
    /// Today's, with the further forms under which a stored word is found.
    Stored,
}

impl Rules {
    /// True where texts are composed first.
    fn composes(self) -> bool {
        matches!(self, Self::Composed | Self::Stored)
    }
}

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
        SOURCE_ANALYZER => Some(Arc::new(SourceAnalyzer::default())),
        ENGLISH_ANALYZER => Some(Arc::new(EnglishAnalyzer::default())),
        _ => None,
    }
}

/// The words of texts in their languages, for what all stores share: queries, snippets, stores that count words themselves.
/// May be shared between threads.
///
/// A word is a run of letters and digits with their marks, in NFC and without soft hyphens and joiners. Chinese, Japanese,
/// Thai, Lao, Khmer and Burmese words are found by a dictionary, in texts of whatever language; Korean, and Han characters in a
/// row that the dictionary leaves alone, are given in overlapping pairs. Words are in lower case, without accents, and have the
/// stem that tantivy's stemmer of the language gives them, where there is one.
///
/// Stored words are found under further forms: a word with accents under the stem that it has without them (`configuración`,
/// `configuracion`), and a Korean word under its first syllable.
#[derive(Default)]
pub struct LanguageAnalyzer {
    idle: Idle,
}

impl Analyzer for LanguageAnalyzer {
    fn name(&self) -> &str {
        TEXT_ANALYZER
    }

    fn analyze(&self, text: &str, language: Language, each: &mut dyn FnMut(Word<'_>)) {
        self.idle.analyze(text, (Rules::Composed, language), each);
    }

    fn analyze_stored(&self, text: &str, language: Language, each: &mut dyn FnMut(Word<'_>)) {
        self.idle.analyze(text, (Rules::Stored, language), each);
    }

    fn is_stop_word(&self, word: &str, language: Language) -> bool {
        stop_words::is_one(Composed::default().read(word).0, language)
    }
}

/// The words of indexes that were made before texts were composed, and in which markup was searched. May be shared between threads.
#[derive(Default)]
struct SourceAnalyzer {
    idle: Idle,
}

impl Analyzer for SourceAnalyzer {
    fn name(&self) -> &str {
        SOURCE_ANALYZER
    }

    fn analyze(&self, text: &str, language: Language, each: &mut dyn FnMut(Word<'_>)) {
        self.idle.analyze(text, (Rules::Source, language), each);
    }

    fn is_stop_word(&self, word: &str, language: Language) -> bool {
        stop_words::is_one(word, language)
    }

    fn reads_source(&self) -> bool {
        true
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
        self.idle.analyze(text, (Rules::English, Language::English), each);
    }

    fn is_stop_word(&self, word: &str, _: Language) -> bool {
        stop_words::is_one(word, Language::English)
    }

    fn reads_source(&self) -> bool {
        true
    }
}

/// Tokenizers that nobody uses now, with the stems that they remember: one or two a language and thread.
#[derive(Default)]
struct Idle(Mutex<Vec<((Rules, Language), WordTokenizer)>>);

impl Idle {
    fn analyze(&self, text: &str, way: (Rules, Language), each: &mut dyn FnMut(Word<'_>)) {
        let found = {
            let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let at = idle.iter().position(|(of, _)| *of == way);
            at.map(|at| idle.swap_remove(at).1)
        };
        let mut tokenizer = found.unwrap_or_else(|| WordTokenizer::by(way.0, way.1));
        let mut stream = tokenizer.token_stream(text);
        while stream.advance() {
            let token = stream.token();
            let span = Span::new(token.offset_from, token.offset_to);
            each(Word { text: &token.text, span, position: token.position });
        }
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((way, tokenizer));
    }
}

#[cfg(test)]
mod tests;
