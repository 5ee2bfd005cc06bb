//! Questions from documentation: headings that ask something become questions, the section under each the answer
//! (the construction of NLQuAD: Soleimani, Monz and Worring 2021).

use std::collections::HashMap;

use pericope_api::{Document, Kind, Span};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::CodePoints;
use super::sections::{format_name, section};
use super::squad::{Answer, Article, Paragraph, Qa, SquadFile};
use pericope_util::hex;

/// What makes a question worth keeping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FromDocsOptions {
    /// Fewest words of an answer; default 15.
    pub min_answer_words: usize,
    /// Fewest words of a question; default 3 (a lone "Why?" cannot be answered without its page).
    pub min_question_words: usize,
    /// Keep documents that hold no question, as distractors; default true.
    pub keep_distractors: bool,
}

impl Default for FromDocsOptions {
    fn default() -> Self {
        Self { min_answer_words: 15, min_question_words: 3, keep_distractors: true }
    }
}

/// What came out of a folder of documentation.
#[derive(Debug, Clone, Default)]
pub struct FromDocs {
    /// The questions in SQuAD's layout.
    pub file: SquadFile,
    /// One segmentation a document that has at least two sections.
    pub segmentations: Vec<SegmentationLine>,
    /// Headings that ask something and were left out, each with its reason.
    pub skipped: Vec<String>,
}

/// One line of a segmentation file (the format of `segment-eval`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SegmentationLine {
    /// Id of the document.
    pub id: String,
    /// What the documents belong to.
    pub source: String,
    /// Prose only: code, tables and headings are left out.
    pub sentences: Vec<String>,
    /// A segment ends after sentence i (1-based).
    pub boundaries: Vec<usize>,
    /// Depth of the section that starts after each boundary, 1 = outermost heading level of the document's sections.
    pub levels: Vec<u8>,
    /// One heading a segment.
    pub headings: Vec<String>,
    /// A paragraph or list item ends after sentence i (1-based); the end of the document is not listed.
    pub paragraphs: Vec<usize>,
}

/// Builds questions and segmentations. The context of a document is its text without any heading line, paragraphs
/// joined by one blank line; the answer to a heading is everything up to the next heading of its level or above.
#[must_use]
pub fn from_docs(documents: &[Document], source: &str, options: FromDocsOptions) -> FromDocs {
    let mut out = FromDocs::default();
    out.file.version = serde_json::Value::String("1.1".into());
    let mut candidates: Vec<(usize, Candidate)> = Vec::new();
    let mut articles = Vec::new();
    for document in documents {
        let context = Context::new(document);
        if context.text.is_empty() {
            continue;
        }
        for candidate in context.candidates(document) {
            candidates.push((articles.len(), candidate));
        }
        out.segmentations.extend(segmentation(document, source));
        articles.push(Article {
            title: document.title.clone().unwrap_or_else(|| document.id.clone()),
            id: Some(document.id.clone()),
            format: Some(format_name(document).to_owned()),
            source: None,
            path: None,
            paragraphs: vec![Paragraph { context: context.text, ..Paragraph::default() }],
        });
    }
    let mut uses: HashMap<String, usize> = HashMap::new();
    for (_, candidate) in &candidates {
        *uses.entry(candidate.question.to_lowercase()).or_default() += 1;
    }
    for (article, candidate) in candidates {
        let id = articles[article].id.clone().unwrap_or_default();
        let words = candidate.answer.split_whitespace().count();
        let problem = if candidate.question.split_whitespace().count() < options.min_question_words {
            Some(format!("under {} words", options.min_question_words))
        } else if uses.get(&candidate.question.to_lowercase()).is_some_and(|n| *n > 1) {
            Some("asked more than once in the corpus".into())
        } else if words < options.min_answer_words {
            Some(format!("its section has {words} words"))
        } else {
            None
        };
        if let Some(problem) = problem {
            out.skipped.push(format!("'{}' in {id}: {problem}", candidate.question));
            continue;
        }
        let key = format!("{id}\u{1f}{}", candidate.question);
        let digest = hex(&Sha256::digest(key.as_bytes())[..8]);
        articles[article].paragraphs[0].qas.push(Qa {
            id: digest,
            question: candidate.question,
            answers: vec![Answer { text: candidate.answer, answer_start: candidate.start }],
            ..Qa::default()
        });
    }
    if !options.keep_distractors {
        articles.retain(|a| a.paragraphs.iter().any(|p| !p.qas.is_empty()));
    }
    out.file.data = articles;
    out
}

