//! Bounded windows: no finder of breaks sees more than [`WINDOW`] bytes at once. One that is slower than linear on some
//! input (no punctuation, a run of spaces) stays within a constant factor.

use pericope_api::Span;

use super::refine::{Refiner, is_uncased, missed};
use super::splitter::SentenceSplitter;
use crate::work;

/// The length of a window in bytes. Much longer than a sentence, so that nearly every window ends at one.
const WINDOW: usize = 8 * 1024;

/// Proposes the ends of sentences in a piece of text of bounded length.
///
/// [`WindowedSplitter`] makes a [`SentenceSplitter`] of it.
pub trait BreakFinder: Send + Sync {
    /// Hands the byte offset after each sentence (and the white space behind it) to `sink`, in ascending order.
    ///
    /// The end of the text may or may not be among them. Offsets out of order or inside a character are ignored.
    fn find_breaks(&self, text: &str, sink: &mut dyn FnMut(usize));
}

/// A splitter made of a [`BreakFinder`], which sees the text in windows of 8 KiB.
///
/// ```
/// use pericope_read::{BreakFinder, SentenceSplitter, WindowedSplitter};
///
/// struct AfterSemicolons;
///
/// impl BreakFinder for AfterSemicolons {
///     fn find_breaks(&self, text: &str, sink: &mut dyn FnMut(usize)) {
///         text.match_indices(';').for_each(|(at, _)| sink(at + 1));
///     }
/// }
///
/// let text = "Fill it; close it; start it.";
/// let mut sentences = Vec::new();
/// WindowedSplitter::new("semicolons", AfterSemicolons).split(text, &mut |span| sentences.push(span.of(text)));
/// assert_eq!(sentences, ["Fill it;", "close it;", "start it."]);
/// ```
pub struct WindowedSplitter<F> {
    name: &'static str,
    finder: F,
    refined: bool,
}

impl<F: BreakFinder> WindowedSplitter<F> {
    /// Makes a splitter called `name` that takes the breaks as `finder` proposes them.
    pub fn new(name: &'static str, finder: F) -> Self {
        Self { name, finder, refined: false }
    }

    /// Corrects the breaks by rules about abbreviations, initials, closing quotes and numbers.
    #[must_use]
    pub fn refined(self) -> Self {
        Self { refined: true, ..self }
    }
}

impl<F: BreakFinder> SentenceSplitter for WindowedSplitter<F> {
    fn name(&self) -> &str {
        self.name
    }

    fn split(&self, text: &str, sink: &mut dyn FnMut(Span)) {
        let mut emit = |start, end| {
            let span = Span::new(start, end).trimmed(text);
            if !span.is_empty() {
                sink(span);
            }
        };
        let mut sentence = 0;
        let mut start = 0;
        // Crates break after each of a run of line ends: the white space up to here has been looked at.
        let mut judged = 0;
        let mut refiner = Refiner::new(text);
        loop {
            let end = window_end(text, start);
            let mut last_break = start;
            let uncased = self.refined && is_uncased(&text[start..end], refiner.uncased);
            refiner.enter(&text[start..end], uncased);
            let mut judge = |at: usize| {
                // The end of a window says nothing: the next window begins at the last break before it.
                if at >= end || at <= sentence || at <= judged {
                    return;
                }
                let at = text.len() - work::trim_start(&text[at..]).len();
                judged = at;
                let at = if self.refined { refiner.refine(sentence, at, end) } else { Some(at) };
                if let Some(at) = at.filter(|&at| at < end) {
                    emit(sentence, at);
                    sentence = at;
                    last_break = at;
                }
            };
            let mut seen = start;
            work::looked(end - start);
            self.finder.find_breaks(&text[start..end], &mut |offset| {
                let at = start.saturating_add(offset);
                if at < seen || at > end || !text.is_char_boundary(at) {
                    return;
                }
                if self.refined {
                    missed(text, seen..at, uncased, &mut judge);
                }
                judge(at);
                seen = at;
            });
            if self.refined {
                missed(text, seen..end, uncased, &mut judge);
            }
            if end == text.len() {
                emit(sentence, end);
                return;
            }
            // Where no sentence ends, the window is done with: it is not read again, so the work stays linear.
            start = if last_break > start { last_break } else { end };
        }
    }
}

/// End of the window that begins at `start`: after its last white space, or, where it has none, at a character boundary.
fn window_end(text: &str, start: usize) -> usize {
    if text.len() - start <= WINDOW {
        return text.len();
    }
    let end = text.floor_char_boundary(start + WINDOW);
    let window = &text[start..end];
    match window.char_indices().rev().find(|(_, c)| c.is_whitespace()) {
        Some((at, c)) if at > 0 => start + at + c.len_utf8(),
        _ => end,
    }
}
