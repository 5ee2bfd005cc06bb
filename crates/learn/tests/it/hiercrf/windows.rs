//! Documents longer than a window. Work is counted, not timed.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use pericope_api::Segmenter;
use pericope_learn::hiercrf::HierCrfSegmenter;

use super::fixtures::{TOPICS, Topics, model, read, segmenter};

/// Work is counted, not timed: spans that are scored, and sentences that are embedded.
#[test]
fn long_documents_cost_in_proportion_to_their_length() {
    let work = |sections: usize| {
        let encoder = Arc::new(Topics::default());
        let segmenter = HierCrfSegmenter::new(model(), encoder.clone()).unwrap();
        let (document, _) = read("long", sections);
        segmenter.segment(&document).unwrap();
        assert_eq!(encoder.0.load(Ordering::Relaxed), document.len());
        (document.len() as f64, segmenter.model().spans_scored() as f64)
    };
    let (short, long) = (work(200), work(800));
    let (per_short, per_long) = (short.1 / short.0, long.1 / long.0);
    assert!(long.0 > 3.0 * short.0 && (per_long / per_short - 1.0).abs() < 0.02, "{per_short} {per_long}");
    // Each sentence lies in two windows of 40.
    assert!(per_long < 2.0 * 41.0 / 2.0 + 1.0, "{per_long}");
}

/// However long the document is, a few windows of vectors are in memory.
#[test]
fn vectors_are_asked_for_once_in_order_and_few_at_a_time() {
    let (model, sentences) = (model(), 20_000);
    let (mut next, mut most) = (0, 0);
    let found = model.read(sentences, &mut |range| {
        assert_eq!(range.start, next);
        next = range.end;
        most = most.max(range.len());
        Ok(range.flat_map(|i| Topics::vector(&format!("topic{} {i}", i / 9 % TOPICS))).collect())
    });
    let found = found.unwrap();
    assert_eq!((next, found.scores.len(), found.tree.len()), (sentences, sentences - 1, sentences));
    assert!(most <= 16 * 20 + 40, "{most} vectors at once");
    assert!(found.tree.level(1).len() > sentences / 40);
}

#[test]
fn a_window_that_holds_the_document_is_the_document() {
    let (short, _) = read("short", 5);
    assert!(short.len() <= 40);
    let before = model().spans_scored();
    assert_eq!(before, 0);
    let segmenter = segmenter();
    segmenter.segment(&short).unwrap();
    assert_eq!(segmenter.model().spans_scored(), (short.len() * (short.len() + 1) / 2) as u64);
}
