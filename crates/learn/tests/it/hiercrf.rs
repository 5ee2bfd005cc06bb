//! HierCRF from training to trees, on documents whose sentence vectors say their topic.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use pericope_api::{
    Boundaries, Document, Embeddings, EncodeError, Kind, SegmentError, Segmentation, Segmenter, SentenceEncoder,
    segment_into,
};
use pericope_encode::Device;
use pericope_learn::corpus::{Headings, Record, SequenceDocument};
use pericope_learn::hiercrf::{Checkpoint, CutBy, HierCrf, HierCrfSegmenter, Settings, Sizes, open};
use pericope_learn::registry;
use pericope_learn::training::{
    Event, HierCrfOptions, Metric, TrainError, TrainReport, TreeData, TreeDocument, VectorSource, train_hiercrf,
};
use pericope_segment::counters::WordCounter;
use pericope_segment::random::{SplitMix64, fnv1a};
use pericope_segment::spec::Spec;
use pericope_segment::{Resources, laws};
use tempfile::TempDir;

const WIDTH: usize = 12;

/// Topics of sections.
const TOPICS: usize = 6;

/// An encoder whose vectors are that of a sentence's first word and a little of the rest. Counts what it reads.
#[derive(Default)]
struct Topics(AtomicUsize);

impl Topics {
    fn vector(text: &str) -> Vec<f32> {
        let draw = |text: &str| {
            let mut random = SplitMix64::new(fnv1a(1, text.bytes()));
            (0..WIDTH).map(move |_| (random.next() >> 40) as f32 / (1 << 23) as f32 - 1.0).collect::<Vec<f32>>()
        };
        let topic = draw(text.split(' ').next().unwrap_or(""));
        topic.iter().zip(draw(text)).map(|(topic, own)| topic + 0.2 * own).collect()
    }
}

impl SentenceEncoder for Topics {
    fn name(&self) -> &str {
        "topics"
    }

    fn fingerprint(&self) -> String {
        "topics-1".into()
    }

    fn dimension(&self) -> usize {
        WIDTH
    }

    fn max_tokens(&self) -> usize {
        64
    }

    fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
        self.0.fetch_add(texts.len(), Ordering::Relaxed);
        Ok(Embeddings::new(WIDTH, texts.iter().flat_map(|text| Self::vector(text)).collect()))
    }
}

impl VectorSource for Topics {
    fn encoder(&self) -> (&str, &str) {
        ("topics", "topics-1")
    }

    fn dimension(&self) -> usize {
        WIDTH
    }

    fn vectors(&self, texts: &[&str]) -> Result<Vec<f32>, String> {
        Ok(texts.iter().flat_map(|text| Self::vector(text)).collect())
    }
}

struct With(Arc<dyn SentenceEncoder>);

impl Resources for With {
    fn encoder(&self) -> Result<Arc<dyn SentenceEncoder>, String> {
        Ok(Arc::clone(&self.0))
    }
}

/// The label of a topic: the side of a plane that its vector lies on.
fn label(topic: usize) -> String {
    if Topics::vector(&format!("topic{topic}"))[0] > 0.0 { "above".into() } else { "below".into() }
}

/// A document of sections of three to seven sentences, each of another topic than the one before.
fn record(id: &str, sections: usize) -> Record {
    let mut random = SplitMix64::new(fnv1a(7, id.bytes()));
    let mut record = Record { id: id.into(), ..Record::default() };
    let mut topic = random.below(TOPICS);
    for section in 0..sections {
        topic = (topic + 1 + random.below(TOPICS - 1)) % TOPICS;
        for sentence in 0..3 + random.below(5) {
            record.sentences.push(format!("topic{topic} {id} {sentence}"));
        }
        record.boundaries.push(record.sentences.len());
        record.levels.push(if section % 3 == 1 { 2 } else { 1 });
        record.labels.push(label(topic));
    }
    record.boundaries.pop();
    record.levels.pop();
    record
}

