//! The semantic segmenters with an encoder that knows words only.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::support::Hashing;
use pericope_api::{Boundaries, Document, Kind, KnownCount, Segmentation, Segmenter, segment_into};
use pericope_segment::counters::WordCounter;
use pericope_segment::embedding::{Cluster, DistanceThreshold, EmbeddingWindow, Kamradt, Variance};
use pericope_segment::fusion::Fusion;

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

fn above(cuts: Segmentation) -> Vec<usize> {
    let Segmentation::Scores { scores, threshold } = cuts else { unreachable!() };
    assert!(scores.iter().all(|s| (0.0..=1.0).contains(s)));
    Boundaries::above(&scores, threshold).after().to_vec()
}

#[test]
fn window_finds_the_topics() {
    let window = EmbeddingWindow::new(Arc::new(Hashing::default()));
    assert_eq!(above(window.segment(&four_topics()).unwrap()), [10, 20, 30]);
    assert_eq!(segment_into(&window, &four_topics(), 4).unwrap().after(), [10, 20, 30]);
}

#[test]
fn code_belongs_to_what_stands_before_it() {
    let mut document = four_topics();
    document.sentences[10].kind = Kind::Code;
    let window = EmbeddingWindow::new(Arc::new(Hashing::default()));
    assert_eq!(above(window.segment(&document).unwrap()), [11, 20, 30]);
}

#[test]
fn window_reads_every_sentence_once() {
    let encoder = Arc::new(Hashing::default());
    let document = four_topics();
    EmbeddingWindow::new(encoder.clone()).segment(&document).unwrap();
    let text: usize = document.sentences.iter().map(|s| s.span.len()).sum();
    assert_eq!(encoder.bytes.load(Ordering::Relaxed), text);
}

#[test]
fn kamradt_cuts_where_the_distance_is_above_the_percentile() {
    let kamradt =
        Kamradt { encoder: Arc::new(Hashing::default()), threshold: DistanceThreshold::Percentile(90.0), buffer: 1 };
    let found = above(kamradt.segment(&four_topics()).unwrap());
    // 39 distances: four are above the 90th percentile (ties aside).
    assert_eq!(found.len(), 4);
    assert!(found.iter().all(|b| TOPICS.len() * 10 > *b));
    let one = Kamradt { threshold: DistanceThreshold::Gradient(95.0), ..kamradt };
    // As LangChain does, which parts two sentences under this rule.
    assert_eq!(above(one.segment(&Document::from_sentences("d", &["a b", "c d"])).unwrap()), [1]);
}

#[test]
fn a_wide_buffer_holds_no_more_than_is_read() {
    let encoder = Arc::new(Hashing::default());
    let kamradt = Kamradt { encoder: encoder.clone(), threshold: DistanceThreshold::default(), buffer: usize::MAX };
    let sentences: Vec<String> = (0..2000).map(|i| format!("{} number {i}.", TOPICS[i % TOPICS.len()])).collect();
    let document = Document::from_sentences("d", &sentences);
    kamradt.segment(&document).unwrap();
    // 64 bytes for each of the 256 tokens that it reads, and what is left of the last sentence.
    let most = 64 * 256 + 100;
    assert!(document.source.len() > 2 * most && encoder.bytes.load(Ordering::Relaxed) <= most * sentences.len());
}

#[test]
fn variance_and_fusion_find_the_topics() {
    let document = four_topics();
    let variance = Variance::new(Arc::new(Hashing::default()));
    assert_eq!(variance.segment_into(&document, 4).unwrap().after(), [10, 20, 30]);
    let fusion = Fusion::new(Arc::new(Hashing::default()));
    assert_eq!(fusion.segment_into(&document, 4).unwrap().after(), [10, 20, 30]);
    for segmenter in [&variance as &dyn Segmenter, &fusion] {
        assert_eq!(above(segmenter.segment(&document).unwrap()), [10, 20, 30]);
        // One segment, and as many as there are sentences.
        assert_eq!(segment_into(segmenter, &document, 1).unwrap().segments(), 1);
        assert_eq!(segment_into(segmenter, &document, 400).unwrap().segments(), 40);
    }
}

#[test]
fn code_has_no_part_in_the_evidence() {
    let mut document = four_topics();
    document.sentences[10].kind = Kind::Code;
    for segmenter in [
        Box::new(Variance::new(Arc::new(Hashing::default()))) as Box<dyn Segmenter>,
        Box::new(Fusion::new(Arc::new(Hashing::default()))),
    ] {
        assert_eq!(segment_into(segmenter.as_ref(), &document, 4).unwrap().after(), [11, 20, 30]);
        assert_eq!(above(segmenter.segment(&document).unwrap()), [11, 20, 30]);
    }
}

#[test]
fn a_known_count_is_kept_where_there_is_more_code_than_prose() {
    let mut document = four_topics();
    document.sentences.truncate(6);
    for prose in [&[0, 3][..], &[5], &[]] {
        for (i, sentence) in document.sentences.iter_mut().enumerate() {
            sentence.kind = if prose.contains(&i) { Kind::Prose } else { Kind::Code };
        }
        for segmenter in [
            Box::new(Variance::new(Arc::new(Hashing::default()))) as Box<dyn Segmenter>,
            Box::new(Fusion::new(Arc::new(Hashing::default()))),
        ] {
            for segments in 0..9 {
                let found = segment_into(segmenter.as_ref(), &document, segments).unwrap();
                assert_eq!(found.segments(), segments.clamp(1, 6), "{prose:?}");
                assert!(segments < 2 || prose.len() < 2 || found.after().contains(&3), "{found:?}");
            }
            let empty = Document::from_sentences("d", &[""]);
            assert_eq!(segment_into(segmenter.as_ref(), &empty, 3).unwrap().segments(), 0);
        }
    }
}

#[test]
fn fusion_has_fewer_boundaries_at_a_higher_price() {
    let document = four_topics();
    let count = |price: f64| {
        let mut fusion = Fusion::new(Arc::new(Hashing::default()));
        (fusion.price, fusion.share) = (price, 0.0);
        above(fusion.segment(&document).unwrap()).len()
    };
    assert!(count(-50.0) > 3 && count(1e4) == 0);
    assert!([-50.0, 0.0, 10.0, 100.0, 1e4].windows(2).all(|pair| count(pair[0]) >= count(pair[1])));
}

#[test]
fn clusters_are_runs_of_pieces_within_the_size() {
    let cluster = Cluster { encoder: Arc::new(Hashing::default()), counter: Arc::new(WordCounter), piece: 6, size: 24 };
    let document = four_topics();
    let Segmentation::Spans(spans) = cluster.segment(&document).unwrap() else { unreachable!() };
    assert!(
        spans.len() >= 10 && spans.iter().skip(1).all(|span| document.text(*span).split_whitespace().count() <= 24)
    );
    // A chunk ends where a topic does.
    let ends: Vec<usize> = [9, 19, 29].map(|i| document.sentences[i].span.end).to_vec();
    assert!(ends.iter().filter(|end| spans.iter().any(|span| span.end == **end)).count() >= 2, "{spans:?}");
}
