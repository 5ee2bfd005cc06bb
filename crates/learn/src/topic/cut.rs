use pericope_api::{Boundaries, BoundaryError};
use pericope_segment::fusion::WordCosts;
use pericope_segment::segment_costs::{SegmentCosts, scores};

use super::checkpoint::Weights;
use super::decode::best_count;
use super::lengths::Lengths;
use super::sections::{SURE, expected_segments, price_of};
use super::window_diff::ExpectedWindowDiff;

/// Sentences of a segment beyond which one more counts as the last one did; fewer where the table would have more than [`CELLS`].
const LONGEST: usize = 128;

/// Cells of a table of costs: 64 MB.
const CELLS: usize = 8 << 20;

/// Steps at most of the programme that finds the best segmentation of a given number, where no price gives that number.
const STEPS: usize = 1 << 30;

/// Thresholds, in hundredths, among whose segmentations the one with the least expected WindowDiff is looked for: from few boundaries
/// to many.
const THRESHOLDS: [u8; 19] = [95, 90, 85, 80, 75, 70, 65, 60, 55, 50, 45, 40, 35, 30, 25, 20, 15, 10, 5];

/// What the number of sections is best for, by the model's own probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Objective {
    /// Between the two others: the geometric mean of their numbers of segments. Many uncertain boundaries are worth their risk to F1
    /// and none of them is to WindowDiff, however near they are.
    Balanced,
    /// The F1 of exact boundaries: as many boundaries as promise most ([`best_count`]).
    F1,
    /// WindowDiff: of the segmentations at the thresholds 0.05, 0.1, ... 0.95, and that without a boundary, the one from which the
    /// least is expected, each gap having a boundary or none whatever the others have. Uncertain boundaries are left out.
    WindowDiff,
}

/// The number of sections that a document gets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    /// As many as are best for an objective.
    Best(Objective),
    /// As many as have boundaries that are worth this probability, 0 to 1: where nothing but log-odds counts, those above it.
    Above(f64),
    /// So many for 100 sentences, and at least one.
    Per100(f64),
}

/// The evidence for every segmentation of a document: the sum of the log-odds of its boundaries, the weighted gain of its words, and
/// the weighted evidence of its segments' lengths, in nats.
pub(crate) struct Evidence {
    n: usize,
    costs: SegmentCosts,
    /// The price of a segment, in nats, added to its cost.
    price: f64,
    probabilities: Vec<f64>,
}

impl Evidence {
    /// From the log-odds of each gap, and from words and lengths with the weights of a model: what weighs nothing is left out.
    ///
    /// Segments have a price at which as many are expected as by the log-odds alone: the words and lengths of segments say where
    /// boundaries lie, and not how many there are.
    pub(crate) fn weighted(
        odds: &[f64],
        words: Option<&WordCosts>,
        lengths: Option<&Lengths>,
        weights: &Weights,
    ) -> Self {
        let words = words.filter(|_| weights.words > 0.0).map(|words| (words, weights.words));
        let lengths = lengths.filter(|_| weights.prior > 0.0).map(|lengths| (lengths, weights.prior));
        let costs = table(odds, words, lengths);
        let n = odds.len() + 1;
        if words.is_none() && lengths.is_none() {
            return Self::at(0.0, costs, n);
        }
        // What was found at the last price that was tried.
        let mut last = (f64::NAN, Vec::new());
        let price = price_of(expected_segments(odds), |price| {
            last = (price, costs.marginals(price, 1.0));
            last.1.iter().sum()
        });
        match last {
            (at, probabilities) if at == price => Self { n, costs, price, probabilities },
            _ => Self::at(price, costs, n),
        }
    }

    /// From what the segments of a document of `n` sentences cost, at a price for each.
    fn at(price: f64, costs: SegmentCosts, n: usize) -> Self {
        let probabilities = costs.marginals(price, 1.0);
        Self { n, costs, price, probabilities }
    }

    /// The segmentation for which the evidence is greatest, among those with so many sections.
    pub(crate) fn cut(&self, amount: Amount) -> Result<Boundaries, BoundaryError> {
        match amount {
            Amount::Above(threshold) => self.above(threshold),
            Amount::Per100(sections) => self.segments((sections * self.n as f64 / 100.0).round() as usize),
            Amount::Best(Objective::F1) => self.segments(self.for_f1()),
            Amount::Best(Objective::WindowDiff) => self.least_window_diff(),
            Amount::Best(Objective::Balanced) => {
                let both = self.for_f1() * self.least_window_diff()?.segments();
                self.segments((both as f64).sqrt().round() as usize)
            }
        }
    }

