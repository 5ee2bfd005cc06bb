use std::borrow::Cow;

use pericope_store::Language;
use tantivy::tokenizer::{
    AsciiFoldingFilter, Language as Algorithm, LowerCaser, RawTokenizer, Stemmer, TextAnalyzer, TokenStream,
};

use super::Rules;

/// Words that are remembered with their stems, a power of two. A text's words are mostly the same few thousand.
const SLOTS: usize = 1 << 13;
/// Bytes of the longest word or stem that is remembered.
const LONGEST: usize = 23;

/// The stems of words by tantivy's filters, of which those seen lately are remembered: stemming costs some ten times as
/// much as looking a word up, and is a third of all the work of indexing words.
pub(super) struct Stems {
    language: Language,
    rules: Rules,
    /// Takes a word's accents away before anything else; none where it is read with them.
    unaccent: Option<TextAnalyzer>,
    filters: TextAnalyzer,
    /// Each word has one place, from which another word may drive it out. Made with the first word.
    slots: Vec<Slot>,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    word: Short,
    stem: Short,
}

/// A text of at most [`LONGEST`] bytes; empty where there is none.
#[derive(Clone, Copy, Default)]
struct Short {
    length: u8,
    bytes: [u8; LONGEST],
}

impl Clone for Stems {
    /// Remembers nothing: analyzers are cloned by the field and thread, most of them for a query.
    fn clone(&self) -> Self {
        Self { unaccent: self.unaccent.clone(), ..Self::of(self.language, self.rules) }
    }
}

/// tantivy's stemmer of a language.
fn algorithm(language: Language) -> Option<Algorithm> {
    Some(match language {
        Language::Arabic => Algorithm::Arabic,
        Language::Danish => Algorithm::Danish,
        Language::Dutch => Algorithm::Dutch,
        Language::English => Algorithm::English,
        Language::Finnish => Algorithm::Finnish,
        Language::French => Algorithm::French,
        Language::German => Algorithm::German,
        Language::Greek => Algorithm::Greek,
        Language::Hungarian => Algorithm::Hungarian,
        Language::Italian => Algorithm::Italian,
        Language::Norwegian => Algorithm::Norwegian,
        Language::Portuguese => Algorithm::Portuguese,
        Language::Romanian => Algorithm::Romanian,
        Language::Russian => Algorithm::Russian,
        Language::Spanish => Algorithm::Spanish,
        Language::Swedish => Algorithm::Swedish,
        Language::Tamil => Algorithm::Tamil,
        Language::Turkish => Algorithm::Turkish,
        Language::Chinese
        | Language::Japanese
        | Language::Korean
        | Language::Thai
        | Language::Khmer
        | Language::Lao
        | Language::Burmese
        | Language::Other => return None,
    })
}

/// A word as its language's stemmer expects it, where that is not how it is written.
fn spelt(word: &str, language: Language, rules: Rules) -> Cow<'_, str> {
    match language {
        // Most write both alike.
        Language::Russian if rules.composes() && word.contains(['Ё', 'ё']) => word.replace(['Ё', 'ё'], "е").into(),
        Language::German => umlauts(word),
        // The letters i with and without a dot are two.
        Language::Turkish if word.contains(['I', 'İ']) => word.replace('İ', "i").replace('I', "ı").into(),
        _ => word.into(),
    }
}

/// German vowels that are written as two letters, for want of umlauts: Snowball's rule, where no vowel and no q stands before
/// them (`neue`, `Quelle`).
fn umlauts(word: &str) -> Cow<'_, str> {
    let pair = |a: char, b: char| matches!(a, 'a' | 'o' | 'u') && b == 'e';
    let lower = word.to_lowercase();
    if !lower.chars().zip(lower.chars().skip(1)).any(|(a, b)| pair(a, b)) {
        return word.into();
    }
    let (mut made, mut before) = (String::with_capacity(lower.len()), ' ');
    let mut letters = lower.chars().peekable();
    while let Some(letter) = letters.next() {
        let free = !matches!(before, 'a' | 'e' | 'i' | 'o' | 'u' | 'y' | 'ä' | 'ö' | 'ü' | 'q');
        let umlaut = free && letters.peek().is_some_and(|&next| pair(letter, next));
        before = letter;
        made.push(match letter {
            'a' if umlaut => 'ä',
            'o' if umlaut => 'ö',
            'u' if umlaut => 'ü',
            other => other,
        });
        if umlaut {
            before = letters.next().unwrap_or(' ');
        }
    }
    made.into()
}

