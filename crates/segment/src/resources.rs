use std::sync::Arc;

use pericope_api::{Segmenter, SentenceEncoder, ShiftFinder, TokenCounter};

use crate::counters::WordCounter;
use crate::fixed::rounded;
use crate::foreign::Originals;
use crate::llm::LanguageModel;
use crate::spec::Spec;

/// The size policy's keys as they are given in one place (a command line, a program's defaults). `None`: not given
/// there. `max_tokens` 0: no limit; `min_tokens` and `target_tokens` 0: none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// The most tokens of a chunk, special tokens included; 0: no limit.
    pub max_tokens: Option<usize>,
    /// The fewest tokens of a chunk that could be joined with one beside it; 0: none.
    pub min_tokens: Option<usize>,
    /// The number of tokens that chunks are drawn to; 0: none.
    pub target_tokens: Option<usize>,
    /// The whole sentences (under `fixed:tokens=N`, the tokens) repeated from the chunk before.
    pub overlap: Option<usize>,
}

impl Limits {
    /// No limit at all, said outright: the default of `segment-eval`.
    pub const NONE: Self = Self { max_tokens: Some(0), min_tokens: None, target_tokens: None, overlap: None };

    /// The default of an index: at most 256 tokens, the window of the default embedder, so that nothing is cut off unread.
    pub const INDEX: Self = Self { max_tokens: Some(256), min_tokens: None, target_tokens: None, overlap: None };

    /// The most tokens of a chunk where nothing is said, however many its embedder reads: longer ones hold several subjects.
    pub const LONGEST: usize = 512;

    /// The default of chunks that this encoder embeds, and whose tokens this counts: what the encoder reads of a passage, at most 512
    /// tokens, and at most those of [`Limits::INDEX`] where the two count otherwise. [`Limits::INDEX`] without an encoder, and with
    /// one that is a table of vectors or reads texts of any length.
    #[must_use]
    pub fn of_embedder(encoder: Option<&dyn SentenceEncoder>, counter: &dyn TokenCounter) -> Self {
        let reads = |encoder: &&dyn SentenceEncoder| !encoder.is_static() && encoder.passage_tokens() < usize::MAX;
        let Some(encoder) = encoder.filter(reads) else { return Self::INDEX };
        let most = if counts_alike(encoder, counter) { Some(Self::LONGEST) } else { Self::INDEX.max_tokens };
        Self { max_tokens: most.map(|most| encoder.passage_tokens().clamp(1, most)), ..Self::INDEX }
    }

    /// The same with room for so many tokens beside every chunk, where its limit leaves any.
    #[must_use]
    pub fn beside(self, room: usize) -> Self {
        let less = |most: usize| if most > room { most - room } else { most };
        Self { max_tokens: self.max_tokens.map(less), ..self }
    }

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

/// Whether an encoder and a counter find the same tokens, by a word that no vocabulary of parts of words has as one.
fn counts_alike(encoder: &dyn SentenceEncoder, counter: &dyn TokenCounter) -> bool {
    const WORD: &str = "unforeseeablenessesquartzitically";
    let of_encoder = encoder.count_tokens(WORD).zip(encoder.count_tokens(""));
    of_encoder.is_some_and(|(all, around)| all.saturating_sub(around) == counter.count(WORD))
}

/// Loads an encoder, or says why it cannot.
pub type LoadEncoder<'a> = &'a dyn Fn() -> Result<Arc<dyn SentenceEncoder>, String>;

/// The models, counters and limits that segmenters are built from. Every method has a default, so that a program gives
/// only what it has.
///
/// The limits in force are, key by key, [`overrides`](Resources::overrides), else the spec's, else
/// [`defaults`](Resources::defaults). The errors are sentences for people: what is missing and how to get it.
pub trait Resources {
    /// Returns the encoder of the semantic segmenters.
    ///
    /// # Errors
    /// With the reason, where there is none.
    fn encoder(&self) -> Result<Arc<dyn SentenceEncoder>, String> {
        Err("it needs an encoder, and none is at hand".into())
    }

    /// Returns the encoder of a name, for segmenters whose spec names one (`embedder=static`).
    ///
    /// # Errors
    /// With the reason, where there is none of that name.
    fn named_encoder(&self, name: &str) -> Result<Arc<dyn SentenceEncoder>, String> {
        Err(format!("there is no encoder {name:?} here"))
    }

    /// Returns an encoder that a segmenter brings, which `load` loads: a changed form of the one named `base`.
    ///
    /// # Errors
    /// As `load`.
    fn changed_encoder(&self, _base: &str, load: LoadEncoder<'_>) -> Result<Arc<dyn SentenceEncoder>, String> {
        load()
    }

