use tantivy::tokenizer::{AsciiFoldingFilter, Language, LowerCaser, RawTokenizer, Stemmer, TextAnalyzer, TokenStream};

/// Words that are remembered with their stems, a power of two. A text's words are mostly the same few thousand.
const SLOTS: usize = 1 << 13;
/// Bytes of the longest word or stem that is remembered.
const LONGEST: usize = 23;

/// The stems of words by tantivy's filters, of which those seen lately are remembered: stemming costs some ten times as
/// much as looking a word up, and is a third of all the work of indexing words.
pub(super) struct Stems {
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

impl Default for Stems {
    fn default() -> Self {
        let words = TextAnalyzer::builder(RawTokenizer::default());
        let filters =
            words.filter(LowerCaser).filter(AsciiFoldingFilter).filter(Stemmer::new(Language::English)).build();
        Self { filters, slots: Vec::new() }
    }
}

impl Clone for Stems {
    /// Remembers nothing: analyzers are cloned by the field and thread, most of them for a query.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Stems {
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
        let mut stream = self.filters.token_stream(word);
        while stream.advance() {
            stem.push_str(&stream.token().text);
        }
        drop(stream);
        if let (Some(slot), Some(word), Some(stem)) = (self.slots.get_mut(place), Short::new(word), Short::new(stem)) {
            *slot = Slot { word, stem };
        }
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
