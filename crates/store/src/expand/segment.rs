//! The run of chunks with the greatest sum of weights.

use std::ops::Range;

use super::page::Page;

/// What a chunk costs: a chunk that was not found separates two that were if these weigh less beyond it.
pub(super) const PENALTY: f64 = 0.2;

/// What each chunk adds to a run.
pub(super) fn values(page: &Page<'_>) -> Vec<f64> {
    let mut values = vec![-PENALTY; page.parts.len()];
    for one in &page.found {
        values[one.part] += one.weight.unwrap_or(0.0);
    }
    values
}

/// The run within bounds that holds a chunk and has the greatest sum of values among those that fit; of several the one with
/// the fewest tokens, and of these the first. The chunk alone where nothing fits.
pub(super) fn best(page: &Page<'_>, values: &[f64], at: usize, within: &Range<usize>) -> Range<usize> {
    let sums = |places: &mut dyn Iterator<Item = usize>| {
        let mut sum = 0.0;
        let mut sums = vec![(at, 0.0)];
        for place in places {
            let range = place.min(at)..place.max(at) + 1;
            if !page.fits(&range) {
                break;
            }
            sum += values[place];
            sums.push((place, sum));
        }
        sums
    };
    let firsts = sums(&mut (within.start..at).rev());
    let lasts = sums(&mut (at + 1..within.end));
    let mut best = (0.0, at..at + 1);
    for (first, before) in &firsts {
        for (last, after) in &lasts {
            let range = *first..last + 1;
            if !page.fits(&range) {
                break;
            }
            let sum = before + after;
            let is_shorter = || (page.tokens(&range), range.start) < (page.tokens(&best.1), best.1.start);
            if sum > best.0 || (sum == best.0 && is_shorter()) {
                best = (sum, range);
            }
        }
    }
    best.1
}
