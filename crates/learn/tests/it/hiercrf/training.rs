//! What training gives, and that it does not depend on threads or interruptions.

use std::ops::ControlFlow;

use pericope_api::segment_into;
use pericope_encode::Device;
use pericope_learn::hiercrf::{Settings, Sizes, open};
use pericope_learn::training::{
    Event, HierCrfOptions, Metric, TrainError, TreeData, TreeDocument, Ways, train_hiercrf,
};
use tempfile::TempDir;

use super::fixtures::{Topics, boundaries, document, folder, model, options, read, record, segmenter, train, trained};

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
fn documents_without_boundaries_do_not_stop_a_training() {
    let out = tempfile::tempdir().unwrap();
    let train: Vec<TreeDocument> = (0..8).map(|i| document(&format!("train{i}"), 4)).collect();
    let held = [document("held", 1)];
    let data = TreeData { train: Ways::one(&train), validation: Ways::one(&held), vectors: &Topics::default() };
    let options = HierCrfOptions { epochs: 4.0, patience: 1, ..options() };
    let mut warned = false;
    let mut watch = |event: Event| {
        warned |= matches!(&event, Event::Warning { text } if text.contains("no validation document has a boundary"));
        ControlFlow::Continue(())
    };
    let report = train_hiercrf(None, &data, &options, out.path(), "", &mut watch).unwrap();
    // Eight documents and four synthetic ones, four a step.
    assert_eq!((warned, report.best, report.losses.len()), (true, None, 12));
    assert_eq!(open(&out.path().display().to_string()).unwrap().settings.threshold, 0.5);
}

#[test]
fn training_goes_on_from_a_checkpoint() {
    let start = open(&folder()).unwrap();
    let documents: Vec<TreeDocument> = (0..6).map(|i| document(&format!("more{i}"), 4)).collect();
    let data = TreeData { train: Ways::one(&documents), validation: Ways::default(), vectors: &Topics::default() };
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
    let nothing = TreeData { train: Ways::default(), validation: Ways::default(), vectors: &Topics::default() };
    let error = train_hiercrf(None, &nothing, &options, out.path(), "", go_on).unwrap_err().to_string();
    assert!(error.contains("no document"), "{error}");
}
