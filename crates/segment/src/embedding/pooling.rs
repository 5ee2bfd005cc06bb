use std::collections::VecDeque;

use pericope_api::{Document, SegmentError, SentenceEncoder};

use super::reading::{BATCH, readable};

/// The number that the cosines of all pairs of sentences across a gap become.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pool {
    /// Their mean.
    #[default]
    Mean,
    /// The least.
    Min,
    /// The greatest.
    Max,
}

/// The pooled cosine at each gap between the given sentences: `k` before against `k` after, fewer near the ends.
///
/// Sentences are encoded once each, in batches, and only the vectors that windows still need are kept.
pub(super) fn similarities(
    document: &Document,
    sentences: &[usize],
    encoder: &dyn SentenceEncoder,
    k: usize,
    pool: Pool,
) -> Result<Vec<f64>, SegmentError> {
    let n = sentences.len();
    let k = k.clamp(1, n.max(1));
    let mut found = Vec::with_capacity(n.saturating_sub(1));
    let mut rows = Rows { dimension: encoder.dimension().max(1), first: 0, values: Vec::new() };
    for (batch, part) in sentences.chunks(BATCH).enumerate() {
        let texts: Vec<_> = part.iter().map(|&i| readable(document, i, encoder)).collect();
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        rows.values.extend_from_slice(encoder.encode(&texts)?.finite(encoder.name())?.values());
        let have = batch * BATCH + part.len();
        if rows.end() < have {
            return Err(SegmentError::Unsupported(format!("the encoder gave {} vectors for {have} texts", rows.end())));
        }
        let from = found.len() + 1;
        // Gap g lies between rows g - 1 and g, and is known when row g + k - 1 is.
        let until = if have == n { n } else { (have + 1).saturating_sub(k) };
        if until <= from {
            continue;
        }
        match pool {
            Pool::Mean => rows.means(from..until, k, n, &mut found),
            Pool::Min => rows.extremes(from..until, k, n, f64::min, &mut found),
            Pool::Max => rows.extremes(from..until, k, n, f64::max, &mut found),
        }
        rows.forget_before((found.len() + 1).saturating_sub(k));
    }
    Ok(found)
}

/// The vectors of the sentences from `first` on.
struct Rows {
    dimension: usize,
    first: usize,
    values: Vec<f32>,
}

impl Rows {
    fn end(&self) -> usize {
        self.first + self.values.len() / self.dimension
    }

    fn row(&self, i: usize) -> &[f32] {
        let at = (i - self.first) * self.dimension;
        &self.values[at..at + self.dimension]
    }

    fn forget_before(&mut self, first: usize) {
        if first > self.first {
            self.values.drain(..((first - self.first) * self.dimension).min(self.values.len()));
            self.first = first;
        }
    }

    /// Mean cosines by sums of vectors: the mean over all pairs of two blocks is the product of the blocks' means. Linear
    /// in the number of gaps whatever `k` is.
    fn means(&self, gaps: std::ops::Range<usize>, k: usize, n: usize, found: &mut Vec<f64>) {
        let base = gaps.start.saturating_sub(k).max(self.first);
        let top = (gaps.end.saturating_sub(1) + k).min(n);
        let mut sums = vec![0f64; self.dimension * (top.saturating_sub(base) + 1)];
        for i in base..top {
            let at = (i - base) * self.dimension;
            let (done, next) = sums.split_at_mut(at + self.dimension);
            let parts = done[at..].iter().zip(self.row(i));
            next.iter_mut().zip(parts).for_each(|(sum, (before, value))| *sum = before + f64::from(*value));
        }
        let sum = |i: usize| &sums[(i - base) * self.dimension..(i - base + 1) * self.dimension];
        for gap in gaps {
            let (low, high) = (gap.saturating_sub(k), (gap + k).min(n));
            let (a, b, c) = (sum(low), sum(gap), sum(high));
            let dot: f64 = a.iter().zip(b).zip(c).map(|((a, b), c)| (b - a) * (c - b)).sum();
            found.push(dot / ((gap - low) * (high - gap)) as f64);
        }
    }

