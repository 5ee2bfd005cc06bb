#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pericope_api::{Boundaries, Document, Format, Kind, SegmentError, Segmentation, Segmenter, Span, TokenCounter};
use proptest::prelude::*;

use super::{Overlap, SizePolicy};
use crate::Chunker;
use crate::counters::WordCounter;
use crate::laws;

fn numbered(words: &[usize]) -> Document {
    let sentence = |(i, &n): (usize, &usize)| format!("s{i}{}", " w".repeat(n - 1));
    Document::from_sentences("d", &words.iter().enumerate().map(sentence).collect::<Vec<_>>())
}

/// The first sentence of each chunk.
fn starts(document: &Document, spans: &[Span]) -> Vec<usize> {
    spans.iter().map(|span| document.sentence_at(span.start)).collect()
}

fn with_max(max: usize) -> SizePolicy {
    SizePolicy { max_tokens: Some(max), ..SizePolicy::default() }
}

proptest! {
    #[test]
    fn without_limits_it_is_thresholding(
        scores in proptest::collection::vec(prop_oneof![Just(0.0), Just(1.0), Just(0.5), Just(1e-9), 0.0..1.0f64], 0..20),
        threshold in prop_oneof![Just(0.0), Just(1.0), Just(0.5), 0.0..1.0f64],
        loose in any::<bool>(),
    ) {
        let document = numbered(&vec![2; scores.len() + 1]);
        let policy = if loose { with_max(1000) } else { SizePolicy::default() };
        let spans = policy.spans(&document, &Segmentation::Scores { scores: scores.clone(), threshold }, &WordCounter).unwrap();
        let mut expected = vec![0];
        expected.extend(Boundaries::above(&scores, threshold).after());
        prop_assert_eq!(starts(&document, &spans), expected);
    }
}

#[test]
fn a_forced_cut_takes_the_best_score() {
    let document = numbered(&[4, 4, 4, 4]);
    let cuts = Segmentation::Scores { scores: vec![0.1, 0.3, 0.2], threshold: 0.5 };
    assert_eq!(starts(&document, &with_max(12).spans(&document, &cuts, &WordCounter).unwrap()), [0, 2]);
    let own = SizePolicy { threshold: Some(0.15), ..SizePolicy::default() };
    assert_eq!(starts(&document, &own.spans(&document, &cuts, &WordCounter).unwrap()), [0, 2, 3]);
}

#[test]
fn forced_cuts_prefer_paragraphs_and_balance() {
    let mut document = numbered(&[5, 5, 5, 5, 5, 5]);
    let none = Segmentation::Boundaries(Boundaries::none(6));
    for (i, sentence) in document.sentences.iter_mut().enumerate() {
        sentence.paragraph = u32::from(i >= 2);
    }
    assert_eq!(starts(&document, &with_max(20).spans(&document, &none, &WordCounter).unwrap()), [0, 2]);
    for sentence in &mut document.sentences {
        sentence.paragraph = 0;
    }
    assert_eq!(starts(&document, &with_max(25).spans(&document, &none, &WordCounter).unwrap()), [0, 3]);
}

#[test]
fn a_lead_in_stays_with_what_it_leads_to_where_a_cut_is_forced() {
    let with = |second: &str| {
        let rest = "One two three four.";
        Document { format: Format::Markdown, ..Document::from_sentences("d", &[rest, second, rest, rest]) }
    };
    let chunks = |document: &Document, scores: [f64; 3]| {
        let segmentation = Segmentation::Scores { scores: scores.to_vec(), threshold: 0.5 };
        starts(document, &with_max(19).spans(document, &segmentation, &WordCounter).unwrap())
    };
    const FORCED: [f64; 3] = [0.25, 0.3, 0.2];
    for (second, expected) in [
        ("One two three four.", [0, 2]),
        ("One two **here:**", [0, 1]),
        ("Opening hours of the library", [0, 1]),
        ("Is it open on Sunday?", [0, 1]),
        ("It is open :tada:", [0, 2]),
    ] {
        assert_eq!(chunks(&with(second), FORCED), expected, "{second}");
    }
    let mut document = with("One two three here:");
    // The segmenter's decision stands, and there may be markup between.
    assert_eq!(chunks(&document, [0.25, 0.6, 0.2]), [0, 2]);
    document.sentences[2].kind = Kind::Markup;
    assert_eq!(chunks(&document, [0.2, 0.1, 0.3]), [0, 1]);
    document.sentences[2].kind = Kind::Heading(1);
    assert_eq!(chunks(&document, FORCED), [0, 2]);
    // An item of plain text leads to nothing, and neither does a question within a paragraph.
    let plain = Document { format: Format::Plain, ..with("Opening hours of the library") };
    assert_eq!(chunks(&plain, FORCED), [0, 2]);
    let mut document = with("Is it open on Sunday?");
    for sentence in &mut document.sentences[1..] {
        sentence.paragraph -= 1;
    }
    assert_eq!(chunks(&document, FORCED), [0, 2]);
}

