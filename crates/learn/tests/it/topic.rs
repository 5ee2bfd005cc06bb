//! The sequence model of `topic`, on documents whose sentence vectors say their topic.

use std::ops::ControlFlow;
use std::path::Path;

use pericope_api::{Boundaries, Document};
use pericope_encode::Device;
use pericope_learn::corpus::Record;
use pericope_learn::topic::{Checkpoint, Inputs, Recurrence, Settings, Sizes, Topic, Weights, Without};
use pericope_learn::training::{
    Event, Part, TopicData, TopicOptions, TrainError, TrainReport, VectorSource, train_topic,
};

use super::hiercrf::fixtures::{Topics, WIDTH, record};

pub fn options() -> TopicOptions {
    TopicOptions {
        sizes: Sizes {
            input: WIDTH,
            projection: 16,
            hidden: 16,
            layers: 2,
            head: 16,
            cue: 4,
            recurrence: Recurrence::Lstm,
            without: Without::default(),
        },
        window: 24,
        epochs: 12.0,
        batch: 4,
        learning_rate: 1e-2,
        dropout: 0.0,
        ..TopicOptions::default()
    }
}

pub fn train(
    start: Option<&Checkpoint>,
    options: &TopicOptions,
    out: &Path,
    stop: usize,
) -> Result<TrainReport, TrainError> {
    let train: Vec<Record> = (0..48).map(|i| record(&format!("train{i}"), 2 + i % 8)).collect();
    let validation: Vec<Record> = (0..8).map(|i| record(&format!("held{i}"), 3 + i)).collect();
    let data = TopicData { train: &train, validation: &validation, vectors: &Topics::default() };
    train_topic(start, &data, options, out, "notes", &mut |event| match event {
        Event::Step { step, .. } if step == stop => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    })
}

fn made(out: &Path) -> Checkpoint {
    Checkpoint::read(&out.join("topic.safetensors")).unwrap()
}

fn numbers(out: &Path) -> Vec<(String, Vec<f32>)> {
    let mut all: Vec<(String, Vec<f32>)> = (made(out).tensors().iter())
        .map(|(name, tensor)| (name.clone(), tensor.flatten_all().unwrap().to_vec1().unwrap()))
        .collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

fn inputs(record: &Record) -> Inputs {
    let texts: Vec<&str> = record.sentences.iter().map(String::as_str).collect();
    let vectors = Topics::default().vectors(&texts).unwrap();
    Inputs::new(&Document::from_sentences("d", &texts), &vectors, WIDTH).unwrap()
}

#[test]
fn it_learns_where_topics_change() {
    let out = tempfile::tempdir().unwrap();
    let report = train(None, &options(), out.path(), 0).unwrap();
    let (best, step) = report.best.unwrap();
    assert!(best > 0.85, "F1 {best} at step {step}");
    let checkpoint = made(out.path());
    let Settings { encoder, encoder_fingerprint, notes, threshold, .. } = checkpoint.settings.clone();
    assert_eq!((encoder.as_str(), encoder_fingerprint.as_str(), notes.as_str()), ("topics", "topics-1", "notes"));
    assert!(threshold > 0.0 && threshold < 1.0);
    // Sections of three to seven sentences, in documents of fewer than a hundred.
    let lengths = checkpoint.settings.lengths.unwrap();
    assert!(
        (4.0..6.5).contains(&lengths.median)
            && (0.0..0.3).contains(&lengths.growth)
            && (0.2..0.4).contains(&lengths.deviation),
        "{lengths:?}"
    );
    // A document of its own, many times longer than any window that it learned from and longer than one that it reads.
    let truth = record("other", 300);
    let model = Topic::load(&checkpoint, &Device::Cpu).unwrap();
    let odds = model.log_odds(&inputs(&truth)).unwrap();
    assert_eq!(odds.len() + 1, truth.sentences.len());
    assert!(truth.sentences.len() > 1200);
    let scores: Vec<f64> = odds.iter().map(|x| 1.0 / (1.0 + (-x).exp())).collect();
    let found = Boundaries::above(&scores, threshold);
    let hits = found.after().iter().filter(|after| truth.boundaries.contains(after)).count();
    let f1 = 2.0 * hits as f64 / (found.after().len() + truth.boundaries.len()) as f64;
    assert!(f1 > 0.85, "F1 {f1}");
    // A part in the middle of a window is read as in the whole.
    let first = Record { sentences: truth.sentences.iter().take(200).cloned().collect(), ..Record::default() };
    let part = model.log_odds(&inputs(&first)).unwrap();
    assert!((part[50] - odds[50]).abs() < 0.1, "{} {}", part[50], odds[50]);
    assert_eq!(model.log_odds(&inputs(&record("one", 1))).unwrap().len() + 1, record("one", 1).sentences.len());
    assert!(
        model
            .log_odds(&Inputs::new(&Document::from_sentences("d", &["One."]), &[0.5; WIDTH], WIDTH).unwrap())
            .unwrap()
            .is_empty()
    );
}

#[test]
fn any_number_of_threads_trains_alike() {
    let options = TopicOptions { max_steps: 5, dropout: 0.3, ..options() };
    let found = [1, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let out = tempfile::tempdir().unwrap();
        let report = pool.install(|| train(None, &options, out.path(), 0)).unwrap();
        (report.losses, numbers(out.path()))
    });
    assert!(found[0] == found[1]);
}

