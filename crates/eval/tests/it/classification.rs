//! Runs of experiments on classification, with a classifier that needs no training to speak of.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use pericope_api::{
    Boundaries, Classified, ClassifierData, ClassifierError, ClassifierTrainer, Document, Embeddings, SegmentError,
    Segmentation, Segmenter, SequenceClassifier, TrainedClassifier,
};
use pericope_eval::classification::{ClassificationExperiment, ClassificationSummary, ClassifiedItem};
use pericope_eval::config::{Configuration, ExperimentFile};
use pericope_eval::record::{Family, RunRecord, Status};
use pericope_eval::run::{ClassifySetup, RunError, RunFolder, classify};
use pericope_segment::counters::WordCounter;
use pericope_segment::registry::{BuiltSegmenter, Needs, SegmenterEntry, list, outside};
use pericope_segment::{Limits, Standalone};
use pericope_testkit::encoders::BagOfWords;

/// The class whose documents' mean vector is nearest.
struct Nearest;

struct Means(Vec<Vec<f32>>);

fn mean(documents: &[&Embeddings]) -> Vec<f32> {
    let mut sum = vec![0f32; documents.first().map_or(0, |one| one.dimension())];
    for row in documents.iter().flat_map(|one| one.rows()) {
        sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
    }
    let norm = sum.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-9);
    sum.iter().map(|x| x / norm).collect()
}

impl ClassifierTrainer for Nearest {
    fn name(&self) -> &str {
        "nearest"
    }

    fn train(&self, data: &ClassifierData<'_>) -> Result<TrainedClassifier, ClassifierError> {
        if data.seed == 13 {
            return Err(ClassifierError::Unusable("an unlucky seed".into()));
        }
        let of = |class: usize| -> Vec<f32> {
            let own: Vec<&Embeddings> =
                data.train.iter().filter(|one| one.class == class).map(|one| one.vectors).collect();
            mean(&own)
        };
        let classifier = Box::new(Means((0..data.classes).map(of).collect()));
        Ok(TrainedClassifier { classifier, epochs: 1, best_epoch: 1 })
    }
}

impl SequenceClassifier for Means {
    fn classify(&self, documents: &[&Embeddings]) -> Result<Vec<Classified>, ClassifierError> {
        let one = |document: &&Embeddings| {
            let own = mean(&[document]);
            let score = |class: &Vec<f32>| class.iter().zip(&own).map(|(a, b)| a * b).sum::<f32>();
            let best = (0..self.0.len()).max_by(|&a, &b| score(&self.0[a]).total_cmp(&score(&self.0[b]))).unwrap_or(0);
            Classified { class: best, probability: 1.0 }
        };
        Ok(documents.iter().map(one).collect())
    }
}

const WORDS: [[&str; 4]; 3] =
    [["kettle", "boil", "leaves", "cup"], ["engine", "piston", "gear", "valve"], ["orbit", "rocket", "launch", "moon"]];

/// 120 documents of three classes, by lines of the file that is named.
fn documents(path: &Path) {
    let mut lines = String::new();
    for n in 0..120 {
        let words = WORDS[n % 3];
        let sentence =
            |i: usize| format!("The {} is by the {} and it is number {}.", words[i % 4], words[(i + n) % 4], n);
        let text: Vec<String> = (0..6).map(sentence).collect();
        let line =
            serde_json::json!({"id": format!("d{n}"), "label": format!("class {}", n % 3), "text": text.join(" ")});
        lines.push_str(&format!("{line}\n"));
    }
    std::fs::write(path, lines).unwrap();
}

fn experiment(folder: &Path, overrides: &[&str]) -> ClassificationExperiment {
    documents(&folder.join("classes.jsonl"));
    let text = format!(
        r#"kind = "classification"
        name = "tea, engines, space"
        embedder = "test"
        [data]
        kind = "classes"
        path = "{}"
        [classifier]
        seeds = [1, 2]
        [[chunker]]
        name = "fixed"
        spec = "fixed:words=12"
        [[chunker]]
        name = "alike"
        spec = "same-size:reference=sentences"
        [[chunker]]
        name = "sentences"
        spec = "sentence"
        "#,
        folder.join("classes.jsonl").display()
    );
    let file = ExperimentFile::parse(text, Path::new("x.toml")).unwrap();
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    ClassificationExperiment::of_file(&file, &overrides, &known()).unwrap()
}

fn known() -> Vec<SegmenterEntry> {
    [list(), outside(), &[FAILS]].concat()
}

fn run(
    experiment: &ClassificationExperiment,
    folder: &Path,
    encoder: &Arc<BagOfWords>,
) -> Result<(ClassificationSummary, RunRecord), RunError> {
    let standalone = Standalone { defaults: Limits::INDEX };
    let setup = ClassifySetup {
        segmenters: &known(),
        resources: &standalone,
        encoder: encoder.clone(),
        counter: Arc::new(WordCounter),
        trainer: &Nearest,
        model_checksums: BTreeMap::new(),
    };
    classify(experiment, &RunFolder::take(folder).unwrap(), &setup, &())
}