/// True for a heading that asks: it ends with a question mark, or begins with an interrogative word.
#[must_use]
pub fn is_question(heading: &str) -> bool {
    const WORDS: [&str; 10] = ["what", "what's", "why", "how", "when", "where", "who", "whom", "whose", "which"];
    let heading = heading.trim();
    if heading.ends_with(['?', '？', '؟']) {
        return true;
    }
    let mut words = heading.split_whitespace();
    let first = words.next().unwrap_or_default().to_lowercase().replace('\u{2019}', "'");
    WORDS.contains(&first.as_str()) && words.next().is_some()
}

struct Candidate {
    question: String,
    answer: String,
    /// In code points of the context.
    start: usize,
}

struct Context {
    text: String,
    /// For each sentence of the document its span in the context; `None` for what was left out.
    places: Vec<Option<Span>>,
}

impl Context {
    fn new(document: &Document) -> Self {
        let mut text = String::with_capacity(document.source.len());
        let mut places = Vec::with_capacity(document.len());
        let mut before: Option<(u32, usize)> = None;
        for sentence in &document.sentences {
            if matches!(sentence.kind, Kind::Heading(_) | Kind::Markup) {
                places.push(None);
                continue;
            }
            match before {
                // White space inside a block is kept: it carries lists and indentation.
                Some((paragraph, end)) if paragraph == sentence.paragraph => {
                    text.push_str(document.text(Span::new(end, sentence.span.start)));
                }
                Some(_) => text.push_str(joint(document, before, sentence.span.start)),
                None => {}
            }
            let start = text.len();
            text.push_str(document.text(sentence.span));
            places.push(Some(Span::new(start, text.len())));
            before = Some((sentence.paragraph, sentence.span.end));
        }
        Self { text, places }
    }

    fn candidates(&self, document: &Document) -> Vec<Candidate> {
        let mut found = Vec::new();
        let points = CodePoints::new(&self.text);
        for i in 0..document.len() {
            let Some(section) = section(document, i) else { continue };
            let Some(question) = document.heading_path(i).last().map(|h| h.trim().to_owned()) else { continue };
            if !is_question(&question) {
                continue;
            }
            let mut body = self.places[section].iter().flatten();
            let span = match (body.next(), body.next_back()) {
                (Some(first), Some(last)) => first.hull(last),
                (Some(only), None) => *only,
                _ => continue,
            };
            found.push(Candidate { question, answer: span.of(&self.text).to_owned(), start: points.index(span.start) });
        }
        found
    }
}

/// One line end between list items that stood on adjacent lines, else one blank line.
fn joint(document: &Document, before: Option<(u32, usize)>, start: usize) -> &'static str {
    let between = before.map_or("", |(_, end)| document.text(Span::new(end, start)));
    if between.trim().is_empty() && between.matches('\n').count() == 1 { "\n" } else { "\n\n" }
}