#[test]
fn the_first_piece_of_what_is_too_long_leaves_room_for_its_heading() {
    let mut document = numbered(&[3, 40, 3]);
    let none = Segmentation::Boundaries(Boundaries::none(3));
    document.sentences[1].kind = Kind::Code;
    for kind in [Kind::Heading(1), Kind::Prose] {
        document.sentences[0].kind = kind;
        if kind == Kind::Prose {
            let source = document.source.replacen("s0 w w", "s0 w:", 1);
            document = Document::from_sentences("d", &source.lines().collect::<Vec<_>>());
        }
        let spans = with_max(20).spans(&document, &none, &WordCounter).unwrap();
        let first = document.text(spans[0]);
        assert!(first.starts_with("s0") && first.contains("s1 w"), "{kind:?}: {first:?}");
        assert!(spans.iter().all(|span| WordCounter.count(document.text(*span)) <= 20));
    }
}

#[test]
fn a_heading_keeps_its_body() {
    let mut document = numbered(&[4, 2, 4, 4]);
    document.sentences[1].kind = Kind::Heading(1);
    // The boundary found behind the heading counts before it.
    let cuts = Segmentation::Scores { scores: vec![0.1, 0.9, 0.2], threshold: 0.5 };
    assert_eq!(starts(&document, &SizePolicy::default().spans(&document, &cuts, &WordCounter).unwrap()), [0, 1]);
    assert_eq!(starts(&document, &with_max(6).spans(&document, &cuts, &WordCounter).unwrap()), [0, 1, 3]);
    // The maximum forces it.
    assert_eq!(starts(&document, &with_max(5).spans(&document, &cuts, &WordCounter).unwrap()), [0, 1, 2, 3]);
}

#[test]
fn a_minimum_merges_and_a_target_attracts() {
    let document = numbered(&[5; 24]);
    let all = Segmentation::Boundaries(Boundaries::new(24, (1..24).collect()).unwrap());
    let sizes = |policy: SizePolicy| -> Vec<usize> {
        policy
            .spans(&document, &all, &WordCounter)
            .unwrap()
            .iter()
            .map(|s| WordCounter.count(document.text(*s)))
            .collect()
    };
    assert!(sizes(SizePolicy { min_tokens: Some(20), ..SizePolicy::default() }).iter().all(|&t| t == 20));
    assert!(sizes(SizePolicy { min_tokens: Some(20), ..with_max(22) }).iter().all(|&t| t == 20));
    let near = sizes(SizePolicy { target_tokens: Some(30), ..SizePolicy::default() });
    assert!(near.iter().all(|t| (20..=40).contains(t)), "{near:?}");
}

/// Sections of so many words under headings of so many levels; every heading is a sure boundary.
fn sections(levels_and_words: &[(u8, usize)]) -> (Document, Segmentation) {
    let words: Vec<usize> = levels_and_words.iter().flat_map(|&(_, words)| [2, words - 2]).collect();
    let mut document = numbered(&words);
    document.format = Format::Markdown;
    for (sentence, &(level, _)) in document.sentences.iter_mut().step_by(2).zip(levels_and_words) {
        sentence.kind = Kind::Heading(level);
    }
    let scores = (1..words.len()).map(|i| if i % 2 == 0 { 1.0 } else { 0.0 }).collect();
    (document, Segmentation::Scores { scores, threshold: 0.01 })
}

fn sizes(policy: SizePolicy, (document, segmentation): &(Document, Segmentation)) -> Vec<usize> {
    let spans = policy.spans(document, segmentation, &WordCounter).unwrap();
    spans.iter().map(|span| WordCounter.count(document.text(*span))).collect()
}

