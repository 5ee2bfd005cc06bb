//! Agreement with Python's difflib; `scripts/golden/golden_difflib.py` writes the values.

use pericope_segment::graph::similarity::ratio;

#[derive(serde::Deserialize)]
struct Golden {
    cases: Vec<(String, String, String)>,
}

#[test]
fn ratios_are_those_of_sequence_matcher() {
    let golden: Golden = serde_json::from_str(include_str!("../golden/difflib.json")).unwrap();
    assert!(golden.cases.len() >= 300, "only {} cases", golden.cases.len());
    for (a, b, expected) in golden.cases {
        assert_eq!(ratio(&a, &b), expected.parse::<f64>().unwrap(), "{a:?} and {b:?}");
    }
}
