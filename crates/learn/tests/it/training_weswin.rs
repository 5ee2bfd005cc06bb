//! What a training of WeSWin keeps, refuses and goes on from, on the tiny model of `scripts/golden/golden_training.py`.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use crate::support::{base, documents, tokens};
use candle_core::{Device, Tensor};
use pericope_encode::Base;
use pericope_learn::training::{
    Data, Event, Grid, LabelledDocument, Options, PreparedQuestion, TrainError, TrainReport, Validation, train_weswin,
    tune,
};
use pericope_learn::weswin::{Checkpoint, WeSWin};

const FILE: &str = "weswin.safetensors";

fn options() -> Options {
    Options {
        tokens: 48,
        batch: 4,
        learning_rate: 1e-3,
        head_learning_rate: 1e-2,
        seed: 11,
        frozen: 1,
        max_steps: 6,
        questions_every: 2,
        ..Options::default()
    }
}

/// Questions about documents: whose sentences come first in each.
fn asked(base: &Base, documents: &[LabelledDocument]) -> Vec<PreparedQuestion> {
    let one = |document: &LabelledDocument| {
        let sentences = Arc::new(document.sentences.clone());
        let relevant = (0..sentences.len()).map(|i| i < 2).collect();
        PreparedQuestion { sentences, relevant, question: base.tokens.ids("bread flour", 64) }
    };
    documents.iter().map(one).collect()
}

fn go_on(_: Event) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn train(base: &Base, start: Option<&Checkpoint>, data: Data<'_>, options: &Options, out: &Path) -> TrainReport {
    train_weswin(base, start, data, options, out, "", &mut go_on).unwrap()
}

fn read(folder: &Path) -> Checkpoint {
    Checkpoint::read(&folder.join(FILE)).unwrap()
}

fn numbers(checkpoint: &Checkpoint, name: &str) -> Vec<f32> {
    checkpoint.tensors()[name].flatten_all().unwrap().to_vec1().unwrap()
}

