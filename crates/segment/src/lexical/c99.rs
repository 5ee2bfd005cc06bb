use pericope_api::{Document, SegmentError, Segmentation, Segmenter};

use super::ranks::Ranks;
use super::words::Words;
use crate::Resources;
use crate::depth::mean_and_deviation;
use crate::language::WORDS;
use crate::registry::args::SpecArgs;
use crate::registry::entry::{BuiltSegmenter, Needs, SegmenterEntry, SettingKey};
use crate::spec::SpecError;

pub(crate) const C99_ENTRY: SegmenterEntry = SegmenterEntry {
    name: "c99",
    summary: "Choi's C99: divisive clustering of ranked sentence similarities",
    keys: &[SettingKey {
        name: "c",
        default: "1.2",
        doc: "boundaries are cut while they gain more density than the mean plus so many standard deviations",
    }],
    example: "c99:c=1.2",
    needs: Needs::None,
    needs_of: None,
    has_scores: true,
    build,
};

fn build(args: &SpecArgs<'_>, _: &dyn Resources) -> Result<BuiltSegmenter, SpecError> {
    Ok(BuiltSegmenter::new(C99 { c: args.number("c", C99::default().c, -100.0..=100.0)? }))
}

/// C99 (Choi 2000, "Advances in domain independent linear text segmentation", section 3).
///
/// The cosines of the word counts of all pairs of sentences are replaced by their ranks under a mask of 11 by 11. The
/// matrix is then divided step by step along its diagonal, each time at the gap that makes the inside density greatest:
/// the sum of the ranks in all segments' blocks over the blocks' area. The gains in density, smoothed with the weights
/// 1 2 4 8 4 2 1, fall as real boundaries run out: cutting ends at the first that is not above their mean plus `c`
/// standard deviations. A known number of segments ends it instead.
///
/// Words are stems; function words and numbers are left out. A document without words has no boundary.
///
/// The gap that is cut in step i has the score (m + 1/2) / (m + 1/2 + i), m being the number of boundaries, so that
/// exactly these lie above 0.5.
///
/// The matrix takes memory in the square of the number of sentences. A document of more than 2000 sentences is
/// therefore read in stretches of 2000 that begin 1000 sentences apart; each gap's score comes from the stretch in
/// whose middle it lies. A known number of segments then means the gaps with the highest scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct C99 {
    /// Standard deviations above the mean that a gain must exceed.
    pub c: f64,
}

impl Default for C99 {
    fn default() -> Self {
        Self { c: 1.2 }
    }
}

/// Most sentences of one matrix.
const STRETCH: usize = 2000;

const SMOOTH: [f64; 7] = [1.0, 2.0, 4.0, 8.0, 4.0, 2.0, 1.0];

impl C99 {
    /// Scores of all gaps, read in stretches of at most `stretch` sentences.
    fn scores(&self, words: &Words, stretch: usize) -> Vec<f64> {
        let n = words.sentences();
        let (hop, margin) = (stretch / 2, stretch / 4);
        let mut scores = Vec::with_capacity(n - 1);
        let mut first = 0;
        loop {
            let end = (first + stretch).min(n);
            let own = self.stretch_scores(&Ranks::new(words, first, end - first));
            let stop = if end == n { n - 1 } else { first + hop + margin };
            scores.extend_from_slice(&own[scores.len() - first..stop - first]);
            if end == n {
                return scores;
            }
            first += hop;
        }
    }

    fn stretch_scores(&self, ranks: &Ranks) -> Vec<f64> {
        let (order, gains) = divide(ranks);
        let gains = smoothed(&gains);
        let (mean, deviation) = mean_and_deviation(&gains);
        let bound = mean + self.c * deviation;
        let odds = gains.iter().take_while(|&&gain| gain > bound).count() as f64 + 0.5;
        let mut scores = vec![0.0; order.len()];
        for (i, gap) in order.into_iter().enumerate() {
            scores[gap - 1] = odds / (odds + (i + 1) as f64);
        }
        scores
    }
}

/// The gaps in the order in which they are cut (gap g lies after g sentences), and the gain in density of each cut. Of
/// equally good gaps the first is cut. Time O(n^2).
fn divide(ranks: &Ranks) -> (Vec<usize>, Vec<f64>) {
    let n = ranks.sentences();
    let area = |start: usize, end: usize| ((end - start) * (end - start)) as f64;
    let mut ends = vec![n];
    let (mut sum, mut size) = (ranks.inside(0, n), area(0, n));
    let (mut order, mut gains) = (Vec::new(), Vec::new());
    while ends.len() < n {
        let mut best = (f64::NEG_INFINITY, 0, 0.0, 0.0);
        let mut start = 0;
        for &end in &ends {
            let (others, room) = (sum - ranks.inside(start, end), size - area(start, end));
            for gap in start + 1..end {
                let sum = others + ranks.inside(start, gap) + ranks.inside(gap, end);
                let size = room + area(start, gap) + area(gap, end);
                if sum / size > best.0 {
                    best = (sum / size, gap, sum, size);
                }
            }
            start = end;
        }
        let (density, gap, new_sum, new_size) = best;
        order.push(gap);
        gains.push(density - sum / size);
        (sum, size) = (new_sum, new_size);
        ends.insert(ends.partition_point(|&end| end < gap), gap);
    }
    (order, gains)
}