#[test]
fn no_score_outweighs_the_minimum() {
    let min = |min: usize, max: usize| SizePolicy { min_tokens: Some(min), ..with_max(max) };
    // Boundaries that could not be surer.
    let same = sections(&[(3, 60); 12]);
    assert_eq!(sizes(with_max(256), &same), [60; 12]);
    assert_eq!(sizes(min(100, 256), &same), [120; 6]);
    assert_eq!(sizes(min(150, 256), &same), [180; 4]);
    assert_eq!(sizes(min(200, 256), &same), [240; 3]);
    // Nothing fits beside the small one, and nothing of its neighbours is cut off for it.
    let stuck = sections(&[(2, 90), (2, 20), (2, 90)]);
    assert_eq!(sizes(min(50, 100), &stuck), [90, 20, 90]);
    assert_eq!(sizes(min(50, 110), &stuck).len(), 2);
}

#[test]
fn what_is_joined_stays_in_its_section() {
    let policy = SizePolicy { min_tokens: Some(100), ..with_max(256) };
    // Two chapters of three sections: three pairs would be one cut more, across the chapters.
    let chapters = sections(&[(2, 60), (3, 60), (3, 60), (2, 60), (3, 60), (3, 60)]);
    assert_eq!(sizes(policy, &chapters), [180, 180]);
    // The minimum comes first.
    let small = sections(&[(2, 60), (2, 60), (3, 60), (3, 60), (3, 60)]);
    assert_eq!(sizes(policy, &small).iter().filter(|&&size| size < 100).count(), 0);
    // Decisions without scores are joined in the same way.
    let (document, _) = sections(&[(2, 40), (3, 40), (3, 40), (1, 40), (3, 40), (3, 40)]);
    let all = Boundaries::new(12, (1..6).map(|i| 2 * i).collect()).unwrap();
    let policy = SizePolicy { min_tokens: Some(70), ..with_max(256) };
    assert_eq!(sizes(policy, &(document, Segmentation::Boundaries(all))), [120, 120]);
}

#[test]
fn the_minimum_tears_no_heading_from_its_body() {
    // The second section does not fit, and is cut; its heading alone would bring the first one to the minimum.
    let mut document = numbered(&[49, 2, 40, 40, 40]);
    document.format = Format::Markdown;
    document.sentences[1].kind = Kind::Heading(1);
    let cuts = Segmentation::Scores { scores: vec![0.9, 0.0, 0.1, 0.1], threshold: 0.5 };
    let policy = SizePolicy { min_tokens: Some(51), ..with_max(83) };
    let spans = policy.spans(&document, &cuts, &WordCounter).unwrap();
    assert!(spans.iter().all(|span| !document.text(*span).trim_end().ends_with("s1 w")), "{spans:?}");
}

#[test]
fn an_over_long_unit_is_split_evenly_where_its_kind_says() {
    let document = numbered(&[10]);
    let spans = with_max(4).spans(&document, &Segmentation::Boundaries(Boundaries::none(1)), &WordCounter).unwrap();
    let sizes: Vec<usize> = spans.iter().map(|s| WordCounter.count(document.text(*s))).collect();
    assert_eq!(sizes, [4, 3, 3]);

    let code = "a b c\nd e f\ng h i\nj k l";
    let mut document = Document::from_sentences("d", &[code]);
    document.sentences[0].kind = Kind::Code;
    let none = Segmentation::Boundaries(Boundaries::none(1));
    let texts = |max: usize| -> Vec<&str> {
        with_max(max).spans(&document, &none, &WordCounter).unwrap().iter().map(|s| document.text(*s)).collect()
    };
    assert_eq!(texts(12), [code]);
    assert_eq!(texts(8), ["a b c\nd e f", "g h i\nj k l"]);
    assert_eq!(texts(3), ["a b c", "d e f", "g h i", "j k l"]);
    // Prose is cut at a line end near the end of a share, and elsewhere in its middle.
    let of = |text: &str, max: usize| -> Vec<String> {
        let document = Document::from_sentences("d", &[text]);
        let spans = with_max(max).spans(&document, &none, &WordCounter).unwrap();
        spans.iter().map(|span| document.text(*span).to_owned()).collect()
    };
    assert_eq!(of("a b c d e\nf g h i j", 6), ["a b c d e", "f g h i j"]);
    assert_eq!(of("a b c d\ne f g h i j", 8), ["a b c d", "e f g h i j"]);
    assert_eq!(of("a\nb c d e f g h i j", 6), ["a\nb c d e", "f g h i j"]);
}