#[test]
fn an_interrupted_training_goes_on_as_if_nothing_had_been() {
    let options = TopicOptions { max_steps: 30, ..options() };
    let (whole, parts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let report = train(None, &options, whole.path(), 0).unwrap();
    // Once within the first epoch, once within the second.
    for stop in [5, 22] {
        let stopped = train(None, &options, parts.path(), stop);
        assert!(matches!(stopped, Err(TrainError::Interrupted { step }) if step == stop));
    }
    let again = train(None, &options, parts.path(), 0).unwrap();
    assert_eq!((report.losses, report.best, report.validations), (again.losses, again.best, again.validations));
    assert!(numbers(whole.path()) == numbers(parts.path()));
    let other = train(None, &TopicOptions { seed: 8, ..options }, parts.path(), 0).unwrap_err().to_string();
    assert!(other.contains("another training"), "{other}");
}

#[test]
fn a_state_is_not_taken_up_with_other_headings_or_levels() {
    let out = tempfile::tempdir().unwrap();
    let plain: Vec<Record> = (0..4).map(|i| record(&format!("train{i}"), 3)).collect();
    let with = |heading: &str, level: u8| -> Vec<Record> {
        let headings = vec![heading.to_owned(); 3];
        plain.iter().map(|one| Record { headings: headings.clone(), levels: vec![level; 2], ..one.clone() }).collect()
    };
    let train = |train: &[Record]| {
        let data = TopicData { train, validation: &[], vectors: &Topics::default() };
        let options = TopicOptions { max_steps: 1, ..options() };
        train_topic(None, &data, &options, out.path(), "", &mut |_: Event| ControlFlow::Continue(()))
    };
    // Headings are sentences, and have vectors as these have.
    let [one, other] = [0, 1].map(|i| plain[0].sentences[i].clone());
    train(&with(&one, 1)).unwrap();
    train(&with(&one, 1)).unwrap();
    for changed in [with(&other, 1), with(&one, 2), plain.clone()] {
        let error = train(&changed).unwrap_err().to_string();
        assert!(error.contains("another training"), "{error}");
    }
}

#[test]
fn a_gated_recurrence_is_written_read_back_and_trained_further() {
    let sizes = Sizes { recurrence: Recurrence::Gated, cue: 0, ..options().sizes };
    let options = TopicOptions { sizes, ..options() };
    let (out, more) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (best, _) = train(None, &options, out.path(), 0).unwrap().best.unwrap();
    assert!(best > 0.85, "F1 {best}");
    let checkpoint = made(out.path());
    assert_eq!(checkpoint.settings.sizes, sizes);
    assert!(checkpoint.tensors().keys().any(|name| name.starts_with("gated.1.")));
    let truth = record("other", 6);
    let odds =
        |checkpoint: &Checkpoint| Topic::load(checkpoint, &Device::Cpu).unwrap().log_odds(&inputs(&truth)).unwrap();
    let before = odds(&checkpoint);
    // A training that begins with it takes one small step from where it was.
    let step = TopicOptions { max_steps: 1, learning_rate: 1e-6, ..options };
    train(Some(&checkpoint), &step, more.path(), 0).unwrap();
    let apart = before.iter().zip(odds(&made(more.path()))).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart < 0.01, "{apart}");
    // The LSTM has no such tensors.
    let other = TopicOptions { sizes: Sizes { recurrence: Recurrence::Lstm, ..sizes }, ..step };
    assert!(train(Some(&checkpoint), &other, tempfile::tempdir().unwrap().path(), 0).is_err());
}

