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
        Self::read(run, vectors)
    }

    fn read(run: Run, vectors: &dyn VectorSource) -> Result<Self, TrainError> {
        let mut document = Document::from_sentences("", &run.sentences).with_paragraphs(&run.paragraphs);
        for (sentence, &kind) in document.sentences.iter_mut().zip(&run.kinds) {
            sentence.kind = kind;
        }
        let texts: Vec<&str> = run.sentences.iter().map(String::as_str).collect();
        let rows = vectors.vectors(&texts).map_err(TrainError::Options)?;
        let inputs = Inputs::new(&document, &rows, vectors.dimension());
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
    let paragraphs = share() >= options.hidden_paragraphs;
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
        run.add(&one, start..start + length, paragraphs, headings);
    }
    Labelled::read(run, data.vectors)
}