/// Sections of at least one sentence of prose each; `None` for a document with fewer than two.
fn segmentation(document: &Document, source: &str) -> Option<SegmentationLine> {
    let mut line = SegmentationLine {
        id: document.id.clone(),
        source: source.to_owned(),
        sentences: Vec::new(),
        boundaries: Vec::new(),
        levels: Vec::new(),
        headings: Vec::new(),
        paragraphs: Vec::new(),
    };
    let mut before = None;
    let mut heading: Option<(u8, String)> = None;
    let mut levels = Vec::new();
    for (i, sentence) in document.sentences.iter().enumerate() {
        match sentence.kind {
            Kind::Heading(level) => {
                let text = document.heading_path(i).last().map(ToString::to_string).unwrap_or_default();
                // A heading without text of its own is folded into the next.
                heading = Some(match heading.take() {
                    Some((above, folded)) => (above.min(level), format!("{folded} > {text}")),
                    None => (level, text),
                });
            }
            Kind::Prose | Kind::ListItem => {
                if let Some((level, text)) = heading.take() {
                    if !line.sentences.is_empty() {
                        line.boundaries.push(line.sentences.len());
                        levels.push(level);
                    } else if line.headings.is_empty() {
                        line.headings.push(String::new());
                    }
                    if line.boundaries.is_empty() { line.headings[0] = text } else { line.headings.push(text) }
                } else if line.headings.is_empty() {
                    line.headings.push(document.title.clone().unwrap_or_default());
                }
                if before.is_some_and(|paragraph| paragraph != sentence.paragraph) {
                    line.paragraphs.push(line.sentences.len());
                }
                before = Some(sentence.paragraph);
                let visible = document.visible(sentence.span);
                line.sentences.push(visible.split_whitespace().collect::<Vec<_>>().join(" "));
            }
            _ => {}
        }
    }
    let top = levels.iter().min().copied().unwrap_or(1);
    line.levels = levels.into_iter().map(|l| l - top + 1).collect();
    (!line.boundaries.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use pericope_read::ReadOptions;

    fn build(pages: &[(&str, &str)]) -> FromDocs {
        let documents: Vec<Document> = pages
            .iter()
            .map(|(id, text)| pericope_read::read_text(id, "md", *text, &ReadOptions::default()).unwrap())
            .collect();
        let options = FromDocsOptions { min_answer_words: 3, ..FromDocsOptions::default() };
        from_docs(&documents, "test", options)
    }

    const PAGE: &str = "# Bees\n\nAn introduction.\n\n## What do bees eat?\n\nNectar and pollen. É!\n\n\
        ### In winter\n\nStored honey.\n\n## Hives\n\nBoxes of wood.\n\n## Why?\n\nBecause of the season.\n";

    #[test]
    fn the_answer_is_the_section_with_its_subsections() {
        let made = build(&[("bees.md", PAGE)]);
        let paragraph = &made.file.data[0].paragraphs[0];
        assert!(!paragraph.context.contains('#'), "{}", paragraph.context);
        assert_eq!(paragraph.qas.len(), 1, "a lone Why? is left out");
        let answer = &paragraph.qas[0].answers[0];
        assert_eq!(answer.text, "Nectar and pollen. É!\n\nStored honey.");
        let at: String =
            paragraph.context.chars().skip(answer.answer_start).take(answer.text.chars().count()).collect();
        assert_eq!(at, answer.text);
        assert_eq!(made.skipped.len(), 1);
    }

    #[test]
    fn a_question_asked_twice_names_no_document() {
        let made = build(&[("a.md", PAGE), ("b.md", PAGE)]);
        assert!(made.file.data.iter().all(|a| a.paragraphs[0].qas.is_empty()));
        assert_eq!(made.file.data.len(), 2);
    }

    #[test]
    fn segments_follow_the_headings() {
        let made = build(&[("bees.md", PAGE)]);
        let line = &made.segmentations[0];
        assert_eq!(line.headings, ["Bees", "What do bees eat?", "In winter", "Hives", "Why?"]);
        assert_eq!(line.boundaries.len(), 4);
        assert_eq!(line.levels, [1, 2, 1, 1]);
        // Two sentences of one paragraph are those of the second section.
        assert_eq!(line.paragraphs, [1, 3, 4, 5]);
        assert_eq!(*line.boundaries.last().unwrap(), line.sentences.len() - 1);
    }

    #[test]
    fn headings_that_ask() {
        for yes in ["What is it", "Is it safe?", "How to prune", "为什么？"] {
            assert!(is_question(yes), "{yes}");
        }
        for no in ["Whatever happens", "Installation", "How", ""] {
            assert!(!is_question(no), "{no}");
        }
    }
}
