use std::sync::Arc;

use pericope_api::{Document, Span};
use pericope_encode::Base;
use pericope_segment::language;

use crate::sentences::Sentences;
use crate::weswin::QUESTION;

/// A document whose boundaries are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelledDocument {
    /// The id, which decides its [`Split`](pericope_segment::split::Split).
    pub id: String,
    /// The sentences as the base model's tokens; for WeSWin at most 3 less of each than a sequence has.
    pub sentences: Sentences,
    /// True where a segment ends after the sentence; the last one's entry is not used.
    pub ends: Vec<bool>,
}

impl LabelledDocument {
    /// Takes a document as the segmenter will read it: without code and tables, in sequences of so many `tokens`. `boundaries`
    /// are the numbers of the sentences, from 1, after which a segment ends.
    #[must_use]
    pub fn new(document: &Document, boundaries: &[usize], base: &Base, tokens: usize) -> Self {
        let read = language::sentences(document);
        let limit = tokens.saturating_sub(3);
        let ids: Vec<Vec<u32>> =
            read.iter().map(|&i| base.tokens.ids(&document.visible(document.sentences[i].span), limit)).collect();
        // A boundary behind what is not read belongs to the last sentence that is.
        let mut ends = vec![false; read.len()];
        for &after in boundaries {
            if let Some(end) = read.partition_point(|&i| i < after).checked_sub(1).and_then(|at| ends.get_mut(at)) {
                *end = true;
            }
        }
        let sentences = Sentences::new(ids.iter().map(Vec::as_slice), limit);
        Self { id: document.id.clone(), sentences, ends }
    }
}

/// A document that questions are asked about: it is tokenized once, however many they are.
#[derive(Debug, Clone)]
pub struct AskedDocument {
    /// Where its sentences lie that are read.
    spans: Vec<Span>,
    sentences: Arc<Sentences>,
}

impl AskedDocument {
    /// Takes a document as the reranker will read it: without code and tables.
    #[must_use]
    pub fn new(document: &Document, base: &Base) -> Self {
        let read = language::sentences(document).into_iter();
        let spans: Vec<Span> = read.map(|i| document.sentences[i].span).collect();
        let ids: Vec<Vec<u32>> =
            spans.iter().map(|&span| base.tokens.ids(&document.visible(span), usize::MAX)).collect();
        Self { spans, sentences: Arc::new(Sentences::new(ids.iter().map(Vec::as_slice), usize::MAX)) }
    }

    /// Returns a question whose answer stands in these byte ranges of the document.
    #[must_use]
    pub fn question(&self, text: &str, gold: &[Span], base: &Base) -> PreparedQuestion {
        let is_relevant = |span: &Span| gold.iter().any(|gold| gold.start < span.end && span.start < gold.end);
        PreparedQuestion {
            relevant: self.spans.iter().map(is_relevant).collect(),
            sentences: Arc::clone(&self.sentences),
            question: base.tokens.ids(text, QUESTION),
        }
    }
}

/// A question about a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedQuestion {
    /// The document's sentences; questions about one document share them.
    pub sentences: Arc<Sentences>,
    /// True for sentences inside the answer.
    pub relevant: Vec<bool>,
    /// The question's tokens.
    pub question: Vec<u32>,
}

/// The data of a training of WeSWin.
#[derive(Debug, Clone, Copy, Default)]
pub struct Data<'a> {
    /// Documents to learn boundaries from.
    pub train: &'a [LabelledDocument],
    /// Documents to stop by and to tune on; without boundaries in them all steps are done and the last weights stay.
    pub validation: &'a [LabelledDocument],
    /// Questions to train the retrieval head on; without any the model has none.
    pub questions: &'a [PreparedQuestion],
    /// Questions that the retrieval head is measured on at each validation.
    pub validation_questions: &'a [PreparedQuestion],
}

impl LabelledDocument {
    /// True where a segment ends before the last sentence.
    #[must_use]
    pub fn has_boundary(&self) -> bool {
        self.ends.iter().rev().skip(1).any(|&end| end)
    }
}
