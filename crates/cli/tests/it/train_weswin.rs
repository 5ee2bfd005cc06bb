//! `pericope train weswin`.

use std::fs;

use serde_json::{Value, json};

use crate::common::{root, stderr, stdout, three_questions, without_models};

#[test]
fn questions_about_what_is_held_out_are_not_trained_on() {
    let folder = tempfile::tempdir().unwrap();
    three_questions(folder.path());
    let write = |file: &str, source: &str| {
        let sentences = ["Bread of flour.", "The dough and the oven.", "The ship.", "A sailor.", source];
        let line = json!({"id": file, "source": source, "sentences": sentences, "boundaries": [2]});
        fs::write(folder.path().join(file), format!("{line}\n")).unwrap();
    };
    // The questions name no source: they are of one named as their file.
    write("own.jsonl", "own");
    write("held.jsonl", "questions");
    let base = root().join("crates/learn/tests/golden/training").display().to_string();
    let train = |more: &[&str]| {
        let mut command = without_models(folder.path());
        command.args(["train", "weswin", "--data", "own.jsonl", "--questions", "questions.json", "--no-holdout"]);
        command.args(["--base", &base, "--frozen", "0", "--max-steps", "1", "--json"]).args(more).output().unwrap()
    };
    let output = train(&["--out", "all"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(report["questions"]["train"], 3, "{report}");
    let output = train(&["--out", "apart", "--held-out", "held.jsonl"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("no question is left to train on"), "{}", stderr(&output));
    assert!(!folder.path().join("apart").exists());
}
