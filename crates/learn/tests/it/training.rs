//! The trainer against PyTorch, on a tiny random BERT and documents that `scripts/golden/golden_training.py` makes.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use crate::support::{base, close, documents, folder, tokens};
use pericope_encode::rerankers::{RerankerSpec, build_from};
use pericope_encode::{Base, Device};
use pericope_learn::training::{
    Data, Event, LabelledDocument, Options, PreparedQuestion, TrainError, TrainReport, Validation, train_weswin,
};
use pericope_learn::weswin::{Checkpoint, Partition, Plan, WeSWin, Weighting};
use pericope_learn::{Sentences, registry};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    questions: Question,
    all_layers: Vec<f32>,
    one_frozen: Vec<f32>,
    with_questions: Vec<f32>,
}

#[derive(Deserialize)]
struct Question {
    sentences: Vec<String>,
    answer: (usize, usize),
    question: String,
}

impl Question {
    fn asked(&self, base: &Base) -> PreparedQuestion {
        let (start, end) = self.answer;
        let relevant = (0..self.sentences.len()).map(|i| (start..end).contains(&i)).collect();
        let question = base.tokens.ids(&self.question, 64);
        PreparedQuestion { sentences: Arc::new(tokens(base, &self.sentences)), relevant, question }
    }
}

fn golden() -> Golden {
    serde_json::from_str(&std::fs::read_to_string(folder().join("losses.json")).unwrap()).unwrap()
}

/// The options of `scripts/golden/golden_training.py`.
fn options() -> Options {
    Options {
        tokens: 48,
        batch: 4,
        micro_batch: 3,
        learning_rate: 1e-3,
        head_learning_rate: 1e-2,
        epochs: 3.0,
        warm_up: 0.1,
        seed: 11,
        frozen: 0,
        max_steps: 24,
        questions_every: 2,
        ..Options::default()
    }
}

fn run(base: &Base, options: &Options, asked: &[PreparedQuestion], out: &Path) -> TrainReport {
    let documents = documents(base);
    let data = Data { train: &documents, questions: asked, ..Data::default() };
    train_weswin(base, None, data, options, out, "", &mut |_| ControlFlow::Continue(())).unwrap()
}

#[test]
fn the_losses_are_pytorchs() {
    let (base, golden) = (base(), golden());
    let out = tempfile::tempdir().unwrap();
    close(&run(&base, &options(), &[], &out.path().join("a")).losses, &golden.all_layers);
    let frozen = Options { frozen: 1, ..options() };
    close(&run(&base, &frozen, &[], &out.path().join("b")).losses, &golden.one_frozen);
    let asked = [golden.questions.asked(&base)];
    close(&run(&base, &options(), &asked, &out.path().join("c")).losses, &golden.with_questions);
}

#[test]
fn a_small_set_is_learnt_by_heart() {
    let base = base();
    let documents = &documents(&base)[..4];
    let out = tempfile::tempdir().unwrap();
    let options = Options { epochs: 60.0, max_steps: 0, patience: 1000, validations: 1, ..options() };
    let mut best = 0.0;
    let data = Data { train: documents, validation: documents, ..Data::default() };
    let report = train_weswin(&base, None, data, &options, out.path(), "made up", &mut |event| {
        if let Event::Validated(Validation { f1, .. }) = event {
            best = f64::max(best, f1.unwrap());
        }
        ControlFlow::Continue(())
    });
    let report = report.unwrap();
    assert_eq!(report.validations.iter().filter_map(|v| v.f1).fold(0.0, f64::max), best);
    assert!((best - 1.0).abs() < 1e-12, "F1 {best}, losses {:?}", &report.losses[report.losses.len() - 5..]);
    assert_eq!(report.best.unwrap().0, best);

    // What was written does what was measured, with the settings that tuning put in.
    let checkpoint = Checkpoint::read(&out.path().join("weswin.safetensors")).unwrap();
    assert_eq!(checkpoint.settings.notes, "made up");
    // Without questions there is no head for them.
    assert!(!checkpoint.has("retrieval.weight"));
    let model = WeSWin::on(&base, &checkpoint, &Device::Cpu).unwrap();
    assert_eq!(model.relevance(&documents[0].sentences, "the ship").unwrap(), None);
    let settings = model.settings();
    let (plan, weights): (Plan, Weighting) = (settings.partition.parse().unwrap(), settings.weights.parse().unwrap());
    let sentences: Vec<&Sentences> = documents.iter().map(|d| &d.sentences).collect();
    let found = model.probabilities(&sentences, plan, weights, settings.threshold).unwrap();
    for (document, p) in documents.iter().zip(found) {
        let cut: Vec<bool> = p[..p.len() - 1].iter().map(|&p| p > settings.threshold).collect();
        assert_eq!(cut, document.ends[..p.len() - 1]);
    }
    // Half precision keeps the decisions.
    let half = out.path().join("half.safetensors");
    checkpoint.write(&half, true).unwrap();
    let half = WeSWin::on(&base, &Checkpoint::read(&half).unwrap(), &Device::Cpu).unwrap();
    let windows = || model.windows(sentences[0], Partition::Right(1)).into_iter().map(|w| (0, w)).collect();
    for (a, b) in model.read(&sentences, windows()).unwrap().iter().zip(half.read(&sentences, windows()).unwrap()) {
        assert!(a.odds.iter().zip(&b.odds).all(|(a, b)| (a - b).abs() < 0.1), "{:?} {:?}", a.odds, b.odds);
    }
}

