//! Questions that a run takes otherwise than their file has them.

use std::fs;

use serde_json::Value;

use crate::common::{SMALL_EXPERIMENT, stderr, three_questions, without_models};

#[test]
fn a_run_says_what_it_puts_right() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    three_questions(root);
    fs::write(root.join("small.toml"), SMALL_EXPERIMENT).unwrap();
    let run = |out: &str| {
        let output = without_models(root).args(["eval", "run", "small.toml", "--out", out]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stderr(&output)
    };
    assert!(!run("sound").contains("taken otherwise"));
    let file = root.join("questions.json");
    let mut set: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    set["data"][0]["paragraphs"][0]["qas"][0]["answers"][0]["answer_start"] = 2.into();
    set["data"][2]["paragraphs"][0]["qas"][0]["id"] = "q1".into();
    fs::write(&file, set.to_string()).unwrap();
    let said = run("mended");
    assert!(said.contains("2 questions are taken otherwise than the data has them"), "{said}");
    assert!(said.contains("the first: question 'Who slept in the garden?' of t0: its answer is not at"), "{said}");
    let validated = without_models(root).args(["dataset", "validate", "questions.json"]).output().unwrap();
    assert_eq!(validated.status.code(), Some(1), "{}", stderr(&validated));
}
