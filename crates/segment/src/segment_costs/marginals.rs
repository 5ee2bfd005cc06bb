use std::ops::RangeInclusive;

use pericope_api::Boundaries;
use pulp::{Arch, Simd, WithSimd};

use super::exp::exp;
use super::table::SegmentCosts;

impl SegmentCosts {
    /// For each gap the probability of a boundary, where a segmentation's probability is proportional to
    /// exp(-(cost + price * segments) / temperature).
    #[must_use]
    pub fn marginals(&self, price: f64, temperature: f64) -> Vec<f64> {
        let n = self.n;
        let forward = self.forward(price, temperature);
        let mut at = vec![0.0; n + 1];
        if forward.to.last().is_some_and(|to| to.is_finite()) {
            at[n] = 1.0;
        }
        // That a segment longer than those of the table goes past a gap or ends at it.
        let mut long = vec![0.0; n + 2];
        let offsets: Vec<f64> = forward.to.iter().map(|&to| if to.is_finite() { -to } else { to }).collect();
        let arch = Arch::new();
        for gap in (1..=n).rev() {
            let (before, after) = at.split_at_mut(gap + 1);
            let here = &mut before[gap];
            if gap < n && forward.to[gap].is_finite() {
                let weights = Weights::new(forward.to[gap], price, temperature, self.row(gap), &offsets[gap + 1..]);
                *here = arch.dispatch(Expected { weights, of: after });
                let entered = gap + self.longest + 1;
                if let Some((_, further)) = self.further(entered).filter(|_| entered <= n && long[entered] > 0.0) {
                    let way = forward.to[gap] - (self.row(gap)[self.longest - 1] + price + further) / temperature;
                    *here += long[entered] * (way - forward.long[entered]).exp();
                }
            }
            let way = forward.long[gap];
            if way.is_finite() {
                long[gap] = *here * (way - forward.to[gap]).exp();
                if let Some((_, further)) = self.further(gap + 1).filter(|_| long[gap + 1] > 0.0) {
                    long[gap] += long[gap + 1] * (way - further / temperature - forward.long[gap + 1]).exp();
                }
            }
        }
        (1..n).map(|gap| at[gap].clamp(0.0, 1.0)).collect()
    }

    /// The ways to each gap.
    ///
    /// What each costs beyond the cheapest one is near 0 where it counts, and so its exponential can be summed as it is. The sums
    /// grow with the number of ways, at most twofold a sentence, so that they are counted in units of that of the gap
    /// where the longest segment to here begins. Sums that leave the range of numbers even so, as those of more than a thousand
    /// sentences in one segment may, are added once more as logarithms.
    fn forward(&self, price: f64, temperature: f64) -> Forward {
        let n = self.n;
        let cheapest = self.ways(price).best;
        let offset = |gap: usize, unit: f64| match cheapest[gap] {
            cost if cost.is_finite() => cost / temperature - unit,
            _ => f64::NEG_INFINITY,
        };
        let mut offsets = vec![f64::NEG_INFINITY; n + 1];
        (0..=self.longest.min(n)).for_each(|gap| offsets[gap] = offset(gap, 0.0));
        let mut sums = vec![0.0; n + 1];
        let mut forward = Forward { to: vec![f64::NEG_INFINITY; n + 1], long: vec![f64::NEG_INFINITY; n + 1] };
        let (mut unit, mut long) = (0.0, f64::NEG_INFINITY);
        let arch = Arch::new();
        for gap in 0..=n {
            let mut to = match offsets[gap] {
                _ if gap == 0 => 0.0,
                offset if offset.is_finite() && EXACT.contains(&sums[gap]) => f64::ln(sums[gap]) - offset,
                offset if offset.is_finite() => self.reached(gap, price, temperature, &forward.to),
                _ => f64::NEG_INFINITY,
            };
            if let Some((start, further)) = self.further(gap) {
                let entered = forward.to[start] - (self.row(start)[self.longest - 1] + price) / temperature;
                long = log_add(long, entered) - further / temperature;
                forward.long[gap] = long;
                to = log_add(to, long);
            }
            forward.to[gap] = to;
            if to.is_finite() {
                unit = to + cheapest[gap] / temperature;
            }
            if let Some(offsets) = offsets.get_mut(gap + self.longest).filter(|_| gap > 0) {
                *offsets = offset(gap + self.longest, unit);
            }
            if gap < n && to.is_finite() {
                let (_, sums) = sums.split_at_mut(gap + 1);
                let weights = Weights::new(to, price, temperature, self.row(gap), &offsets[gap + 1..]);
                arch.dispatch(Add { weights, to: sums });
            }
        }
        forward
    }

