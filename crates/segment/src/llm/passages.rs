use std::ops::Range;

use pericope_api::{Document, TokenCounter};

/// What is numbered and shown to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unit {
    /// A paragraph, a heading, a list, a code block or a table.
    #[default]
    Paragraph,
    /// A sentence, a heading, a code block or a table.
    Sentence,
}

impl Unit {
    pub(super) const WORDS: [&str; 2] = ["paragraph", "sentence"];

    pub(super) fn at(place: usize) -> Self {
        if place == 1 { Self::Sentence } else { Self::Paragraph }
    }
}

/// A passage of a document.
pub(super) struct Passage {
    /// Its sentences.
    pub sentences: Range<usize>,
    /// What a reader sees of it, on one line; of a long one the beginning and the end.
    pub text: String,
    /// Tokens of all of it.
    pub tokens: usize,
}

/// Stands for what is left out of a long passage.
const LEFT_OUT: &str = " [...] ";

/// The passages of a document, in order: together they are all of its sentences. What shows nothing (front matter, tags)
/// goes with the passage before it, at the beginning with the one behind. `letters`: the characters that are shown of a
/// passage at most.
pub(super) fn passages(document: &Document, unit: Unit, letters: usize, counter: &dyn TokenCounter) -> Vec<Passage> {
    let mut found: Vec<Passage> = Vec::new();
    let mut start = 0;
    for (next, pair) in document.sentences.iter().zip(document.sentences.iter().skip(1)).enumerate() {
        if unit == Unit::Sentence || pair.0.paragraph != pair.1.paragraph {
            add(&mut found, document, start..next + 1, letters, counter);
            start = next + 1;
        }
    }
    if start < document.len() {
        add(&mut found, document, start..document.len(), letters, counter);
    }
    found
}

fn add(
    found: &mut Vec<Passage>,
    document: &Document,
    sentences: Range<usize>,
    letters: usize,
    counter: &dyn TokenCounter,
) {
    let visible = document.visible(document.span_of(sentences.clone()));
    let text = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    let (tokens, text) = (counter.count(&text), shortened(&text, letters));
    match found.last_mut() {
        Some(last) if text.is_empty() => last.sentences.end = sentences.end,
        // Nothing of it was shown so far.
        Some(last) if last.text.is_empty() => {
            *last = Passage { sentences: last.sentences.start..sentences.end, text, tokens };
        }
        _ => found.push(Passage { sentences, text, tokens }),
    }
}

/// The first and the last characters of a long text.
fn shortened(text: &str, letters: usize) -> String {
    let at = |n: usize| text.char_indices().nth(n).map(|(at, _)| at);
    if at(letters).is_none() {
        return text.to_owned();
    }
    let half = letters / 2;
    let behind = text.chars().count().saturating_sub(half);
    let (first, last) = (at(half).unwrap_or(0), at(behind).unwrap_or(text.len()));
    format!("{}{LEFT_OUT}{}", text.get(..first).unwrap_or_default(), text.get(last..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use pericope_api::{Document, Kind};

    use super::{Unit, passages, shortened};
    use crate::counters::WordCounter;

    #[test]
    fn passages_are_all_sentences_in_order() {
        let mut document =
            Document::from_sentences("d", &["---", "One.", "Two  words.", "Three."]).with_paragraphs(&[1, 3]);
        let of = |document: &Document, unit| -> Vec<(std::ops::Range<usize>, String, usize)> {
            let found = passages(document, unit, 100, &WordCounter).into_iter();
            found.map(|passage| (passage.sentences, passage.text, passage.tokens)).collect()
        };
        let paragraphs = of(&document, Unit::Paragraph);
        assert_eq!(paragraphs.iter().map(|one| one.0.clone()).collect::<Vec<_>>(), [0..1, 1..3, 3..4]);
        assert_eq!(paragraphs[1], (1..3, "One. Two words.".to_owned(), 5));
        assert_eq!(of(&document, Unit::Sentence).len(), 4);
        // Front matter shows nothing: it goes with what follows, and at the end with what came before.
        document.sentences[0].kind = Kind::Markup;
        document.rewrites = vec![pericope_api::Rewrite { span: document.sentences[0].span, with: "".into() }];
        assert_eq!(of(&document, Unit::Sentence)[0], (0..2, "One.".to_owned(), 2));
        assert!(of(&Document::from_sentences("d", &[""; 0]), Unit::Paragraph).is_empty());
    }

    #[test]
    fn of_long_passages_both_ends_are_shown() {
        assert_eq!(shortened("abcdef", 6), "abcdef");
        assert_eq!(shortened("äbcdefg", 4), "äb [...] fg");
    }
}
