//! Judges and retrievers that the program which runs the experiment brings.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use pericope_eval::answer::{Judge, JudgeRequest, Judged, Missing, Models};
use pericope_eval::record::{Item, Judgement, RunRecord, Summary};
use pericope_eval::retriever::Finder;
use pericope_eval::run::RunError;
use serde_json::{Value, json};

use super::judges::{QUESTIONS, go_with, lines, parsed, questions};

/// Knows the gold answer when it sees it.
struct Strict(&'static str);

impl Judge for Strict {
    fn fingerprint(&self) -> String {
        self.0.to_owned()
    }

    fn judge_all(&self, answers: &[JudgeRequest<'_>], done: &(dyn Fn() + Sync)) -> Vec<Result<Judged, Missing>> {
        let one = |asked: &JudgeRequest<'_>| {
            done();
            let score = if asked.answer.contains(asked.gold) { 9.0 } else { 1.0 };
            Ok(Judged { judgement: Judgement { score, ..Judgement::default() }, ..Judged::default() })
        };
        answers.iter().map(one).collect()
    }
}

/// Finds the sentence about the gate that is asked for, by its text.
struct Gates(&'static str);

impl Finder for Gates {
    fn fingerprint(&self) -> String {
        self.0.to_owned()
    }

    fn find(&self, question: &str, _: usize) -> Result<Value, Missing> {
        let gate: String = question.chars().filter(char::is_ascii_digit).collect();
        Ok(json!({"hits": [{"text": format!("Gate {gate} opens at")}]}))
    }
}

const BROUGHT: [&str; 4] = [
    "answer.generator=extractive",
    "judge.kind=custom",
    "judge.checks=false",
    "retriever=[{name=\"gates\", spec=\"custom\"}]",
];

fn models(judge: Option<&'static str>, finder: Option<&'static str>) -> Models {
    let named = |name| ("gates".to_owned(), Arc::new(Gates(name)) as Arc<dyn Finder>);
    // A program may have more than an experiment asks for.
    let unasked = ("unasked".to_owned(), Arc::new(Gates("unasked")) as Arc<dyn Finder>);
    Models {
        judge: judge.map(|name| Arc::new(Strict(name)) as Arc<dyn Judge>),
        finders: finder.map(named).into_iter().chain([unasked]).collect(),
        ..Models::default()
    }
}

fn go(data: &Path, out: &Path, models: Models, resume: bool) -> Result<Summary, RunError> {
    go_with(&parsed(data, &BROUGHT), out, models, resume, None)
}

#[test]
fn a_judge_and_a_retriever_of_the_caller_are_asked() {
    let (data, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    questions(data.path());
    let summary = go(data.path(), out.path(), models(Some("strict"), Some("gates")), false).unwrap();
    let cells: Vec<_> = summary.cells.iter().filter(|cell| cell.chunker == "gates").collect();
    assert_eq!((cells.len(), summary.failed), (2, 0));
    let items: Vec<Item> = lines(&out.path().join("items.jsonl"));
    assert_eq!(items.len(), 3 * 2 * QUESTIONS);
    for cell in &summary.cells {
        let own = items.iter().filter(|item| item.key() == cell.key());
        let scores: Vec<f64> = own
            .map(|item| if item.answer.as_ref().unwrap().text.contains(&item.gold.text) { 9.0 } else { 1.0 })
            .collect();
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        assert!((cell.metrics["judge"] - mean).abs() < 1e-12, "{}", cell.chunker);
        // Nothing was asked that costs anything.
        assert_eq!(cell.cost, None, "{}", cell.chunker);
        assert!(cell.answer_seconds.is_some_and(|seconds| seconds > 0.0), "{}", cell.chunker);
    }
    // Every gate is found, and by its first words alone.
    assert!(cells.iter().all(|cell| cell.metrics["hit"] == 1.0 && cell.metrics["span_recall"] < 1.0));
    assert!(items.iter().all(|item| item.cost.is_none() && item.judgement.is_some()));
}

#[test]
fn runs_of_different_judges_and_retrievers_are_not_mixed() {
    let (data, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    questions(data.path());
    let first = go(data.path(), out.path(), models(Some("strict"), Some("gates")), false).unwrap();
    let text = std::fs::read_to_string(out.path().join("run.json")).unwrap();
    let record: RunRecord = serde_json::from_str(&text).unwrap();
    let wanted = [("judge", "strict"), ("retriever gates", "gates")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(record.checksums.models, BTreeMap::from(wanted));
    let again = go(data.path(), out.path(), models(Some("strict"), Some("gates")), true).unwrap();
    // What was done before is read, with its times.
    assert_eq!(first.cells, again.cells);
    for (judge, finder, said) in [("another", "gates", "judge"), ("strict", "another", "retriever gates")] {
        let error = go(data.path(), out.path(), models(Some(judge), Some(finder)), true).unwrap_err().to_string();
        assert!(error.contains(&format!("other models ({said}): --resume would mix two runs")), "{error}");
    }
}

#[test]
fn what_is_not_brought_is_said_before_anything_is_written() {
    let (data, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    questions(data.path());
    for (models, said) in [
        (
            models(None, Some("gates")),
            "judge.kind = \"custom\": a program in Rust or Python that runs the experiment brings the judge",
        ),
        (models(Some("strict"), None), "retriever 'gates': spec is custom"),
    ] {
        let error = go(data.path(), out.path(), models, false).unwrap_err();
        assert!(matches!(error, RunError::Config(_)) && error.to_string().contains(said), "{error}");
        assert!(!out.path().join("run.json").exists() && !out.path().join("items.jsonl").exists());
    }
}
