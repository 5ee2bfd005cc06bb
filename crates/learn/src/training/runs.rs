//! Runs of sentences that models which read rows learn from.

use std::ops::Range;

use pericope_api::{Document, Kind};

use super::options::TrainError;
use super::over_vectors::VectorSource;
use crate::corpus::SequenceDocument;
use crate::rows::Inputs;

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

    /// The run with a row of `rows` for each sentence, of `dimension` numbers, as one sentence a paragraph: its vector is the
    /// mean of those of its sentences, at norm 1. Headings are paragraphs.
    fn in_paragraphs(self, rows: &[f32], dimension: usize) -> (Self, Vec<f32>) {
        let mut merged = Self::default();
        let mut vectors = Vec::new();
        let mut from = 0;
        let last = self.sentences.len();
        for &end in self.paragraphs.iter().chain((self.paragraphs.last() != Some(&last)).then_some(&last)) {
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
            from = end;
        }
        merged.paragraphs = (1..=merged.sentences.len()).collect();
        (merged, vectors)
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
