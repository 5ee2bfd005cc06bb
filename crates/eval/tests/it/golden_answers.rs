//! Answer metrics against rouge-score and SQuAD's rules: `golden/answers.json` was written by
//! `scripts/golden/golden_retrieval.py answers`.

use pericope_eval::metrics::answers::{exact_match, normalise, rouge_l, token_f1};
use serde::Deserialize;

#[derive(Deserialize)]
struct Fixture {
    texts: Vec<String>,
    normal: Vec<String>,
    /// Indices of answer and gold, exact match, token F1, ROUGE-L.
    pairs: Vec<(usize, usize, f64, f64, f64)>,
}

fn fixture() -> Fixture {
    serde_json::from_str(include_str!("../golden/answers.json")).unwrap()
}

#[test]
fn normalisation_is_squads() {
    let fixture = fixture();
    for (text, normal) in fixture.texts.iter().zip(&fixture.normal) {
        assert_eq!(normalise(text), *normal, "{text:?}");
    }
}

#[test]
fn scores_agree() {
    let fixture = fixture();
    assert!(fixture.pairs.len() > 300);
    for &(answer, gold, exact, f1, rouge) in &fixture.pairs {
        let (answer, gold) = (&fixture.texts[answer], &fixture.texts[gold]);
        assert_eq!(exact_match(answer, gold), exact, "{answer:?} {gold:?}");
        assert!((token_f1(answer, gold) - f1).abs() < 1e-12, "{answer:?} {gold:?}");
        assert!((rouge_l(answer, gold).f - rouge).abs() < 1e-12, "{answer:?} {gold:?}");
    }
}
