//! The metrics against segeval and nltk: `metrics.json` was written by
//! `scripts/golden/golden_metrics.py fixture`.

use pericope_api::Boundaries;
use pericope_segment::metrics::{boundary_edits, evaluate, pk, window_diff, window_size};
use serde_json::Value;

const FIXTURE: &str = include_str!("../golden/metrics.json");

/// SplitMix64 (Steele, Lea and Flood 2014), as in the script.
struct SplitMix(u64);

impl SplitMix {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 * (2.0_f64).powi(-53)
    }
}

/// The pair that the script's `draw` makes of the same parameters.
fn draw(seed: u64, n: usize, density: f64, mode: &str, noise: f64) -> (Boundaries, Boundaries) {
    let mut random = SplitMix(seed);
    let reference: Vec<usize> = (1..n).filter(|_| random.uniform() < density).collect();
    let mut found = vec![false; n.max(1)];
    match mode {
        "none" => {}
        "all" => found[1..].fill(true),
        "same" => reference.iter().for_each(|&b| found[b] = true),
        "near" | "independent" => {
            if mode == "near" {
                for &boundary in &reference {
                    let kept = random.uniform() >= 0.2;
                    let moved = boundary + (random.uniform() * 5.0) as usize;
                    if kept && (3..n + 2).contains(&moved) {
                        found[moved - 2] = true;
                    }
                }
            }
            for gap in &mut found[1..] {
                *gap |= random.uniform() < noise;
            }
        }
        other => panic!("unknown mode {other}"),
    }
    let hypothesis = (1..n).filter(|&gap| found[gap]).collect();
    (Boundaries::new(n, reference).unwrap(), Boundaries::new(n, hypothesis).unwrap())
}

fn close(name: &str, found: f64, expected: &Value) -> usize {
    let Some(expected) = expected.as_f64() else {
        // The package has no answer where no window fits; ours is documented.
        assert_eq!(found, 0.0, "{name}");
        return 0;
    };
    assert!((found - expected).abs() < 1e-9, "{name}: {found} instead of {expected}");
    1
}

/// Compares one pair with its row of golden values; returns how many there were.
fn compare(reference: &Boundaries, hypothesis: &Boundaries, row: &[Value]) -> usize {
    let [k_ours, pk_ours, wd_ours, k_segeval, pk_segeval, wd_segeval, k_nltk, pk_nltk, wd_nltk, b, s, b3, s3] = row
    else {
        panic!("a row of {} values", row.len());
    };
    let mut compared = 0;
    let windows = [
        ("ours", k_ours, pk_ours, wd_ours),
        ("segeval", k_segeval, pk_segeval, wd_segeval),
        ("nltk", k_nltk, pk_nltk, wd_nltk),
    ];
    assert_eq!(Some(window_size(reference) as u64), k_ours.as_u64(), "our window size");
    compared += 1;
    for (name, k, expected_pk, expected_wd) in windows {
        let k = k.as_u64().unwrap() as usize;
        compared += close(name, pk(reference, hypothesis, k).unwrap(), expected_pk);
        compared += close(name, window_diff(reference, hypothesis, k).unwrap(), expected_wd);
    }
    for (span, b, s) in [(2, b, s), (3, b3, s3)] {
        let edits = boundary_edits(reference, hypothesis, span).unwrap();
        compared += close("B", edits.boundary_similarity(), b) + close("S", edits.segmentation_similarity(), s);
    }
    let scores = evaluate(reference, hypothesis).unwrap().scores;
    compared + close("Pk", scores.pk, pk_ours) + close("B", scores.boundary_similarity, b)
}

#[test]
fn agrees_with_segeval_and_nltk_on_extreme_pairs() {
    let fixture: Value = serde_json::from_str(FIXTURE).unwrap();
    let rows = fixture["explicit"].as_array().unwrap();
    assert!(rows.len() >= 15);
    for row in rows {
        let row = row.as_array().unwrap();
        let n = row[0].as_u64().unwrap() as usize;
        let list = |v: &Value| v.as_array().unwrap().iter().map(|b| b.as_u64().unwrap() as usize).collect();
        let reference = Boundaries::new(n, list(&row[1])).unwrap();
        let hypothesis = Boundaries::new(n, list(&row[2])).unwrap();
        compare(&reference, &hypothesis, &row[3..]);
    }
}

#[test]
fn agrees_with_segeval_and_nltk_on_random_pairs() {
    let fixture: Value = serde_json::from_str(FIXTURE).unwrap();
    let rows = fixture["seeded"].as_array().unwrap();
    assert_eq!(rows.len(), 300);
    let mut compared = 0;
    for row in rows {
        let row = row.as_array().unwrap();
        let (reference, hypothesis) = draw(
            row[0].as_u64().unwrap(),
            row[1].as_u64().unwrap() as usize,
            row[2].as_f64().unwrap(),
            row[3].as_str().unwrap(),
            row[4].as_f64().unwrap(),
        );
        compared += compare(&reference, &hypothesis, &row[5..]);
    }
    assert!(compared > 3400, "only {compared} values compared");
}
