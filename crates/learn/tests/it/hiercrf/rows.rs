//! Models that read rows, on documents whose sentence vectors are all the same; and checkpoints from before there were any.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use candle_core::Tensor;
use pericope_api::{Document, Embeddings, EncodeError, SentenceEncoder, segment_into};
use pericope_encode::Device;
use pericope_encode::encoders::Tensors;
use pericope_learn::corpus::{Headings, Record, SequenceDocument};
use pericope_learn::hiercrf::chart::{Triangle, inside, marginals};
use pericope_learn::hiercrf::{Checkpoint, HierCrf, HierCrfSegmenter, Reads, Sizes, open};
use pericope_learn::sequence::BiLstm;
use pericope_learn::training::{
    Event, HierCrfOptions, TrainError, TrainReport, TreeData, TreeDocument, VectorSource, Ways, train_hiercrf,
};
use pericope_segment::random::{SplitMix64, fnv1a};
use tempfile::TempDir;

use super::fixtures;

const WIDTH: usize = 4;

/// An encoder to which all sentences are the same.
struct Same;

impl SentenceEncoder for Same {
    fn name(&self) -> &str {
        "same"
    }

    fn fingerprint(&self) -> String {
        "same-1".into()
    }

    fn dimension(&self) -> usize {
        WIDTH
    }

    fn max_tokens(&self) -> usize {
        64
    }

    fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
        Ok(Embeddings::new(WIDTH, vec![0.5; WIDTH * texts.len()]))
    }
}

impl VectorSource for Same {
    fn encoder(&self) -> (&str, &str) {
        ("same", "same-1")
    }

    fn dimension(&self) -> usize {
        WIDTH
    }

    fn vectors(&self, texts: &[&str]) -> Result<Vec<f32>, String> {
        Ok(vec![0.5; WIDTH * texts.len()])
    }
}

const WORDS: [[&str; 4]; 5] = [
    ["ship", "sail", "harbour", "anchor"],
    ["bread", "dough", "oven", "flour"],
    ["goal", "match", "referee", "striker"],
    ["planet", "orbit", "comet", "telescope"],
    ["violin", "concert", "melody", "drum"],
];

/// A document of sections of three to six sentences, each of other words than the one before, and each a paragraph.
fn record(id: &str, sections: usize) -> Record {
    let mut random = SplitMix64::new(fnv1a(7, id.bytes()));
    let mut record = Record { id: id.into(), ..Record::default() };
    let mut topic = random.below(WORDS.len());
    for _ in 0..sections {
        topic = (topic + 1 + random.below(WORDS.len() - 1)) % WORDS.len();
        for _ in 0..3 + random.below(4) {
            let [a, b, c] = [0; 3].map(|_| WORDS[topic][random.below(4)]);
            record.sentences.push(format!("The {a} and the {b} near the {c}."));
        }
        record.boundaries.push(record.sentences.len());
        record.headings.push(format!("About {}", WORDS[topic][0]));
    }
    record.boundaries.pop();
    record.paragraphs = record.boundaries.clone();
    record
}

fn documents(name: &str, count: usize, headings: Headings) -> Vec<TreeDocument> {
    let record = |i: usize| record(&format!("{name}{i}"), 2 + i % 6);
    (0..count).map(|i| TreeDocument::new(&SequenceDocument::new(&record(i), headings), 0)).collect()
}

fn options() -> HierCrfOptions {
    HierCrfOptions {
        sizes: Sizes { input: WIDTH, projection: 16, hidden: 16, layers: 1, structure: 16, labels: 16, head: 16 },
        window: 40,
        synthetic: 0.5,
        epochs: 12.0,
        batch: 4,
        micro_batch: 160,
        learning_rate: 1e-2,
        dropout: 0.0,
        ..HierCrfOptions::rows()
    }
}

fn train(start: Option<&Checkpoint>, options: &HierCrfOptions, out: &Path) -> Result<TrainReport, TrainError> {
    let ways = |name: &str, count: usize| [Headings::Dropped, Headings::Kept].map(|kept| documents(name, count, kept));
    let ([plain, with_headings], [held, held_with]) = (ways("train", 36), ways("held", 8));
    let train = Ways { plain: &plain, with_headings: &with_headings };
    let data = TreeData { train, validation: Ways { plain: &held, with_headings: &held_with }, vectors: &Same };
    train_hiercrf(start, &data, options, out, "", &mut |_: Event| ControlFlow::Continue(()))
}

