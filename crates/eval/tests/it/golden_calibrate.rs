//! Agreement of judges with people against scikit-learn and scipy: `golden/calibrate.json` was written by
//! `scripts/golden/golden_calibrate.py`.

use std::path::Path;

use pericope_eval::calibrate::{KappaWeights, Label, calibrate, weighted_kappa};
use pericope_eval::stats::{pearson, spearman};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    human: Vec<f64>,
    judge: Vec<f64>,
    words: Vec<usize>,
    linear: f64,
    quadratic: f64,
    pearson: f64,
    spearman: f64,
    slope: f64,
    length: f64,
}

#[test]
fn agreement_is_that_of_scikit_learn_and_scipy() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/calibrate.json");
    let cases: Vec<Case> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(cases.len() > 10 && cases.iter().any(|case| case.human.len() == 200));
    // Every figure of a calibration is worked out 10,000 times over, so of the larger sets one has one.
    let calibrated = cases.iter().position(|case| case.human.len() == 60).unwrap();
    for (number, case) in cases.iter().enumerate() {
        let close = |found: f64, expected: f64, what: &str| {
            assert!((found - expected).abs() < 1e-9, "{what} of {}: {found}, not {expected}", case.human.len());
        };
        close(weighted_kappa(&case.human, &case.judge, KappaWeights::Linear), case.linear, "linear kappa");
        close(weighted_kappa(&case.human, &case.judge, KappaWeights::Quadratic), case.quadratic, "quadratic kappa");
        close(pearson(&case.human, &case.judge), case.pearson, "pearson");
        close(spearman(&case.human, &case.judge), case.spearman, "spearman");
        if case.human.len() > 20 && number != calibrated {
            continue;
        }
        let labels: Vec<Label> = (case.human.iter().zip(&case.judge).zip(&case.words).enumerate())
            .map(|(i, ((&human, &judge), &words))| Label {
                question_id: i.to_string(),
                human,
                judge,
                words: Some(words),
                ..Label::default()
            })
            .collect();
        let found = calibrate(&labels, 7);
        close(found.kappa_linear.value, case.linear, "linear kappa");
        close(found.pearson.value, case.pearson, "pearson");
        close(found.spearman.value, case.spearman, "spearman");
        let by_length = found.by_length.unwrap();
        close(by_length.slope.value, case.slope, "slope");
        close(by_length.spearman.value, case.length, "length");
        if case.human.len() >= 20 {
            for figure in [found.kappa_quadratic, found.kappa_linear, found.pearson, found.spearman, found.bias] {
                let [low, high] = figure.interval.unwrap();
                assert!(low <= figure.value && figure.value <= high, "{figure:?}");
            }
        }
    }
}
