use std::borrow::Cow;
use std::ops::Range;

use pericope_api::SegmentError;

use crate::rows::Facts;

/// What a model reads of the sentences of a document, in windows one after the other. The vectors of a few windows are in memory.
pub(super) struct WindowRows<'a> {
    /// What is known beside the vectors; nothing for a model that reads vectors alone.
    facts: Option<&'a Facts>,
    dimension: usize,
    /// The vectors of the sentences from `at` on.
    known: Vec<f32>,
    at: usize,
}

impl<'a> WindowRows<'a> {
    pub(super) fn new(facts: Option<&'a Facts>, dimension: usize) -> Self {
        Self { facts, dimension, known: Vec::new(), at: 0 }
    }

    /// What is read of the sentences `range`, row by row. No range begins or ends before the one that was asked for before it, so
    /// that `vectors` is asked for each sentence once, in order.
    pub(super) fn of(
        &mut self,
        range: Range<usize>,
        vectors: &mut dyn FnMut(Range<usize>) -> Result<Vec<f32>, SegmentError>,
    ) -> Result<Cow<'_, [f32]>, SegmentError> {
        let dimension = self.dimension;
        let wrong = || {
            let reason = format!("the encoder gave no vectors of {dimension} numbers for all sentences");
            SegmentError::Unsupported(reason)
        };
        // Cosines at a gap look at sentences on both sides of it, in other windows too.
        let reach = self.facts.map_or(range.clone(), |facts| facts.reach(&range));
        let forgotten = reach.start.saturating_sub(self.at) * dimension;
        self.known.drain(..forgotten.min(self.known.len()));
        self.at = reach.start;
        let have = self.at + self.known.len() / dimension;
        if have < reach.end {
            self.known.extend(vectors(have..reach.end)?);
        }
        if self.known.len() != reach.len() * dimension {
            return Err(wrong());
        }
        match self.facts {
            Some(facts) => {
                let inputs = facts.inputs(range, &self.known, dimension).ok_or_else(wrong)?;
                Ok(Cow::Owned(inputs.into_rows()))
            }
            None => Ok(Cow::Borrowed(self.known.as_slice())),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use pericope_api::Document;

    use super::WindowRows;
    use crate::hiercrf::windows::windows;
    use crate::rows::{Facts, Inputs};

    #[test]
    fn windows_have_the_rows_of_the_whole_document() {
        let n = 400;
        let sentences: Vec<String> = (0..n).map(|i| format!("Word{} and word{}.", i / 9 % 7, i % 3)).collect();
        let document = Document::from_sentences("d", &sentences).with_paragraphs(&[9, 14, 30, 200, 301]);
        let vectors: Vec<f32> = (0..n).flat_map(|i| [(i as f32).sin(), (i as f32).cos()]).collect();
        let whole = Inputs::new(&document, &vectors, 2).unwrap();
        let facts = Facts::of(&document);
        for (facts, all) in [(Some(&facts), whole.rows()), (None, vectors.as_slice())] {
            let (mut rows, mut next, width) = (WindowRows::new(facts, 2), 0, all.len() / n);
            for group in windows(n, 20).chunks(3) {
                let range = group[0].start..group[group.len() - 1].end;
                let found = rows.of(range.clone(), &mut |asked| {
                    assert_eq!(asked.start, next);
                    next = asked.end;
                    Ok(vectors[2 * asked.start..2 * asked.end].to_vec())
                });
                let found = found.unwrap();
                let own = &all[range.start * width..range.end * width];
                assert_eq!(found.len(), own.len());
                let off = found.iter().zip(own).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                assert!(off < 1e-6, "{range:?}: {off}");
            }
            assert_eq!(next, n);
        }
    }

    #[test]
    fn vectors_that_are_missing_are_an_error() {
        let document = Document::from_sentences("d", &["One.", "Two.", "Three."]);
        let facts = Facts::of(&document);
        for facts in [Some(&facts), None] {
            let error = WindowRows::new(facts, 2).of(0..3, &mut |_| Ok(vec![1.0; 5])).unwrap_err().to_string();
            assert!(error.contains("no vectors of 2 numbers"), "{error}");
        }
    }
}
