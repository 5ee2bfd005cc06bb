//! Sentence splitting: text in, byte ranges of sentences out.
//!
//! Several splitters stand beside each other: the plain crates, and the same with a small layer of ours
//! ([`refine`]) that takes back the breaks a crate gets wrong. `cargo run --example splitter_f1` measures them all;
//! the crate's README has the figures that [`DEFAULT`] was chosen by.

mod abbreviations;
mod breakers;
mod refine;
mod windows;

use std::sync::Arc;

use pericope_api::Span;

use windows::Windowed;

/// Name of the splitter that readers use unless told otherwise: the one with the best figures in the README.
pub const DEFAULT: &str = "icu-refined";

/// Cuts running text into sentences.
///
/// Implementations take time linear in the length of the text, whatever is in it, and are deterministic.
pub trait SentenceSplitter: Send + Sync {
    /// Name, as in [`splitter`].
    fn name(&self) -> &str;

    /// Hands every sentence of `text` to `sink`, in order, as a byte range into `text`. The ranges do not overlap, start
    /// and end with non-blank characters and cover every non-blank byte.
    fn split(&self, text: &str, sink: &mut dyn FnMut(Span));
}

/// One row of the registry.
struct Entry {
    name: &'static str,
    about: &'static str,
    make: fn() -> Arc<dyn SentenceSplitter>,
}

const ENTRIES: &[Entry] = &[
    Entry {
        name: "icu-refined",
        about: "Unicode sentence breaks (icu_segmenter) less those after abbreviations, initials and the like",
        make: || Arc::new(Windowed::new("icu-refined", breakers::Icu::new(), true)),
    },
    Entry {
        name: "icu",
        about: "Unicode sentence breaks (UAX #29) by icu_segmenter",
        make: || Arc::new(Windowed::new("icu", breakers::Icu::new(), false)),
    },
    Entry {
        name: "unicode-refined",
        about: "unicode-segmentation's breaks less those after abbreviations, initials and the like",
        make: || Arc::new(Windowed::new("unicode-refined", breakers::Unicode, true)),
    },
    Entry {
        name: "unicode",
        about: "Unicode sentence breaks (UAX #29) by unicode-segmentation",
        make: || Arc::new(Windowed::new("unicode", breakers::Unicode, false)),
    },
    Entry {
        name: "sentencex-refined",
        about: "sentencex's breaks less those after abbreviations, initials and the like",
        make: || Arc::new(Windowed::new("sentencex-refined", breakers::Sentencex, true)),
    },
    Entry {
        name: "sentencex",
        about: "sentencex with its English rules",
        make: || Arc::new(Windowed::new("sentencex", breakers::Sentencex, false)),
    },
];

/// The splitter of that name; `None` where there is none ([`splitters`] lists them).
#[must_use]
pub fn splitter(name: &str) -> Option<Arc<dyn SentenceSplitter>> {
    ENTRIES.iter().find(|entry| entry.name == name).map(|entry| (entry.make)())
}

/// The splitter called [`DEFAULT`].
#[must_use]
pub fn default_splitter() -> Arc<dyn SentenceSplitter> {
    Arc::new(Windowed::new(DEFAULT, breakers::Icu::new(), true))
}

/// Name and one-line description of every splitter, the default first.
pub fn splitters() -> impl Iterator<Item = (&'static str, &'static str)> {
    ENTRIES.iter().map(|entry| (entry.name, entry.about))
}

#[cfg(test)]
mod tests;
