//! The bound of `fixed` whose chunks have a given mean size.

/// How far the mean may be from the one that is wanted, as a share of it, to be called equal.
pub const EQUAL: f64 = 0.01;
/// Near enough to look no further.
const NEAR: f64 = EQUAL / 2.0;
/// A bound of so many times the wanted mean is not reached by the corpus: a larger one changes nothing.
const OUT_OF_REACH: f64 = 16.0;
/// Bounds that are tried below a limit where none comes near.
const SPREAD: usize = 8;
/// Bounds that are tried at most; each is a cut of the corpus.
const MOST_TRIALS: usize = 32;

/// A bound in words, and the mean size of the chunks that it gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MatchedBound {
    /// Words a chunk at most, at least 1.
    pub words: usize,
    /// Mean words a chunk on the corpus, after the size policy.
    pub mean: f64,
}

impl MatchedBound {
    /// By how much the mean misses the one that was wanted, as a share of it: negative where the chunks are smaller.
    #[must_use]
    pub fn miss(&self, wanted: f64) -> f64 {
        if wanted > 0.0 { self.mean / wanted - 1.0 } else { 0.0 }
    }
}

/// Finds the bound, at most `most`, at which the mean size of the chunks is nearest to `wanted` words. `mean_at` cuts the
/// corpus with a bound and gives the mean words of its chunks.
///
/// Chunks end before their bound, at a document's end or before a block, so the bound is above the
/// mean. The mean grows with the bound, in steps: on a small corpus, or for chunks of few words, there may be none within
/// [`EQUAL`]. Nor is there where the wanted mean is near the limit in tokens: what is longer than that is cut by the size
/// policy, which makes two small chunks of it. A bound above the limit (`most`) is none: the policy alone would cut then.
///
/// ```
/// use pericope_segment::fixed::match_bound;
///
/// // Chunks that stay 8 % below their bound.
/// let found = match_bound(112.0, usize::MAX, |words| Ok(0.92 * words as f64))?;
/// assert!((found.mean / 112.0 - 1.0).abs() <= 0.005);
/// assert_eq!(found.words, 122);
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// With the reason, where the mean is no number above 0 or `mean_at` fails.
pub fn match_bound(
    wanted: f64,
    most: usize,
    mut mean_at: impl FnMut(usize) -> Result<f64, String>,
) -> Result<MatchedBound, String> {
    if !wanted.is_finite() || wanted <= 0.0 {
        return Err(format!("the mean chunk size to be matched is {wanted} words"));
    }
    let mut best: Option<MatchedBound> = None;
    // The largest bound known to give too little, and the smallest known to give too much, with their means.
    let (mut below, mut above): (Option<MatchedBound>, Option<MatchedBound>) = (None, None);
    let most = most.max(1);
    let first = (wanted.round() as usize).clamp(1, most);
    let mut words = first;
    for _ in 0..MOST_TRIALS {
        let tried = MatchedBound { words, mean: mean_at(words)? };
        if best.is_none_or(|best| tried.miss(wanted).abs() < best.miss(wanted).abs()) {
            best = Some(tried);
        }
        if tried.miss(wanted).abs() <= NEAR {
            break;
        }
        let mut stuck = false;
        if tried.mean < wanted {
            stuck = below.replace(tried).is_some_and(|before| before.mean >= tried.mean);
        } else {
            above = Some(tried);
        }
        words = match (below, above) {
            (Some(low), Some(high)) if low.words + 1 < high.words => between(low, high, wanted),
            // Larger in the proportion in which it is too small; where that changes nothing, twice as large.
            (Some(low), None) if low.words < most && (low.words as f64) < OUT_OF_REACH * wanted => {
                let factor = wanted / low.mean.max(f64::MIN_POSITIVE);
                let wider = low.words as f64 * if stuck { 2.0 } else { factor.min(2.0) };
                (wider.ceil() as usize).max(low.words + 1).min(most)
            }
            (None, Some(high)) if high.words > 1 => {
                ((high.words as f64 * wanted / high.mean).floor() as usize).clamp(1, high.words - 1)
            }
            _ => break,
        };
    }
    let mut best = best.ok_or_else(|| "no bound was tried".to_owned())?;
    if best.miss(wanted).abs() > EQUAL && most < usize::MAX {
        // Below a limit the mean rises and falls again: look between, and then around what is best.
        let width = most.saturating_sub(first);
        let step = width / (SPREAD + 1);
        let spread: Vec<usize> = (1..=SPREAD).map(|i| first + width * i / (SPREAD + 1)).collect();
        for round in 0..2 {
            let near =
                [step / 4, step / 2].map(|by| [best.words.saturating_sub(by).max(1), (best.words + by).min(most)]);
            let tried = if round == 0 { spread.clone() } else { near.concat() };
            for words in tried {
                let next = MatchedBound { words, mean: mean_at(words)? };
                if next.miss(wanted).abs() < best.miss(wanted).abs() {
                    best = next;
                }
            }
        }
    }
    Ok(best)
}

