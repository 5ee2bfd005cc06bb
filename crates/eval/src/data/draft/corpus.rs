//! What is known of the whole corpus before a question is drafted.

use std::collections::HashMap;

use pericope_api::{Document, Kind, Span};
use rayon::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use crate::text::Stems;

/// Headings of a path that a query takes at most.
pub(super) const DEEPEST: usize = 3;

/// The words of a text in lower case, with a blank around each: a phrase is found with its blanks.
pub(super) fn phrase(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    for word in text.unicode_words() {
        out.push(' ');
        out.extend(word.chars().flat_map(char::to_lowercase));
    }
    out.push(' ');
    out
}

/// The last headings of a path as one key.
pub(super) fn path_key<'a>(path: impl Iterator<Item = &'a str>) -> String {
    path.map(phrase).collect::<Vec<_>>().join("\u{1f}")
}

/// Counts over all documents.
pub(super) struct Corpus<'a> {
    pub documents: &'a [Document],
    pub stems: Stems,
    /// Documents that hold a stem.
    frequency: HashMap<u32, u32>,
    /// Places of each end of a heading path, of up to [`DEEPEST`] headings.
    paths: HashMap<String, u32>,
}

impl<'a> Corpus<'a> {
    pub fn new(documents: &'a [Document]) -> Self {
        let stems = Stems::of_documents(documents);
        let each: Vec<(Box<[u32]>, Vec<String>)> = (documents.par_iter())
            .map(|document| {
                let text = document.visible(Span::new(0, document.source.len()));
                (stems.distinct(&text), ends_of_paths(document))
            })
            .collect();
        let (mut frequency, mut paths) = (HashMap::new(), HashMap::new());
        for (stems, ends) in each {
            stems.iter().for_each(|stem| *frequency.entry(*stem).or_default() += 1);
            ends.into_iter().for_each(|end| *paths.entry(end).or_default() += 1);
        }
        Self { documents, stems, frequency, paths }
    }

    /// Documents that hold a stem.
    pub fn frequency(&self, stem: u32) -> u32 {
        self.frequency.get(&stem).copied().unwrap_or(0)
    }

    /// Whether no other heading has a path that ends so.
    pub fn is_only_path(&self, key: &str) -> bool {
        self.paths.get(key) == Some(&1)
    }
}

fn ends_of_paths(document: &Document) -> Vec<String> {
    let mut ends = Vec::new();
    for (i, sentence) in document.sentences.iter().enumerate() {
        if matches!(sentence.kind, Kind::Heading(_)) {
            let path = whole_path(document, i);
            for depth in 1..=path.len().min(DEEPEST) {
                ends.push(path_key(path.iter().skip(path.len() - depth).copied()));
            }
        }
    }
    ends
}

/// The headings above heading `i` and itself, below the document's title where that is none of them.
pub(super) fn whole_path(document: &Document, i: usize) -> Vec<&str> {
    let headings = document.heading_path(i);
    let title = document.title.as_deref().filter(|title| headings.iter().all(|heading| heading.as_str() != *title));
    title.into_iter().chain(headings.iter().map(|heading| heading.as_str())).collect()
}

/// The text of a span as a person reads it, on one line.
pub(super) fn line(document: &Document, span: Span) -> String {
    document.visible(span).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The number of words of a span, as a person reads it.
pub(super) fn count_words(document: &Document, span: Span) -> usize {
    document.visible(span).split_whitespace().count()
}

/// Fewest words of an answer.
pub(super) const FEWEST: usize = 8;
/// Most words of a section that answers: a longer one holds many subjects, and fills every budget.
pub(super) const MOST: usize = 400;
/// Most words of a paragraph that answers as a whole; of a longer one the sentence answers.
const PARAGRAPH: usize = 80;

/// The paragraph from sentence `i` on, where it is short, else the sentence alone.
pub(super) fn rest_of_paragraph(document: &Document, i: usize) -> Option<Span> {
    let first = document.sentences.get(i)?;
    let rest = document.sentences.get(i..)?;
    let last = rest.iter().take_while(|s| s.paragraph == first.paragraph && s.kind == first.kind).last()?;
    let whole = first.span.hull(&last.span);
    Some(if count_words(document, whole) <= PARAGRAPH { whole } else { first.span })
}
