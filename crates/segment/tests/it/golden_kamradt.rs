//! Agreement with other software; `scripts/golden/golden_segment.py` writes the values.

use pericope_segment::embedding::DistanceThreshold;
use serde_json::Value;

#[test]
fn kamradt_thresholds_are_those_of_numpy() {
    let golden: Value = serde_json::from_str(include_str!("../golden/kamradt.json")).unwrap();
    let mut checked = 0;
    for case in golden["cases"].as_array().unwrap() {
        let distances: Vec<f64> = case["distances"].as_array().unwrap().iter().map(|d| d.as_f64().unwrap()).collect();
        for rule in case["rules"].as_array().unwrap() {
            let amount = rule["amount"].as_f64().unwrap();
            let threshold = match rule["rule"].as_str().unwrap() {
                "percentile" => DistanceThreshold::Percentile(amount),
                "stddev" => DistanceThreshold::Deviations(amount),
                "iqr" => DistanceThreshold::Quartiles(amount),
                "gradient" => DistanceThreshold::Gradient(amount),
                other => panic!("an unknown rule: {other}"),
            };
            let (values, bound) = threshold.apply(&distances);
            let expected = rule["bound"].as_f64().unwrap();
            assert!((bound - expected).abs() < 1e-12, "{rule} over {distances:?}: {bound}");
            let above: Vec<u64> = (0..values.len()).filter(|&i| values[i] > bound).map(|i| i as u64).collect();
            let expected: Vec<u64> = rule["above"].as_array().unwrap().iter().map(|i| i.as_u64().unwrap()).collect();
            assert_eq!(above, expected, "{rule} over {distances:?}");
            checked += 1;
        }
    }
    assert!(checked > 200, "only {checked} values");
}
