use std::ops::Range;

use pericope_api::{Document, Kind};
use pericope_segment::random::{SplitMix64, fnv1a};

use super::options::{TopicData, TopicOptions};
use crate::corpus::{Headings, Record, SequenceDocument};
use crate::topic::Inputs;
use crate::training::options::TrainError;
use crate::training::over_vectors::VectorSource;

/// Sentences of another document that join an example: at least, and at most.
const JOINED: (usize, usize) = (5, 80);

/// Parts of other documents that join an example at most.
const PARTS: usize = 3;

/// A run of sentences with what is known of it.
#[derive(Default)]
#[cfg_attr(test, derive(Debug, PartialEq))]
struct Run {
    sentences: Vec<String>,
    kinds: Vec<Kind>,
    /// The numbers of the sentences (1-based) after which a paragraph ends.
    paragraphs: Vec<usize>,
    /// Whether a segment ends behind each sentence.
    ends: Vec<bool>,
}

impl Run {
    /// Adds sentences of a document, behind a boundary.
    fn add(&mut self, document: &SequenceDocument, range: Range<usize>, paragraphs: bool, headings: bool) {
        if let Some(last) = self.ends.last_mut() {
            *last = true;
            if self.paragraphs.last() != Some(&self.sentences.len()) {
                self.paragraphs.push(self.sentences.len());
            }
        }
        let ends = document.boundary_flags();
        let known = document.paragraph_flags().filter(|_| paragraphs);
        for i in range {
            let Some(sentence) = document.sentences.get(i) else { break };
            let level = document.headings.get(i).copied().unwrap_or(0);
            self.sentences.push(sentence.clone());
            self.kinds.push(if level > 0 && headings { Kind::Heading(level) } else { Kind::Prose });
            self.ends.push(ends.get(i).copied().unwrap_or(false));
            if known.as_ref().is_none_or(|known| known.get(i).copied().unwrap_or(true)) {
                self.paragraphs.push(self.sentences.len());
            }
        }
    }
}

impl Run {
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

/// What the model reads of a run, and whether a segment ends at each gap.
pub(super) struct Labelled {
    pub(super) inputs: Inputs,
    pub(super) ends: Vec<bool>,
}

impl Labelled {
    /// A whole document as it is measured: without its headings, and with its `paragraphs` or without.
    pub(super) fn of(record: &Record, paragraphs: bool, vectors: &dyn VectorSource) -> Result<Self, TrainError> {
        let document = SequenceDocument::new(record, Headings::Dropped);
        let mut run = Run::default();
        run.add(&document, 0..document.len(), paragraphs, false);
        Self::read(run, false, vectors)
    }

    /// A run, sentence by sentence or `by_paragraph`, with one sentence for each paragraph.
    fn read(mut run: Run, by_paragraph: bool, vectors: &dyn VectorSource) -> Result<Self, TrainError> {
        let dimension = vectors.dimension();
        let texts: Vec<&str> = run.sentences.iter().map(String::as_str).collect();
        let mut rows = vectors.vectors(&texts).map_err(TrainError::Options)?;
        if by_paragraph {
            (run, rows) = run.in_paragraphs(&rows, dimension);
        }
        let mut document = Document::from_sentences("", &run.sentences).with_paragraphs(&run.paragraphs);
        for (sentence, &kind) in document.sentences.iter_mut().zip(&run.kinds) {
            sentence.kind = kind;
        }
        let inputs = Inputs::new(&document, &rows, dimension);
        let inputs = inputs.ok_or_else(|| TrainError::Options("a sentence of the data is blank".into()))?;
        Ok(Self { inputs, ends: run.ends })
    }
}

/// What an epoch learns from, in its order: each document as often as it has windows.
pub(super) fn windows(documents: &[Record], options: &TopicOptions, epoch: usize) -> Vec<(usize, usize)> {
    let windows = |(i, record): (usize, &Record)| {
        let n = record.sentences.len();
        let count = if n < 2 { 0 } else { n.div_ceil(options.window) };
        (0..count).map(move |window| (i, window))
    };
    let mut order: Vec<(usize, usize)> = documents.iter().enumerate().flat_map(windows).collect();
    SplitMix64::new(fnv1a(options.seed, epoch.to_le_bytes())).shuffle(&mut order);
    order
}

/// An example: a window of a document, beginning anywhere near its place, maybe with runs of other documents.
pub(super) fn example(
    data: &TopicData<'_>,
    options: &TopicOptions,
    (document, window): (usize, usize),
    epoch: usize,
) -> Result<Labelled, TrainError> {
    let key = [epoch.to_le_bytes(), document.to_le_bytes(), window.to_le_bytes()].concat();
    let mut random = SplitMix64::new(fnv1a(options.seed, key));
    let mut share = || (random.next() >> 11) as f64 / (1u64 << 53) as f64;
    let hidden = share() < options.hidden_paragraphs;
    let by_paragraph = share() < options.paragraph_units;
    let headings = share() < 0.5;
    let kept = if share() < 0.5 { Headings::Kept } else { Headings::Dropped };
    let mut run = Run::default();
    let others = if share() < options.joined { 1 + (share() * PARTS as f64) as usize } else { 0 };
    let before = (share() * (others + 1) as f64) as usize;
    for part in 0..=others {
        let is_own = part == before.min(others);
        let from = if is_own { document } else { (share() * data.train.len() as f64) as usize };
        let Some(one) = data.train.get(from).map(|record| SequenceDocument::new(record, kept)) else { continue };
        let (start, length) = if is_own {
            let windows = one.len().div_ceil(options.window).max(1);
            let length = options.window.min(one.len());
            // Windows lie evenly, and begin somewhat earlier or later in every epoch.
            let room = (one.len() - length) as f64;
            let place = (window as f64 + share()) / windows as f64;
            ((room * place.min(1.0)) as usize, length)
        } else {
            let length = JOINED.0 + (share() * (JOINED.1 - JOINED.0) as f64) as usize;
            let length = length.min(one.len());
            ((share() * (one.len() - length + 1) as f64) as usize, length)
        };
        run.add(&one, start..start + length, by_paragraph || !hidden, headings);
    }
    Labelled::read(run, by_paragraph, data.vectors)
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
