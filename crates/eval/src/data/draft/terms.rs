//! Sentences with rare words: those words are the query, as people type them into a search field.

use std::collections::HashMap;

use pericope_api::{Document, Kind};
use pericope_store::Language;
use unicode_segmentation::UnicodeSegmentation;

use super::QuestionKind;
use super::candidate::Candidate;
use super::corpus::{Corpus, line, rest_of_paragraph};

/// Words of a query.
const WORDS: usize = 4;
/// Words of a sentence that is asked about.
const SENTENCE: std::ops::RangeInclusive<usize> = 8..=40;
/// Letters of a word that a person would type.
const LETTERS: std::ops::RangeInclusive<usize> = 3..=24;

pub(super) fn candidates(corpus: &Corpus<'_>, at: usize, document: &Document) -> Vec<Candidate> {
    // Paragraphs that hold a stem.
    let mut places: HashMap<u32, Vec<u32>> = HashMap::new();
    for sentence in &document.sentences {
        for stem in corpus.stems.distinct(&document.visible(sentence.span)) {
            let held = places.entry(stem).or_default();
            if held.last() != Some(&sentence.paragraph) {
                held.push(sentence.paragraph);
            }
        }
    }
    let language = corpus.stems.language_of(&document.source);
    let mut found = Vec::new();
    for (i, sentence) in document.sentences.iter().enumerate().filter(|(_, s)| s.kind == Kind::Prose) {
        let text = line(document, sentence.span);
        if !SENTENCE.contains(&text.split(' ').count()) {
            continue;
        }
        let rare = rarest(corpus, &text, language);
        // One word is in this document alone, and all together stand in this paragraph alone.
        let only = rare.iter().any(|word| corpus.frequency(word.stem) == 1);
        let held = |paragraph: &u32| {
            rare.iter().all(|word| places.get(&word.stem).is_some_and(|p| p.binary_search(paragraph).is_ok()))
        };
        let fewest = rare.iter().filter_map(|word| places.get(&word.stem)).min_by_key(|paragraphs| paragraphs.len());
        let together = fewest.map_or(0, |paragraphs| paragraphs.iter().filter(|p| held(p)).count());
        let Some(answer) = rest_of_paragraph(document, i) else { continue };
        if rare.len() == WORDS && only && together == 1 {
            let query = rare.into_iter().map(|word| word.text).collect::<Vec<_>>().join(" ");
            found.push(Candidate { document: at, kind: QuestionKind::Terms, query, answer, masks: Vec::new() });
        }
    }
    found
}

struct Word {
    at: usize,
    text: String,
    stem: u32,
}

/// The rarest words of a sentence by the number of documents that hold them, in the order of the sentence.
fn rarest(corpus: &Corpus<'_>, sentence: &str, language: Language) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    for (at, text) in sentence.unicode_words().enumerate() {
        let letters = text.chars().filter(|c| c.is_alphabetic()).count();
        let is_word = LETTERS.contains(&text.chars().count()) && letters * 2 > text.chars().count();
        if let ([stem], true) = (corpus.stems.of_language(text, language).as_slice(), is_word)
            && words.iter().all(|word| word.stem != *stem)
        {
            words.push(Word { at, text: text.to_owned(), stem: *stem });
        }
    }
    words.sort_by_key(|word| (corpus.frequency(word.stem), word.at));
    words.truncate(WORDS);
    words.sort_by_key(|word| word.at);
    words
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use pericope_read::{ReadOptions, read_text};

    #[test]
    fn rare_words_ask_for_their_paragraph() {
        let read = |id: &str, text: &str| read_text(id, "md", text, &ReadOptions::default()).unwrap();
        let documents = [
            read(
                "a",
                "The lighthouse keeper polished the brass lamp before every storm of the winter.\n\nThe keeper slept.",
            ),
            read("b", "The keeper of the harbour counted every ship before the storm of the winter.\n"),
        ];
        let corpus = Corpus::new(&documents);
        let found = candidates(&corpus, 0, &documents[0]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].query, "lighthouse polished brass lamp");
        assert!(documents[0].text(found[0].answer).starts_with("The lighthouse"));
        // Beside a document in another language too.
        let german =
            "Der Wärter des Leuchtturms putzte vor jedem Herbst die Spiegel aus Messing und schlief dann ein wenig.";
        let three = [documents[0].clone(), documents[1].clone(), read("d", german)];
        assert_eq!(candidates(&Corpus::new(&three), 0, &three[0])[0].query, "lighthouse polished brass lamp");
        // What both documents say asks for nothing.
        let twice = [documents[1].clone(), read("c", &documents[1].source)];
        assert!(candidates(&Corpus::new(&twice), 0, &twice[0]).is_empty());
    }
}
