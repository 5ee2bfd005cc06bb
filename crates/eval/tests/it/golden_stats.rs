//! Paired statistics against scipy, statsmodels and arch: `golden/stats.json` was written by
//! `scripts/golden/golden_stats.py`.
//!
//! What is exact must agree to 1e-9. What is sampled differs by Monte Carlo error, of 10,000 resamples here (scipy's
//! 200,000 add a fifth of that), and each value may be five standard errors off:
//! - a p-value's standard error is sqrt(p (1 - p) / 10,000), 4.5 % of p where it stopped early, and the rule that counts
//!   the observed pattern adds 1/10,000;
//! - an end of the interval, the quantile q = 0.025 of a nearly normal distribution of standard deviation se, has the
//!   standard error sqrt(q (1 - q) / 10,000) / density = 0.0267 se, so 0.15 se is allowed (skew thins one tail a little),
//!   and 0.2 se for BCa, whose quantiles depend on the share of resamples below the estimate.

use pericope_eval::stats::{
    Clustered, EXACT_UP_TO, Flips, Table, compare_by, confidence_set, detectable, documents_needed, holm,
};
use serde::Deserialize;

#[derive(Deserialize)]
struct Fixture {
    cases: Vec<Case>,
    holm: Vec<(Vec<f64>, Vec<f64>)>,
    confidence_sets: Vec<Set>,
}

#[derive(Deserialize)]
struct Case {
    kind: String,
    differences: Vec<f64>,
    documents: Vec<usize>,
    exact: bool,
    p: f64,
    mean: f64,
    standard_error: f64,
    design_effect: Option<f64>,
    detectable: f64,
    detectable_of_12: f64,
    needed_for_2_points: usize,
    interval: Option<(f64, f64)>,
}

#[derive(Deserialize)]
struct Set {
    scores: Vec<Vec<f64>>,
    documents: Vec<usize>,
    p: Vec<f64>,
    arch: Option<Vec<f64>>,
}

fn fixture() -> Fixture {
    serde_json::from_str(include_str!("../golden/stats.json")).unwrap()
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * expected.abs().max(1.0)
}

#[test]
fn comparisons_agree_with_scipy() {
    let cases = fixture().cases;
    let many = |case: &Case| case.documents.iter().max().unwrap() + 1;
    assert!(cases.iter().any(|case| case.exact && many(case) == EXACT_UP_TO));
    assert!(cases.iter().any(|case| case.kind.starts_with("clustered") && case.design_effect > Some(1.5)));
    for case in &cases {
        let zeros = vec![0.0; case.differences.len()];
        let found = compare_by(&case.differences, &zeros, &case.documents, 17).unwrap();
        let name = format!("{} {}: {found:?}", case.kind, many(case));
        assert_eq!(found.documents, many(case));
        assert!(close(found.difference, case.mean), "{name}");
        let allowed = match case.exact {
            true => 1e-9,
            false => 5.0 * (case.p * (1.0 - case.p) * 1.05e-4).sqrt().max(0.046 * case.p) + 2e-4,
        };
        assert!((found.p - case.p).abs() <= allowed, "{name}, scipy {}", case.p);
        let se = case.standard_error;
        // Means of hits and half points lie on a grid, and a quantile may fall on the next of its values.
        let grid = match case.kind.as_str() {
            "hit" => 1.0,
            "judge" => 0.5,
            _ => 0.0,
        };
        let allowed = (if many(case) < 40 { 0.2 } else { 0.15 }) * se + 1.001 * grid / case.differences.len() as f64;
        if let Some((low, high)) = case.interval {
            assert!((found.low - low).abs() < allowed, "{name}, scipy {low}");
            assert!((found.high - high).abs() < allowed, "{name}, scipy {high}");
        }
    }
}

#[test]
fn errors_by_document_agree_with_statsmodels() {
    for case in &fixture().cases {
        let clustered = Clustered::new(&case.differences, &case.documents).unwrap();
        let name = format!("{} {}", case.kind, clustered.documents());
        let error = clustered.standard_error().unwrap();
        assert!(close(error, case.standard_error), "{name}: {error}, statsmodels {}", case.standard_error);
        assert_eq!(clustered.design_effect().is_some(), case.design_effect.is_some(), "{name}");
        if let (Some(effect), Some(expected)) = (clustered.design_effect(), case.design_effect) {
            assert!(close(effect, expected), "{name}: {effect}, statsmodels {expected}");
        }
        for (level, expected) in [(0.05, case.detectable), (0.05 / 12.0, case.detectable_of_12)] {
            let found = detectable(&clustered, level);
            assert!((found - expected).abs() <= 1e-7 * expected.max(1e-3), "{name}: {found}, scipy {expected}");
        }
        if case.standard_error > 1e-9 {
            assert_eq!(documents_needed(&clustered, 0.02, 0.05), Some(case.needed_for_2_points), "{name}");
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

#[test]
fn the_model_confidence_set_agrees_with_numpy_and_arch() {
    for set in fixture().confidence_sets {
        let table = Table::new(&set.scores, &set.documents).unwrap();
        let found = confidence_set(&table, &Flips::new(table.documents(), 5));
        for (found, expected) in found.iter().zip(&set.p) {
            // Five standard errors, of 10,000 patterns here and 50,000 there.
            let allowed = 5.0 * (expected * (1.0 - expected) * 1.2e-4).sqrt() + 1e-3;
            assert!((found - expected).abs() <= allowed, "{found} here, {expected} by numpy: {:?}", set.p);
        }
        // arch resamples questions, which on many independent ones comes to nearly the same.
        for (found, expected) in found.iter().zip(set.arch.iter().flatten()) {
            assert!((found - expected).abs() <= 0.05, "{found} here, {expected} by arch: {:?}", set.arch);
        }
    }
}
