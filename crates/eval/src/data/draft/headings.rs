//! Paths of headings: the section answers.

use pericope_api::{Document, Kind, Span};

use super::super::from_docs::is_question;
use super::super::sections::section;
use super::candidate::Candidate;
use super::corpus::{Corpus, DEEPEST, FEWEST, MOST, count_words, path_key, whole_path};
use super::options::Dropped;
use super::{Drafted, QuestionKind};

/// Headings that say what part of a page they head and not what it is about.
const GENERIC: &str = "about, abstract, additional resources, appendix, arguments, background, changelog, conclusion, \
    contents, contributing, definition, description, details, example, examples, faq, features, \
    further information, further reading, getting started, history, how it works, info, installation, \
    introduction, learn more, license, limitations, links, more, more information, motivation, name, \
    next steps, note, notes, options, output, outputs, overview, parameters, prerequisites, properties, \
    quick start, read more, references, related, related information, related links, remarks, \
    requirements, resources, result, results, return, return value, return values, returns, see also, \
    setup, short description, long description, status, summary, syntax, table of contents, tip, tips, \
    todo, troubleshooting, usage, warning, what s next, what's next";

/// Fewest stems of a query: one word alone names a subject and no section.
const FEWEST_STEMS: usize = 2;

pub(super) fn candidates(corpus: &Corpus<'_>, at: usize, document: &Document, out: &mut Drafted) -> Vec<Candidate> {
    let mut found = Vec::new();
    for i in 0..document.len() {
        let Some(answer) = answer(document, i) else { continue };
        let Some(own) = own_words(document, i).filter(|heading| !is_question(heading)) else { continue };
        let low = own.trim_end_matches([':', '.', '!', '…']).to_lowercase();
        if GENERIC.split(", ").any(|generic| generic == low) {
            continue;
        }
        // "Schema files" may be those of anything: what stands above says of what.
        let path = whole_path(document, i);
        let depths = path.len().min(2)..=path.len().min(DEEPEST);
        let mut ends = depths.map(|depth| path.get(path.len() - depth..).unwrap_or_default());
        let Some(end) = ends.find(|end| corpus.is_only_path(&path_key(end.iter().copied()))) else {
            out.drop_one(Dropped::Ambiguous);
            continue;
        };
        let query = end.iter().map(|heading| unnumbered(heading)).collect::<Vec<_>>().join(": ");
        if corpus.stems.distinct(&query).len() < FEWEST_STEMS {
            continue;
        }
        found.push(Candidate { document: at, kind: QuestionKind::Heading, query, answer, masks: vec![i] });
    }
    found
}

/// The text of the section below heading `i`, where it has a length that answers; `None` where `i` is no heading.
pub(super) fn answer(document: &Document, i: usize) -> Option<Span> {
    let body = document.sentences.get(section(document, i)?)?;
    // What nobody sees, and headings without text below them, are no part of it.
    let said = |s: &&pericope_api::Sentence| !matches!(s.kind, Kind::Markup | Kind::Heading(_));
    let (first, last) = (body.iter().find(said)?, body.iter().rev().find(said)?);
    let span = first.span.hull(&last.span);
    (FEWEST..=MOST).contains(&count_words(document, span)).then_some(span)
}

/// The words of heading `i` itself.
pub(super) fn own_words(document: &Document, i: usize) -> Option<String> {
    document.heading_path(i).last().map(|heading| unnumbered(heading)).filter(|words| !words.is_empty())
}

/// A heading on one line, without a number in front of it and signs for links behind.
fn unnumbered(heading: &str) -> String {
    let words: Vec<&str> = heading.split_whitespace().collect();
    let line = words.join(" ");
    let line = line.trim_end_matches(['¶', '#', ' ', ':']);
    let is_number = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_digit())
            && word.contains('.')
            && word.chars().all(|c| c.is_ascii_digit() || ".)".contains(c))
    };
    match line.split_once(' ') {
        Some((number, rest)) if is_number(number) => rest.to_owned(),
        _ => line.to_owned(),
    }
}
