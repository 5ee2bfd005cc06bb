//! Reading with a judge on the tiny model of `scripts/golden/golden_training.py`.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::support::base;
use candle_core::{DType, Device, Tensor};
use pericope_api::{Reranker, Span, SpanReader};
use pericope_encode::Base;
use pericope_encode::encoders::{Embed, Plain};
use pericope_encode::kernels::Precision;
use pericope_learn::cogltx::{
    CHECKPOINT, Checkpoint, Judge, JudgeReranker, MemRecall, Reader, Sequence, Settings, Texts, sequence,
};
use pericope_segment::random::SplitMix64;

const HIDDEN: usize = 32;

/// Heads of numbers drawn by a seed, on the base model as it is.
fn checkpoint(base: &Base, tokens: usize) -> Checkpoint {
    let mut random = SplitMix64::new(3);
    let mut drawn = |shape: &[usize]| {
        let count = shape.iter().product();
        let numbers: Vec<f32> = (0..count).map(|_| random.below(2_000) as f32 / 1e3 - 1.0).collect();
        Tensor::from_vec(numbers, shape, &Device::Cpu).unwrap()
    };
    let shapes: [(&str, &[usize]); 8] = [
        ("judge.dense.weight", &[HIDDEN, HIDDEN]),
        ("judge.dense.bias", &[HIDDEN]),
        ("judge.score.weight", &[1, HIDDEN]),
        ("judge.score.bias", &[1]),
        ("judge.match.weight", &[1, HIDDEN]),
        ("judge.match.bias", &[1]),
        ("reasoner.span.weight", &[2, HIDDEN]),
        ("reasoner.span.bias", &[2]),
    ];
    let tensors: HashMap<String, Tensor> = shapes.map(|(name, shape)| (name.to_owned(), drawn(shape))).into();
    let settings = Settings {
        base: base.named_for(std::path::Path::new(".")),
        base_sha256: base.weights.sha256().to_owned(),
        tokens,
        block: 6,
        query: 8,
        auc: None,
        notes: String::new(),
    };
    Checkpoint::new(settings, tensors)
}

fn judge(base: &Base) -> Judge {
    Judge::on(base, &checkpoint(base, 64), &Device::Cpu).unwrap()
}

const WORDS: [&str; 8] = ["bread", "flour", "violin", "tune", "ridge", "snow", "witness", "verdict"];

/// A text of so many sentences of three to six tokens.
fn text(sentences: usize, seed: u64) -> String {
    let mut random = SplitMix64::new(seed);
    let sentence = |_| {
        let words: Vec<&str> = (0..2 + random.below(4)).map(|_| WORDS[random.below(8)]).collect();
        format!("{}.", words.join(" "))
    };
    (0..sentences).map(sentence).collect::<Vec<_>>().join(" ")
}