#[test]
fn an_interrupted_training_goes_on_as_if_it_had_not_been() {
    let base = base();
    let documents = documents(&base);
    let out = tempfile::tempdir().unwrap();
    let options = Options { frozen: 1, max_steps: 12, ..options() };
    let whole = run(&base, &options, &[], &out.path().join("whole"));
    let cut = out.path().join("cut");
    let train = |documents: &[LabelledDocument], stop_at: usize| {
        let data = Data { train: documents, ..Data::default() };
        train_weswin(&base, None, data, &options, &cut, "", &mut |event| match event {
            Event::Step { step, .. } if step == stop_at => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        })
    };
    for stop_at in [3, 8] {
        assert!(matches!(train(&documents, stop_at), Err(TrainError::Interrupted { step }) if step == stop_at));
    }
    // A state is not carried over to other data.
    let other = train(&documents[..9], 99).unwrap_err().to_string();
    assert!(other.contains("another training") && other.contains("state.safetensors"), "{other}");
    let report = train(&documents, 99).unwrap();
    let off = report.losses.iter().zip(&whole.losses).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(report.losses.len() == 12 && off < 1e-5, "{off}");
}

#[test]
fn the_retrieval_head_learns_which_sentences_answer() {
    let base = base();
    let golden = golden().questions;
    let sentences = Arc::new(tokens(&base, &golden.sentences));
    // Two questions whose answers lie apart, so that the question has to be read.
    let asked: Vec<PreparedQuestion> = [("bread flour oven", 0..2), ("ship anchor tide", 4..6)]
        .into_iter()
        .map(|(question, answer)| {
            let relevant = (0..sentences.len()).map(|i| answer.contains(&i)).collect();
            PreparedQuestion { sentences: Arc::clone(&sentences), relevant, question: base.tokens.ids(question, 64) }
        })
        .collect();
    let out = tempfile::tempdir().unwrap();
    let options = Options { max_steps: 150, epochs: 100.0, questions_every: 1, ..options() };
    run(&base, &options, &asked, out.path());
    let checkpoint = Checkpoint::read(&out.path().join("weswin.safetensors")).unwrap();
    let model = WeSWin::on(&base, &checkpoint, &Device::Cpu).unwrap();
    // Both are asked of one model, so neither answer can be the other's.
    let [bread, ship] = ["bread flour oven", "ship anchor tide"]
        .map(|question| model.relevance(&sentences, question).unwrap().unwrap());
    assert!(bread[..2].iter().all(|&p| p > 0.5) && bread[4..6].iter().all(|&p| p < 0.5), "{bread:?}");
    assert!(ship[4..6].iter().all(|&p| p > 0.5) && ship[..2].iter().all(|&p| p < 0.5), "{ship:?}");

    // Its best sentence makes a passage's score.
    let passages: Vec<String> = golden.sentences.chunks(2).map(|pair| pair.join(" ")).collect();
    let spec = format!("weswin:model={}", out.path().display());
    let built = build_from(registry::rerankers(), &RerankerSpec::parse(&spec).unwrap());
    let reranker = built.unwrap().unwrap();
    assert_eq!(reranker.fingerprint(), format!("{}:icu-refined", model.fingerprint()));
    let odds = |p: f32| (p / (1.0 - p)).ln();
    for question in ["bread flour oven", "ship anchor tide"] {
        let all: Vec<&str> = passages.iter().map(String::as_str).chain([""]).collect();
        let scores = reranker.scores(question, &all).unwrap();
        assert!(scores.len() == all.len() && scores.iter().all(|score| score.is_finite()), "{scores:?}");
        for (pair, score) in golden.sentences.chunks(2).zip(&scores) {
            let relevance = model.relevance(&tokens(&base, pair), question).unwrap().unwrap();
            let wanted = odds(relevance.into_iter().fold(0.0, f32::max));
            assert!((score - wanted).abs() < 1e-2, "{question}: {score} is not {wanted}");
        }
        assert!(scores.iter().any(|score| (score - scores[0]).abs() > 1.0), "{scores:?}");
    }
}
