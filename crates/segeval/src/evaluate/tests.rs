#![allow(clippy::unwrap_used)]

use std::sync::atomic::{AtomicUsize, Ordering};

use pericope_api::{Boundaries, Document, SegmentError, Segmentation, Segmenter};
use pericope_segment::policy::SizePolicy;
use pericope_segment::{Chunker, counters::WordCounter};

use super::{EvaluateError, System, evaluate};
use crate::read::{Segmented, Set};

/// Cuts after every second sentence; fails where the first sentence says so.
struct Pairs;

impl Segmenter for Pairs {
    fn segment(&self, document: &Document) -> Result<Segmentation, SegmentError> {
        if document.sentence(0) == "fail" {
            return Err(SegmentError::Unsupported("told to".into()));
        }
        let n = document.len();
        Ok(Segmentation::Boundaries(Boundaries::new(n, (2..n).step_by(2).collect())?))
    }
}

fn pairs() -> Chunker {
    Chunker::new(Box::new(Pairs), SizePolicy::default(), std::sync::Arc::new(WordCounter))
}

fn set(name: &str, documents: &[(&str, usize, &[usize])]) -> Set {
    let documents = documents
        .iter()
        .map(|&(first, n, after)| {
            let sentences: Vec<&str> = std::iter::once(first).chain(std::iter::repeat_n("s", n - 1)).collect();
            let document = Document::from_sentences(&format!("{first}{n}"), &sentences);
            let reference = Boundaries::new(n, after.to_vec()).unwrap();
            Segmented { document, reference, labels: Vec::new() }
        })
        .collect();
    Set { name: name.into(), documents, skipped: Vec::new(), ..Set::default() }
}

#[test]
fn rows_by_set_and_system_with_failures_named() {
    let sets = [set("one", &[("a", 6, &[2, 4]), ("fail", 4, &[2]), ("b", 6, &[3])]), set("two", &[("c", 4, &[2])])];
    let chunker = pairs();
    let named = |name: &str| System { name: name.into(), chunker: &chunker, known_count: false };
    let ticks = AtomicUsize::new(0);
    let tick = |_: &System<'_>, _: &str| {
        ticks.fetch_add(1, Ordering::Relaxed);
    };
    let found = evaluate(&sets, &[named("x"), named("y")], &tick).unwrap();
    let order: Vec<(&str, &str)> = found.rows.iter().map(|r| (r.set.as_str(), r.segmenter.as_str())).collect();
    assert_eq!(order, [("one", "x"), ("one", "y"), ("two", "x"), ("two", "y")]);
    let row = &found.rows[0];
    assert_eq!((row.documents, row.failed.len(), ticks.into_inner()), (2, 1, 8));
    assert_eq!((row.failed[0].document.as_str(), row.failed[0].reason.as_str()), ("fail4", "told to"));
    // Proposed 2 + 2, true 2 + 1, matched 2.
    assert_eq!((row.precision, row.recall, row.proposed_over_true), (0.5, 2.0 / 3.0, Some(4.0 / 3.0)));
    assert_eq!((row.macro_f1, found.rows[2].f1, found.rows[2].pk_error), (0.5, 1.0, None));
    let pk = |i: usize| found.documents[i].pk;
    assert!((row.pk_error.unwrap() - (pk(0) - pk(1)).abs() / 2.0).abs() < 1e-12);
    let documents: Vec<&str> = found.documents.iter().map(|d| d.document.as_str()).collect();
    assert_eq!(documents, ["a6", "b6", "a6", "b6", "c4", "c4"]);
    assert_eq!((&found.documents[1].reference[..], &found.documents[1].hypothesis[..]), (&[3][..], &[2, 4][..]));
}

#[test]
fn what_cannot_be_told_the_count_is_known_before_the_run() {
    let chunker = pairs();
    let told = System { name: "pairs".into(), chunker: &chunker, known_count: true };
    let tick = |_: &System<'_>, _: &str| panic!("no document may be touched");
    let EvaluateError::Unusable { segmenter, known_count, .. } =
        evaluate(&[set("one", &[("a", 6, &[2])])], &[told], &tick).unwrap_err();
    assert_eq!((segmenter.as_str(), known_count), ("pairs", true));
}

#[test]
fn nothing_scored_is_no_figure() {
    let chunker = pairs();
    let one = System { name: "pairs".into(), chunker: &chunker, known_count: false };
    let found = evaluate(&[set("one", &[("fail", 4, &[2])])], &[one], &|_: &System<'_>, _: &str| {}).unwrap();
    let json = serde_json::to_value(&found.rows[0]).unwrap();
    assert!(json["pk"].is_null() && json["f1"].is_null());
    assert_eq!(json["failed"][0]["document"], "fail4");
}
