use pericope_api::Boundaries;

use super::table::SegmentCosts;

impl SegmentCosts {
    /// For each gap the probability of a boundary, where a segmentation's probability is proportional to
    /// exp(-(cost + price * segments) / temperature).
    #[must_use]
    pub fn marginals(&self, price: f64, temperature: f64) -> Vec<f64> {
        let n = self.n;
        let weight = |cost: f64| -(cost + price) / temperature;
        let mut forward = vec![f64::NEG_INFINITY; n + 1];
        forward[0] = 0.0;
        // By a segment that is longer than those of the table, and goes on.
        let mut longer = f64::NEG_INFINITY;
        for first in 0..=n {
            if let Some((start, further)) = self.further(first) {
                let entered = forward[start] + weight(self.row(start)[self.longest - 1]);
                longer = log_add(longer, entered) - further / temperature;
                forward[first] = log_add(forward[first], longer);
            }
            let before = forward[first];
            if first == n || before == f64::NEG_INFINITY {
                continue;
            }
            for (i, &cost) in self.row(first).iter().enumerate().take(n - first) {
                let end = first + i + 1;
                forward[end] = log_add(forward[end], before + weight(cost));
            }
        }
        let mut backward = vec![f64::NEG_INFINITY; n + 1];
        backward[n] = 0.0;
        // From a gap inside a segment that has as many sentences as those of the table, or more, before it.
        let mut inside = vec![f64::NEG_INFINITY; n + 1];
        for first in (0..n).rev() {
            if let Some((_, further)) = self.further(first + 1) {
                inside[first] = log_add(backward[first + 1], inside[first + 1]) - further / temperature;
            }
            let terms = self.row(first).iter().take(n - first).enumerate();
            let held =
                terms.fold(f64::NEG_INFINITY, |sum, (i, &cost)| log_add(sum, weight(cost) + backward[first + i + 1]));
            backward[first] = match inside.get(first + self.longest) {
                Some(&inside) => log_add(held, weight(self.row(first)[self.longest - 1]) + inside),
                None => held,
            };
        }
        (1..n).map(|gap| (forward[gap] + backward[gap] - forward[n]).exp().clamp(0.0, 1.0)).collect()
    }
}

/// Logarithm of the sum of two exponentials.
fn log_add(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    // Beyond this the smaller one is below the last bit of the sum.
    if high - low > 40.0 || low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
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
