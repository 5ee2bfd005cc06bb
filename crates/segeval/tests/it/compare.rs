//! Paired comparisons over documents.

use pericope_eval::record::Outcome;
use pericope_segeval::compare::{comparisons, standings};
use pericope_segeval::evaluate::{DocumentRow, Evaluation, SegmentationRow};

use crate::samples::evaluation;

/// Segmenters on one set; by segmenter, what its Pk lies above 0.5. All but the first waver by document.
fn made(shifts: &[(&str, f64)], documents: usize) -> Evaluation {
    let sample = evaluation();
    let mut made = Evaluation::default();
    for (at, (name, shift)) in shifts.iter().enumerate() {
        let row = SegmentationRow { segmenter: (*name).into(), documents, ..sample.rows[0].clone() };
        made.rows.push(row);
        for document in 0..documents {
            let wave = [0.05, -0.05][document % 2] * at.min(1) as f64;
            made.documents.push(DocumentRow {
                document: format!("d{document}"),
                segmenter: (*name).into(),
                pk: 0.5 + shift + wave,
                ..sample.documents[0].clone()
            });
        }
    }
    made
}

#[test]
fn each_is_compared_with_the_first_by_document() {
    let found = comparisons(&evaluation());
    assert_eq!(found.len(), 2);
    let one = &found[0];
    assert_eq!((one.set.as_str(), one.a.as_str(), one.b.as_str(), one.known_count), ("one", "none", "near", false));
    assert_eq!((one.n, one.wins, one.losses), (3, 0, 3));
    assert!(one.difference > 0.0 && one.low <= one.difference && one.difference <= one.high);
    // Three documents have no p-value below 0.25.
    assert_eq!((one.p, one.p_holm, one.outcome), (0.25, 0.25, Outcome::Unresolvable));
    let stands = standings(&evaluation());
    let of = |set: &str| -> Vec<(&str, usize, bool)> {
        stands.iter().filter(|s| s.set == set).map(|s| (s.segmenter.as_str(), s.n, s.possible)).collect()
    };
    assert_eq!(of("one"), [("near", 3, true), ("none", 3, true)]);
    assert_eq!(of("two"), [("near", 1, true), ("none", 1, true)]);
    assert!(stands[0].p_best.is_some_and(|share| share > 0.99) && stands[3].p_best.is_none());
}

#[test]
fn all_segmenters_of_a_set_are_compared_and_corrected_together() {
    let made = made(&[("first", 0.0), ("worse", 0.2), ("like", 0.0), ("better", -0.2)], 40);
    let found = comparisons(&made);
    let names: Vec<(&str, &str)> = found.iter().map(|c| (c.a.as_str(), c.b.as_str())).collect();
    assert_eq!(names, [("worse", "first"), ("like", "first"), ("better", "first")]);
    let outcomes: Vec<Outcome> = found.iter().map(|c| c.outcome).collect();
    assert_eq!(outcomes, [Outcome::Worse, Outcome::Open, Outcome::Better]);
    // The smallest of three counts threefold.
    assert!((found[0].p_holm - 3.0 * found[0].p).abs() < 1e-12, "{found:?}");
    assert_eq!((found[2].wins, found[2].losses, found[2].n), (40, 0, 40));
    let best: Vec<bool> = standings(&made).iter().map(|s| s.possible).collect();
    assert_eq!(best, [false, false, false, true]);
    assert!((standings(&made)[3].p_best.unwrap() - 1.0).abs() < 1e-9);
}

#[test]
fn an_open_comparison_says_how_many_documents_would_decide_it() {
    let found = comparisons(&made(&[("first", 0.0), ("near", 0.01), ("worse", 0.2)], 40));
    assert_eq!((found[0].outcome, found[1].outcome), (Outcome::Open, Outcome::Worse));
    // 40 * ((z(0.9875) + z(0.8)) * 0.0080064 / 0.01)^2, at the level of one of two.
    assert_eq!((found[0].documents_needed, found[1].documents_needed), (Some(244), None));
    // What so few documents cannot resolve says nothing of how many would.
    assert_eq!(comparisons(&evaluation())[0].documents_needed, None);
}

#[test]
fn eight_documents_decide_between_two_and_not_among_ten() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    let shifts: Vec<(&str, f64)> = names.iter().enumerate().map(|(at, name)| (*name, 0.2 * at.min(1) as f64)).collect();
    let alone = comparisons(&made(&shifts[..2], 8));
    assert_eq!((alone[0].p, alone[0].outcome), (2.0 / 256.0, Outcome::Worse));
    let among = comparisons(&made(&shifts, 8));
    assert_eq!(among.len(), 9);
    assert!(among.iter().all(|c| c.p == 2.0 / 256.0 && c.outcome == Outcome::Unresolvable), "{among:?}");
}

#[test]
fn documents_that_a_segmenter_failed_on_are_left_out() {
    let mut made = made(&[("first", 0.0), ("other", 0.2), ("third", 0.2)], 20);
    made.documents.retain(|row| row.segmenter != "other" || row.document != "d3");
    assert_eq!(comparisons(&made).iter().map(|c| c.n).collect::<Vec<_>>(), [19, 20]);
    assert!(standings(&made).iter().all(|s| s.n == 19));
    // One that failed everywhere does not take the documents from the others.
    made.documents.retain(|row| row.segmenter != "other");
    made.rows[1].documents = 0;
    assert_eq!(comparisons(&made).len(), 1);
    let left: Vec<(String, usize)> = standings(&made).into_iter().map(|s| (s.segmenter, s.n)).collect();
    assert_eq!(left, [("first".to_owned(), 20), ("third".to_owned(), 20)]);
}

#[test]
fn one_segmenter_alone_is_not_compared() {
    let mut one = evaluation();
    one.rows.retain(|row| row.segmenter == "near" && !row.known_count);
    assert!(comparisons(&one).is_empty() && standings(&one).is_empty());
}
