//! The segmenter `nsp` on the tiny model that `scripts/golden/golden_training.py` makes.

use std::sync::{Arc, OnceLock};

use crate::support::{copied, path};
use pericope_api::{Document, Kind, KnownCount, Segmentation, Segmenter};
use pericope_encode::Device;
use pericope_learn::nsp::{NSP, Nsp, NspSegmenter, THRESHOLD, Threshold};
use pericope_segment::registry::build_from;
use pericope_segment::spec::Spec;
use pericope_segment::{Standalone, laws};
use proptest::prelude::*;

const WORDS: &[&str] = &["harbour", "ship", "bread", "flour", "the", "of", "court", "judge", "snow", "ridge"];

/// Sentences of the model's words, so that a word is a token; `numbers` says how many each has.
fn document(numbers: &[usize]) -> Document {
    let mut at = 0;
    let sentence = |&number: &usize| {
        at += 3;
        (0..number).map(|i| WORDS[(at * at + i * 7) % WORDS.len()]).collect::<Vec<_>>().join(" ")
    };
    Document::from_sentences("d", &numbers.iter().map(sentence).collect::<Vec<_>>())
}

fn model() -> Arc<Nsp> {
    Arc::new(Nsp::open(&path(&copied("nsp")), &Device::Cpu).unwrap())
}

fn odds(model: &Nsp, document: &Document) -> Vec<f64> {
    let texts: Vec<&str> = (0..document.len()).map(|i| document.sentence(i)).collect();
    model.odds(&model.tokenize(&texts, usize::MAX)).unwrap()
}

fn cut(segmenter: &NspSegmenter, document: &Document) -> Vec<bool> {
    let Segmentation::Scores { scores, threshold } = segmenter.segment(document).unwrap() else { unreachable!() };
    assert!(threshold == THRESHOLD && scores.iter().all(|score| (0.0..=1.0).contains(score)));
    scores.iter().map(|&score| score > threshold).collect()
}

#[test]
fn segments_end_exactly_where_q_is_at_most_p() {
    let model = model();
    let document = document(&[4, 7, 3, 9, 2, 5, 30, 60, 4, 1, 1, 6]);
    let odds = odds(&model, &document);
    assert_eq!(odds.len(), 11);
    let segmenter = |threshold| NspSegmenter::new(Arc::clone(&model), Some(threshold), 100_000);
    // Each gap's own log-odds as the threshold: the tie is a boundary, and the next number below is not.
    for &at in &odds {
        for at in [at, at.next_down(), at.next_up()] {
            let expected: Vec<bool> = odds.iter().map(|&odds| odds <= at).collect();
            assert_eq!(cut(&segmenter(Threshold::of_odds(at)), &document), expected);
        }
    }
    for threshold in [Threshold::at_most(0.95), Threshold::all_but(1e-5), Threshold::at_most(0.0)] {
        let expected: Vec<bool> = odds.iter().map(|&odds| odds <= threshold.odds()).collect();
        assert_eq!(cut(&segmenter(threshold), &document), expected);
    }
    assert_eq!(cut(&segmenter(Threshold::all_but(0.0)), &document), [true; 11]);
    // The number of segments known: the lowest q, whatever p and limit are.
    let mut order: Vec<usize> = (0..11).collect();
    order.sort_by(|&a, &b| odds[a].total_cmp(&odds[b]));
    let mut lowest: Vec<usize> = order[..3].iter().map(|gap| gap + 1).collect();
    lowest.sort_unstable();
    let tight = NspSegmenter::new(Arc::clone(&model), None, 9);
    assert_eq!(tight.segment_into(&document, 4).unwrap().after(), lowest);
    assert!((tight.threshold().p() - 0.95).abs() < 1e-12);
}

#[test]
fn few_sentences_and_long_ones() {
    let model = model();
    let all = NspSegmenter::new(Arc::clone(&model), Some(Threshold::at_most(1.0)), 20);
    let none = NspSegmenter::new(Arc::clone(&model), Some(Threshold::at_most(0.0)), 20);
    for numbers in [&[][..], &[5], &[500]] {
        assert!(cut(&all, &document(numbers)).is_empty() && cut(&none, &document(numbers)).is_empty());
        assert!(all.segment_into(&document(numbers), 3).unwrap().after().is_empty());
    }
    assert_eq!(cut(&all, &document(&[3, 4])), [true]);
    // 18 tokens and two special ones are 20.
    assert_eq!(cut(&none, &document(&[9, 9])), [false]);
    assert_eq!(cut(&none, &document(&[9, 10])), [true]);
    assert_eq!(cut(&none, &document(&[4, 400, 4, 4])), [true, true, false]);
}

#[test]
fn code_is_passed_over_and_headings_stay_with_their_bodies() {
    let model = model();
    let mut document = document(&[4, 5, 3, 6, 2]);
    document.sentences[1].kind = Kind::Code;
    document.sentences[3].kind = Kind::Heading(1);
    let texts: Vec<&str> = [0, 2, 3, 4].map(|i| document.sentence(i)).to_vec();
    let odds = model.odds(&model.tokenize(&texts, usize::MAX)).unwrap();
    let all = NspSegmenter::new(Arc::clone(&model), Some(Threshold::at_most(1.0)), 100);
    // The gap behind the code belongs to the prose on its both sides; the one behind the heading to the one before it.
    assert_eq!(cut(&all, &document), [false, true, true, false]);
    for &at in &odds {
        let segmenter = NspSegmenter::new(Arc::clone(&model), Some(Threshold::of_odds(at)), 100);
        let expected = [false, odds[0] <= at, odds[1] <= at || odds[2] <= at, false];
        assert_eq!(cut(&segmenter, &document), expected);
    }
    // Code has tokens: 4 + 5 + 3 and 2 special ones.
    let limit = |limit| cut(&NspSegmenter::new(Arc::clone(&model), Some(Threshold::at_most(0.0)), limit), &document);
    assert_eq!(limit(22), [false; 4]);
    assert_eq!(limit(21), [false, false, true, false]);
    assert_eq!(limit(13), [false, true, false, false]);
    assert_eq!(limit(12), [false, true, true, false]);
}