/// A trained model in a folder, made once.
fn trained() -> &'static (TempDir, TrainReport) {
    static TRAINED: OnceLock<(TempDir, TrainReport)> = OnceLock::new();
    TRAINED.get_or_init(|| {
        let out = tempfile::tempdir().unwrap();
        let report = train(None, &options(), out.path()).unwrap();
        (out, report)
    })
}

fn checkpoint() -> Checkpoint {
    open(&trained().0.path().display().to_string()).unwrap()
}

fn model() -> HierCrf {
    HierCrf::load(&checkpoint(), &Device::Cpu).unwrap()
}

fn f1(found: &[usize], truth: &[usize]) -> f64 {
    let hits = found.iter().filter(|after| truth.contains(after)).count();
    2.0 * hits as f64 / (found.len() + truth.len()) as f64
}

#[test]
fn paragraphs_and_words_are_enough() {
    let (best, step) = trained().1.best.unwrap();
    assert!(best > 0.8, "F1 {best} at step {step}");
    assert_eq!(checkpoint().settings.reads, Reads::Rows);
    let segmenter = HierCrfSegmenter::new(Arc::new(model()), Arc::new(Same)).unwrap();
    // Several windows long.
    let truth = record("other", 40);
    let known = Document::from_sentences("known", &truth.sentences).with_paragraphs(&truth.paragraphs);
    let found = f1(&fixtures::boundaries(&segmenter, &known), &truth.boundaries);
    assert!(found > 0.8, "F1 {found}");
    // Words alone.
    let bare = Document::from_sentences("bare", &truth.sentences);
    let into = segment_into(&segmenter, &bare, truth.boundaries.len() + 1).unwrap();
    let found = f1(into.after(), &truth.boundaries);
    assert!(found > 0.5, "F1 {found} without paragraphs");
}

#[test]
fn long_documents_are_read_in_windows() {
    let (model, truth) = (model(), record("long", 600));
    let document = Document::from_sentences("long", &truth.sentences).with_paragraphs(&truth.paragraphs);
    let (mut next, mut most) = (0, 0);
    let found = model.read_document(&document, &mut |sentences| {
        assert_eq!(sentences.first(), Some(&next));
        next += sentences.len();
        most = most.max(sentences.len());
        Ok(vec![0.5; WIDTH * sentences.len()])
    });
    assert_eq!((found.unwrap().scores.len() + 1, next), (document.len(), document.len()));
    assert!(document.len() > 2000 && most <= 16 * 20 + 60, "{most} vectors at once");
    for sentences in [0, 1, 2] {
        let short = Document::from_sentences("short", &truth.sentences[..sentences]);
        let found = model.read_document(&short, &mut |read| Ok(vec![0.5; WIDTH * read.len()])).unwrap();
        assert_eq!((found.tree.len(), found.scores.len()), (sentences, sentences.saturating_sub(1)));
    }
    let error = model.read(5, &mut |_| Ok(vec![0.5; 5 * WIDTH])).unwrap_err().to_string();
    assert!(error.contains("reads rows"), "{error}");
    let error = model.read_document(&document, &mut |_| Ok(vec![0.5; 3])).unwrap_err().to_string();
    assert!(error.contains("no vectors of 4 numbers"), "{error}");
}

#[test]
fn any_number_of_threads_trains_alike() {
    let options = HierCrfOptions { max_steps: 5, dropout: 0.2, ..options() };
    let written = [1, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let out = tempfile::tempdir().unwrap();
        pool.install(|| train(None, &options, out.path())).unwrap();
        let made = open(&out.path().display().to_string()).unwrap();
        let mut numbers: Vec<(String, Vec<f32>)> = (made.tensors().iter())
            .map(|(name, tensor)| (name.clone(), tensor.flatten_all().unwrap().to_vec1().unwrap()))
            .collect();
        numbers.sort_by(|a, b| a.0.cmp(&b.0));
        (numbers, made.settings)
    });
    assert!(written[0] == written[1]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let out = tempfile::tempdir().unwrap();
    let refused = |start: Option<&Checkpoint>, options: HierCrfOptions, said: &str| {
        let error = train(start, &options, out.path()).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    };
    refused(Some(&checkpoint()), HierCrfOptions { reads: Reads::Vectors, ..options() }, "reads rows, not vectors");
    let bare = Sizes { head: 0, ..options().sizes };
    refused(Some(&checkpoint()), HierCrfOptions { sizes: bare, boundary_loss: 0.0, ..options() }, "other sizes");
    refused(None, HierCrfOptions { sizes: bare, ..options() }, "no head of gaps");
    refused(None, HierCrfOptions { hidden_paragraphs: 2.0, ..options() }, "hidden_paragraphs is 2");
    refused(None, HierCrfOptions { boundary_loss: -1.0, ..options() }, "boundary_loss is -1");
}