    /// The probability of a boundary at each gap as its score, with a threshold above which exactly the boundaries of `chosen`, cut
    /// by `amount`, lie. A probability that is on the wrong side of it is moved there.
    pub(super) fn scores(self, chosen: &Boundaries, amount: Amount) -> (Vec<f64>, f64) {
        let threshold = match amount {
            Amount::Above(threshold) => threshold,
            Amount::Best(_) | Amount::Per100(_) => between(&self.probabilities, chosen.after().len()),
        };
        (scores(self.probabilities, chosen, threshold), threshold)
    }

    /// The best segmentation whose boundaries are each worth a probability.
    fn above(&self, threshold: f64) -> Result<Boundaries, BoundaryError> {
        self.costs.cheapest(self.price + (threshold / (1.0 - threshold)).ln().clamp(-SURE, SURE))
    }

    /// The best segmentation into so many segments: at least 1, and at most one a sentence.
    ///
    /// At some price a segment it is the best of all, for most numbers; that price is searched for. For a number between those
    /// that a price gives, all segmentations of that number are gone through. Where that would take too long, it is the next greater number
    /// that a price gives, without the least probable of its boundaries.
    pub(super) fn segments(&self, segments: usize) -> Result<Boundaries, BoundaryError> {
        let wanted = segments.clamp(1, self.n);
        if wanted == 1 {
            return Ok(Boundaries::none(self.n));
        }
        let (mut low, mut high) = (-1.0, 1.0);
        let mut more = self.costs.cheapest(low)?;
        while more.segments() < wanted && low > -SURE {
            low *= 2.0;
            more = self.costs.cheapest(low)?;
        }
        let mut found = self.costs.cheapest(high)?;
        while found.segments() > wanted && high < SURE {
            high *= 2.0;
            found = self.costs.cheapest(high)?;
        }
        while found.segments() != wanted && more.segments() != wanted && high - low > 1e-9 * low.abs().max(1.0) {
            let price = f64::midpoint(low, high);
            found = self.costs.cheapest(price)?;
            if found.segments() > wanted {
                (low, more) = (price, found.clone());
            } else {
                high = price;
            }
        }
        for known in [found, more.clone()] {
            if known.segments() == wanted {
                return Ok(known);
            }
        }
        let steps = self.n.saturating_mul(self.costs.longest()).saturating_mul(wanted);
        if steps <= STEPS
            && let Some(counted) = self.costs.counted(wanted)?
        {
            return Ok(counted);
        }
        let probability = |after: usize| self.probabilities.get(after - 1).copied().unwrap_or_default();
        let mut after = more.after().to_vec();
        after.sort_by(|&a, &b| probability(b).total_cmp(&probability(a)).then(a.cmp(&b)));
        after.truncate(wanted - 1);
        after.sort_unstable();
        Boundaries::new(self.n, after)
    }

    /// The number of segments that is the best for F1.
    fn for_f1(&self) -> usize {
        best_count(&self.probabilities) + 1
    }

    /// See [`Objective::WindowDiff`].
    fn least_window_diff(&self) -> Result<Boundaries, BoundaryError> {
        let expected = ExpectedWindowDiff::new(&self.probabilities);
        let mut best = Boundaries::none(self.n);
        let mut least = expected.of(&best);
        for hundredths in THRESHOLDS {
            let found = self.above(f64::from(hundredths) / 100.0)?;
            let here = expected.of(&found);
            if here < least {
                (best, least) = (found, here);
            }
        }
        Ok(best)
    }
}

/// What segments cost, less the evidence for them: by the log-odds of each gap; by words, with their weight; and by lengths, with
/// theirs.
fn table(odds: &[f64], words: Option<(&WordCosts, f64)>, lengths: Option<(&Lengths, f64)>) -> SegmentCosts {
    let n = odds.len() + 1;
    let longest = LONGEST.min((CELLS / n).max(16)).min(n);
    let usual = |length: usize| lengths.map_or(0.0, |(lengths, weight)| weight * lengths.evidence(length, n));
    let usual: Vec<f64> = (1..=longest).map(usual).collect();
    let counts = || words.map(|(words, _)| words.counts()).unwrap_or_default();
    let costs = SegmentCosts::new(n, longest, counts, |counts, first, row| {
        row.fill(0.0);
        if let Some((words, weight)) = words {
            words.row(first, counts, row);
            row.iter_mut().for_each(|cost| *cost *= weight);
        }
        // The document's end is no boundary.
        let odds = odds.iter().skip(first).copied().chain([0.0]);
        for ((cost, odds), usual) in row.iter_mut().zip(odds).zip(&usual) {
            *cost -= odds + usual;
        }
    });
    costs.endless()
}

/// The middle between the `count` highest numbers and the others, all in 0..=1; below 1.
fn between(numbers: &[f64], count: usize) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let last = count.checked_sub(1).map_or(1.0, |last| sorted.get(last).copied().unwrap_or(0.0));
    f64::midpoint(last, sorted.get(count).copied().unwrap_or(0.0)).min(1.0_f64.next_down())
}

#[cfg(test)]
mod tests;
