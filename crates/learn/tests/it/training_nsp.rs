//! Training next-sentence prediction against PyTorch, on what `scripts/golden/golden_training.py` makes.

use std::ops::ControlFlow;
use std::path::Path;

use crate::support::{base, close, documents, folder};
use pericope_encode::{Base, Device};
use pericope_learn::nsp::{CHECKPOINT, Checkpoint, Nsp};
use pericope_learn::training::{Event, LabelledDocument, Options, TrainError, TrainReport, Validation, train_nsp};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    all_layers: Vec<f32>,
    one_frozen: Vec<f32>,
}

/// The options of `scripts/golden/golden_training.py`.
fn options() -> Options {
    Options {
        tokens: 16,
        batch: 4,
        micro_batch: 3,
        learning_rate: 1e-3,
        head_learning_rate: 1e-2,
        epochs: 3.0,
        warm_up: 0.1,
        seed: 11,
        frozen: 0,
        max_steps: 20,
        ..Options::nsp()
    }
}

fn run(base: &Base, train: &[LabelledDocument], options: &Options, out: &Path) -> TrainReport {
    train_nsp(base, None, (train, &[]), options, out, "", &mut |_| ControlFlow::Continue(())).unwrap()
}

#[test]
fn the_losses_are_pytorchs() {
    let (base, out) = (base(), tempfile::tempdir().unwrap());
    let golden: Golden = serde_json::from_slice(&std::fs::read(folder().join("nsp.json")).unwrap()).unwrap();
    let documents = documents(&base);
    close(&run(&base, &documents, &options(), &out.path().join("a")).losses, &golden.all_layers);
    let frozen = Options { frozen: 1, ..options() };
    close(&run(&base, &documents, &frozen, &out.path().join("b")).losses, &golden.one_frozen);
}

#[test]
fn a_small_set_is_learnt_by_heart_and_training_goes_on_from_a_checkpoint() {
    let base = base();
    let documents = &documents(&base)[..4];
    let out = tempfile::tempdir().unwrap();
    let options = Options { epochs: 50.0, max_steps: 0, patience: 1000, validations: 1, tokens: 32, ..options() };
    let (mut most, mut f1s) = (0.0, Vec::new());
    let mut watch = |event| {
        if let Event::Validated(Validation { accuracy, f1, threshold, .. }) = event {
            most = f64::max(most, accuracy.unwrap());
            f1s.push(f1.unwrap());
            assert!((0.0..=1.0).contains(&threshold));
        }
        ControlFlow::Continue(())
    };
    let report = train_nsp(&base, None, (documents, documents), &options, out.path(), "made up", &mut watch).unwrap();
    assert!(most > 0.95, "accuracy {most}, losses {:?}", &report.losses[report.losses.len() - 5..]);
    let best = f1s.iter().copied().fold(0.0, f64::max);
    assert_eq!(report.best.unwrap().0, best);

    // What was written does what was measured, at the threshold that was found.
    let file = out.path().join(CHECKPOINT);
    let checkpoint = Checkpoint::read(&file).unwrap();
    assert_eq!((checkpoint.settings.notes.as_str(), checkpoint.settings.tokens), ("made up", 32));
    let model = Nsp::on(&base, &checkpoint, &Device::Cpu).unwrap();
    let threshold = model.threshold().unwrap();
    let (mut hits, mut all) = (0u32, 0u32);
    for document in documents {
        for (odds, &end) in model.odds(&document.sentences).unwrap().into_iter().zip(&document.ends) {
            hits += u32::from(threshold.cuts(odds) && end);
            all += u32::from(threshold.cuts(odds)) + u32::from(end);
        }
    }
    assert!((2.0 * f64::from(hits) / f64::from(all) - best).abs() < 1e-12);
    let half = out.path().join("half.safetensors");
    checkpoint.write(&half, true).unwrap();
    let half = Nsp::on(&base, &Checkpoint::read(&half).unwrap(), &Device::Cpu).unwrap();
    let odds = |model: &Nsp| model.odds(&documents[0].sentences).unwrap();
    assert!(odds(&model).iter().zip(odds(&half)).all(|(a, b)| (a - b).abs() < 0.2));

    // From there on: without documents to validate on, the last weights stay.
    let more = Options { max_steps: 2, learning_rate: 0.0, head_learning_rate: 0.0, ..options };
    let onward = out.path().join("onward");
    let go = &mut |_| ControlFlow::Continue(());
    train_nsp(&base, Some(&checkpoint), (documents, &[]), &more, &onward, "", go).unwrap();
    let same = Nsp::on(&base, &Checkpoint::read(&onward.join(CHECKPOINT)).unwrap(), &Device::Cpu).unwrap();
    assert_eq!((odds(&model), same.threshold()), (odds(&same), None));
}