/// The bound between two at which a straight line through their means reaches the one that is wanted.
fn between(low: MatchedBound, high: MatchedBound, wanted: f64) -> usize {
    let width = (high.words - low.words) as f64;
    let share = (wanted - low.mean) / (high.mean - low.mean);
    // A step may hide anywhere between them: each trial takes a quarter off at least.
    let at = low.words as f64 + width * share.clamp(0.25, 0.75);
    (at.round() as usize).clamp(low.words + 1, high.words - 1)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::{EQUAL, MatchedBound, match_bound};

    /// The mean chunk of documents of so many words each, cut at a bound.
    fn mean(documents: &[usize], bound: usize) -> f64 {
        let chunks: usize = documents.iter().map(|words| words.div_ceil(bound)).sum();
        documents.iter().sum::<usize>() as f64 / chunks as f64
    }

    #[test]
    fn a_step_that_skips_the_mean_is_missed_by_as_little_as_can_be() {
        // One document of ten words has chunks of 10, 5, 3.3, 2.5, 2, ... words on average.
        let found = match_bound(4.0, usize::MAX, |words| Ok(mean(&[10], words))).unwrap();
        assert_eq!((found.words, found.mean), (4, 10.0 / 3.0));
        assert!((found.miss(4.0) + 1.0 / 6.0).abs() < 1e-12);
        // No bound makes chunks larger than their documents.
        let found = match_bound(50.0, usize::MAX, |words| Ok(mean(&[10, 10], words))).unwrap();
        assert_eq!(found.mean, 10.0);
        assert_eq!(
            match_bound(0.4, usize::MAX, |words| Ok(mean(&[10], words))).unwrap(),
            MatchedBound { words: 1, mean: 1.0 }
        );
    }

    #[test]
    fn a_bound_above_the_limit_is_none() {
        // From 190 words on a chunk is longer than the limit and is cut in two.
        let limited = |words: usize| Ok(if words <= 190 { 0.9 * words as f64 } else { 0.45 * words as f64 });
        let found = match_bound(168.0, 256, limited).unwrap();
        assert_eq!((found.words, found.mean.round()), (187, 168.0));
        let found = match_bound(180.0, 256, limited).unwrap();
        assert!((180..=190).contains(&found.words) && found.miss(180.0) < -0.04, "{found:?}");
        // Beyond the limit there would be one.
        assert_eq!(match_bound(180.0, usize::MAX, limited).unwrap().words, 400);
    }

    #[test]
    fn what_cannot_be_matched_is_an_error() {
        assert!(match_bound(f64::NAN, usize::MAX, |_| Ok(1.0)).is_err());
        assert!(match_bound(0.0, usize::MAX, |_| Ok(1.0)).is_err());
        assert_eq!(match_bound(3.0, usize::MAX, |_| Err("no corpus".into())), Err("no corpus".to_owned()));
    }

    proptest! {
        /// On a corpus of real size some bound is within 1 %, and it is found in a few cuts.
        #[test]
        fn large_corpora_are_matched(
            documents in prop::collection::vec(400_usize..3000, 100..200),
            wanted in 90.0_f64..250.0,
        ) {
            let mut trials = 0;
            let found = match_bound(wanted, usize::MAX, |words| {
                trials += 1;
                Ok(mean(&documents, words))
            }).unwrap();
            prop_assert!(found.miss(wanted).abs() <= EQUAL, "{found:?} for {wanted}");
            prop_assert!(trials <= 10, "{trials} trials");
        }

        /// No bound is much nearer than the one that is found, whatever the corpus.
        #[test]
        fn nothing_is_nearer(documents in prop::collection::vec(1_usize..60, 1..5), wanted in 1.0_f64..40.0) {
            let found = match_bound(wanted, usize::MAX, |words| Ok(mean(&documents, words))).unwrap();
            let nearest = (1..=120).map(|words| (mean(&documents, words) / wanted - 1.0).abs()).fold(f64::MAX, f64::min);
            prop_assert!(found.miss(wanted).abs() <= nearest.max(0.005) + 1e-12, "{found:?}, nearest {nearest}");
        }
    }
}