impl Stems {
    /// The stems of a language; words that are only folded, where there is no stemmer.
    pub fn of(language: Language, rules: Rules) -> Self {
        let lower = TextAnalyzer::builder(RawTokenizer::default()).filter(LowerCaser);
        let filters = match algorithm(language) {
            Some(Algorithm::English) => {
                lower.filter(AsciiFoldingFilter).filter(Stemmer::new(Algorithm::English)).build()
            }
            // The other stemmers know the accents of their languages.
            Some(algorithm) => lower.filter(Stemmer::new(algorithm)).filter(AsciiFoldingFilter).build(),
            None => lower.filter(AsciiFoldingFilter).build(),
        };
        Self { language, rules, unaccent: None, filters, slots: Vec::new() }
    }

    /// The stems of words as they are written without accents; `None` in languages whose stemmers read words without them, and
    /// where there are no accents that are left out.
    pub fn unaccented(language: Language, rules: Rules) -> Option<Self> {
        let algorithm = algorithm(language)?;
        if matches!(
            algorithm,
            Algorithm::English | Algorithm::Arabic | Algorithm::Greek | Algorithm::Russian | Algorithm::Tamil
        ) {
            return None;
        }
        let lower = TextAnalyzer::builder(RawTokenizer::default()).filter(LowerCaser);
        Some(Self { unaccent: Some(lower.filter(AsciiFoldingFilter).build()), ..Self::of(language, rules) })
    }

    /// Replaces `stem` by that of a word.
    pub fn write(&mut self, word: &str, stem: &mut String) {
        stem.clear();
        if self.slots.is_empty() {
            self.slots = vec![Slot::default(); SLOTS];
        }
        let place = place(word.as_bytes());
        if let Some(known) = self.slots.get(place).filter(|slot| slot.word.is(word)) {
            stem.push_str(known.stem.text());
            return;
        }
        let (language, rules) = (self.language, self.rules);
        match &mut self.unaccent {
            Some(unaccent) => {
                let mut bare = String::with_capacity(word.len());
                append(unaccent, &spelt(word, language, rules), &mut bare);
                append(&mut self.filters, &spelt(&bare, language, rules), stem);
            }
            None => append(&mut self.filters, &spelt(word, language, rules), stem),
        }
        if let (Some(slot), Some(word), Some(stem)) = (self.slots.get_mut(place), Short::new(word), Short::new(stem)) {
            *slot = Slot { word, stem };
        }
    }
}

/// Appends what an analyzer makes of a word.
fn append(analyzer: &mut TextAnalyzer, word: &str, made: &mut String) {
    let mut stream = analyzer.token_stream(word);
    while stream.advance() {
        made.push_str(&stream.token().text);
    }
}

impl Short {
    fn new(text: &str) -> Option<Self> {
        let mut bytes = [0; LONGEST];
        bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Some(Self { length: text.len() as u8, bytes })
    }

    fn is(&self, text: &str) -> bool {
        usize::from(self.length) == text.len() && self.bytes.get(..text.len()) == Some(text.as_bytes())
    }

    fn text(&self) -> &str {
        self.bytes.get(..usize::from(self.length)).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or("")
    }
}

/// The place of a word: eight bytes at a time, mixed by multiplication.
fn place(word: &[u8]) -> usize {
    const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = word.len() as u64;
    for bytes in word.chunks(8) {
        let mut eight = [0; 8];
        if let Some(start) = eight.get_mut(..bytes.len()) {
            start.copy_from_slice(bytes);
        }
        hash = (hash.rotate_left(23) ^ u64::from_le_bytes(eight)).wrapping_mul(MIX);
    }
    (hash >> 51) as usize
}
