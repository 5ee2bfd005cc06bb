//! The segmenter `topic`, on a model that was trained on documents whose sentence vectors say their topic.

use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use pericope_api::{Boundaries, Document, Kind, SegmentError, Segmentation, Segmenter, SentenceEncoder, segment_into};
use pericope_encode::Device;
use pericope_learn::registry;
use pericope_learn::topic::{Amount, Checkpoint, Objective, Topic, TopicSegmenter, Weights, open};
use pericope_segment::spec::Spec;
use pericope_segment::{Chunker, laws};
use tempfile::TempDir;

use super::hiercrf::fixtures::{Other, TOPICS, Topics, WIDTH, With, check_laws, read};
use super::topic::{options, train};
use super::weswin;

/// A trained model in a folder, made once.
fn folder() -> String {
    static TRAINED: OnceLock<TempDir> = OnceLock::new();
    let trained = TRAINED.get_or_init(|| {
        let out = tempfile::tempdir().unwrap();
        train(None, &options(), out.path(), 0).unwrap();
        out
    });
    trained.path().display().to_string()
}

fn segmenter() -> TopicSegmenter {
    let model = Topic::load(&open(&folder()).unwrap(), &Device::Cpu).unwrap();
    TopicSegmenter::new(Arc::new(model), Arc::new(Topics::default())).unwrap()
}

fn build(rest: &str) -> Result<Chunker, String> {
    let spec = Spec::parse(&format!("topic:model={}{rest}", folder())).unwrap();
    registry::build(&spec, &With(Arc::new(Topics::default()))).map_err(|e| e.to_string())
}

fn scores(segmenter: &dyn Segmenter, document: &Document) -> (Vec<f64>, f64) {
    match segmenter.segment(document).unwrap() {
        Segmentation::Scores { scores, threshold } => (scores, threshold),
        other => panic!("{other:?}"),
    }
}

fn boundaries(segmenter: &dyn Segmenter, document: &Document) -> Vec<usize> {
    let (scores, threshold) = scores(segmenter, document);
    Boundaries::above(&scores, threshold).after().to_vec()
}

fn f1(found: &[usize], truth: &[usize]) -> f64 {
    let hits = found.iter().filter(|after| truth.contains(after)).count();
    2.0 * hits as f64 / (found.len() + truth.len()) as f64
}

#[test]
fn sections_are_found_with_and_without_their_number() {
    let (document, truth) = read("found", 40);
    let found = boundaries(&segmenter(), &document);
    assert!(f1(&found, &truth) > 0.85, "{found:?} {truth:?}");
    let known = segment_into(&segmenter(), &document, truth.len() + 1).unwrap();
    assert_eq!(known.after().len(), truth.len());
    assert!(f1(known.after(), &truth) > 0.85, "{known:?} {truth:?}");
    for segments in [1, 2, document.len(), document.len() + 9] {
        let known = segment_into(&segmenter(), &document, segments).unwrap();
        assert_eq!(known.after().len(), segments.min(document.len()) - 1);
    }
    // Scores are probabilities.
    let (scores, _) = scores(&segmenter().with(Amount::Above(0.5)), &document);
    assert!(scores.iter().all(|p| (0.0..=1.0).contains(p)));
    let expected: f64 = scores.iter().sum();
    assert!((expected / truth.len() as f64 - 1.0).abs() < 0.3, "{expected} of {}", truth.len());
}

#[test]
fn granularity_is_the_number_of_sections() {
    let (document, _) = read("granularity", 60);
    let n = document.len() as f64;
    for (granularity, sections) in [("coarse", 3.0), ("medium", 7.0), ("fine", 15.0), ("0.5", 0.5), ("33.3", 33.3)] {
        let chunks = build(&format!(",granularity={granularity}")).unwrap().chunks(&document).unwrap();
        assert_eq!(chunks.len(), ((sections * n / 100.0).round() as usize).max(1), "{granularity}");
    }
    // Fewer for WindowDiff than for F1, or as many; a higher threshold gives fewer.
    let by = |amount: Amount| boundaries(&segmenter().with(amount), &document).len();
    assert!(by(Amount::Best(Objective::WindowDiff)) <= by(Amount::Best(Objective::F1)));
    let counts = [0.0, 0.05, 0.5, 0.95, 1.0].map(|threshold| by(Amount::Above(threshold)));
    assert!(counts[0] == document.len() - 1 && counts.is_sorted_by(|a, b| a >= b) && counts[4] == 0, "{counts:?}");
}

