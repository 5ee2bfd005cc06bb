//! Paired comparisons over documents.

use pericope_segeval::compare::comparisons;

use crate::samples::evaluation;

#[test]
fn the_first_two_by_document() {
    let found = comparisons(&evaluation());
    assert_eq!(found.len(), 2);
    let one = &found[0];
    assert_eq!((one.set.as_str(), one.a.as_str(), one.b.as_str(), one.known_count), ("one", "near", "none", false));
    assert_eq!((one.n, one.wins, one.losses), (3, 3, 0));
    assert!(one.difference < 0.0 && one.low <= one.difference && one.difference <= one.high);
}

#[test]
fn one_segmenter_alone_is_not_compared() {
    let mut one = evaluation();
    one.rows.retain(|row| row.segmenter == "near" && !row.known_count);
    assert!(comparisons(&one).is_empty());
}
