use pericope_api::Span;

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

/// Turns texts and queries into words. Both must go through the same analyzer.
///
/// `pericope-index` has one for English and for scripts without spaces (`EnglishAnalyzer`).
pub trait Analyzer: Send + Sync {
    /// Returns the name with its version, which stores record.
    fn name(&self) -> &str;

    /// Calls `each` with every word of a text, in order.
    fn analyze(&self, text: &str, each: &mut dyn FnMut(Word<'_>));
}