    /// Returns the counter that token limits are measured with; words by default.
    ///
    /// # Errors
    /// With the reason, where there is none.
    fn counter(&self) -> Result<Arc<dyn TokenCounter>, String> {
        Ok(Arc::new(WordCounter))
    }

    /// Returns the language model that the segmenter `llm` asks, as its spec (`wanted`) and the program say together.
    ///
    /// # Errors
    /// With the reason, where there is none.
    fn shift_finder(&self, _wanted: &LanguageModel) -> Result<Arc<dyn ShiftFinder>, String> {
        Err("it asks a language model, and none is at hand".into())
    }

    /// Returns the segmenter of that name which the program brings ([`CUSTOM`](crate::registry::CUSTOM)).
    ///
    /// # Errors
    /// With the reason, where it brings none of that name.
    fn custom(&self, name: &str) -> Result<Arc<dyn Segmenter>, String> {
        Err(format!("a program in Rust or Python brings it, and none named `{name}` was brought"))
    }

    /// Returns the mean chunk size, in words, of `reference` (a name or a spec) on the corpus at hand: the
    /// [`MeanWords`](crate::fixed::MeanWords) of its chunks.
    ///
    /// # Errors
    /// With the reason, where it is not known.
    fn mean_words(&self, reference: &str) -> Result<f64, String> {
        Err(format!("the mean chunk size of `{reference}` is known only where a corpus is at hand"))
    }

    /// Returns the bound in words, at most `most`, at which `fixed`, with the other settings of the spec `fixed`, cuts the corpus at hand into
    /// chunks of the mean size of `reference`'s ([`match_bound`](crate::fixed::match_bound)). Where no corpus can be cut, that
    /// mean size, rounded.
    ///
    /// # Errors
    /// With the reason, where the mean size is not known.
    fn matched_bound(&self, reference: &str, _fixed: &Spec, _most: usize) -> Result<usize, String> {
        rounded(reference, self.mean_words(reference)?)
    }

    /// Returns what others know of the documents at hand, by id, where that is something else: nothing, by default.
    fn originals(&self) -> Arc<Originals> {
        Arc::default()
    }

    /// Returns limits that outrank the spec's: a command line's flags.
    fn overrides(&self) -> Limits {
        Limits::default()
    }

    /// Returns limits for the keys that neither the overrides nor the spec give.
    fn defaults(&self) -> Limits {
        Limits::default()
    }
}

/// [`Resources`] of a program that has nothing beside this crate: tokens are words, and there is no encoder.
#[derive(Debug, Clone, Copy, Default)]
pub struct Standalone {
    /// The limits of [`Resources::defaults`].
    pub defaults: Limits,
}

impl Resources for Standalone {
    fn defaults(&self) -> Limits {
        self.defaults
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use pericope_api::{Embeddings, EncodeError, SentenceEncoder};

    use super::Limits;
    use crate::counters::WordCounter;

    /// Reads so many tokens, behind a prompt of three, and may count words.
    struct Reads {
        window: usize,
        counts: bool,
    }

    impl SentenceEncoder for Reads {
        fn name(&self) -> &str {
            "reads"
        }

        fn fingerprint(&self) -> String {
            String::new()
        }

        fn dimension(&self) -> usize {
            1
        }

        fn max_tokens(&self) -> usize {
            self.window
        }

        fn passage_tokens(&self) -> usize {
            self.window.saturating_sub(3)
        }

        fn count_tokens(&self, text: &str) -> Option<usize> {
            self.counts.then(|| 3 + text.split_whitespace().count())
        }

        fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
            Ok(Embeddings::new(1, vec![1.0; texts.len()]))
        }
    }

    #[test]
    fn the_limit_is_what_an_encoder_reads_of_a_passage() {
        let most = |window: usize, counts: bool| {
            Limits::of_embedder(Some(&Reads { window, counts }), &WordCounter).max_tokens.unwrap()
        };
        assert_eq!([most(40, true), most(300, true), most(8192, true), most(2, true)], [37, 297, Limits::LONGEST, 1]);
        // Where tokens are counted otherwise than the encoder does, a wide window says nothing.
        assert_eq!([most(40, false), most(300, false), most(8192, false)], [37, 256, 256]);
        assert_eq!(Limits::of_embedder(None, &WordCounter), Limits::INDEX);
        let room = |most: usize| Limits { max_tokens: Some(most), ..Limits::INDEX }.beside(32).max_tokens;
        assert_eq!([room(256), room(32), room(0)], [Some(224), Some(32), Some(0)]);
    }
}
