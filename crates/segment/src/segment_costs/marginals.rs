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
        // What comes to each gap by the segments of the table.
        let mut entering = vec![LogSum::default(); n + 1];
        // By a segment that is longer than those of the table, and goes on.
        let mut longer = f64::NEG_INFINITY;
        for first in 0..=n {
            if first > 0 {
                forward[first] = entering[first].value();
            }
            if let Some((start, further)) = self.further(first) {
                let entered = forward[start] + weight(self.row(start)[self.longest - 1]);
                longer = log_add(longer, entered) - further / temperature;
                forward[first] = log_add(forward[first], longer);
            }
            let before = forward[first];
            if first == n || before == f64::NEG_INFINITY {
                continue;
            }
            for (&cost, entering) in self.row(first).iter().zip(&mut entering[first + 1..]) {
                entering.add(before + weight(cost));
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
            let mut held = LogSum::default();
            for (&cost, after) in self.row(first).iter().zip(&backward[first + 1..]) {
                held.add(weight(cost) + after);
            }
            let held = held.value();
            backward[first] = match inside.get(first + self.longest) {
                Some(&inside) => log_add(held, weight(self.row(first)[self.longest - 1]) + inside),
                None => held,
            };
        }
        (1..n).map(|gap| (forward[gap] + backward[gap] - forward[n]).exp().clamp(0.0, 1.0)).collect()
    }
}

/// Beyond this difference the smaller of two exponentials is below the last bit of their sum.
const NEGLIGIBLE: f64 = 40.0;

/// The logarithm of a sum of exponentials, one exponential for each.
#[derive(Debug, Clone, Copy)]
struct LogSum {
    greatest: f64,
    /// In units of the greatest.
    sum: f64,
}

impl Default for LogSum {
    fn default() -> Self {
        Self { greatest: f64::NEG_INFINITY, sum: 0.0 }
    }
}

impl LogSum {
    fn add(&mut self, x: f64) {
        if x <= self.greatest {
            if self.greatest - x < NEGLIGIBLE {
                self.sum += (x - self.greatest).exp();
            }
        } else if x > f64::NEG_INFINITY {
            let before = if x - self.greatest < NEGLIGIBLE { self.sum * (self.greatest - x).exp() } else { 0.0 };
            (self.greatest, self.sum) = (x, before + 1.0);
        }
    }

    fn value(self) -> f64 {
        if self.greatest == f64::NEG_INFINITY { self.greatest } else { self.greatest + self.sum.ln() }
    }
}

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
