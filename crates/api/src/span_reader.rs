use crate::Span;

/// The reason for which texts could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpanReaderError {
    /// The model is not on this machine, or its files do not fit together.
    #[error("{0}")]
    Model(String),
    /// The model failed while it ran.
    #[error("the reader failed: {0}")]
    Run(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// A range of one of several texts that was found for a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FoundSpan {
    /// The index of the text.
    pub text: usize,
    /// The bytes of that text: a range on character boundaries, neither end of which is blank.
    pub span: Span,
    /// How well it fits: the higher the better, among those of one call.
    pub score: f32,
}

/// Answers questions with ranges of texts, however long these are.
pub trait SpanReader: Send + Sync {
    /// The short name, as in `answer.generator`: `cogltx`.
    fn name(&self) -> &str;

    /// Names all that the answers depend on: model, checksum of its weights, settings. It changes whenever the answers could.
    fn fingerprint(&self) -> String;

    /// Returns the range of one of `texts` that answers `question`; `None` where the texts hold no word. The same texts give the same
    /// answer for every thread count.
    ///
    /// # Errors
    /// [`SpanReaderError`] where the model fails.
    fn answer(&self, question: &str, texts: &[&str]) -> Result<Option<FoundSpan>, SpanReaderError>;

    /// Returns ranges of `texts` that help to answer `question`, at most `most`, best first; none overlaps another. Memory beside the
    /// texts' own is a few numbers a range that is looked at.
    ///
    /// # Errors
    /// As [`answer`](SpanReader::answer).
    fn recall(&self, question: &str, texts: &[&str], most: usize) -> Result<Vec<FoundSpan>, SpanReaderError>;
}