/// The same cuts for every document.
struct Given(Boundaries);

impl Segmenter for Given {
    fn segment(&self, _: &Document) -> Result<Segmentation, SegmentError> {
        Ok(Segmentation::Boundaries(self.0.clone()))
    }
}

/// The sentences (counted from 1) of each chunk with the overlap of the chunk after.
fn with_next(words: &[usize], after: &[usize], limit: usize, max_tokens: Option<usize>) -> Vec<Vec<usize>> {
    let document = numbered(words);
    let segmenter = Given(Boundaries::new(words.len(), after.to_vec()).unwrap());
    let policy = SizePolicy { max_tokens, overlap: Overlap::Next { limit }, ..SizePolicy::default() };
    let chunker = Chunker::new(Box::new(segmenter), policy, Arc::new(WordCounter));
    let chunks = laws::check_chunker(&chunker, &document).unwrap();
    let within = |span: Span| {
        let held = document
            .sentences
            .iter()
            .enumerate()
            .filter(move |(_, s)| span.start <= s.span.start && s.span.end <= span.end);
        held.map(|(i, _)| i + 1).collect()
    };
    chunks.iter().map(|chunk| within(chunk.span)).collect()
}

/// Dong, Singh and Yeh: {1,2},{3,4},{5,6,7} become {1,2,3},{3,4,5},{5,6,7}.
#[test]
fn chunks_take_the_first_sentence_of_the_next() {
    assert_eq!(with_next(&[2; 7], &[2, 4], 512, None), [vec![1, 2, 3], vec![3, 4, 5], vec![5, 6, 7]]);
    // The last segment is one sentence, and wholly in the chunk before it too.
    assert_eq!(with_next(&[2; 3], &[1, 2], 512, None), [vec![1, 2], vec![2, 3], vec![3]]);
    assert_eq!(with_next(&[2; 3], &[], 512, None), [vec![1, 2, 3]]);
    // Where it does not fit, nothing is added: by the mode's own limit, and by the policy's.
    assert_eq!(with_next(&[4, 4, 9, 4, 4], &[2, 3], 13, None), [vec![1, 2], vec![3, 4], vec![4, 5]]);
    assert_eq!(with_next(&[4, 4, 9, 4, 4], &[2, 3], 512, Some(12)), [vec![1, 2], vec![3], vec![4, 5]]);
}

#[test]
fn answers_that_do_not_fit_are_errors() {
    let document = numbered(&[3, 3]);
    let policy = SizePolicy::default();
    for cuts in [
        Segmentation::Scores { scores: vec![0.1; 2], threshold: 0.5 },
        Segmentation::Boundaries(Boundaries::none(3)),
        Segmentation::Spans(vec![Span::new(0, 4)]),
        Segmentation::Spans(vec![Span::new(0, 9), Span::new(5, document.source.len())]),
        Segmentation::Spans(vec![Span::new(0, 1000)]),
    ] {
        assert!(policy.spans(&document, &cuts, &WordCounter).is_err(), "{cuts:?}");
    }
}

/// Counts the bytes that a counter is asked about.
struct Recording(AtomicUsize);

impl TokenCounter for Recording {
    fn name(&self) -> &str {
        "recording"
    }

    fn token_ends(&self, text: &str, ends: &mut Vec<usize>) {
        self.0.fetch_add(text.len(), Ordering::Relaxed);
        WordCounter.token_ends(text, ends);
    }
}

#[test]
fn tokenising_is_linear() {
    let asked = |text: &str, max: usize| -> usize {
        let counter = Recording(AtomicUsize::new(0));
        let document = Document::from_sentences("d", &[text]);
        with_max(max).spans(&document, &Segmentation::Boundaries(Boundaries::none(1)), &counter).unwrap();
        counter.0.into_inner()
    };
    for unit in ["word, and ", "漢字。", "x", "a/b.c", "👩‍👩‍👧", "\u{301}"] {
        for max in [3, 256] {
            let text = unit.repeat(30_000 / unit.len());
            let (once, twice) = (asked(&text, max), asked(&text.repeat(2), max));
            assert!(once <= 12 * text.len(), "{unit:?}, max {max}: {once} bytes for {}", text.len());
            assert!(twice * 10 <= once * 21 + 10_000, "{unit:?}, max {max}: {once}, then {twice}");
        }
    }
}
