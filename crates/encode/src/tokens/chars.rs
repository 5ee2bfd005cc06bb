use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use tokenizers::normalizers::BertNormalizer;
use tokenizers::pre_tokenizers::bert::BertPreTokenizer;
use tokenizers::{NormalizedString, Normalizer, OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer};

/// The effect of a character on the words around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// Part of a word, or (control characters, accents) dropped from inside one.
    Word = 1,
    /// Separates words and is no token.
    Space = 2,
    /// A word of its own: punctuation, a Chinese character.
    Alone = 3,
}

/// The class of every character, asked from the tokenizer's own normaliser and pre-tokenizer when a character is first
/// met, so that it agrees with them whatever edition of Unicode they follow.
#[derive(Debug)]
pub struct Classes {
    normalizer: BertNormalizer,
    table: Vec<AtomicU8>,
}

impl Classes {
    /// The classes under a normaliser.
    pub fn new(normalizer: BertNormalizer) -> Self {
        let table = (0..=u32::from(char::MAX)).map(|_| AtomicU8::new(0)).collect();
        Self { normalizer, table }
    }

    /// The class of `c`.
    pub fn of(&self, c: char) -> Class {
        let Some(slot) = self.table.get(c as usize) else { return Class::Word };
        match slot.load(Relaxed) {
            1 => Class::Word,
            2 => Class::Space,
            3 => Class::Alone,
            _ => {
                let class = self.ask(c);
                slot.store(class as u8, Relaxed);
                class
            }
        }
    }

    /// Puts `c` between two letters and looks at the words that come out.
    fn ask(&self, c: char) -> Class {
        let mut text = NormalizedString::from(format!("a{c}a"));
        if self.normalizer.normalize(&mut text).is_err() {
            return Class::Word;
        }
        let mut words = PreTokenizedString::from(text);
        if BertPreTokenizer.pre_tokenize(&mut words).is_err() {
            return Class::Word;
        }
        let words = words.get_splits(OffsetReferential::Original, OffsetType::Byte);
        let words: Vec<&str> = words.iter().map(|(word, ..)| *word).collect();
        match words[..] {
            ["a", "a"] => Class::Space,
            ["a", .., "a"] => Class::Alone,
            _ => Class::Word,
        }
    }
}

#[cfg(test)]
mod tests {
    use tokenizers::normalizers::BertNormalizer;

    use super::{Class, Classes};

    #[test]
    fn classes_are_those_of_bert() {
        let classes = Classes::new(BertNormalizer::default());
        for (c, class) in [
            ('x', Class::Word),
            ('é', Class::Word),
            ('\u{301}', Class::Word),
            ('\u{b}', Class::Word),
            ('€', Class::Word),
            ('か', Class::Word),
            (' ', Class::Space),
            ('\n', Class::Space),
            ('\u{3000}', Class::Space),
            ('$', Class::Alone),
            ('…', Class::Alone),
            ('文', Class::Alone),
            ('≠', Class::Alone),
        ] {
            assert_eq!(classes.of(c), class, "{c:?}");
            assert_eq!(classes.of(c), class, "{c:?}, from the table");
        }
    }
}
