use pericope_api::Span;

/// Cuts running text into sentences.
///
/// Implementations take time linear in the length of the text, whatever is in it, and are deterministic.
pub trait SentenceSplitter: Send + Sync {
    /// The name of the splitter, as it stands in tables: `icu-refined`.
    fn name(&self) -> &str;

    /// Hands every sentence of `text` to `sink`, in order, as a byte range into `text`.
    ///
    /// The ranges do not overlap. They start and end with non-blank characters. Together they cover every non-blank
    /// byte.
    fn split(&self, text: &str, sink: &mut dyn FnMut(Span));
}
