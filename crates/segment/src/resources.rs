use std::sync::Arc;

use pericope_api::{SentenceEncoder, TokenCounter};

use crate::counters::WordCounter;

/// The size policy's keys as they are given in one place (a command line, a program's defaults). `None`: not given
/// there. `max_tokens` 0: no limit; `min_tokens` and `target_tokens` 0: none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Most tokens of a chunk, special tokens included.
    pub max_tokens: Option<usize>,
    /// Chunks below this many tokens are avoided.
    pub min_tokens: Option<usize>,
    /// Chunks of about this many tokens are sought.
    pub target_tokens: Option<usize>,
    /// Whole sentences repeated from the chunk before (under `fixed:tokens=N`, tokens).
    pub overlap: Option<usize>,
}

impl Limits {
    /// No limit at all, said outright: what `segment-eval` has for a default.
    pub const NONE: Self = Self { max_tokens: Some(0), min_tokens: None, target_tokens: None, overlap: None };

    /// What an index has for a default: 256 tokens, the window of the default embedder, so that nothing is cut off
    /// unread.
    pub const INDEX: Self = Self { max_tokens: Some(256), min_tokens: None, target_tokens: None, overlap: None };

    /// These limits where they are given, else those of `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            max_tokens: self.max_tokens.or(other.max_tokens),
            min_tokens: self.min_tokens.or(other.min_tokens),
            target_tokens: self.target_tokens.or(other.target_tokens),
            overlap: self.overlap.or(other.overlap),
        }
    }
}

/// What segmenters are built from. Every method has a default, so that a program gives only what it has.
///
/// The limits in force are, key by key, [`overrides`](Resources::overrides), else the spec's, else
/// [`defaults`](Resources::defaults). The errors are sentences for people: what is missing and how to get it.
pub trait Resources {
    /// The encoder of the semantic segmenters.
    ///
    /// # Errors
    /// Why there is none.
    fn encoder(&self) -> Result<Arc<dyn SentenceEncoder>, String> {
        Err("it needs an encoder, and none is at hand".into())
    }

    /// The counter that token limits are measured with; words by default.
    ///
    /// # Errors
    /// Why there is none.
    fn counter(&self) -> Result<Arc<dyn TokenCounter>, String> {
        Ok(Arc::new(WordCounter))
    }

    /// Mean chunk size, in words, of `reference` (a name or a spec) on the corpus at hand:
    /// [`fixed::mean_words`](crate::fixed::mean_words) of its chunks.
    ///
    /// # Errors
    /// Why it is not known.
    fn mean_words(&self, reference: &str) -> Result<f64, String> {
        Err(format!("the mean chunk size of `{reference}` is known only where a corpus is at hand"))
    }

    /// Limits that outrank the spec's: a command line's flags.
    fn overrides(&self) -> Limits {
        Limits::default()
    }

    /// Limits for the keys that neither the overrides nor the spec give.
    fn defaults(&self) -> Limits {
        Limits::default()
    }
}

/// [`Resources`] of a program that has nothing beside this crate: tokens are words, and there is no encoder.
#[derive(Debug, Clone, Copy, Default)]
pub struct Standalone {
    /// What [`Resources::defaults`] says.
    pub defaults: Limits,
}

impl Resources for Standalone {
    fn defaults(&self) -> Limits {
        self.defaults
    }
}
