/// Whole scores, 0 to 10.
const SCORES: usize = 11;

/// What a disagreement of so many points weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KappaWeights {
    /// The distance.
    Linear,
    /// Its square: near misses hardly count.
    Quadratic,
}

/// Cohen's weighted kappa (Cohen 1968) of two raters' scores, rounded to whole numbers 0 to 10: 1 less the mean weight of the
/// disagreements over the one that the raters' own distributions give by chance. At most 1; NaN where the lists differ in
/// length, have fewer than two scores, or one of the raters gives the same score always.
#[must_use]
pub fn weighted_kappa(a: &[f64], b: &[f64], weights: KappaWeights) -> f64 {
    if a.len() != b.len() {
        return f64::NAN;
    }
    let whole = |score: f64| score.round().clamp(0.0, 10.0) as usize;
    let (mut of_a, mut of_b) = ([0.0_f64; SCORES], [0.0_f64; SCORES]);
    let weight = |x: usize, y: usize| {
        let distance = x.abs_diff(y) as f64;
        match weights {
            KappaWeights::Linear => distance,
            KappaWeights::Quadratic => distance * distance,
        }
    };
    let mut seen = 0.0;
    for (&x, &y) in a.iter().zip(b) {
        let (x, y) = (whole(x), whole(y));
        seen += weight(x, y);
        for (counts, score) in [(&mut of_a, x), (&mut of_b, y)] {
            if let Some(count) = counts.get_mut(score) {
                *count += 1.0;
            }
        }
    }
    // Who always gives the same score agrees as chance does, whatever the other says: that is no figure.
    let varies = |counts: &[f64]| counts.iter().filter(|n| **n > 0.0).count() > 1;
    if !varies(&of_a) || !varies(&of_b) {
        return f64::NAN;
    }
    let mut by_chance = 0.0;
    for (x, n) in of_a.iter().enumerate() {
        for (y, m) in of_b.iter().enumerate() {
            by_chance += weight(x, y) * n * m;
        }
    }
    let by_chance = by_chance / a.len() as f64;
    if by_chance > 0.0 { 1.0 - seen / by_chance } else { f64::NAN }
}

#[cfg(test)]
mod tests {
    use super::{KappaWeights, weighted_kappa};

    #[test]
    fn agreement_chance_and_worse() {
        let scores = [0.0, 3.0, 3.4, 10.0, 7.0];
        for weights in [KappaWeights::Linear, KappaWeights::Quadratic] {
            assert_eq!(weighted_kappa(&scores, &scores, weights), 1.0);
            // Each score of one with each of the other, equally often: what chance gives.
            let (a, b) = ([2.0, 2.0, 8.0, 8.0], [2.0, 8.0, 2.0, 8.0]);
            assert!(weighted_kappa(&a, &b, weights).abs() < 1e-12);
            assert!(weighted_kappa(&[0.0, 10.0], &[10.0, 0.0], weights) < -0.9);
            assert!(weighted_kappa(&[5.0, 5.0], &[5.0, 5.0], weights).is_nan());
            assert!(weighted_kappa(&[], &[], weights).is_nan());
            assert!(weighted_kappa(&[1.0], &[], weights).is_nan());
            // One label, or a rater who always says the same: no figure, and not 0.
            assert!(weighted_kappa(&[1.0], &[9.0], weights).is_nan());
            assert!(weighted_kappa(&[1.0, 5.0], &[9.0, 9.0], weights).is_nan());
        }
        // By hand: weights seen 1 and 4; by chance (1 + 9 + 4 + 0) / 2 and linear (1 + 3 + 2) / 2.
        let (a, b) = ([1.0, 2.0], [2.0, 4.0]);
        assert!((weighted_kappa(&a, &b, KappaWeights::Quadratic) - (1.0 - 5.0 / 7.0)).abs() < 1e-12);
        assert!((weighted_kappa(&a, &b, KappaWeights::Linear) - (1.0 - 3.0 / 3.0)).abs() < 1e-12);
    }
}