fn document(id: &str, sections: usize) -> TreeDocument {
    TreeDocument::new(&SequenceDocument::new(&record(id, sections), Headings::Dropped), 3)
}

fn read(id: &str, sections: usize) -> (Document, Vec<usize>) {
    let record = record(id, sections);
    (Document::from_sentences(id, &record.sentences), record.boundaries)
}

fn options() -> HierCrfOptions {
    HierCrfOptions {
        sizes: Sizes { input: WIDTH, hidden: 16, layers: 2, structure: 16, labels: 16 },
        window: 40,
        synthetic: 0.5,
        epochs: 12.0,
        batch: 4,
        micro_batch: 160,
        learning_rate: 1e-2,
        dropout: 0.0,
        ..HierCrfOptions::default()
    }
}

fn train(options: &HierCrfOptions, out: &Path, stop: usize) -> Result<TrainReport, TrainError> {
    let train: Vec<TreeDocument> = (0..48).map(|i| document(&format!("train{i}"), 2 + i % 8)).collect();
    let validation: Vec<TreeDocument> = (0..8).map(|i| document(&format!("held{i}"), 3 + i)).collect();
    let data = TreeData { train: &train, validation: &validation, vectors: &Topics::default() };
    train_hiercrf(None, &data, options, out, "notes", &mut |event| match event {
        Event::Step { step, .. } if step == stop => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    })
}

/// A trained model in a folder, made once.
fn trained() -> &'static (TempDir, TrainReport) {
    static TRAINED: OnceLock<(TempDir, TrainReport)> = OnceLock::new();
    TRAINED.get_or_init(|| {
        let out = tempfile::tempdir().unwrap();
        let report = train(&options(), out.path(), 0).unwrap();
        (out, report)
    })
}

fn folder() -> String {
    trained().0.path().display().to_string()
}

fn model() -> Arc<HierCrf> {
    Arc::new(HierCrf::load(&open(&folder()).unwrap(), &Device::Cpu).unwrap())
}

fn segmenter() -> HierCrfSegmenter {
    HierCrfSegmenter::new(model(), Arc::new(Topics::default())).unwrap()
}

