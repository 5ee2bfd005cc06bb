//! Words as retrieval sees them, by the analyzer of the index: in lower case, stemmed, without function words.

use std::collections::BTreeMap;

use pericope_api::Document;
use pericope_index::LanguageAnalyzer;
use pericope_store::{Analyzer, Language, LanguageChoice, detect_language};

/// A language counts where one in so many documents is in it: of fewer, most are tables and code whose language was guessed wrong.
const ONE_IN: usize = 20;

/// Turns text into stem numbers (hashes of stems), in the languages of the documents at hand.
pub(crate) struct Stems {
    analyzer: LanguageAnalyzer,
    /// Never empty; that of the most documents first.
    languages: Vec<Language>,
}

impl Default for Stems {
    /// Of English.
    fn default() -> Self {
        Self { analyzer: LanguageAnalyzer::default(), languages: vec![Language::English] }
    }
}

impl Stems {
    /// The stems of the languages that the documents are in, but for those of less than one document in twenty.
    pub(crate) fn of_documents(documents: &[Document]) -> Self {
        let mut counts: BTreeMap<Language, usize> = BTreeMap::new();
        for document in documents {
            *counts.entry(LanguageChoice::Auto.of(&document.source)).or_default() += 1;
        }
        let mut found: Vec<(Language, usize)> = counts.into_iter().collect();
        found.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let languages: Vec<Language> =
            (found.into_iter().filter(|(_, count)| count * ONE_IN >= documents.len()).map(|(language, _)| language))
                .collect();
        match languages.is_empty() {
            true => Self::default(),
            false => Self { analyzer: LanguageAnalyzer::default(), languages },
        }
    }

    /// The language of a text among those of the documents; that of most of them where the text does not say.
    pub(crate) fn language_of(&self, text: &str) -> Language {
        let known = |language: &Language| self.languages.contains(language);
        detect_language(text).filter(known).or(self.languages.first().copied()).unwrap_or_default()
    }

    /// The stems of `text`, each once, sorted.
    pub(crate) fn distinct(&self, text: &str) -> Box<[u32]> {
        let mut stems = self.of(text);
        stems.sort_unstable();
        stems.dedup();
        stems.into_boxed_slice()
    }

    /// The stems of `text` in order, function words left out. Of a text that does not say its language, as few questions do,
    /// where the documents are in several: those of each.
    pub(crate) fn of(&self, text: &str) -> Vec<u32> {
        if let [only] = self.languages.as_slice() {
            return self.of_language(text, *only);
        }
        match detect_language(text).filter(|language| self.languages.contains(language)) {
            Some(language) => self.of_language(text, language),
            None => self.languages.iter().flat_map(|&language| self.of_language(text, language)).collect(),
        }
    }

    /// The stems of a text in a language, in order, function words left out.
    pub(crate) fn of_language(&self, text: &str, language: Language) -> Vec<u32> {
        let mut stems = Vec::new();
        self.analyzer.analyze(text, language, &mut |word| {
            let surface = word.span.of(text).to_lowercase();
            if !self.analyzer.is_stop_word(&surface, language) {
                stems.push(fnv(word.text.as_bytes()));
            }
        });
        stems
    }
}

/// FNV-1a, 32 bits: the same number on every machine and run.
fn fnv(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use pericope_api::Document;

    use super::Stems;

    #[test]
    fn inflections_meet_and_function_words_go() {
        let stems = Stems::default();
        assert_eq!(stems.of("How do the tides rise?"), stems.of("tide RISES"));
        assert!(stems.of("what is it").is_empty());
    }

    #[test]
    fn the_languages_are_those_of_the_documents() {
        let german = "Die Mühlen am Fluss mahlen das Getreide, und die Häuser stehen auf der anderen Seite des Ufers.";
        let english = "The mills by the river grind the grain, and the houses stand on the other side of the bank.";
        let stems = Stems::of_documents(&[Document::from_sentences("a", &[german])]);
        assert_eq!(stems.of("des Hauses"), stems.of("Häuser"));
        let both = Stems::of_documents(&[german, english].map(|text| Document::from_sentences("a", &[text])));
        let held = both.distinct(german);
        assert!(both.of("Haus").iter().any(|stem| held.binary_search(stem).is_ok()));
        assert_eq!(both.of("Haus").len(), 2, "a word does not say its language");
        assert_eq!(both.of_language("Haus", both.language_of(german)), stems.of("Haus"));
        // One page among many is rather guessed wrong than read in its language.
        let mut many = vec![Document::from_sentences("a", &[english]); 30];
        many.push(Document::from_sentences("b", &[german]));
        assert_eq!(Stems::of_documents(&many).of("Haus").len(), 1);
    }
}