#[test]
fn every_spec_keeps_the_laws_for_any_number_of_threads() {
    for rest in [
        "",
        ",granularity=coarse,overlap=1",
        ",objective=window_diff",
        ",objective=f1",
        ",tau=0.3,min_tokens=10",
        ",w_words=0.2,prior=1,bias=-0.5,max_tokens=20",
    ] {
        let chunker = build(rest).unwrap();
        assert!(chunker.fingerprint().starts_with("topic:") && chunker.fingerprint().ends_with(":topics-1"));
        let [code, tables] = check_laws(&chunker, rest);
        assert_eq!(chunker.boundaries_known(&code, 4).unwrap().segments(), 4);
        assert_eq!(chunker.boundaries_known(&tables, 4).unwrap().segments(), 1);
    }
    let (document, _) = read("threads", 500);
    let found = [1, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let weights = Weights { words: 0.2, prior: 0.5, ..Weights::default() };
        pool.install(|| scores(&segmenter().with_weights(weights).unwrap(), &document))
    });
    assert!(found[0] == found[1]);
}

/// However long the document is, it is read once, in order, and some windows of vectors are in memory.
#[test]
fn long_documents_are_read_once_and_a_part_at_a_time() {
    let sentences: Vec<String> = (0..20_000).map(|i| format!("topic{} {i}", i / 9 % TOPICS)).collect();
    let mut document = Document::from_sentences("long", &sentences);
    document.sentences[5].kind = Kind::Code;
    let model = Topic::load(&open(&folder()).unwrap(), &Device::Cpu).unwrap();
    let (mut asked, mut most) = (Vec::new(), 0);
    let odds = model.read(&document, &mut |part| {
        asked.extend_from_slice(part);
        most = most.max(part.len());
        Ok(part.iter().flat_map(|&i| Topics::vector(&sentences[i])).collect())
    });
    assert_eq!(odds.unwrap().len(), 20_000 - 2);
    assert_eq!(asked, (0..20_000).filter(|&i| i != 5).collect::<Vec<_>>());
    assert!(most <= 8 * 1024 + 8, "{most} vectors at once");

    let encoder = Arc::new(Topics::default());
    let segmenter = TopicSegmenter::new(Arc::new(model), encoder.clone()).unwrap();
    let weights = Weights { words: 0.1, prior: 0.5, ..Weights::default() };
    let found = boundaries(&segmenter.with_weights(weights).unwrap(), &document);
    assert_eq!(encoder.0.load(Ordering::Relaxed), 20_000 - 1);
    let truth: Vec<usize> = (1..20_000 / 9 + 1).map(|i| 9 * i).collect();
    assert!(f1(&found, &truth) > 0.85, "{} of {}", found.len(), truth.len());
}

#[test]
fn fusion_has_most_of_the_evidence_where_it_is_sure() {
    // The sequence model says nothing, so that every gap is as likely a boundary as not before `fusion` is heard.
    let weights = Weights { sequence: 0.0, words: 0.0, prior: 0.0, fusion: 0.5, ..Weights::default() };
    let elsewhere = |sections: usize| {
        let (document, truth) = read("sure", sections);
        let (scores, _) = scores(&segmenter().with_weights(weights).unwrap(), &document);
        let others: Vec<f64> = (1..).zip(scores).filter(|(gap, _)| !truth.contains(gap)).map(|(_, p)| p).collect();
        others.iter().sum::<f64>() / others.len() as f64
    };
    // A short document is no reason to be sure.
    let (long, short) = (elsewhere(12), elsewhere(4));
    assert!(long < 0.005 && short > 0.02, "{long}, {short}");
}

