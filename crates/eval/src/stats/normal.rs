//! The normal and Student's t distribution, as far as intervals and sample sizes need them.

use std::f64::consts::{FRAC_2_PI, TAU};

/// Degrees of freedom up to which the distribution of t is summed exactly.
const SUMMED: usize = 200;

/// Probability that a standard normal number is below `x`: the series of Marsaglia (2004, "Evaluating the Normal
/// Distribution", section 3), with an absolute error below 1e-15.
pub(super) fn normal_cdf(x: f64) -> f64 {
    if x.is_nan() {
        return f64::NAN;
    }
    if x.abs() > 8.0 {
        return if x > 0.0 { 1.0 } else { 0.0 };
    }
    // x + x^3 / 3 + x^5 / (3 * 5) + ...: every term has the sign of x, so nothing cancels.
    let (mut term, mut sum, mut odd) = (x, x, 1.0);
    loop {
        odd += 2.0;
        term *= x * x / odd;
        let next = sum + term;
        if next == sum {
            break;
        }
        sum = next;
    }
    0.5 + sum * (-0.5 * x * x).exp() / TAU.sqrt()
}

/// The number below which a standard normal number lies with probability `p`; infinite for 0 and 1.
pub(super) fn normal_quantile(p: f64) -> f64 {
    if p.is_nan() {
        return f64::NAN;
    }
    if p > 0.5 {
        return -normal_quantile(1.0 - p);
    }
    if p <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if p == 0.5 {
        return 0.0;
    }
    bisected(-8.3, 0.0, |x| normal_cdf(x) < p)
}

/// The quantile `p`, 0.5..1, of Student's t with `df` degrees of freedom, at least 1. Up to 200 of them the distribution
/// function is summed exactly (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4); above, the normal quantile is expanded in
/// 1 / df (26.7.5), which errs by less than 1e-9 there.
pub(super) fn t_quantile(p: f64, df: usize) -> f64 {
    let df = df.max(1);
    if p <= 0.5 {
        return 0.0;
    }
    if df > SUMMED {
        return expanded_t(normal_quantile(p), df as f64);
    }
    let mut high = 2.0;
    while t_cdf(high, df) < p && high < 1e12 {
        high *= 2.0;
    }
    bisected(0.0, high, |x| t_cdf(x, df) < p)
}

/// Probability that t with `df` degrees of freedom is below `t`, which is not negative.
fn t_cdf(t: f64, df: usize) -> f64 {
    let angle = (t / (df as f64).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let squared = cosine * cosine;
    let odd = df % 2 == 1;
    // Terms of the finite sum: 1, then products of (k - 1) / k * cos^2.
    let (mut term, mut sum) = if odd { (cosine, cosine) } else { (1.0, 1.0) };
    let mut k = if odd { 3 } else { 2 };
    while k + 2 <= df {
        term *= squared * (k as f64 - 1.0) / k as f64;
        sum += term;
        k += 2;
    }
    let between = match (odd, df) {
        (true, 1) => FRAC_2_PI * angle,
        (true, _) => FRAC_2_PI * (angle + sine * sum),
        (false, _) => sine * sum,
    };
    0.5 + 0.5 * between
}

fn expanded_t(z: f64, df: f64) -> f64 {
    let z2 = z * z;
    let first = z * (z2 + 1.0) / 4.0;
    let second = z * ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0;
    let third = z * (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0;
    z + (first + (second + third / df) / df) / df
}

/// Where `below` turns from true to false between `low` and `high`.
fn bisected(mut low: f64, mut high: f64, below: impl Fn(f64) -> bool) -> f64 {
    // Each step halves the range: after 200 only neighbouring numbers are left.
    for _ in 0..200 {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        if below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low + (high - low) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_scipys() {
        // scipy.stats.norm.ppf and scipy.stats.t.ppf.
        for (p, z) in [(0.975, 1.959_963_984_540_054), (0.8, 0.841_621_233_572_914_3), (1e-6, -4.753_424_308_822_899)] {
            assert!((normal_quantile(p) - z).abs() < 1e-9, "{p}: {}", normal_quantile(p));
        }
        for (p, df, t) in [
            (0.975, 1, 12.706_204_736_174_698),
            (0.975, 2, 4.302_652_729_749_464),
            (0.975, 9, 2.262_157_162_740_992),
            (0.998, 9, 3.834_510_269_504_063),
            (0.8, 27, 0.855_137_230_694_281_9),
            (0.975, 200, 1.971_896_223_633_908_8),
            (0.975, 201, 1.971_836_506_779_859),
            (0.9995, 5_000, 3.292_473_723_370_882_5),
        ] {
            assert!((t_quantile(p, df) / t - 1.0).abs() < 1e-7, "{p} {df}: {}", t_quantile(p, df));
        }
    }

    #[test]
    fn probabilities_and_quantiles_are_inverse() {
        for p in [0.001, 0.025, 0.3, 0.5, 0.77, 0.999] {
            assert!((normal_cdf(normal_quantile(p)) - p).abs() < 1e-14);
        }
        assert_eq!((normal_cdf(-9.0), normal_cdf(9.0)), (0.0, 1.0));
        assert!(normal_quantile(0.0).is_infinite() && normal_cdf(f64::NAN).is_nan());
        assert!((t_cdf(2.0, 4) - 0.941_941_738_241_592_3).abs() < 1e-12);
    }
}
