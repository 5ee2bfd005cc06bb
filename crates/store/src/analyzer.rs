use pericope_api::Span;
use pericope_language::Language;

/// One word of a text as an [`Analyzer`] gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word<'a> {
    /// The form in which words are compared: folded and stemmed.
    pub text: &'a str,
    /// The bytes of the text that the word was made of.
    pub span: Span,
    /// The number of the word in the text. Phrases are found by differences of positions.
    pub position: usize,
}

/// Turns texts and queries into words. Both must go through the same analyzer: a text in its own language, a query in each
/// language that the store holds.
///
/// `pericope-index` has the one that all stores use (`LanguageAnalyzer`).
pub trait Analyzer: Send + Sync {
    /// Returns the name with its version, which stores record.
    fn name(&self) -> &str;

    /// Calls `each` with every word of a text in this language, in order.
    fn analyze(&self, text: &str, language: Language, each: &mut dyn FnMut(Word<'_>));

    /// The words of a text that is stored, or of which a store says what was found: those of [`analyze`](Self::analyze), and
    /// behind a word, at its position, further forms under which queries find it. By default there are none.
    fn analyze_stored(&self, text: &str, language: Language, each: &mut dyn FnMut(Word<'_>)) {
        self.analyze(text, language, each);
    }

    /// True for a word, as it stands in a text, that says nothing about the subject of a query in this language. By default
    /// none does.
    fn is_stop_word(&self, word: &str, language: Language) -> bool {
        let _ = (word, language);
        false
    }

    /// True where the words of stored texts are those of their source, markup included; by default they are those that a reader
    /// sees.
    fn reads_source(&self) -> bool {
        false
    }
}
