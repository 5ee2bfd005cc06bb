use super::words::Burstiness;

/// The costs of all segments by [`Burstiness`], row by row from the last sentence to the first.
///
/// A segment costs what it costs without its first sentence, and what that one's words add. These add something else only where
/// one of them occurs again, so that a row takes time by its length and by such places, and not by its words.
pub(super) struct Rows<'a> {
    model: &'a Burstiness,
    /// By number of words: the part of the cost that is the same for all words.
    lengths: Vec<f64>,
    /// For word w from `start[w]` on: by how often it occurs in a segment, what the segment's cost is less for it.
    less: Vec<f64>,
    start: Vec<usize>,
    /// Where words occur behind the row, the last place first; those of one word are linked.
    places: Vec<Place>,
    /// By word: the number of places up to its next one; 0 where there is none.
    next: Vec<usize>,
    /// By word, within a sentence.
    counts: Vec<usize>,
    /// By length: what the costs of the row's segments are less for their words.
    held: Vec<f64>,
    /// By length: what the first sentence adds to that beyond what it adds to the segment one shorter.
    steps: Vec<f64>,
}

/// A word in a sentence.
struct Place {
    sentence: usize,
    times: usize,
    /// The place of the same word behind it, as in [`Rows::next`].
    next: usize,
}

impl<'a> Rows<'a> {
    /// Before the first row, that of the last sentence.
    pub fn new(model: &'a Burstiness) -> Self {
        let sums = |terms: &[f64]| {
            let sum = |sum: &mut f64, term: &f64| {
                *sum += term;
                Some(*sum)
            };
            std::iter::once(0.0).chain(terms.iter().scan(0.0, sum)).collect::<Vec<f64>>()
        };
        let (mut less, mut start) = (Vec::new(), Vec::new());
        for again in model.again() {
            start.push(less.len());
            less.extend(sums(again));
        }
        let vocabulary = start.len();
        Self {
            model,
            lengths: sums(model.any()),
            less,
            start,
            places: Vec::new(),
            next: vec![0; vocabulary],
            counts: vec![0; vocabulary],
            held: Vec::new(),
            steps: Vec::new(),
        }
    }

    /// The costs, in nats, of the segments that begin at sentence `first` and are 1, 2, ... and up to `room`, at least 1, sentences long. To
    /// be asked for every sentence from the last to the first; `room` may grow by one from a row to the next.
    pub fn row(&mut self, first: usize, room: usize) -> impl Iterator<Item = f64> {
        self.add(first, room);
        self.held.truncate(room - 1);
        self.held.insert(0, 0.0);
        let words = self.model.words();
        let ((mut added, mut length), lengths) = ((0.0, 0), &self.lengths);
        self.held.iter_mut().zip(&self.steps).enumerate().map(move |(i, (held, step))| {
            added += step;
            *held += added;
            length += words.of(first + i).len();
            lengths[length] - *held
        })
    }

    /// Counts the words of sentence `first`, and finds where they occur again in the segments of its row.
    fn add(&mut self, first: usize, room: usize) {
        self.steps.clear();
        self.steps.resize(room, 0.0);
        let words = self.model.words().of(first);
        words.iter().for_each(|&word| self.counts[word as usize] += 1);
        for &word in words {
            let word = word as usize;
            let times = std::mem::take(&mut self.counts[word]);
            if times == 0 {
                continue;
            }
            let less = &self.less[self.start[word]..];
            let mut before = 0;
            let mut adds = less[times];
            self.steps[0] += adds;
            let mut next = self.next[word];
            while let Some(place) = next.checked_sub(1).map(|at| &self.places[at]) {
                let Some(step) = self.steps.get_mut(place.sentence - first) else { break };
                before += place.times;
                let adds_now = less[before + times] - less[before];
                *step += adds_now - adds;
                (adds, next) = (adds_now, place.next);
            }
            self.places.push(Place { sentence: first, times, next: self.next[word] });
            self.next[word] = self.places.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use pericope_api::Document;
    use proptest::prelude::*;

    use super::{Burstiness, Rows};
    use crate::lexical::Words;

    proptest! {
        #[test]
        fn rows_are_those_of_the_words_one_after_the_other(
            sentences in prop::collection::vec("(ship |sail |bread |dough |1 ){0,6}", 1..12),
            longest in 1_usize..12,
        ) {
            let model = Burstiness::new(Words::read(&Document::from_sentences("d", &sentences)), 7.0);
            let n = model.sentences();
            let (mut rows, mut counts) = (Rows::new(&model), model.counts());
            for first in (0..n).rev() {
                let mut expected = vec![0.0; longest.min(n - first)];
                model.row(first, &mut counts, &mut expected);
                let found: Vec<f64> = rows.row(first, expected.len()).collect();
                prop_assert_eq!(found.len(), expected.len());
                for (found, expected) in found.iter().zip(&expected) {
                    prop_assert!((found - expected).abs() < 1e-9, "{} is not {}", found, expected);
                }
            }
        }
    }
}