#[test]
fn all_chunkers_have_the_same_documents_and_are_compared_with_the_baseline() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let (summary, record) = run(&experiment(folder.path(), &[]), &out, &BagOfWords::new()).unwrap();
    assert_eq!((summary.documents, summary.classes.len(), summary.failed), (120, 3, 0));
    assert!(!summary.is_incomplete());
    let names: Vec<&str> = summary.chunkers.iter().map(|row| row.chunker.name.as_str()).collect();
    assert_eq!(names, ["fixed", "alike", "sentences"], "in the order of the file, though alike is cut last");
    for row in &summary.chunkers {
        let [low, high] = row.interval.unwrap();
        assert!(row.accuracy > 0.9 && low <= row.accuracy && row.accuracy <= high, "{row:?}");
        assert_eq!((row.runs.len(), row.chunker.truncated), (2, 0));
        assert!(row.segments_per_document > 1.0 && row.tokens_per_document > 60.0);
    }
    assert!(summary.chunkers[1].chunker.same_size.is_some());
    let primary: Vec<&str> =
        (summary.comparisons.iter()).filter(|c| c.family == Some(Family::Primary)).map(|c| c.a.as_str()).collect();
    assert_eq!(primary, ["alike", "sentences"]);
    let verdict = summary.verdict.as_ref().unwrap();
    assert_eq!((verdict.primary.baseline.as_str(), verdict.primary.metric.key()), ("fixed", "accuracy"));
    assert!(verdict.sentence.starts_with("In classification, "), "{}", verdict.sentence);

    let tested: usize = summary.classes.iter().map(|class| class.test).sum();
    assert_eq!((verdict.primary.documents, verdict.primary.questions), (tested, 2 * tested));
    let text = std::fs::read_to_string(out.join("items.jsonl")).unwrap();
    let items: Vec<ClassifiedItem> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(items.len(), 3 * 2 * tested);
    let of = |name: &str| -> BTreeSet<&str> {
        items.iter().filter(|item| item.chunker == name).map(|item| item.document.as_str()).collect()
    };
    assert!(of("fixed") == of("sentences") && of("fixed") == of("alike") && of("fixed").len() == tested);
    let right = items.iter().filter(|i| i.chunker == "fixed" && i.given.as_ref() == Some(&i.label)).count();
    assert!((right as f64 / (2 * tested) as f64 - summary.chunkers[0].accuracy).abs() < 1e-12);

    let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    assert_eq!(serde_json::from_str::<ClassificationSummary>(&read("summary.json")).unwrap(), summary);
    assert_eq!(serde_json::from_str::<RunRecord>(&read("run.json")).unwrap(), record);
    assert_eq!((record.seeds.len(), record.checksums.data.len()), (3, 1));
    assert!(record.seconds.is_some());
}

/// Fails on every fifth document.
struct Fails;

impl Segmenter for Fails {
    fn segment(&self, document: &Document) -> Result<Segmentation, SegmentError> {
        let number: usize = document.id.trim_start_matches('d').parse().unwrap_or(0);
        match number.is_multiple_of(5) {
            true => Err(SegmentError::Unsupported("told to".into())),
            false => Ok(Segmentation::Boundaries(Boundaries::new(document.len(), Vec::new())?)),
        }
    }
}

const FAILS: SegmenterEntry = SegmenterEntry {
    name: "fails",
    summary: "on every fifth document",
    keys: &[],
    example: "fails",
    needs: Needs::None,
    needs_of: None,
    has_scores: false,
    build: |_, _| Ok(BuiltSegmenter::new(Fails)),
};

/// A document that a chunker has no segments of counts as given another class, for that chunker alone.
#[test]
fn what_cannot_be_cut_is_wrong_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let some = experiment(folder.path(), &["chunker.sentences.spec=fails", "chunker.alike.spec=paragraph"]);
    let (summary, _) = run(&some, &out, &BagOfWords::new()).unwrap();
    let row = &summary.chunkers[2];
    assert!(row.failed > 0 && summary.failed == row.failed, "{row:?}");
    // Every fifth of 120 documents, whatever they serve for.
    assert_eq!((row.failed + row.failed_training, summary.failed_training), (24, row.failed_training));
    assert!(row.failed_training > 0 && summary.is_incomplete());
    assert!((row.segments_per_document - 1.0).abs() < 1e-12, "means are of the documents that were cut: {row:?}");
    let tested: usize = summary.classes.iter().map(|class| class.test).sum();
    assert!(row.accuracy <= 1.0 - row.failed as f64 / tested as f64 && summary.chunkers[0].accuracy > row.accuracy);
    assert!((row.runs[0].accuracy + row.runs[1].accuracy - 2.0 * row.accuracy).abs() < 1e-12);
    let text = std::fs::read_to_string(out.join("items.jsonl")).unwrap();
    let items = text.lines().map(|line| serde_json::from_str::<ClassifiedItem>(line).unwrap());
    let failed: Vec<ClassifiedItem> = items.filter(|item| item.status == Status::Failed).collect();
    assert_eq!(failed.len(), 2 * row.failed);
    assert!(
        failed.iter().all(|item| item.given.is_none() && item.error.as_ref().is_some_and(|e| e.contains("told to")))
    );
}

#[test]
fn what_goes_wrong_names_the_chunker() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let unlucky = experiment(folder.path(), &["classifier.seeds=[13]"]);
    let error = run(&unlucky, &out, &BagOfWords::new()).unwrap_err().to_string();
    assert!(error.contains("'fixed'") && error.contains("an unlucky seed"), "{error}");
    let missing = experiment(folder.path(), &["data.path=nowhere.jsonl"]);
    assert!(run(&missing, &out, &BagOfWords::new()).unwrap_err().to_string().contains("nowhere.jsonl"));
}
