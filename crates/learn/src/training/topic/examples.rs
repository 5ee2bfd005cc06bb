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

/// The documents for validation without vectors, as they are measured: whole and without headings, those with paragraphs with and without them.
#[must_use]
pub fn topic_validation(documents: &[Record]) -> Vec<Example> {
    let read = |(record, paragraphs): (&Record, bool)| Example::of(whole_run(record, paragraphs), false);
    ways(documents).into_par_iter().map(read).collect()
}

/// Documents as they are measured: those with paragraphs with and without them, as users have both.
pub(super) fn ways<'a>(documents: &'a [Record]) -> Vec<(&'a Record, bool)> {
    let ways = |record: &'a Record| {
        let hidden = (!record.paragraphs.is_empty()).then_some((record, false));
        std::iter::once((record, true)).chain(hidden)
    };
    documents.iter().flat_map(ways).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use rayon::prelude::*;

    use super::{TopicData, TopicOptions, example, topic_examples, topic_validation, ways, whole, windows};
    use crate::corpus::Record;
    use crate::rows::{NUMBERS, places};
    use crate::training::over_vectors::VectorSource;
    use crate::training::runs::{Example, Labelled};

    /// The same vector for every text.
    struct Same;

    impl VectorSource for Same {
        fn encoder(&self) -> (&str, &str) {
            ("same", "same")
        }

        fn dimension(&self) -> usize {
            1
        }

        fn vectors(&self, texts: &[&str]) -> Result<Vec<f32>, String> {
            Ok(vec![1.0; texts.len()])
        }
    }

    fn documents() -> Vec<Record> {
        let sentence = |i: usize| format!("Sentence {i} tells of {}.", ["ships", "bread", "snow"][i / 9 % 3]);
        let document = |d: usize| Record {
            id: d.to_string(),
            sentences: (d..d + 40).map(sentence).collect(),
            boundaries: vec![9, 18, 27],
            headings: ["Ships", "Bread", "Snow", "More"].map(String::from).to_vec(),
            paragraphs: if d == 0 { Vec::new() } else { vec![4, 9, 12, 18, 27, 33] },
            ..Record::default()
        };
        (0..4).map(document).collect()
    }

    /// What both have: the numbers but for cosines, and the ends.
    fn assert_same(example: &Example, labelled: &Labelled) {
        assert_eq!(example.ends, labelled.ends);
        assert_eq!((example.rows.len(), example.numbers.len()), (labelled.inputs.len(), labelled.inputs.len()));
        for (own, row) in example.numbers.iter().zip(labelled.inputs.rows().chunks_exact(labelled.inputs.width())) {
            for place in (0..NUMBERS).filter(|place| !places::COSINE.contains(place)) {
                assert_eq!(own[place], row[1 + place], "{place}");
            }
            assert!(places::COSINE.into_iter().all(|place| own[place] == 0.0));
        }
        let sentences: Vec<usize> = example.rows.iter().cloned().flatten().collect();
        assert_eq!(sentences, (0..example.sentences.len()).collect::<Vec<_>>());
    }

    #[test]
    fn examples_without_vectors_are_those_that_are_learnt_from() {
        let documents = documents();
        let data = TopicData { train: &documents, validation: &documents, vectors: &Same };
        let options = TopicOptions { window: 16, paragraph_units: 0.5, ..TopicOptions::default() };
        let found: Vec<Example> = topic_examples(&documents, &options, 1).collect();
        let order = windows(&documents, &options, 1);
        assert_eq!((found.len(), order.len()), (12, 12));
        for (one, window) in found.iter().zip(order) {
            assert_same(one, &example(&data, &options, window, 1).unwrap());
        }
        assert!(found.iter().any(|one| one.rows.len() < one.sentences.len()), "paragraphs are rows too");
        let (measured, ways) = (topic_validation(&documents), ways(&documents));
        assert_eq!((measured.len(), ways.len()), (7, 7));
        for (one, (record, paragraphs)) in measured.iter().zip(ways) {
            assert_same(one, &whole(record, paragraphs, &Same).unwrap());
        }
    }
}
