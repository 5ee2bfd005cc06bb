//! Documents whose sentence vectors say their topic, and a model that was trained on them.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use pericope_api::{Boundaries, Document, Embeddings, EncodeError, Kind, Segmentation, Segmenter, SentenceEncoder};
use pericope_encode::Device;
use pericope_learn::corpus::{Headings, Record, SequenceDocument};
use pericope_learn::hiercrf::{HierCrf, HierCrfSegmenter, Sizes, open};
use pericope_learn::training::{
    Event, HierCrfOptions, TrainError, TrainReport, TreeData, TreeDocument, VectorSource, Ways, train_hiercrf,
};
use pericope_segment::random::{SplitMix64, fnv1a};
use pericope_segment::{Chunker, Resources, laws};
use tempfile::TempDir;

pub const WIDTH: usize = 12;

/// Topics of sections.
pub const TOPICS: usize = 6;

/// An encoder whose vectors are that of a sentence's first word and a little of the rest. Counts what it reads.
#[derive(Default)]
pub struct Topics(pub AtomicUsize);

impl Topics {
    pub fn vector(text: &str) -> Vec<f32> {
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

    fn count_tokens(&self, text: &str) -> Option<usize> {
        Some(text.split_whitespace().count())
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

pub struct With(pub Arc<dyn SentenceEncoder>);

impl Resources for With {
    fn encoder(&self) -> Result<Arc<dyn SentenceEncoder>, String> {
        Ok(Arc::clone(&self.0))
    }
}

/// The label of a topic: the side of a plane that its vector lies on.
pub fn label(topic: usize) -> String {
    if Topics::vector(&format!("topic{topic}"))[0] > 0.0 { "above".into() } else { "below".into() }
}

/// A document of sections of three to seven sentences, each of another topic than the one before.
pub fn record(id: &str, sections: usize) -> Record {
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

pub fn document(id: &str, sections: usize) -> TreeDocument {
    TreeDocument::new(&SequenceDocument::new(&record(id, sections), Headings::Dropped), 3)
}

pub fn read(id: &str, sections: usize) -> (Document, Vec<usize>) {
    let record = record(id, sections);
    (Document::from_sentences(id, &record.sentences), record.boundaries)
}

pub fn options() -> HierCrfOptions {
    HierCrfOptions {
        sizes: Sizes { input: WIDTH, hidden: 16, layers: 2, structure: 16, labels: 16, ..Sizes::default() },
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

pub fn train(options: &HierCrfOptions, out: &Path, stop: usize) -> Result<TrainReport, TrainError> {
    let train: Vec<TreeDocument> = (0..48).map(|i| document(&format!("train{i}"), 2 + i % 8)).collect();
    let validation: Vec<TreeDocument> = (0..8).map(|i| document(&format!("held{i}"), 3 + i)).collect();
    let data = TreeData { train: Ways::one(&train), validation: Ways::one(&validation), vectors: &Topics::default() };
    train_hiercrf(None, &data, options, out, "notes", &mut |event| match event {
        Event::Step { step, .. } if step == stop => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    })
}

/// A trained model in a folder, made once.
pub fn trained() -> &'static (TempDir, TrainReport) {
    static TRAINED: OnceLock<(TempDir, TrainReport)> = OnceLock::new();
    TRAINED.get_or_init(|| {
        let out = tempfile::tempdir().unwrap();
        let report = train(&options(), out.path(), 0).unwrap();
        (out, report)
    })
}

pub fn folder() -> String {
    trained().0.path().display().to_string()
}

pub fn model() -> Arc<HierCrf> {
    Arc::new(HierCrf::load(&open(&folder()).unwrap(), &Device::Cpu).unwrap())
}

pub fn segmenter() -> HierCrfSegmenter {
    HierCrfSegmenter::new(model(), Arc::new(Topics::default())).unwrap()
}

pub fn boundaries(segmenter: &HierCrfSegmenter, document: &Document) -> Vec<usize> {
    match segmenter.segment(document).unwrap() {
        Segmentation::Boundaries(found) => found.after().to_vec(),
        Segmentation::Scores { scores, threshold } => Boundaries::above(&scores, threshold).after().to_vec(),
        other => panic!("{other:?}"),
    }
}

/// Another encoder, whose vectors mean something else.
pub struct Other;

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

/// Checks that a chunker keeps the laws on documents of text, one with code among it, and one of tables alone: the last two
/// are given back. `rest` names the chunker.
pub fn check_laws(chunker: &Chunker, rest: &str) -> [Document; 2] {
    for sections in [0, 1, 2, 30] {
        laws::check_chunker(chunker, &read("law", sections).0).unwrap_or_else(|e| panic!("{rest}: {e}"));
    }
    let mut code = read("mixed", 5).0;
    for i in [0, 7, 8, code.len() - 1] {
        code.sentences[i].kind = Kind::Code;
    }
    laws::check_chunker(chunker, &code).unwrap_or_else(|e| panic!("{rest} on code: {e}"));
    let mut tables = code.clone();
    tables.sentences.iter_mut().for_each(|sentence| sentence.kind = Kind::Table);
    laws::check_chunker(chunker, &tables).unwrap_or_else(|e| panic!("{rest} on tables: {e}"));
    [code, tables]
}