fn boundaries(segmenter: &HierCrfSegmenter, document: &Document) -> Vec<usize> {
    match segmenter.segment(document).unwrap() {
        Segmentation::Boundaries(found) => found.after().to_vec(),
        Segmentation::Scores { scores, threshold } => Boundaries::above(&scores, threshold).after().to_vec(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn it_learns_where_topics_change() {
    let (_, report) = trained();
    let (first, last) = (report.losses[0], report.losses[report.losses.len() - 1]);
    assert!(last < 0.6 * first, "{first} {last}");
    let (best, step) = report.best.unwrap();
    assert!(best > 0.9, "F1 {best} at step {step}");
    let settings = model().settings().clone();
    assert_eq!((settings.encoder.as_str(), settings.notes.as_str(), settings.topics.len()), ("topics", "notes", 2));
    // A document of its own, many times longer than any that it learned from.
    let (document, truth) = read("other", 60);
    let found = boundaries(&segmenter(), &document);
    let hits = found.iter().filter(|after| truth.contains(after)).count();
    let f1 = 2.0 * hits as f64 / (found.len() + truth.len()) as f64;
    assert!(f1 > 0.85, "F1 {f1}: {found:?} {truth:?}");
    let known = segment_into(&segmenter(), &document, truth.len() + 1).unwrap();
    let hits = known.after().iter().filter(|after| truth.contains(after)).count();
    assert!(hits as f64 > 0.85 * truth.len() as f64, "{hits} of {}", truth.len());
}

#[test]
fn labels_of_segments_are_learned() {
    let (document, _) = read("labelled", 40);
    let found = segmenter().read(&document).unwrap();
    let names = model().settings().topics.clone();
    let truth = record("labelled", 40);
    let starts: Vec<usize> = [&[0], &truth.boundaries[..]].concat();
    let (mut right, mut all) = (0, 0);
    for label in &found.topics {
        assert!(label.start < label.end && label.end <= document.len() && label.topic < 2);
        assert!((0.5..=1.0).contains(&label.probability), "{label:?}");
        if let Some(section) = starts.iter().position(|&start| start == label.start)
            && truth.boundaries.get(section).is_none_or(|&end| end == label.end)
        {
            right += usize::from(names[label.topic] == truth.labels[section]);
            all += 1;
        }
    }
    assert!(all > 15 && right as f64 > 0.85 * all as f64, "{right} of {all}");
}

#[test]
fn every_cut_keeps_the_laws() {
    for rest in [
        "",
        ",level=1",
        ",level=3,max_tokens=20",
        ",level=size,max_tokens=25",
        ",tau=0.3,min_tokens=10",
        ",level=scores",
    ] {
        let spec = Spec::parse(&format!("hiercrf:model={}{rest}", folder())).unwrap();
        let chunker = registry::build(&spec, &With(Arc::new(Topics::default()))).unwrap();
        assert!(chunker.fingerprint().starts_with("hiercrf:"));
        for sections in [0, 1, 2, 30] {
            laws::check_chunker(&chunker, &read("law", sections).0).unwrap_or_else(|e| panic!("{rest}: {e}"));
        }
        let mut mixed = read("mixed", 5).0;
        for i in [0, 7, 8, mixed.len() - 1] {
            mixed.sentences[i].kind = Kind::Code;
        }
        laws::check_chunker(&chunker, &mixed).unwrap_or_else(|e| panic!("{rest} on code: {e}"));
        mixed.sentences.iter_mut().for_each(|sentence| sentence.kind = Kind::Table);
        laws::check_chunker(&chunker, &mixed).unwrap_or_else(|e| panic!("{rest} on tables: {e}"));
    }
}

#[test]
fn cuts_refine_each_other_and_fit_the_size() {
    let (document, _) = read("cuts", 12);
    let by = |cut: CutBy| boundaries(&segmenter().with(cut), &document);
    let levels: Vec<Vec<usize>> = (1..5).map(|level| by(CutBy::Level(level))).collect();
    assert!(!levels[0].is_empty());
    for pair in levels.windows(2) {
        assert!(pair[0].iter().all(|after| pair[1].contains(after)), "{levels:?}");
    }
    // A sentence has three words.
    let size = |max: usize| by(CutBy::Size { max, counter: Arc::new(WordCounter) });
    let tree = segmenter().read(&document).unwrap().tree;
    assert_eq!(size(3 * document.len()), Vec::<usize>::new());
    for most in [30, 14, 8] {
        let found = size(3 * most);
        assert_eq!(found, tree.cut(|node| node.len() <= most));
        let ends: Vec<usize> = [&[0], &found[..], &[document.len()]].concat();
        for pair in ends.windows(2) {
            // Longer only where the tree has nothing to cut at.
            let open =
                tree.nodes().iter().any(|n| n.start >= pair[0] && n.end <= pair[1] && n.len() < pair[1] - pair[0]);
            assert!(pair[1] - pair[0] <= most || !open, "{pair:?} of {found:?}");
        }
    }
    // The number known: the coarsest cut that has it.
    for level in &levels {
        let known = segment_into(&segmenter().with(CutBy::Level(1)), &document, level.len() + 1).unwrap();
        assert_eq!(known.after(), &level[..]);
    }
    for segments in [1, 2, document.len(), document.len() + 9] {
        let known = segment_into(&segmenter().with(CutBy::Level(1)), &document, segments).unwrap();
        assert_eq!(known.after().len(), segments.min(document.len()) - 1);
    }
}

#[test]
fn trees_are_told_in_bytes() {
    let (mut document, _) = read("json", 6);
    document.sentences[2].kind = Kind::Code;
    let json = segmenter().tree_json(&document).unwrap();
    assert_eq!((json["start"].as_u64(), json["end"].as_u64()), (Some(0), Some(document.source.len() as u64)));
    let mut open = vec![&json];
    let mut leaves = Vec::new();
    while let Some(node) = open.pop() {
        match node["children"].as_array() {
            Some(children) => {
                assert!(children.len() > 1);
                assert_eq!(
                    (&children[0]["start"], &children[children.len() - 1]["end"]),
                    (&node["start"], &node["end"])
                );
                open.extend(children.iter().rev());
            }
            None => leaves.push((node["start"].as_u64().unwrap(), node["end"].as_u64().unwrap())),
        }
    }
    // One line end between two segments.
    assert!(leaves.windows(2).all(|pair| pair[0].1 + 1 == pair[1].0), "{leaves:?}");
    let empty = segmenter().tree_json(&Document::from_sentences::<&str>("e", &[])).unwrap();
    assert_eq!(empty.to_string(), r#"{"start":0,"end":0}"#);
}

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

#[test]
fn any_number_of_threads_trains_and_reads_alike() {
    let options = HierCrfOptions { max_steps: 5, ..options() };
    let (document, _) = read("threads", 40);
    let found = [1, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let out = tempfile::tempdir().unwrap();
        let report = pool.install(|| train(&options, out.path(), 0)).unwrap();
        let reading = pool.install(|| segmenter().read(&document).unwrap());
        let bytes = std::fs::read(out.path().join("hiercrf.safetensors")).unwrap();
        let mut tensors: Vec<_> =
            candle_core::safetensors::load_buffer(&bytes, &Device::Cpu).unwrap().into_iter().collect();
        tensors.sort_by(|a, b| a.0.cmp(&b.0));
        let numbers: Vec<Vec<half::f16>> =
            tensors.iter().map(|(_, t)| t.flatten_all().unwrap().to_vec1().unwrap()).collect();
        (report.losses, numbers, reading)
    });
    assert!(found[0].0 == found[1].0, "losses");
    assert!(found[0].1 == found[1].1, "weights");
    assert!(found[0].2 == found[1].2, "reading");
}

#[test]
fn an_interrupted_training_goes_on_as_if_nothing_had_been() {
    let options = HierCrfOptions { max_steps: 14, ..options() };
    let (whole, parts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let report = train(&options, whole.path(), 0).unwrap();
    // Once within the first epoch, once within the second.
    for stop in [5, 13] {
        let stopped = train(&options, parts.path(), stop);
        assert!(matches!(stopped, Err(TrainError::Interrupted { step }) if step == stop));
    }
    let again = train(&options, parts.path(), 0).unwrap();
    assert_eq!((report.losses, report.best, report.validations), (again.losses, again.best, again.validations));
    let tensors = |dir: &TempDir| {
        let checkpoint = open(&dir.path().display().to_string()).unwrap();
        let mut all: Vec<(String, Vec<f32>)> = (checkpoint.tensors().iter())
            .map(|(name, tensor)| (name.clone(), tensor.flatten_all().unwrap().to_vec1().unwrap()))
            .collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    };
    assert!(tensors(&whole) == tensors(&parts));
    // Other options are another training.
    let other = train(&HierCrfOptions { seed: 8, ..options }, parts.path(), 0).unwrap_err().to_string();
    assert!(other.contains("another training"), "{other}");
}

#[test]
fn training_goes_on_from_a_checkpoint() {
    let start = open(&folder()).unwrap();
    let documents: Vec<TreeDocument> = (0..6).map(|i| document(&format!("more{i}"), 4)).collect();
    let data = TreeData { train: &documents, validation: &[], vectors: &Topics::default() };
    let options = HierCrfOptions { max_steps: 1, learning_rate: 1e-9, metric: Metric::WindowDiff, ..options() };
    let out = tempfile::tempdir().unwrap();
    let go_on = &mut |_: Event| ControlFlow::Continue(());
    train_hiercrf(Some(&start), &data, &options, out.path(), "", go_on).unwrap();
    let made = open(&out.path().display().to_string()).unwrap();
    assert_eq!(made.settings, Settings { notes: String::new(), ..start.settings.clone() });
    for (name, tensor) in made.tensors() {
        let off =
            (tensor - &start.tensors()[name]).unwrap().abs().unwrap().max_all().unwrap().to_scalar::<f32>().unwrap();
        assert!(off < 1e-3, "{name}: {off}");
    }
    let mut refused = |options: HierCrfOptions, said: &str| {
        let error = train_hiercrf(Some(&start), &data, &options, out.path(), "", go_on).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    };
    refused(HierCrfOptions { sizes: Sizes { hidden: 8, ..options.sizes }, ..options.clone() }, "other sizes");
    refused(HierCrfOptions { sizes: Sizes { input: 8, ..options.sizes }, ..options.clone() }, "12 numbers");
    refused(HierCrfOptions { dropout: 1.0, ..options.clone() }, "dropout is 1");
    let target = trained().0.path();
    let error = train_hiercrf(Some(&start), &data, &options, target, "", go_on).unwrap_err().to_string();
    assert!(error.contains("what training begins from"), "{error}");
    let nothing = TreeData { train: &[], validation: &[], vectors: &Topics::default() };
    let error = train_hiercrf(None, &nothing, &options, out.path(), "", go_on).unwrap_err().to_string();
    assert!(error.contains("no document"), "{error}");
}

/// Another encoder, whose vectors mean something else.
struct Other;

impl SentenceEncoder for Other {
    fn name(&self) -> &str {
        "other"
    }

    fn fingerprint(&self) -> String {
        "other-1".into()
    }

    fn dimension(&self) -> usize {
        WIDTH
    }

    fn max_tokens(&self) -> usize {
        64
    }

    fn encode(&self, _: &[&str]) -> Result<Embeddings, EncodeError> {
        Ok(Embeddings::default())
    }
}

#[test]
fn what_cannot_be_used_is_said() {
    let build = |spec: &str, encoder: Arc<dyn SentenceEncoder>| {
        registry::build(&Spec::parse(spec).unwrap(), &With(encoder)).err().unwrap().to_string()
    };
    let own = || -> Arc<dyn SentenceEncoder> { Arc::new(Topics::default()) };
    let model = format!("hiercrf:model={}", folder());
    for (spec, said) in [
        ("hiercrf".to_owned(), "pericope train hiercrf"),
        ("hiercrf:model=nowhere".to_owned(), "nowhere"),
        (format!("{model},level=0"), "level"),
        (format!("{model},level=deep"), "`size` or `scores`"),
        (format!("{model},level=size"), "needs max_tokens"),
        (format!("{model},tau=2"), "0 to 1"),
    ] {
        let error = build(&spec, own());
        assert!(error.contains(said) && !error.contains('\n'), "{spec}: {error}");
    }
    let error = build(&model, Arc::new(Other));
    assert!(error.contains("topics-1") && error.contains("other-1"), "{error}");

    let checkpoint = open(&folder()).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("hiercrf.safetensors");
    let damaged = |change: &dyn Fn(&mut Settings)| {
        let mut settings = checkpoint.settings.clone();
        change(&mut settings);
        Checkpoint::new(settings, checkpoint.tensors().clone()).write(&path, true).unwrap();
        build(&format!("hiercrf:model={}", path.display()), own())
    };
    assert!(damaged(&|settings| settings.window = 1).contains("window"));
    assert!(damaged(&|settings| settings.sizes.hidden = 0).contains("sizes"));
    assert!(damaged(&|settings| settings.sizes.hidden = 17).contains("lstm.0.input.weight"));
    assert!(damaged(&|settings| settings.threshold = f64::NAN).contains("hiercrf.safetensors"));
    assert!(damaged(&|settings| settings.topics.push("third".into())).contains("topics.scores"));
}

#[test]
fn vectors_that_are_missing_are_an_error() {
    let model = model();
    let error = model.read(5, &mut |_| Ok(vec![0.0; WIDTH])).unwrap_err();
    assert!(error.to_string().contains("no vectors of 12 numbers"), "{error}");
    let error = model.read(5, &mut |_| Err(SegmentError::Unsupported("told to".into()))).unwrap_err();
    assert_eq!(error.to_string(), "told to");
}
