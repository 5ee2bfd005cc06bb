//! The semantic segmenters with an encoder that knows words only.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use pericope_api::{Boundaries, Cuts, Document, Kind, Segmenter};
use pericope_segment::embedding::{Kamradt, Threshold, Window};
use support::Hashing;

const TOPICS: [&str; 4] = [
    "bread flour oven dough yeast crust",
    "ship sail mast rope keel harbour",
    "violin string bow tune chord scale",
    "planet orbit moon comet star dust",
];

/// Ten sentences on each of four topics.
fn four_topics() -> Document {
    let word = |topic: usize, i: usize| TOPICS[topic].split(' ').nth(i % 6).unwrap();
    // Five of a topic's six words in each sentence, and one that goes through all sentences.
    let sentence = |i: usize| {
        let words: Vec<&str> = (0..5).map(|j| word(i / 10, i + j)).collect();
        format!("the {}", words.join(" "))
    };
    Document::from_sentences("d", &(0..40).map(sentence).collect::<Vec<_>>())
}

fn above(cuts: Cuts) -> Vec<usize> {
    let Cuts::Scores { scores, tau } = cuts else { unreachable!() };
    assert!(scores.iter().all(|s| (0.0..=1.0).contains(s)));
    Boundaries::above(&scores, tau).after().to_vec()
}

#[test]
fn window_finds_the_topics() {
    let window = Window::new(Arc::new(Hashing::default()));
    assert_eq!(above(window.cut(&four_topics()).unwrap()), [10, 20, 30]);
    assert_eq!(window.cut_known(&four_topics(), 4).unwrap().after(), [10, 20, 30]);
}

#[test]
fn code_belongs_to_what_stands_before_it() {
    let mut document = four_topics();
    document.sentences[10].kind = Kind::Code;
    let window = Window::new(Arc::new(Hashing::default()));
    assert_eq!(above(window.cut(&document).unwrap()), [11, 20, 30]);
}

#[test]
fn window_reads_every_sentence_once() {
    let encoder = Arc::new(Hashing::default());
    let document = four_topics();
    Window::new(encoder.clone()).cut(&document).unwrap();
    let text: usize = document.sentences.iter().map(|s| s.span.len()).sum();
    assert_eq!(encoder.bytes.load(Ordering::Relaxed), text);
}

#[test]
fn kamradt_cuts_where_the_distance_is_above_the_percentile() {
    let kamradt = Kamradt { encoder: Arc::new(Hashing::default()), threshold: Threshold::Percentile(90.0), buffer: 1 };
    let found = above(kamradt.cut(&four_topics()).unwrap());
    // 39 distances: four are above the 90th percentile (ties aside).
    assert_eq!(found.len(), 4);
    assert!(found.iter().all(|b| TOPICS.len() * 10 > *b));
    let one = Kamradt { threshold: Threshold::Gradient(95.0), ..kamradt };
    assert_eq!(above(one.cut(&Document::from_sentences("d", &["a b", "c d"])).unwrap()), [0; 0]);
}