    /// The least or the greatest cosines, whichever `pick` prefers. Each pair is multiplied once; time linear in `k`.
    fn extremes(
        &self,
        gaps: std::ops::Range<usize>,
        k: usize,
        n: usize,
        pick: fn(f64, f64) -> f64,
        found: &mut Vec<f64>,
    ) {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum::<f64>();
        let mut best: Vec<Option<f64>> = vec![None; gaps.len()];
        // The cosines of one sentence with those behind a gap that may still be picked for a later gap, the picked one first.
        let mut open: VecDeque<(usize, f64)> = VecDeque::new();
        for i in gaps.start.saturating_sub(k)..gaps.end.saturating_sub(1) {
            open.clear();
            let first = gaps.start.max(i + 1);
            let mut next = first;
            for gap in first..gaps.end.min(i + k + 1) {
                while next < (gap + k).min(n) {
                    let cosine = dot(self.row(i), self.row(next));
                    while open.back().is_some_and(|&(_, other)| pick(other, cosine) == cosine) {
                        open.pop_back();
                    }
                    open.push_back((next, cosine));
                    next += 1;
                }
                while open.front().is_some_and(|&(j, _)| j < gap) {
                    open.pop_front();
                }
                if let (Some(best), Some(&(_, picked))) = (best.get_mut(gap - gaps.start), open.front()) {
                    *best = Some(best.map_or(picked, |best| pick(best, picked)));
                }
            }
        }
        found.extend(best.into_iter().map(Option::unwrap_or_default));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use pericope_api::Document;

    use super::{BATCH, Pool, similarities};
    use crate::testing::Circle;

    #[test]
    fn pooled_cosines_are_those_of_all_pairs() {
        let n = BATCH + 40;
        let angles: Vec<f64> = (0..n).map(|i| f64::from((i * 7919 % 628) as u32) / 100.0).collect();
        let texts: Vec<String> = angles.iter().map(f64::to_string).collect();
        let document = Document::from_sentences("d", &texts);
        let all: Vec<usize> = (0..n).collect();
        // Windows wider than a batch have no gap that is known after the first one.
        let wide = BATCH + 7;
        let narrow = [(1, Pool::Mean), (5, Pool::Mean), (5, Pool::Min), (3, Pool::Max), (50, Pool::Mean)];
        for (k, pool) in narrow.into_iter().chain([(50, Pool::Max), (wide, Pool::Mean), (wide, Pool::Min)]) {
            let found = similarities(&document, &all, &Circle, k, pool).unwrap();
            assert_eq!(found.len(), n - 1);
            for gap in (1..30).chain(BATCH - 60..n) {
                let pairs: Vec<f64> = (gap.saturating_sub(k)..gap)
                    .flat_map(|i| (gap..(gap + k).min(n)).map(move |j| (i, j)))
                    .map(|(i, j)| (angles[i] - angles[j]).cos())
                    .collect();
                let expected = match pool {
                    Pool::Mean => pairs.iter().sum::<f64>() / pairs.len() as f64,
                    Pool::Min => pairs.iter().copied().fold(f64::INFINITY, f64::min),
                    Pool::Max => pairs.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                };
                assert!((found[gap - 1] - expected).abs() < 1e-6, "k={k} {pool:?} gap {gap}");
            }
        }
    }

    #[test]
    fn a_window_wider_than_the_document_is_fine() {
        let document = Document::from_sentences("d", &["0", "0", "1"]);
        assert_eq!(similarities(&document, &[0, 1, 2], &Circle, 9000, Pool::Min).unwrap().len(), 2);
        assert_eq!(similarities(&document, &[0], &Circle, 2, Pool::Min).unwrap().len(), 0);
    }
}