#[test]
fn weswin_reads_too_where_it_is_asked_for() {
    let (other, checkpoint) = weswin::trained();
    let with = |rest: &str| build(&format!(",speed=best,weswin={}{rest}", other.path().display())).unwrap();
    let (document, _) = read("both", 4);
    let fast = build("").unwrap();
    let (alone, none, both) = (
        scores(fast.segmenter(), &document),
        scores(with(",w_weswin=0").segmenter(), &document),
        scores(with(",w_weswin=0.5").segmenter(), &document),
    );
    assert!(alone == none && alone != both);
    assert!(with("").fingerprint().contains(&checkpoint.sha256()[..8]), "{}", with("").fingerprint());
    let best = with("");
    let read = |chunker: &Chunker| {
        let before = chunker.segmenter().tokens_read().unwrap();
        chunker.chunks(&document).unwrap();
        chunker.segmenter().tokens_read().unwrap() - before
    };
    let (own, all) = (read(&fast), read(&best));
    assert!(own > 0 && all > own, "{own}, {all}");
    laws::check_chunker(&best, &document).unwrap();
}

#[test]
fn what_cannot_be_used_is_said() {
    for (rest, said) in [
        (",granularity=0", "coarse, medium, fine"),
        (",granularity=nan", "coarse, medium, fine"),
        (",granularity=101", "coarse, medium, fine"),
        (",granularity=fine,tau=0.5", "`granularity` or `tau`"),
        (",granularity=fine,objective=f1", "`granularity` or `objective`"),
        (",objective=f1,tau=0.5", "`objective` or `tau`"),
        (",objective=pk", "balanced, f1, window_diff"),
        (",speed=slow", "fast, best"),
        (",tau=2", "0 to 1"),
        (",w_words=-1", "0 to 1000"),
        (",bias=a", "-1000 to 1000"),
        (",w_weswin=1", "speed=best"),
        (",weswin=shipped", "speed=best"),
        (",speed=best,weswin=nowhere", "nowhere"),
        (",k=3", "granularity"),
    ] {
        let error = build(rest).unwrap_err();
        assert!(error.contains(said) && !error.contains('\n'), "{rest}: {error}");
    }
    let build = |spec: &str, encoder: Arc<dyn SentenceEncoder>| {
        registry::build(&Spec::parse(spec).unwrap(), &With(encoder)).err().unwrap().to_string()
    };
    let own = || -> Arc<dyn SentenceEncoder> { Arc::new(Topics::default()) };
    assert!(build("topic:model=nowhere", own()).contains("nowhere"));
    let error = build(&format!("topic:model={}", folder()), Arc::new(Other));
    assert!(error.contains("topics-1") && error.contains("other-1"), "{error}");

    // A checkpoint of before lengths were kept.
    let checkpoint = open(&folder()).unwrap();
    assert!(checkpoint.settings.lengths.is_some());
    let dir = tempfile::tempdir().unwrap();
    let mut settings = checkpoint.settings.clone();
    settings.lengths = None;
    Checkpoint::new(settings, checkpoint.tensors().clone()).write(&dir.path().join("topic.safetensors"), true).unwrap();
    let error = build(&format!("topic:model={},prior=1", dir.path().display()), own());
    assert!(error.contains("leave prior out"), "{error}");

    let model = Topic::load(&checkpoint, &Device::Cpu).unwrap();
    let (document, _) = read("short", 3);
    let error = model.read(&document, &mut |_| Ok(vec![0.0; WIDTH])).unwrap_err();
    assert!(error.to_string().contains("no vectors of 12 numbers"), "{error}");
    let error = model.read(&document, &mut |_| Err(SegmentError::Unsupported("told to".into()))).unwrap_err();
    assert_eq!(error.to_string(), "told to");
}
