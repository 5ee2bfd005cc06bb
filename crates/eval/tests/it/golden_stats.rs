//! Paired statistics against scipy and statsmodels: `golden/stats.json` was written by `scripts/golden/golden_stats.py`.
//!
//! What is exact must agree to 1e-12. What is sampled differs by Monte Carlo error, of 10,000 resamples here (scipy's
//! 200,000 add a fifth of that), and each value may be five standard errors off:
//! - a p-value's standard error is sqrt(p (1 - p) / 10,000), and the rule that counts the observed pattern adds 1/10,000;
//! - an end of the interval, the quantile q = 0.025 of a nearly normal distribution of standard deviation se, has the
//!   standard error sqrt(q (1 - q) / 10,000) / density = 0.0267 se, so 0.15 se is allowed (skew thins one tail a little).

use pericope_eval::stats::{EXACT_UP_TO, compare, holm};
use serde::Deserialize;

#[derive(Deserialize)]
struct Fixture {
    cases: Vec<Case>,
    holm: Vec<(Vec<f64>, Vec<f64>)>,
}

#[derive(Deserialize)]
struct Case {
    kind: String,
    differences: Vec<f64>,
    exact: bool,
    p: f64,
    mean: f64,
    detectable: f64,
    interval: Option<(f64, f64)>,
    standard_error: Option<f64>,
}

fn fixture() -> Fixture {
    serde_json::from_str(include_str!("../golden/stats.json")).unwrap()
}

#[test]
fn comparisons_agree_with_scipy() {
    let cases = fixture().cases;
    assert!(cases.iter().any(|case| case.exact && case.differences.len() == EXACT_UP_TO));
    for case in &cases {
        let zeros = vec![0.0; case.differences.len()];
        let found = compare(&case.differences, &zeros, 17).unwrap();
        let name = format!("{} {}: {found:?}", case.kind, case.differences.len());
        assert!((found.difference - case.mean).abs() < 1e-12, "{name}");
        assert!((found.detectable - case.detectable).abs() < 1e-12, "{name}");
        let allowed = if case.exact { 1e-12 } else { 5.0 * (case.p * (1.0 - case.p) * 1.05e-4).sqrt() + 2e-4 };
        assert!((found.p - case.p).abs() <= allowed, "{name}, scipy {}", case.p);
        if let (Some((low, high)), Some(se)) = (case.interval, case.standard_error) {
            assert!((found.low - low).abs() < 0.15 * se, "{name}, scipy {low}");
            assert!((found.high - high).abs() < 0.15 * se, "{name}, scipy {high}");
        }
    }
}

#[test]
fn holm_agrees_with_statsmodels() {
    for (raw, adjusted) in fixture().holm {
        for (found, expected) in holm(&raw).iter().zip(&adjusted) {
            assert!((found - expected).abs() < 1e-12, "{raw:?}");
        }
    }
}