#[test]
fn numbers_that_no_training_has_are_refused() {
    let (base, out) = (base(), tempfile::tempdir().unwrap());
    let documents = documents(&base);
    let data = Data { train: &documents, ..Data::default() };
    for (options, said) in [
        (Options { learning_rate: f64::NAN, ..options() }, "learning_rate is NaN: 0 or above, and below 1"),
        (Options { learning_rate: -1.0, ..options() }, "learning_rate is -1: "),
        (Options { head_learning_rate: 1.0, ..options() }, "head_learning_rate is 1: "),
        (Options { epochs: 0.0, ..options() }, "epochs is 0: above 0"),
        (Options { epochs: f64::NAN, ..options() }, "epochs is NaN: "),
        (Options { warm_up: 1.5, ..options() }, "warm_up is 1.5: 0 to 1"),
        (Options { decay: f64::INFINITY, ..options() }, "decay is inf: "),
        (Options { clip: 0.0, ..options() }, "clip is 0: "),
    ] {
        let error = train_weswin(&base, None, data, &options, out.path(), "", &mut go_on).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn what_a_start_holds_is_kept_where_it_is_not_trained_again() {
    let (base, out) = (base(), tempfile::tempdir().unwrap());
    let (documents, at) = (documents(&base), |name: &str| out.path().join(name));
    let asked = asked(&base, &documents[..3]);
    let whole = Options { frozen: 0, ..options() };
    let data = Data { train: &documents, questions: &asked, ..Data::default() };
    train(&base, None, data, &whole, &at("start"));
    let start = read(&at("start"));
    assert!(start.has("encoder.layer.0.output.dense.weight") && start.has("retrieval.weight") && start.has("snt"));

    // Nothing moves: the model is the one that it was, though its lower layer is frozen now.
    let still = Options { learning_rate: 0.0, head_learning_rate: 0.0, ..options() };
    train(&base, Some(&start), data, &still, &at("same"));
    let same = read(&at("same"));
    let mut names: Vec<&String> = start.tensors().keys().collect();
    names.sort();
    assert_eq!(same.tensors().len(), names.len());
    for name in names {
        assert_eq!(numbers(&same, name), numbers(&start, name), "{name}");
    }
    // Something moves: the upper layer and the heads alone.
    train(&base, Some(&start), data, &options(), &at("more"));
    let more = read(&at("more"));
    for name in ["snt", "encoder.layer.0.output.dense.weight"] {
        assert_eq!(numbers(&more, name), numbers(&start, name), "{name}");
    }
    for name in ["encoder.layer.1.output.dense.weight", "boundary.weight", "retrieval.weight"] {
        assert_ne!(numbers(&more, name), numbers(&start, name), "{name}");
    }

    // Without questions the head of before would belong to other layers.
    let mut warnings = Vec::new();
    let data = Data { questions: &[], ..data };
    let watch = &mut |event| {
        if let Event::Warning { text } = event {
            warnings.push(text);
        }
        ControlFlow::Continue(())
    };
    train_weswin(&base, Some(&start), data, &options(), &at("without"), "", watch).unwrap();
    assert!(warnings.len() == 1 && warnings[0].contains("retrieval head"), "{warnings:?}");
    let without = read(&at("without"));
    assert!(without.has("encoder.layer.0.output.dense.weight") && !without.has("retrieval.weight"));
    let model = WeSWin::on(&base, &without, &Device::Cpu).unwrap();
    assert_eq!(model.relevance(&documents[0].sentences, "bread").unwrap(), None);
}

#[test]
fn a_start_that_does_not_fit_is_refused() {
    let (base, out) = (base(), tempfile::tempdir().unwrap());
    let documents = documents(&base);
    let data = Data { train: &documents, ..Data::default() };
    train(&base, None, data, &Options { max_steps: 1, ..options() }, out.path());
    let start = read(out.path());
    let error = |start: &Checkpoint, out: &Path| {
        let text = train_weswin(&base, Some(start), data, &options(), out, "", &mut go_on).unwrap_err().to_string();
        assert!(!text.contains('\n'), "{text}");
        text
    };
    let elsewhere = out.path().join("elsewhere");
    let mut other = start.settings.clone();
    other.base_sha256 = "0123456789abcdef".into();
    let text = error(&Checkpoint::new(other, start.tensors().clone()), &elsewhere);
    assert!(text.contains("checksum 0123456789ab"), "{text}");
    for name in ["encoder.layer.1.output.dense.weight", "encoder.layer.0.output.dense.bias", "boundary.weight"] {
        let mut tensors = start.tensors().clone();
        tensors.insert(name.into(), Tensor::zeros(5, candle_core::DType::F32, &Device::Cpu).unwrap());
        let text = error(&Checkpoint::new(start.settings.clone(), tensors), &elsewhere);
        assert!(text.contains(&format!("tensor {name} has shape [5]")), "{text}");
    }
    assert!(!elsewhere.exists());
    // Over itself: whoever goes on after an interruption would begin from something else.
    assert!(error(&start, out.path()).contains("is what training begins from"));
    assert_eq!(read(out.path()).sha256(), start.sha256());
}

#[test]
fn what_is_no_number_is_neither_stepped_nor_saved() {
    let (base, out) = (base(), tempfile::tempdir().unwrap());
    let documents = documents(&base);
    let data = Data { train: &documents, validation: &documents[..4], ..Data::default() };
    train(&base, None, data, &Options { max_steps: 1, ..options() }, &out.path().join("start"));
    let start = read(&out.path().join("start"));
    for (number, told) in [(f32::NAN, "NaN"), (f32::INFINITY, "")] {
        let mut tensors = start.tensors().clone();
        tensors.insert("boundary.bias".into(), Tensor::new(&[0.0, number], &Device::Cpu).unwrap());
        let broken = Checkpoint::new(start.settings.clone(), tensors);
        let cut = out.path().join(format!("broken{number}"));
        let found = train_weswin(&base, Some(&broken), data, &options(), &cut, "", &mut go_on).unwrap_err();
        assert!(matches!(found, TrainError::NotFinite { step: 1, .. }) && found.to_string().contains(told), "{found}");
        assert!(!cut.join(FILE).exists() && !cut.join("state.safetensors").exists());
    }
}

#[test]
fn an_interrupted_training_with_questions_and_validation_goes_on_as_if_it_had_not_been() {
    let (base, out) = (base(), tempfile::tempdir().unwrap());
    let documents = documents(&base);
    let (asked, held) = (asked(&base, &documents[..6]), asked(&base, &documents[24..]));
    let data = Data {
        train: &documents[..20],
        validation: &documents[20..24],
        questions: &asked,
        validation_questions: &held,
    };
    let options = Options { max_steps: 12, epochs: 100.0, validations: 4, patience: 100, ..options() };
    let whole = train(&base, None, data, &options, &out.path().join("whole"));
    let cut = out.path().join("cut");
    let mut events = Vec::new();
    let mut sitting = |data: Data<'_>, stop_at: usize| {
        train_weswin(&base, None, data, &options, &cut, "", &mut |event| {
            events.push(format!("{event:?}").split_whitespace().next().unwrap_or_default().to_owned());
            match event {
                Event::Step { step, .. } if step == stop_at => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        })
    };
    for stop_at in [3, 8] {
        assert!(matches!(sitting(data, stop_at), Err(TrainError::Interrupted { step }) if step == stop_at));
    }
    let caches = || {
        let names = std::fs::read_dir(&cut).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name.starts_with("frozen-")).collect();
        names.sort();
        names
    };
    let before = caches();
    assert_eq!(before.len(), 1);
    // Other documents to validate on, other questions: another training, which is said before anything is worked out.
    for other in [
        Data { validation: &documents[20..23], ..data },
        Data { validation_questions: &held[1..], ..data },
        Data { questions: &asked[1..], ..data },
    ] {
        let text = sitting(other, 99).unwrap_err().to_string();
        assert!(text.contains("another training"), "{text}");
    }
    assert_eq!(caches(), before);
    let report = sitting(data, 99).unwrap();
    let off = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(report.losses.len() == 12 && off(&report.losses, &whole.losses) < 1e-5);
    assert!(report.question_losses.len() == 6 && off(&report.question_losses, &whole.question_losses) < 1e-5);
    assert_eq!(report.validations.len(), whole.validations.len());
    for (found, expected) in report.validations.iter().zip(&whole.validations) {
        assert_eq!((found.step, found.best), (expected.step, expected.best));
        assert!((found.f1.unwrap() - expected.f1.unwrap()).abs() < 1e-9);
        let ranking = found.questions.unwrap();
        assert!(ranking.questions == 6 && ranking.hit_at_1 <= ranking.mrr && ranking.mrr <= 1.0, "{ranking:?}");
    }
    assert_eq!(report.best, whole.best);
    assert!(caches().is_empty());
    // The frozen layers were run in the first sitting alone.
    let later = events.iter().skip_while(|event| *event != "Resumed");
    assert!(events.iter().any(|event| event == "Cached") && !later.into_iter().any(|event| event == "Cached"));
}

#[test]
fn training_stops_early_and_stays_stopped() {
    let (base, out) = (base(), tempfile::tempdir().unwrap());
    let documents = documents(&base);
    let data = Data { train: &documents[..20], validation: &documents[20..], ..Data::default() };
    // Without a rate nothing gets better after the first validation.
    let options = Options { learning_rate: 0.0, head_learning_rate: 0.0, max_steps: 0, ..options() };
    let (mut steps, mut stopped) = (0, None);
    let mut watch = |event| {
        match event {
            Event::Step { .. } => steps += 1,
            Event::Stopped { step } => stopped = Some(step),
            _ => {}
        }
        ControlFlow::Continue(())
    };
    let first = train_weswin(&base, None, data, &options, out.path(), "", &mut watch).unwrap();
    let again = train_weswin(&base, None, data, &options, out.path(), "", &mut watch).unwrap();
    let validations: Vec<&Validation> = first.validations.iter().collect();
    assert_eq!(validations.iter().map(|v| v.best).collect::<Vec<_>>(), [true, false, false, false]);
    assert_eq!((stopped, steps, first.losses.len()), (Some(steps), steps, steps));
    assert_eq!((again.losses, again.validations), (first.losses, first.validations));
    assert!(read(out.path()).settings.weights.starts_with("mean:"));
}

#[test]
fn documents_without_boundaries_do_not_stop_a_training_and_are_not_tuned_on() {
    let (base, out) = (base(), tempfile::tempdir().unwrap());
    let documents = documents(&base);
    let plain = LabelledDocument { ends: vec![false; documents[0].ends.len()], ..documents[0].clone() };
    let mut warned = false;
    let data = Data { train: &documents, validation: std::slice::from_ref(&plain), ..Data::default() };
    let report = train_weswin(&base, None, data, &options(), out.path(), "", &mut |event| {
        warned |= matches!(&event, Event::Warning { text } if text.contains("no validation document has a boundary"));
        ControlFlow::Continue(())
    });
    assert!(warned && report.unwrap().best.is_none());
    let model = WeSWin::on(&base, &read(out.path()), &Device::Cpu).unwrap();
    let error = |documents: &[LabelledDocument], grid: Grid| tune(&model, documents, &grid).unwrap_err().to_string();
    assert!(error(&[], Grid::default()).contains("no document"));
    assert!(error(std::slice::from_ref(&plain), Grid::default()).contains("has a boundary"));
    assert!(error(&documents, Grid { thresholds: vec![], ..Grid::default() }).contains("no threshold"));
}

/// Trained on what is asked again, the head ranks the answering sentences first.
#[test]
fn the_ranking_of_answers_is_measured() {
    let (base, out) = (base(), tempfile::tempdir().unwrap());
    let lines = ["Bread of flour.", "The dough and the oven.", "The ship.", "A sailor.", "The tide and the anchor."];
    let sentences = Arc::new(tokens(&base, &lines));
    let ask = |question: &str, answer: std::ops::Range<usize>| PreparedQuestion {
        sentences: Arc::clone(&sentences),
        relevant: (0..lines.len()).map(|i| answer.contains(&i)).collect(),
        question: base.tokens.ids(question, 64),
    };
    let asked = [ask("bread flour oven", 0..2), ask("ship anchor tide", 2..5)];
    let documents = documents(&base);
    let data =
        Data { train: &documents[..8], validation: &documents[8..10], questions: &asked, validation_questions: &asked };
    let options = Options {
        frozen: 0,
        questions_every: 1,
        epochs: 100.0,
        max_steps: 120,
        patience: 1000,
        validations: 1,
        ..options()
    };
    let report = train(&base, None, data, &options, out.path());
    let last = report.validations.last().unwrap().questions.unwrap();
    assert!(last.questions == 2 && (last.mrr - 1.0).abs() < 1e-12 && (last.hit_at_1 - 1.0).abs() < 1e-12, "{last:?}");
    let (first, last) = (report.question_losses[0], report.question_losses[119]);
    assert!(report.question_losses.len() == 120 && last < 0.2 * first, "{first} {last}");
}

#[test]
fn a_batch_of_questions_may_have_a_step_of_its_own() {
    let base = base();
    let documents = documents(&base);
    let asked = asked(&base, &documents[..8]);
    let data = |questions| Data { train: &documents[..8], validation: &[], questions, validation_questions: &[] };
    // It has learnt of boundaries and not of questions.
    let first = tempfile::tempdir().unwrap();
    train(&base, None, data(&[]), &options(), first.path());
    let begun = read(first.path());
    let bias = |options: &Options| {
        let out = tempfile::tempdir().unwrap();
        train(&base, Some(&begun), data(&asked), options, out.path());
        numbers(&read(out.path()), "encoder.layer.1.output.dense.bias")
    };
    let one = Options { max_steps: 1, questions_every: 1, ..options() };
    let start = bias(&Options { learning_rate: 1e-12, ..one.clone() });
    let (together, apart) = (bias(&one), bias(&Options { questions_apart: true, ..one }));
    // The head of questions begins with zeros and hands no gradient down, so a step of theirs moves the encoder by its momentum alone. By AdamW
    // (0.9, 0.999) that is 0.9 * 0.1 / (1 - 0.9^2) over the root of 0.999 * 0.001 / (1 - 0.999^2) of the first step.
    let momentum = (0.9 * 0.1 / (1.0 - 0.81)) / (0.999_f64 * 0.001 / (1.0 - 0.998_001)).sqrt();
    let mut moved = 0;
    for ((start, together), apart) in start.iter().zip(&together).zip(&apart) {
        let (one, two) = (f64::from(together - start), f64::from(apart - start));
        if one.abs() > 1e-4 {
            assert!((two / one - 1.0 - momentum).abs() < 0.02, "{one} {two}");
            moved += 1;
        }
    }
    assert!(moved > 4, "{moved} of {}", start.len());
}
