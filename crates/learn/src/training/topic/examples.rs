use pericope_segment::random::{SplitMix64, fnv1a};
use rayon::prelude::*;

use super::options::{TopicData, TopicOptions};
use crate::corpus::{Headings, Record, SequenceDocument};
use crate::training::options::TrainError;
use crate::training::over_vectors::VectorSource;
use crate::training::runs::{Example, Labelled, Run};

/// Sentences of another document that join an example: at least, and at most.
const JOINED: (usize, usize) = (5, 80);

/// Parts of other documents that join an example at most.
const PARTS: usize = 3;

/// A whole document as it is measured: without its headings, and with its `paragraphs` or without.
pub(super) fn whole(record: &Record, paragraphs: bool, vectors: &dyn VectorSource) -> Result<Labelled, TrainError> {
    Labelled::read(whole_run(record, paragraphs), false, vectors)
}

fn whole_run(record: &Record, paragraphs: bool) -> Run {
    let document = SequenceDocument::new(record, Headings::Dropped);
    let mut run = Run::default();
    run.add(&document, 0..document.len(), paragraphs, false);
    run
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
    window: (usize, usize),
    epoch: usize,
) -> Result<Labelled, TrainError> {
    let (run, by_paragraph) = run(data.train, options, window, epoch);
    Labelled::read(run, by_paragraph, data.vectors)
}

/// The sentences of an example, and whether each paragraph of it is read as one.
fn run(documents: &[Record], options: &TopicOptions, (document, window): (usize, usize), epoch: usize) -> (Run, bool) {
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
        let from = if is_own { document } else { (share() * documents.len() as f64) as usize };
        let Some(one) = documents.get(from).map(|record| SequenceDocument::new(record, kept)) else { continue };
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
    (run, by_paragraph)
}

/// The examples of an epoch without vectors, in their order, for a trainer that makes the vectors itself.
pub fn topic_examples<'a>(
    documents: &'a [Record],
    options: &'a TopicOptions,
    epoch: usize,
) -> impl ParallelIterator<Item = Example> + 'a {
    windows(documents, options, epoch).into_par_iter().map(move |window| {
        let (run, by_paragraph) = run(documents, options, window, epoch);
        Example::of(run, by_paragraph)
    })
}

/// A whole document without vectors as it is measured: without its headings, and with its `paragraphs` or without.
#[must_use]
pub fn topic_example(record: &Record, paragraphs: bool) -> Example {
    Example::of(whole_run(record, paragraphs), false)
}
