//! Runs of sentences that models which read rows learn from.

use std::ops::Range;

use pericope_api::{Document, Kind};

use super::options::TrainError;
use super::over_vectors::VectorSource;
use crate::corpus::SequenceDocument;
use crate::rows::{Facts, Inputs, NUMBERS};

/// A run of sentences with what is known of it.
#[derive(Default)]
#[cfg_attr(test, derive(Debug, PartialEq))]
pub(super) struct Run {
    pub(super) sentences: Vec<String>,
    kinds: Vec<Kind>,
    /// The numbers of the sentences (1-based) after which a paragraph ends.
    paragraphs: Vec<usize>,
    /// Whether a segment ends behind each sentence.
    pub(super) ends: Vec<bool>,
}

impl Run {
    /// Adds sentences of a document, behind a boundary.
    pub(super) fn add(&mut self, document: &SequenceDocument, range: Range<usize>, paragraphs: bool, headings: bool) {
        self.end();
        let ends = document.boundary_flags();
        let known = document.paragraph_flags().filter(|_| paragraphs);
        for i in range {
            let Some(sentence) = document.sentences.get(i) else { break };
            let level = document.headings.get(i).copied().unwrap_or(0);
            let kind = if level > 0 && headings { Kind::Heading(level) } else { Kind::Prose };
            let paragraph = known.as_ref().is_none_or(|known| known.get(i).copied().unwrap_or(true));
            self.push(sentence, kind, ends.get(i).copied().unwrap_or(false), paragraph);
        }
    }

    /// Ends a segment, and a paragraph, behind the sentences so far.
    pub(super) fn end(&mut self) {
        if let Some(last) = self.ends.last_mut() {
            *last = true;
            if self.paragraphs.last() != Some(&self.sentences.len()) {
                self.paragraphs.push(self.sentences.len());
            }
        }
    }

    /// Adds a sentence, behind which a segment `ends` or none, and a `paragraph` or none.
    pub(super) fn push(&mut self, sentence: &str, kind: Kind, ends: bool, paragraph: bool) {
        self.sentences.push(sentence.to_owned());
        self.kinds.push(kind);
        self.ends.push(ends);
        if paragraph {
            self.paragraphs.push(self.sentences.len());
        }
    }

    /// The run as a document.
    pub(super) fn document(&self) -> Document {
        let mut document = Document::from_sentences("", &self.sentences).with_paragraphs(&self.paragraphs);
        for (sentence, &kind) in document.sentences.iter_mut().zip(&self.kinds) {
            sentence.kind = kind;
        }
        document
    }

    /// The sentences of each paragraph; the last one ends with the run.
    fn paragraphs(&self) -> Vec<Range<usize>> {
        let last = self.sentences.len();
        let open = self.paragraphs.last() != Some(&last);
        let mut from = 0;
        let ends = self.paragraphs.iter().copied().chain(open.then_some(last));
        ends.map(|end| std::mem::replace(&mut from, end)..end).collect()
    }

    /// The run with a row of `rows` for each sentence, of `dimension` numbers, as one sentence a paragraph: its vector is the
    /// mean of those of its sentences, at norm 1. Headings are paragraphs.
    fn in_paragraphs(self, rows: &[f32], dimension: usize) -> (Self, Vec<f32>) {
        let mut merged = Self::default();
        let mut vectors = Vec::new();
        for Range { start: from, end } in self.paragraphs() {
            let sentences = self.sentences.get(from..end).unwrap_or_default();
            let mut sum = vec![0f32; dimension];
            for row in rows.get(from * dimension..end * dimension).unwrap_or_default().chunks_exact(dimension.max(1)) {
                sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
            }
            let norm = sum.iter().map(|x| x * x).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
            vectors.extend(sum.iter().map(|x| x / norm));
            merged.sentences.push(sentences.join(" "));
            merged.kinds.push(self.kinds.get(from).copied().unwrap_or(Kind::Prose));
            merged.ends.push(end.checked_sub(1).and_then(|at| self.ends.get(at)).copied().unwrap_or(false));
        }
        merged.paragraphs = (1..=merged.sentences.len()).collect();
        (merged, vectors)
    }
}

/// What a model reads of a run beside the vectors of its sentences, for trainers that make the vectors themselves.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// The sentences.
    pub sentences: Vec<String>,
    /// The sentences of each row: one, or those of a paragraph, whose vector is the mean of theirs at norm 1.
    pub rows: Vec<Range<usize>>,
    /// The numbers of each row, see [`Inputs`]; 0 in place of cosines.
    pub numbers: Vec<[f32; NUMBERS]>,
    /// Whether a segment ends behind each row.
    pub ends: Vec<bool>,
}

impl Example {
    /// A run, sentence by sentence or `by_paragraph`, with one row for each paragraph.
    pub(super) fn of(run: Run, by_paragraph: bool) -> Self {
        let sentences = run.sentences.clone();
        let (run, rows) = if by_paragraph {
            let rows = run.paragraphs();
            (run.in_paragraphs(&[], 0).0, rows)
        } else {
            let rows = (0..sentences.len()).map(|i| i..i + 1).collect();
            (run, rows)
        };
        Self { sentences, rows, numbers: Facts::of(&run.document()).into_numbers(), ends: run.ends }
    }
}

/// What the model reads of a run, and whether a segment ends behind each sentence.
pub(super) struct Labelled {
    pub(super) inputs: Inputs,
    pub(super) ends: Vec<bool>,
}

impl Labelled {
    /// A run, sentence by sentence or `by_paragraph`, with one sentence for each paragraph.
    pub(super) fn read(mut run: Run, by_paragraph: bool, vectors: &dyn VectorSource) -> Result<Self, TrainError> {
        let dimension = vectors.dimension();
        let texts: Vec<&str> = run.sentences.iter().map(String::as_str).collect();
        let mut rows = vectors.vectors(&texts).map_err(TrainError::Options)?;
        if by_paragraph {
            (run, rows) = run.in_paragraphs(&rows, dimension);
        }
        let inputs = Inputs::new(&run.document(), &rows, dimension);
        let inputs = inputs.ok_or_else(|| TrainError::Options("a sentence of the data is blank".into()))?;
        Ok(Self { inputs, ends: run.ends })
    }
}

#[cfg(test)]
mod tests {
    use pericope_api::Kind;

    use super::Run;

    #[test]
    fn paragraphs_become_sentences() {
        let run = Run {
            sentences: ["a", "b", "c", "d"].map(String::from).to_vec(),
            kinds: vec![Kind::Prose; 4],
            paragraphs: vec![2, 3],
            ends: vec![false, true, false, false],
        };
        let (merged, rows) = run.in_paragraphs(&[1.0, 0.0, 0.0, 1.0, 0.6, 0.8, 1.0, 0.0], 2);
        assert_eq!(merged.sentences, ["a b", "c", "d"]);
        assert_eq!((merged.ends, merged.paragraphs), (vec![true, false, false], vec![1, 2, 3]));
        let half = 0.5f32.sqrt();
        assert!(rows.iter().zip([half, half, 0.6, 0.8, 1.0, 0.0]).all(|(a, b)| (a - b).abs() < 1e-6), "{rows:?}");
    }
}