/// Scores of boundaries by the published network, written out.
fn published(checkpoint: &Checkpoint, vectors: Vec<f32>, n: usize) -> Vec<f64> {
    let Sizes { input, hidden, layers, structure, .. } = checkpoint.settings.sizes;
    let mut x = Tensor::from_vec(vectors, (1, n, input), &Device::Cpu).unwrap();
    for layer in 0..layers {
        let input = if layer == 0 { input } else { 2 * hidden };
        let lstm = BiLstm::new(checkpoint, &format!("lstm.{layer}"), input, hidden, &Device::Cpu).unwrap();
        x = lstm.forward(&x, &[n]).unwrap();
    }
    let x = x.reshape((n, 2 * hidden)).unwrap();
    let tensor = |name: &str, shape: &[usize]| checkpoint.tensor(name, shape, &Device::Cpu).unwrap();
    let side = |side: &str| {
        let weight = tensor(&format!("structure.{side}.weight"), &[structure, 2 * hidden]);
        let bias = tensor(&format!("structure.{side}.bias"), &[structure]);
        let y = x.matmul(&weight.t().unwrap()).unwrap().broadcast_add(&bias).unwrap();
        ((y.relu().unwrap() * 0.9).unwrap() + (y * 0.1).unwrap()).unwrap()
    };
    let left = side("left").matmul(&tensor("structure.scores", &[structure, structure])).unwrap();
    let left = left.reshape((1, n, structure)).unwrap();
    let right = side("right").reshape((1, n, structure)).unwrap().transpose(1, 2).unwrap().contiguous().unwrap();
    let own = left.matmul(&right).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
    // Single sentences have no score.
    let score = |start: usize, end: usize| if end == start + 1 { 0.0 } else { f64::from(own[start * n + end - 1]) };
    let scores = Triangle::of(n, score);
    let firsts = marginals(&scores, &inside(&scores)).firsts;
    // As one window of several is weighed.
    let weighed = |(i, first): (usize, &f64)| {
        let weight = i.min(n - i) as f64;
        (weight * first / weight).clamp(0.0, 1.0)
    };
    firsts.iter().enumerate().skip(1).map(weighed).collect()
}

#[test]
fn checkpoints_from_before_rows_read_as_they_did() {
    let checkpoint = open(&fixtures::folder()).unwrap();
    let mut settings = serde_json::to_value(&checkpoint.settings).unwrap();
    let all = settings.as_object_mut().unwrap();
    assert_eq!(all.remove("reads").unwrap(), "vectors");
    let sizes = all.get_mut("sizes").and_then(|sizes| sizes.as_object_mut()).unwrap();
    assert!(["projection", "head"].iter().all(|key| sizes.remove(*key).unwrap() == 0));
    let header = HashMap::from([("hiercrf".to_owned(), settings.to_string())]);
    let bytes = safetensors::serialize(checkpoint.tensors(), Some(header)).unwrap();
    let old = Checkpoint::from_bytes(Path::new("old.safetensors"), &bytes).unwrap();
    assert_eq!(old.settings, checkpoint.settings);

    let (document, _) = fixtures::read("old", 5);
    let n = document.len();
    let vectors: Vec<f32> = (0..n).flat_map(|i| fixtures::Topics::vector(document.sentence(i))).collect();
    let model = HierCrf::load(&old, &Device::Cpu).unwrap();
    let found = model.read(n, &mut |_| Ok(vectors.clone())).unwrap();
    assert!(n <= 40 && found.scores == published(&checkpoint, vectors.clone(), n));
    // Neither paragraphs nor kinds of sentences change what it reads.
    let paragraphs = document.clone().with_paragraphs(&[3, 9]);
    assert_eq!(model.read_document(&paragraphs, &mut |_| Ok(vectors.clone())).unwrap(), found);
}