#[test]
fn without_boundaries_accuracy_decides() {
    let base = base();
    let mut documents = documents(&base);
    documents.iter_mut().for_each(|document| document.ends.fill(false));
    let out = tempfile::tempdir().unwrap();
    let options = Options { max_steps: 4, epochs: 1.0, validations: 100, ..options() };
    let mut seen = Vec::new();
    let report = train_nsp(&base, None, (&documents, &documents[..5]), &options, out.path(), "", &mut |event| {
        if let Event::Validated(Validation { accuracy, f1, threshold, .. }) = event {
            assert_eq!((f1, threshold), (None, 0.5));
            seen.push(accuracy.unwrap());
        }
        ControlFlow::Continue(())
    });
    assert_eq!(report.unwrap().best.unwrap().0, seen.iter().copied().fold(0.0, f64::max));
    assert_eq!(Checkpoint::read(&out.path().join(CHECKPOINT)).unwrap().settings.threshold, None);
}

#[test]
fn an_interrupted_training_goes_on_as_if_it_had_not_been() {
    let base = base();
    let documents = documents(&base);
    let out = tempfile::tempdir().unwrap();
    let options = Options { frozen: 1, max_steps: 12, ..options() };
    let whole = run(&base, &documents, &options, &out.path().join("whole"));
    let cut = out.path().join("cut");
    let train = |documents: &[LabelledDocument], options: &Options, stop_at: usize| {
        train_nsp(&base, None, (documents, &[]), options, &cut, "", &mut |event| match event {
            Event::Step { step, .. } if step == stop_at => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        })
    };
    for stop_at in [3, 8] {
        let stopped = train(&documents, &options, stop_at);
        assert!(matches!(stopped, Err(TrainError::Interrupted { step }) if step == stop_at));
    }
    // A state is not carried over to other data or options.
    for other in [train(&documents[..9], &options, 99), train(&documents, &Options { seed: 5, ..options.clone() }, 99)]
    {
        let other = other.unwrap_err().to_string();
        assert!(other.contains("another training") && other.contains("state.safetensors"), "{other}");
    }
    let report = train(&documents, &options, 99).unwrap();
    let off = report.losses.iter().zip(&whole.losses).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(report.losses.len() == 12 && off < 1e-5, "{off}");
}

/// What was trained once and is frozen now stays in the checkpoint.
#[test]
fn what_a_start_holds_is_kept() {
    let (base, out) = (base(), tempfile::tempdir().unwrap());
    let documents = documents(&base);
    run(&base, &documents, &Options { max_steps: 6, ..options() }, &out.path().join("start"));
    let start = Checkpoint::read(&out.path().join("start").join(CHECKPOINT)).unwrap();
    let more = Options { frozen: 2, max_steps: 2, learning_rate: 0.0, head_learning_rate: 0.0, ..options() };
    let go = &mut |_| ControlFlow::Continue(());
    let onward = out.path().join("onward");
    train_nsp(&base, Some(&start), (&documents, &[]), &more, &onward, "", go).unwrap();
    let found = Checkpoint::read(&onward.join(CHECKPOINT)).unwrap();
    let odds = |checkpoint: &Checkpoint| {
        Nsp::on(&base, checkpoint, &Device::Cpu).unwrap().odds(&documents[0].sentences).unwrap()
    };
    assert_eq!(odds(&found), odds(&start));
    // Over itself it is not written.
    let text = train_nsp(&base, Some(&start), (&documents, &[]), &more, &out.path().join("start"), "", go);
    let text = text.unwrap_err().to_string();
    assert!(text.contains("is what training begins from"), "{text}");
}

#[test]
fn what_cannot_be_trained_is_said() {
    let (base, out) = (base(), tempfile::tempdir().unwrap());
    let documents = documents(&base);
    let error = |start: Option<&Checkpoint>, train: &[LabelledDocument], options: Options| {
        let go = &mut |_| ControlFlow::Continue(());
        let text = train_nsp(&base, start, (train, &[]), &options, out.path(), "", go).unwrap_err().to_string();
        assert!(!text.contains('\n'), "{text}");
        text
    };
    assert!(error(None, &documents, Options { tokens: 65, ..options() }).contains("8 to 64"));
    assert!(error(None, &documents, Options { frozen: 3, ..options() }).contains("the base model has 2"));
    assert!(error(None, &[], options()).contains("no two neighbouring sentences"));
    run(&base, &documents, &Options { max_steps: 1, ..options() }, &out.path().join("start"));
    let mut start = Checkpoint::read(&out.path().join("start").join(CHECKPOINT)).unwrap();
    start.settings.base_sha256 = "0123456789abcdef".into();
    let text = error(Some(&start), &documents, options());
    assert!(text.contains(CHECKPOINT) && text.contains("checksum 0123456789ab"), "{text}");
}
