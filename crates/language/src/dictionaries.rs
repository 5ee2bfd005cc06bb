//! Words by ICU4X's dictionaries: one for Chinese and Japanese, one each for Thai, Lao, Khmer and Burmese.

use std::sync::LazyLock;

use icu_segmenter::options::WordBreakInvariantOptions;
use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed};

#[cfg(target_arch = "wasm32")]
pub(crate) use browser::ends;

#[cfg(not(target_arch = "wasm32"))]
static WORDS: LazyLock<WordSegmenterBorrowed<'static>> =
    LazyLock::new(|| WordSegmenter::new_dictionary(WordBreakInvariantOptions::default()));

/// Where each word of a run of unspaced letters ends, in bytes.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn ends(run: &str) -> impl Iterator<Item = usize> {
    WORDS.segment_str(run).skip(1)
}

/// Every reader of a page loads its dictionaries. That for Chinese and Japanese has 2 MB, nearly as much as all the rest, and is
/// left out: there a word is one character, or a run of katakana.
#[cfg(target_arch = "wasm32")]
mod browser {
    use icu_provider::prelude::*;
    use icu_segmenter::provider::{Baked, SegmenterDictionaryAutoV2, SegmenterDictionaryExtendedV2};

    use super::{LazyLock, WordBreakInvariantOptions, WordSegmenter, WordSegmenterBorrowed};

    static WORDS: LazyLock<WordSegmenterBorrowed<'static>> = LazyLock::new(|| {
        let options = WordBreakInvariantOptions::default();
        let mut segmenter = WordSegmenter::new_for_non_complex_scripts(options).static_to_owned();
        // What is compiled in is found; without it a run of letters would be one word.
        let _ = segmenter.load_dictionary_unstable(&SouthEastAsian);
        // It cannot be shared between threads, so it cannot be a static itself; it is made once.
        Box::leak(Box::new(segmenter)).as_borrowed()
    });

    struct SouthEastAsian;

    impl DataProvider<SegmenterDictionaryExtendedV2> for SouthEastAsian {
        fn load(&self, request: DataRequest) -> Result<DataResponse<SegmenterDictionaryExtendedV2>, DataError> {
            Baked.load(request)
        }
    }

    impl DataProvider<SegmenterDictionaryAutoV2> for SouthEastAsian {
        fn load(&self, request: DataRequest) -> Result<DataResponse<SegmenterDictionaryAutoV2>, DataError> {
            Err(DataErrorKind::IdentifierNotFound.with_req(SegmenterDictionaryAutoV2::INFO, request))
        }
    }

    /// Where each word of a run of unspaced letters ends, in bytes.
    pub(crate) fn ends(run: &str) -> impl Iterator<Item = usize> {
        let mut start = 0;
        WORDS.segment_str(run).skip(1).flat_map(move |end| {
            let (first, word) = (start, run.get(start..end).unwrap_or_default());
            start = end;
            // Without a dictionary, Han characters and hiragana beside each other are one word.
            let apart = word.contains(is_han_or_hiragana);
            let ends = word.char_indices().map(move |(at, c)| first + at + c.len_utf8());
            ends.filter(move |&at| apart || at == end)
        })
    }

    fn is_han_or_hiragana(c: char) -> bool {
        matches!(c, '\u{3005}'..='\u{3096}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
    }
}