    /// The logarithm of the sum over all ways to a gap by a segment of the table, whatever they weigh; `to` are those to the gaps before.
    fn reached(&self, gap: usize, price: f64, temperature: f64, to: &[f64]) -> f64 {
        let firsts = gap.saturating_sub(self.longest)..gap;
        let way = |first: usize| to[first] - (self.row(first)[gap - first - 1] + price) / temperature;
        let ways: Vec<f64> = firsts.map(way).filter(|way| way.is_finite()).collect();
        let greatest = ways.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // Of no ways it is minus infinity.
        greatest + ways.iter().map(|way| (way - greatest).exp()).sum::<f64>().ln()
    }
}

/// Sums of which none of the terms that count was beyond the range of [`exp`].
const EXACT: RangeInclusive<f64> = 1e-250..=1e290;

/// The logarithms of the sums over all ways from the start to each gap of exp(-(cost + price * segments) / temperature).
struct Forward {
    to: Vec<f64>,
    /// Those of them whose last segment is longer than those of the table; it may go on.
    long: Vec<f64>,
}

/// What each way by one more segment from a gap weighs, as a logarithm: `shift + scale * cost` and what each gap behind adds.
#[derive(Clone, Copy)]
struct Weights<'a> {
    shift: f64,
    scale: f64,
    costs: &'a [f64],
    offsets: &'a [f64],
}

impl<'a> Weights<'a> {
    fn new(to: f64, price: f64, temperature: f64, costs: &'a [f64], offsets: &'a [f64]) -> Self {
        let reach = costs.len().min(offsets.len());
        Self {
            shift: to - price / temperature,
            scale: -1.0 / temperature,
            costs: &costs[..reach],
            offsets: &offsets[..reach],
        }
    }
}

/// Adds the weights to the sums of the gaps behind.
struct Add<'a> {
    weights: Weights<'a>,
    to: &'a mut [f64],
}

impl WithSimd for Add<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Weights { shift, scale, costs, offsets } = self.weights;
        for (sum, (cost, offset)) in self.to.iter_mut().zip(costs.iter().zip(offsets)) {
            *sum += exp(shift + scale * cost + offset);
        }
    }
}

/// The sum of the weights, each times what `of` holds for the gap behind.
struct Expected<'a> {
    weights: Weights<'a>,
    of: &'a [f64],
}

/// Sums that go on beside each other, so that the result is the same however many of them a processor adds at once.
const LANES: usize = 8;

impl WithSimd for Expected<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let Weights { shift, scale, costs, offsets } = self.weights;
        let (costs, costs_left) = costs.as_chunks::<LANES>();
        let (offsets, offsets_left) = offsets.as_chunks::<LANES>();
        let (of, _) = self.of.as_chunks::<LANES>();
        let mut sums = [0.0; LANES];
        for ((costs, offsets), of) in costs.iter().zip(offsets).zip(of) {
            for i in 0..LANES {
                sums[i] += of[i] * exp(shift + scale * costs[i] + offsets[i]);
            }
        }
        let left = costs_left.iter().zip(offsets_left).zip(self.of.iter().skip(costs.len() * LANES));
        let left: f64 = left.map(|((cost, offset), of)| of * exp(shift + scale * cost + offset)).sum();
        sums.iter().sum::<f64>() + left
    }
}

/// Beyond this difference the smaller of two exponentials is below the last bit of their sum.
const NEGLIGIBLE: f64 = 40.0;

/// Logarithm of the sum of two exponentials.
fn log_add(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if high - low > NEGLIGIBLE || low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

/// Scores whose boundaries above `threshold`, at least 0 and below 1, are exactly `chosen`: the probabilities, moved to the right side of
/// the threshold.
#[must_use]
pub fn scores(mut probabilities: Vec<f64>, chosen: &Boundaries, threshold: f64) -> Vec<f64> {
    let mut chosen_here = vec![false; probabilities.len()];
    for &after in chosen.after() {
        if let Some(here) = chosen_here.get_mut(after - 1) {
            *here = true;
        }
    }
    for (p, chosen) in probabilities.iter_mut().zip(chosen_here) {
        *p = if chosen { p.max(threshold.next_up()) } else { p.min(threshold) };
    }
    probabilities
}
