use std::sync::Arc;

use pericope_api::TokenCounter;
use tiktoken_rs::CoreBPE;

use super::cache::{Cache, Piece};
use super::words::words;

/// Words of up to so many bytes are remembered.
const REMEMBERED: usize = 48;

/// Counts tokens by a vocabulary of OpenAI's models.
///
/// What stands between white space is tokenised by itself, behind a space unless it begins with a letter of a script without
/// spaces, so that the tokens of `"a b"` are those of `"a"` and of `"b"`. Tokens of line ends and of further spaces are not
/// counted.
pub struct TiktokenCounter {
    name: &'static str,
    tokens: &'static CoreBPE,
    cache: Cache,
}

impl TiktokenCounter {
    /// Returns the counter of `cl100k` (GPT-4, text-embedding-3) or `o200k` (GPT-4o and later); `None` for another name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let (name, tokens) = match name {
            "cl100k" => ("cl100k", tiktoken_rs::cl100k_base_singleton()),
            "o200k" => ("o200k", tiktoken_rs::o200k_base_singleton()),
            _ => return None,
        };
        Some(Self { name, tokens, cache: Cache::default() })
    }

    /// The tokens of a word, with where each ends in it; those of a part of a character end behind it.
    fn pieces(&self, word: &str) -> Arc<[Piece]> {
        let spaced = !word.starts_with(pericope_language::is_unspaced);
        let text = if spaced { format!(" {word}") } else { word.to_owned() };
        let mut end = 0;
        let ids = self.tokens.encode_ordinary(&text);
        let ends = ids.into_iter().map(|id| {
            end += self.tokens.decode_bytes(&[id]).map_or(0, |bytes| bytes.len());
            let within = text.ceil_char_boundary(end.min(text.len())).saturating_sub(usize::from(spaced));
            (id, within as u32)
        });
        ends.collect()
    }
}

impl TokenCounter for TiktokenCounter {
    fn name(&self) -> &str {
        self.name
    }

    fn token_ends(&self, text: &str, ends: &mut Vec<usize>) {
        for (at, word) in words(text) {
            let pieces = match word.len() <= REMEMBERED {
                true => self.cache.get_or(word, || self.pieces(word)),
                false => self.pieces(word),
            };
            ends.extend(pieces.iter().map(|(_, end)| at + *end as usize));
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use pericope_api::TokenCounter;

    use super::TiktokenCounter;

    /// By OpenAI's own tiktoken (`scripts/golden/golden_tiktoken.py`).
    #[test]
    fn counts_are_tiktokens() {
        let golden = include_str!("../../tests/golden/tiktoken.tsv");
        let mut seen = 0;
        for line in golden.lines().filter(|line| !line.starts_with('#')) {
            let mut fields = line.split('\t');
            let (name, count, word) = (fields.next().unwrap(), fields.next().unwrap(), fields.next().unwrap());
            let counter = TiktokenCounter::named(name).unwrap();
            assert_eq!(counter.count(word), count.parse::<usize>().unwrap(), "{name}: {word}");
            seen += 1;
        }
        assert!(seen >= 20);
    }

    #[test]
    fn ends_are_places_of_characters_and_counts_add_up() {
        let counter = TiktokenCounter::named("cl100k").unwrap();
        for text in ["Die Mühle mahlt.", "索引を作る。\n👩‍👩‍👧 x", "  ", ""] {
            let mut ends = Vec::new();
            counter.token_ends(text, &mut ends);
            assert!(ends.iter().all(|&end| text.is_char_boundary(end)) && ends.is_sorted());
            assert_eq!(ends.last().copied().unwrap_or(0), text.trim_end().len());
            assert_eq!(counter.count(&format!("{text} {text}")), 2 * counter.count(text));
        }
        assert!(TiktokenCounter::named("minilm").is_none());
    }
}