#[test]
fn documents_without_boundaries_do_not_stop_a_training_and_nothing_is_fitted_on_them() {
    let out = tempfile::tempdir().unwrap();
    let train: Vec<Record> = (0..8).map(|i| record(&format!("train{i}"), 4)).collect();
    let data = TopicData { train: &train, validation: &[record("held", 1)], vectors: &Topics::default() };
    let options = TopicOptions { epochs: 8.0, patience: 1, ..options() };
    let mut warned = false;
    let mut watch = |event: Event| {
        warned |= matches!(&event, Event::Warning { text } if text.contains("no validation document has a boundary"));
        ControlFlow::Continue(())
    };
    let report = train_topic(None, &data, &options, out.path(), "", &mut watch).unwrap();
    assert!(warned && report.best.is_none() && report.losses.len() >= 16, "{}", report.losses.len());
    let start = made(out.path());
    assert_eq!(start.settings.weights, Weights::default());
    let numbers = TopicOptions { part: Part::Numbers, ..options };
    let other = tempfile::tempdir().unwrap();
    let go_on = &mut |_: Event| ControlFlow::Continue(());
    let error = train_topic(Some(&start), &data, &numbers, other.path(), "", go_on).unwrap_err().to_string();
    assert!(error.contains("no document for validation has a boundary"), "{error}");
}

#[test]
fn what_is_left_unread_changes_only_with_all_of_the_model() {
    let out = tempfile::tempdir().unwrap();
    train(None, &TopicOptions { max_steps: 1, ..options() }, out.path(), 0).unwrap();
    let start = made(out.path());
    let blind = Sizes { without: Without { words: true, ..Without::default() }, ..options().sizes };
    let fit = |part, sizes| {
        let options = TopicOptions { part, sizes, max_steps: 1, ..options() };
        train(Some(&start), &options, tempfile::tempdir().unwrap().path(), 0)
    };
    for part in [Part::Numbers, Part::Heads] {
        let error = fit(part, blind).unwrap_err().to_string();
        assert!(error.contains("only where all of it is fitted"), "{error}");
        fit(part, options().sizes).unwrap();
    }
    fit(Part::All, blind).unwrap();
}

#[test]
fn what_does_not_fit_is_refused() {
    let out = tempfile::tempdir().unwrap();
    let refused = |options: TopicOptions, said: &str| {
        let error = train(None, &options, out.path(), 0).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    };
    refused(TopicOptions { sizes: Sizes { input: 8, ..options().sizes }, ..options() }, "12 numbers");
    refused(TopicOptions { dropout: 1.0, ..options() }, "dropout is 1");
    refused(TopicOptions { joined: 2.0, ..options() }, "joined is 2");
    let nothing = TopicData { train: &[], validation: &[], vectors: &Topics::default() };
    let go_on = &mut |_: Event| ControlFlow::Continue(());
    let error = train_topic(None, &nothing, &options(), out.path(), "", go_on).unwrap_err().to_string();
    assert!(error.contains("no document"), "{error}");
    train(None, &TopicOptions { max_steps: 1, ..options() }, out.path(), 0).unwrap();
    let start = made(out.path());
    let error = train(Some(&start), &options(), out.path(), 0).unwrap_err().to_string();
    assert!(error.contains("what training begins from"), "{error}");
    let mut settings = start.settings.clone();
    settings.sizes.hidden = 0;
    let damaged = Checkpoint::new(settings, start.tensors().clone());
    assert!(Topic::load(&damaged, &Device::Cpu).unwrap_err().to_string().contains("its sizes"));
}