/// The same numbers as by candle's operations and plain sums.
#[test]
fn relevance_and_logits_are_those_of_the_formula() {
    let base = base();
    let (own, judge) = (checkpoint(&base, 64), judge(&base));
    let plain = Plain::new(&base.config, &base.weights, &Device::Cpu).unwrap();
    let made = sequence(&[20, 21], [&[30, 31][..], &[], &[33, 34, 35]], judge.special());
    let rows = plain.hidden(&[&made.ids]).unwrap();
    let row = |at: usize| rows[at * HIDDEN..(at + 1) * HIDDEN].iter().map(|&x| f64::from(x)).collect::<Vec<f64>>();
    let numbers = |name: &str| -> Vec<f64> {
        let own = own.tensors()[name].to_dtype(DType::F64).unwrap();
        own.flatten_all().unwrap().to_vec1().unwrap()
    };
    let layer = |name: &str, x: &[f64]| -> Vec<f64> {
        let (weight, bias) = (numbers(&format!("{name}.weight")), numbers(&format!("{name}.bias")));
        let row = |(weights, bias): (&[f64], &f64)| weights.iter().zip(x).map(|(w, x)| w * x).sum::<f64>() + bias;
        weight.chunks(HIDDEN).zip(&bias).map(row).collect()
    };
    let direction = |places: Range<usize>| -> Vec<f64> {
        let sums: Vec<f64> = (0..HIDDEN).map(|d| places.clone().map(|at| row(at)[d]).sum()).collect();
        let length = sums.iter().map(|x| x * x).sum::<f64>().sqrt();
        sums.iter().map(|x| x / length).collect()
    };
    let query = direction(1..3);
    let relevance = |at: usize, likeness: f64| {
        let inner: Vec<f64> = layer("judge.dense", &row(at)).into_iter().map(f64::tanh).collect();
        1.0 / (1.0 + (-layer("judge.score", &inner)[0] - likeness).exp())
    };
    let mean = |places: Range<usize>| {
        let products: Vec<f64> = query.iter().zip(direction(places.clone())).map(|(q, b)| q * b).collect();
        let likeness = layer("judge.match", &products)[0];
        places.clone().map(|at| relevance(at, likeness)).sum::<f64>() / places.len() as f64
    };
    // Factors of few bits, rounded in every layer, where the processor multiplies so.
    let most = if Precision::of_machine() != Ok(Precision::Single) { 0.1 } else { 1e-4 };
    let scores = judge.scores(std::slice::from_ref(&made), |_| 0..3).unwrap().concat();
    assert_eq!(scores[1], 0.0);
    for (i, score) in [(0, scores[0]), (2, scores[2])] {
        let expected = mean(made.blocks[i].clone());
        assert!((f64::from(score) - expected).abs() < most, "{score} {expected}");
    }
    assert!((scores[0] - scores[2]).abs() > 1e-3, "{scores:?}");
    let logits = judge.spans(std::slice::from_ref(&made)).unwrap().concat();
    assert_eq!(logits.len(), made.ids.len());
    for (at, logits) in logits.iter().enumerate() {
        let expected = layer("reasoner.span", &row(at));
        let off = (0..2).map(|i| (f64::from(logits[i]) - expected[i]).abs()).fold(0.0, f64::max);
        assert!(off < 30.0 * most, "{off} at {at}");
    }
    // Company changes nothing.
    let other = sequence(&[22], [&[40, 41, 42, 43][..]], judge.special());
    let together = judge.scores(&[other, made], |i| if i == 1 { 0..3 } else { 0..0 }).unwrap();
    assert!(together[0].is_empty() && together[1].iter().zip(&scores).all(|(a, b)| (a - b).abs() < 1e-5));
}

#[test]
fn answers_are_contiguous_ranges_of_one_text() {
    let base = base();
    let reader = Reader::new(Arc::new(judge(&base)), MemRecall::default());
    for seed in 0..12 {
        let texts = [text(3, seed), text(12, seed + 50), String::new(), text(1, seed + 99)];
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let found = reader.answer("bread in the snow", &texts).unwrap().unwrap();
        let answer = texts[found.text].get(found.span.start..found.span.end).unwrap();
        assert!(!answer.is_empty() && answer.trim() == answer && found.score.is_finite());
        // Words are not cut.
        let rest = &texts[found.text][found.span.end..];
        assert!(!rest.starts_with(char::is_alphabetic), "{answer:?} {rest:?}");
        assert_eq!(reader.answer("bread in the snow", &texts).unwrap(), Some(found));
    }
    assert_eq!(reader.answer("bread", &["", " \n"]).unwrap(), None);
    assert_eq!(reader.answer("bread", &[]).unwrap(), None);
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let long = text(40, 7);
    let answer = || reader.answer("violin", &[&long]).unwrap();
    assert_eq!(one_thread.install(answer), answer());
}

#[test]
fn recall_gives_every_block_once_key_blocks_first() {
    let base = base();
    let reader = Reader::new(Arc::new(judge(&base)), MemRecall::new(2, true));
    let own = text(60, 4);
    let found = reader.recall("tune", &[&own], usize::MAX).unwrap();
    let blocks = Texts::new(&[&own], reader.judge().words(), 6).len();
    assert!(found.len() == blocks && blocks > 30, "{blocks}");
    let mut spans: Vec<Span> = found.iter().map(|found| found.span).collect();
    spans.sort();
    assert!(spans.windows(2).all(|two| two[0].end <= two[1].start));
    assert_eq!(reader.recall("tune", &[&own], 7).unwrap(), found[..7]);
    // 64 tokens hold the question, the block that competes, and six of seven tokens; five are kept.
    let key = MemRecall::new(2, true);
    let texts = [own.as_str()];
    let texts = Texts::new(&texts, reader.judge().words(), 6);
    let recalled = key.recall(reader.judge(), &reader.judge().query("tune"), &texts).unwrap();
    let kept: Vec<Span> = recalled.kept.iter().map(|&i| texts.place(i).unwrap().1).collect();
    assert!(kept.len() == 5 && found[..5].iter().all(|found| kept.contains(&found.span)));
    assert_ne!(Reader::new(Arc::new(judge(&base)), MemRecall::new(1, true)).fingerprint(), reader.fingerprint());
}

