//! Words as numbers, as all lexical segmenters read them.

use std::collections::HashMap;

use pericope_api::Document;
use pericope_language::{Language, WordReader};

use crate::language;

/// Numbers for stems, given out in the order in which the stems are met.
pub(super) struct Stems<'r> {
    reader: &'r WordReader,
    /// By word in lower case, so that each word is stemmed once; `None` for words that are left out.
    words: HashMap<String, Option<u32>>,
    stems: HashMap<String, u32>,
    lower: String,
}

impl<'r> Stems<'r> {
    pub(super) fn new(reader: &'r WordReader) -> Self {
        Self { reader, words: HashMap::new(), stems: HashMap::new(), lower: String::new() }
    }

    /// The number of the word's stem; `None` for words that say nothing about the topic ([`WordReader::stem`]).
    pub(super) fn number(&mut self, word: &str) -> Option<u32> {
        self.reader.lower(word, &mut self.lower);
        if let Some(&known) = self.words.get(&self.lower) {
            return known;
        }
        let number = self.reader.stem(&self.lower).map(|stem| {
            let next = u32::try_from(self.stems.len()).unwrap_or(u32::MAX);
            *self.stems.entry(stem.into_owned()).or_insert(next)
        });
        self.words.insert(self.lower.clone(), number);
        number
    }

    /// How many different stems were met; their numbers are below.
    pub(super) fn vocabulary(&self) -> usize {
        self.stems.len()
    }
}

/// The words of each sentence of a document, in the document's language: in lower case, stemmed, as numbers, without those that
/// say nothing about the topic ([`Stems::number`]). What is not language (code, tables, markup) has no words.
pub(crate) struct Words {
    numbers: Vec<u32>,
    /// Where each sentence ends in `numbers`.
    ends: Vec<usize>,
    vocabulary: usize,
}

impl Words {
    pub(crate) fn read(document: &Document) -> Self {
        Self::read_as(document, language::of(document))
    }

    /// The words of a document in a language.
    pub(super) fn read_as(document: &Document, language: Language) -> Self {
        let reader = WordReader::of(language);
        let mut stems = Stems::new(&reader);
        let mut numbers = Vec::new();
        let mut ends = Vec::with_capacity(document.len());
        for sentence in &document.sentences {
            if sentence.kind.is_language() {
                let text = document.visible(sentence.span);
                reader.each(&text, |_, word| numbers.extend(stems.number(word)));
            }
            ends.push(numbers.len());
        }
        Self { numbers, ends, vocabulary: stems.vocabulary() }
    }

    /// The same with these sentences alone (in order), which are all that has words.
    pub(crate) fn only(self, sentences: &[usize]) -> Self {
        let ends = sentences.iter().filter_map(|&i| self.ends.get(i).copied()).collect();
        Self { ends, ..self }
    }

    /// Number of sentences.
    pub(crate) fn sentences(&self) -> usize {
        self.ends.len()
    }

    /// The words of sentence `i` (0-based).
    pub(crate) fn of(&self, i: usize) -> &[u32] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.numbers[start..self.ends[i]]
    }

    /// Number of words of the document.
    pub(crate) fn total(&self) -> usize {
        self.numbers.len()
    }

    /// Number of different words; all numbers are below.
    pub(crate) fn vocabulary(&self) -> usize {
        self.vocabulary
    }

    /// How often the document's most frequent word occurs.
    pub(super) fn most(&self) -> usize {
        let mut counts = vec![0; self.vocabulary];
        self.numbers.iter().for_each(|&word| counts[word as usize] += 1);
        counts.into_iter().max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use pericope_api::{Document, Kind};

    use super::Words;

    #[test]
    fn words_share_the_number_of_their_stem() {
        let mut document =
            Document::from_sentences("d", &["The ships sailed.", "x = y", "A SHIP; 30 fast sails!", "..."]);
        document.sentences[1].kind = Kind::Code;
        let words = Words::read(&document);
        let lists: Vec<&[u32]> = (0..words.sentences()).map(|i| words.of(i)).collect();
        assert_eq!(lists, [&[0, 1][..], &[], &[0, 2, 1], &[]]);
        assert_eq!((words.vocabulary(), words.total(), words.most()), (3, 5, 2));
    }

    #[test]
    fn no_words() {
        let words = Words::read(&Document::from_sentences("d", &["?", "1999"]));
        assert_eq!((words.sentences(), words.total(), words.most()), (2, 0, 0));
    }
}