fn chunks(spec: &str, document: &Document) -> Vec<Vec<usize>> {
    let chunker = build_from(&[NSP], &Spec::parse(spec).unwrap(), &Standalone::default()).unwrap();
    let chunks = laws::check_chunker(&chunker, document).unwrap();
    let held = |chunk: &pericope_api::Chunk| {
        let within = |i: &usize| {
            let span = document.sentences[*i].span;
            chunk.span.start <= span.start && span.end <= chunk.span.end
        };
        (0..document.len()).filter(within).map(|i| i + 1).collect()
    };
    chunks.iter().map(held).collect()
}

#[test]
fn specs_give_chunks() {
    let dir = copied("nsp");
    let spec = |rest: &str| format!("nsp:model={}{rest}", path(&dir));
    let document = document(&[3, 3, 3, 3, 3, 3, 3]);
    let single: Vec<Vec<usize>> = (1..8).map(|i| vec![i]).collect();
    assert_eq!(chunks(&spec(",p=1"), &document), single);
    assert_eq!(chunks(&spec(",one_minus_p=0"), &document), single);
    assert_eq!(chunks(&spec(",p=0"), &document), [(1..8).collect::<Vec<_>>()]);
    assert_eq!(chunks(&spec(",p=0,limit=8"), &document), [vec![1, 2], vec![3, 4], vec![5, 6], vec![7]]);
    // Words are counted without special tokens here: 9 of them fit where two sentences and two special tokens do.
    let next = chunks(&spec(",p=0,limit=9,overlap_next=1"), &document);
    assert_eq!(next, [vec![1, 2, 3], vec![3, 4, 5], vec![5, 6, 7], vec![7]]);
    assert_eq!(chunks(&spec(",p=0,limit=8,overlap_next=1"), &document), [vec![1, 2], vec![3, 4], vec![5, 6], vec![7]]);
    // A minimum joins what the limit parts, within the maximum.
    let few = chunks(&spec(",p=0,limit=8,min_tokens=7"), &document);
    assert_eq!(few, [vec![1, 2, 3, 4], vec![5, 6, 7]]);
    let few = chunks(&spec(",p=0,limit=8,min_tokens=7,max_tokens=8"), &document);
    assert_eq!(few, [vec![1, 2], vec![3, 4], vec![5, 6], vec![7]]);
    let chunker =
        build_from(&[NSP], &Spec::parse(&spec(",p=0.9,overlap_next=1")).unwrap(), &Standalone::default()).unwrap();
    assert!(chunker.spec().to_string().contains("overlap_next=1"), "{}", chunker.spec());

    let error = |rest: &str| {
        let spec = Spec::parse(&spec(rest)).unwrap();
        let text = build_from(&[NSP], &spec, &Standalone::default()).map(|_| ()).unwrap_err().to_string();
        assert!(!text.contains('\n'), "{text}");
        text
    };
    assert!(error(",p=0.9,one_minus_p=0.1").contains("give `p` or `one_minus_p`"));
    assert!(error(",overlap=1,overlap_next=1").contains("give `overlap` or `overlap_next`"));
    for bad in ["p=2", "one_minus_p=-1", "limit=2", "overlap_next=2", "tau=0.5"] {
        let key = bad.split('=').next().unwrap();
        assert!(error(&format!(",{bad}")).contains(key), "{bad}");
    }
    let nowhere = Spec::parse("nsp:model=nowhere").unwrap();
    let missing = build_from(&[NSP], &nowhere, &Standalone::default()).map(|_| ()).unwrap_err();
    assert!(missing.to_string().contains("nowhere"), "{missing}");
    // What is read with is known, and how much of it.
    let segmenter = chunker.segmenter();
    assert!(chunker.fingerprint().starts_with("nsp:"));
    let before = segmenter.tokens_read().unwrap();
    segmenter.segment(&document).unwrap();
    // Six pairs of 3 and 3 tokens and three special ones.
    assert_eq!(segmenter.tokens_read().unwrap() - before, 6 * 9);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn no_segment_is_above_the_limit_and_no_cut_is_without_reason(
        numbers in proptest::collection::vec(1usize..9, 2..14), limit in 6usize..30, p in 0.0f64..1.0,
    ) {
        static MODEL: OnceLock<Arc<Nsp>> = OnceLock::new();
        let model = MODEL.get_or_init(model);
        let document = document(&numbers);
        let (odds, threshold) = (odds(model, &document), Threshold::at_most(p));
        let cuts = cut(&NspSegmenter::new(Arc::clone(model), Some(threshold), limit), &document);
        let mut segment = numbers[0] + 2;
        for (i, &number) in numbers[1..].iter().enumerate() {
            let over = segment + number > limit;
            prop_assert_eq!(cuts[i], threshold.cuts(odds[i]) || over);
            segment = if cuts[i] { number + 2 } else { segment + number };
        }
    }
}