/// Each block is read once a step, beside at most five others: what is read grows as the text.
#[test]
fn what_is_read_grows_as_the_text() {
    let base = base();
    let reader = Reader::new(Arc::new(judge(&base)), MemRecall::default());
    let read = |sentences: usize| {
        let (own, before) = (text(sentences, 4), reader.judge().tokens_read());
        reader.recall("tune", &[&own], 5).unwrap();
        (reader.judge().tokens_read() - before) as f64
    };
    let (short, long) = (read(200), read(2_000));
    assert!((long / short / 10.0 - 1.0).abs() < 0.1, "{short} {long}");
}

/// Two numbers a block and at most five key blocks are left of a text, however long it is.
#[test]
fn what_is_left_of_a_text_is_two_numbers_a_block() {
    let (base, recall) = (base(), MemRecall::default());
    let judge = judge(&base);
    for sentences in [20, 200, 2_000] {
        let own = text(sentences, 4);
        let own = [own.as_str()];
        let texts = Texts::new(&own, judge.words(), 6);
        let recalled = recall.recall(&judge, &judge.query("tune"), &texts).unwrap();
        assert_eq!((recalled.scores.len(), recalled.tokens.len()), (texts.len(), texts.len()));
        let numbers = size_of_val(recalled.scores.as_slice()) + size_of_val(recalled.tokens.as_slice());
        assert!(numbers <= 12 * texts.len() && recalled.kept.len() <= 5, "{numbers} {:?}", recalled.kept);
    }
}

#[test]
fn passages_are_ranked_by_their_best_block() {
    let base = base();
    let judge = Arc::new(judge(&base));
    let reranker = JudgeReranker::new(Arc::clone(&judge)).with_order(0.0);
    let passages: Vec<String> = (0..90).map(|i| text(1 + i % 20, i as u64)).collect();
    let mut passages: Vec<&str> = passages.iter().map(String::as_str).collect();
    passages[3] = "";
    let scores = reranker.scores("bread", &passages).unwrap();
    assert!(scores.len() == 90 && scores[3] == 0.0 && scores.iter().all(|score| (0.0..=1.0).contains(score)));
    // In other company, and by hand for a passage that one sequence holds.
    let again = reranker.scores("bread", &[passages[7], passages[20]]).unwrap();
    assert!((again[0] - scores[7]).abs() < 1e-5 && (again[1] - scores[20]).abs() < 1e-5);
    let own = [passages[20]];
    let texts = Texts::new(&own, judge.words(), 6);
    let ids: Vec<Vec<u32>> = (0..texts.len()).map(|i| texts.ids(i)).collect();
    let made: Sequence = sequence(&judge.query("bread"), ids.iter().map(Vec::as_slice), judge.special());
    let best = judge.scores(&[made], |_| 0..ids.len()).unwrap().concat().into_iter().fold(0.0, f32::max);
    assert!((best - scores[20]).abs() < 1e-5);
    assert_eq!((reranker.name(), reranker.scores("bread", &[]).unwrap()), ("cogltx", vec![]));
    // With the order of the search, passage i has 1 + i times lower odds.
    let ordered = JudgeReranker::new(Arc::clone(&judge)).with_order(1.0);
    assert_ne!(ordered.fingerprint(), reranker.fingerprint());
    for (i, (with, without)) in ordered.scores("bread", &passages).unwrap().into_iter().zip(&scores).enumerate() {
        let odds = |p: f32| p / (1.0 - p);
        assert!(passages[i].is_empty() || (odds(with) * (1 + i) as f32 / odds(*without) - 1.0).abs() < 1e-3, "{i}");
    }
}

#[test]
fn what_cannot_be_read_with_is_named() {
    let (base, out) = (base(), tempfile::tempdir().unwrap());
    let file = out.path().join(CHECKPOINT);
    let error = |checkpoint: Checkpoint| {
        checkpoint.write(&file, false).unwrap();
        let read = Checkpoint::read(&file).unwrap();
        let said = Judge::on(&base, &read, &Device::Cpu).unwrap_err().to_string();
        assert!(said.contains(CHECKPOINT) && !said.contains('\n'), "{said}");
        said
    };
    assert!(error(checkpoint(&base, 65)).contains("base model reads 64"));
    assert!(error(checkpoint(&base, 23)).contains("too few for a query of 8 and two blocks of 6"));
    let mut other = checkpoint(&base, 64);
    other.settings.base_sha256 = "0123456789abcdef".into();
    assert!(error(other).contains("checksum 0123456789ab"));
    let mut tensors = checkpoint(&base, 64).tensors().clone();
    tensors.remove("reasoner.span.bias");
    assert!(error(Checkpoint::new(checkpoint(&base, 64).settings, tensors)).contains("no tensor reasoner.span.bias"));
}
