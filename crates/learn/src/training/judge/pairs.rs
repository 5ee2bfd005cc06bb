use std::sync::Arc;

use pericope_api::Span;
use pericope_encode::Subwords;
use pericope_segment::random::{SplitMix64, fnv1a};
use serde::{Deserialize, Serialize};

use super::data::{JudgeQuestion, JudgeText};
use crate::corpus::Record;

/// Words of a sentence that asks, at least.
const LEAST_WORDS: usize = 6;

/// What is made of documents whose sections are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairOptions {
    /// Headings of a document that ask for their sections, at most.
    pub headings: usize,
    /// Sentences of a document that ask for the rest of their sections, at most.
    pub sentences: usize,
    /// Tokens of a block at most.
    pub block: usize,
    /// Tokens of a query that are read.
    pub query: usize,
    /// Another seed, other headings and sentences.
    pub seed: u64,
}

/// A document as running text, with the place of each sentence and each section. Headings are left out.
struct Running {
    text: String,
    sentences: Vec<Span>,
    sections: Vec<std::ops::Range<usize>>,
}

impl Running {
    fn of(record: &Record) -> Self {
        let (mut text, mut sentences) = (String::new(), Vec::with_capacity(record.sentences.len()));
        for (i, sentence) in record.sentences.iter().enumerate() {
            if i > 0 {
                text.push_str(match (record.boundaries.binary_search(&i), record.paragraphs.binary_search(&i)) {
                    (Ok(_), _) => "\n\n",
                    (_, Ok(_)) => "\n",
                    _ => " ",
                });
            }
            let start = text.len();
            text.push_str(sentence);
            sentences.push(Span::new(start, text.len()));
        }
        let starts = std::iter::once(0).chain(record.boundaries.iter().copied());
        let ends = record.boundaries.iter().copied().chain([record.sentences.len()]);
        let sections = starts.zip(ends).map(|(start, end)| start..end).collect();
        Self { text, sentences, sections }
    }

    /// The bytes of a section.
    fn span(&self, section: usize) -> Option<Span> {
        let own = self.sentences.get(self.sections.get(section)?.clone())?;
        Some(own.first()?.hull(own.last()?))
    }
}

/// The questions that a document's sections ask: a heading asks for its section, half of the time with the headings above it; a
/// sentence asks for the rest of its section, which it is left out of. Nothing for a document of one section: there would be nothing
/// that is irrelevant. Depends on the document and the seed alone.
#[must_use]
pub fn pairs_of(record: &Record, words: &Arc<Subwords>, options: &PairOptions) -> Vec<JudgeQuestion> {
    let running = Running::of(record);
    if running.sections.len() < 2 {
        return Vec::new();
    }
    let mut random = SplitMix64::new(fnv1a(options.seed, record.id.bytes()));
    let text = JudgeText::new(&running.text, words, options.block);
    let mut found = Vec::new();
    let mut sections: Vec<usize> = (0..running.sections.len()).collect();
    random.shuffle(&mut sections);
    for &section in &sections {
        if found.len() >= options.headings {
            break;
        }
        let own: Vec<&str> = record.heading_parts(section).collect();
        let Some(span) = running.span(section).filter(|_| !own.is_empty()) else { continue };
        let alone = random.below(2) == 0;
        let asked = if alone { own.join(": ") } else { path(record, section).join(": ") };
        found.extend(text.question(&asked, &[span], options.query));
    }
    let mut sentences: Vec<(usize, usize)> = Vec::new();
    for (section, own) in running.sections.iter().enumerate().filter(|(_, own)| own.len() > 1) {
        sentences.extend(own.clone().map(|sentence| (section, sentence)));
    }
    random.shuffle(&mut sentences);
    let enough = found.len() + options.sentences;
    for (section, sentence) in sentences {
        if found.len() >= enough {
            break;
        }
        let (Some(&taken), Some(gold)) = (running.sentences.get(sentence), running.span(section)) else { continue };
        if taken.of(&running.text).split_whitespace().count() >= LEAST_WORDS {
            found.extend(text.passage(taken, gold, options.query));
        }
    }
    found
}

/// The headings above a section and its own, outermost first; the title stands for those that are not known.
fn path(record: &Record, section: usize) -> Vec<&str> {
    let level = |i: usize| i.checked_sub(1).and_then(|i| record.levels.get(i)).copied().unwrap_or(1);
    let mut below = level(section);
    let mut above = Vec::new();
    for other in (0..section).rev() {
        if level(other) < below {
            below = level(other);
            above.extend(record.heading_parts(other).next());
        }
    }
    above.extend(record.title.as_deref());
    above.reverse();
    above.extend(record.heading_parts(section));
    above.dedup();
    above
}

#[cfg(test)]
#[path = "pairs_tests.rs"]
mod tests;
