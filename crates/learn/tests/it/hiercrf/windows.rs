//! Documents longer than a window. Work is counted, not timed.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use pericope_api::Segmenter;
use pericope_learn::hiercrf::HierCrfSegmenter;

use super::fixtures::{TOPICS, Topics, model, read};

#[test]
fn each_sentence_of_a_long_document_is_embedded_once() {
    for sections in [5, 200, 800] {
        let encoder = Arc::new(Topics::default());
        let segmenter = HierCrfSegmenter::new(model(), encoder.clone()).unwrap();
        let (document, _) = read("long", sections);
        segmenter.segment(&document).unwrap();
        assert_eq!(encoder.0.load(Ordering::Relaxed), document.len());
    }
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