/// Means under [`SMOOTH`], of the values that there are.
fn smoothed(values: &[f64]) -> Vec<f64> {
    let smooth = |i: usize| {
        let (mut sum, mut weights) = (0.0, 0.0);
        for (k, weight) in SMOOTH.iter().enumerate() {
            if let Some(value) = (i + k).checked_sub(SMOOTH.len() / 2).and_then(|at| values.get(at)) {
                sum += weight * value;
                weights += weight;
            }
        }
        sum / weights
    };
    (0..values.len()).map(smooth).collect()
}

impl Segmenter for C99 {
    fn fingerprint(&self) -> String {
        WORDS.to_owned()
    }

    fn segment(&self, document: &Document) -> Result<Segmentation, SegmentError> {
        let words = Words::read(document);
        let scores = if document.len() < 2 || words.total() == 0 {
            vec![0.0; document.len().saturating_sub(1)]
        } else {
            self.scores(&words, STRETCH)
        };
        Ok(Segmentation::Scores { scores, threshold: 0.5 })
    }
}

#[cfg(test)]
mod tests {
    use pericope_api::{Boundaries, Document};

    use super::super::ranks::Ranks;
    use super::super::samples::check;
    use super::super::words::Words;
    use super::{C99, divide, smoothed};

    #[test]
    fn finds_where_the_words_change() {
        check(&C99::default());
    }

    #[test]
    fn cuts_where_the_density_grows_most() {
        let sentences = ["ants bees", "bees ants", "cows dogs", "dogs cows", "cows dogs", "emus", "emus"];
        let words = Words::read(&Document::from_sentences("d", &sentences));
        let ranks = Ranks::new(&words, 0, 7);
        let (order, gains) = divide(&ranks);
        let density = |boundaries: &[usize]| {
            let ranges =
                Boundaries::new(7, boundaries.to_vec()).into_iter().flat_map(|b| b.ranges().collect::<Vec<_>>());
            let (mut sum, mut size) = (0.0, 0.0);
            for range in ranges {
                sum += ranks.inside(range.start, range.end);
                size += (range.len() * range.len()) as f64;
            }
            sum / size
        };
        let mut cuts: Vec<usize> = Vec::new();
        for (&gap, gain) in order.iter().zip(gains) {
            let with = |gap: usize| {
                let mut all = cuts.clone();
                all.insert(all.partition_point(|&cut| cut < gap), gap);
                all
            };
            let open = (1..7).filter(|gap| !cuts.contains(gap));
            let best = open.map(|gap| density(&with(gap))).fold(f64::NEG_INFINITY, f64::max);
            assert!((density(&with(gap)) - best).abs() < 1e-12);
            assert!((gain - (best - density(&cuts))).abs() < 1e-12);
            cuts = with(gap);
        }
        assert_eq!(cuts, [1, 2, 3, 4, 5, 6]);
        assert!(order[..2].contains(&2) && order[..2].contains(&5), "{order:?}");
    }

    #[test]
    fn a_constant_stays_what_it_is_when_smoothed() {
        assert!(smoothed(&[0.25; 9]).iter().all(|&x| x == 0.25));
        assert_eq!(smoothed(&[15.0, 0.0]), [8.0 * 15.0 / 12.0, 4.0 * 15.0 / 12.0]);
        assert_eq!(smoothed(&[]), [0.0; 0]);
    }

    #[test]
    fn stretches_join_without_gaps() {
        let words = ["ship", "bread", "piano", "snow", "horse"];
        let topic = |i: usize| words[i / 12];
        let sentences: Vec<String> = (0..60).map(|i| format!("{0} {0}ing {0}let{1}", topic(i), i % 3)).collect();
        let words = Words::read(&Document::from_sentences("d", &sentences));
        for stretch in [24, 25, 40, 59, 60, 61] {
            let scores = C99::default().scores(&words, stretch);
            assert_eq!(scores.len(), 59, "{stretch}");
            for topic_end in [12, 24, 36, 48] {
                assert!(scores[topic_end - 1] > 0.5, "{stretch} {topic_end}: {}", scores[topic_end - 1]);
            }
        }
    }
}
