//! Bounded windows: none of the crates sees more than [`WINDOW`] bytes at once, so that one that is slower than linear
//! on some input (no punctuation, a run of spaces) stays within a constant factor.

use pericope_api::Span;

use super::SentenceSplitter;
use super::breakers::Breaker;
use super::refine::{missed, refine};

/// Length of a window in bytes. Much longer than a sentence, so that nearly every window ends at one.
const WINDOW: usize = 8 * 1024;

/// A splitter made of a breaker that is fed window by window, and our layer where `refined`.
pub(super) struct Windowed<B> {
    name: &'static str,
    breaker: B,
    refined: bool,
}

impl<B: Breaker> Windowed<B> {
    pub(super) fn new(name: &'static str, breaker: B, refined: bool) -> Self {
        Self { name, breaker, refined }
    }
}

impl<B: Breaker> SentenceSplitter for Windowed<B> {
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
        loop {
            let end = window_end(text, start);
            let mut last_break = start;
            let mut judge = |at: usize| {
                // The end of a window says nothing: the next window begins at the last break before it.
                if at >= end || at <= sentence || at <= judged {
                    return;
                }
                let at = text.len() - text[at..].trim_start().len();
                judged = at;
                let at = if self.refined { refine(text, sentence, at) } else { Some(at) };
                if let Some(at) = at.filter(|&at| at < end) {
                    emit(sentence, at);
                    sentence = at;
                    last_break = at;
                }
            };
            let mut seen = start;
            self.breaker.breaks(&text[start..end], &mut |offset| {
                let at = start + offset;
                if self.refined {
                    missed(text, seen, at, &mut judge);
                }
                judge(at);
                seen = at;
            });
            if self.refined {
                missed(text, seen, end, &mut judge);
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
