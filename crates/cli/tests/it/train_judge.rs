//! `pericope train judge`, and experiments that read with what it makes.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::common::{SMALL_EXPERIMENT, root, stderr, stdout, three_questions, without_models};

/// Documents of three sections with headings, of three sources.
fn documents(count: usize) -> String {
    let subjects = ["bread flour oven dough", "violin tune chord tempo", "ridge snow rope summit"];
    let line = |d: usize| {
        let sentence =
            |i: usize| format!("The {} of the {} was {i} in {d}.", subjects[i / 4], subjects[(d + i / 4) % 3]);
        let sentences: Vec<String> = (0..12).map(sentence).collect();
        let line = json!({
            "id": format!("d{d}"), "source": format!("s{}", d % 3), "sentences": sentences, "boundaries": [4, 8],
            "headings": ["Bread", "Violin", "Ridge"],
        });
        format!("{line}\n")
    };
    (0..count).map(line).collect()
}

const SMALL: [&str; 16] = [
    "--tokens",
    "64",
    "--block",
    "14",
    "--query",
    "20",
    "--batch",
    "4",
    "--max-steps",
    "3",
    "--frozen",
    "1",
    "--micro-batch",
    "2",
    "--validations",
    "9",
];

fn train(folder: &Path, more: &[&str]) -> Output {
    let base = root().join("crates/learn/tests/golden/training").display().to_string();
    let mut command = without_models(folder);
    command.args(["train", "judge", "--base", &base]).args(SMALL).args(more);
    command.output().unwrap()
}

fn eval(folder: &Path, out: &str) -> Output {
    without_models(folder).args(["eval", "run", "x.toml", "--out", out]).output().unwrap()
}

#[test]
fn questions_and_sections_make_a_model_that_experiments_read_with() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir(root.join("data")).unwrap();
    fs::write(root.join("data/a.jsonl"), documents(24)).unwrap();
    three_questions(root);
    let data = ["--data", "data", "questions.json", "--out", "model", "--validation", "0.3", "--test", "0", "--half"];
    let output = train(root, &[&data[..], &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(
        (&report["steps"], &report["options"]["block"], &report["options"]["tokens"]),
        (&3.into(), &14.into(), &64.into())
    );
    // Two headings and two sentences of each document ask, and three questions of three articles.
    let of = |part: &str| report["questions"][part].as_u64().unwrap();
    assert_eq!(of("train") + of("validation"), 24 * 4 + 3, "{report}");
    assert!(of("validation") > 0 && of("test") == 0);
    let judged = &report["validations"][0]["judged"];
    assert!(judged["auc"].is_number() && judged["bm25_auc"].is_number() && judged["span_f1"].is_number(), "{report}");
    assert!(report["model"].as_str().unwrap().ends_with("judge.safetensors"));

    // The same command has nothing left to do, and says how the model is used.
    let output = train(root, &data);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said =
        format!("{}\u{a0}questions to train on, {}\u{a0}questions to validate on", of("train"), of("validation"));
    assert!(stderr(&output).contains(&said) && stderr(&output).contains("; validation "), "{}", stderr(&output));
    assert!(stdout(&output).contains("generator = \"cogltx\", model = \"model\""), "{}", stdout(&output));
    let output = train(root, &[&data[..], &["--seed", "8"]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("another training"), "{}", stderr(&output));

    // Where questions alone are trained on, nothing is said of documents whose sections ask.
    let output = train(root, &["--data", "questions.json", "--out", "asked", "--no-holdout"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("3\u{a0}questions to train on, 0\u{a0}questions to validate on"), "{said}");
    assert!(!said.contains("0\u{a0}documents"), "{said}");

    // Chunks are read with it, and whole documents without chunks.
    let retriever = "[[retriever]]\nname = \"no chunks\"\nspec = \"memrecall:documents=2\"\n";
    let answer = "[answer]\ngenerator = \"cogltx\"\nmodel = \"model\"\n";
    fs::write(root.join("x.toml"), format!("{SMALL_EXPERIMENT}{retriever}{answer}")).unwrap();
    let output = eval(root, "out");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let items = fs::read_to_string(root.join("out/items.jsonl")).unwrap();
    let items: Vec<Value> = items.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(items.len(), 6);
    for item in &items {
        let (answer, retrieved) = (&item["answer"], item["retrieved"].as_array().unwrap());
        let within = |one: &Value| {
            one["document"] == answer["document"]
                && one["start"].as_u64() <= answer["start"].as_u64()
                && answer["end"].as_u64() <= one["end"].as_u64()
        };
        // An answer is a quotation of what was retrieved.
        assert!(!answer["text"].as_str().unwrap().is_empty() && retrieved.iter().any(within), "{item}");
        assert!(item["metrics"]["answer_iou"].is_number(), "{item}");
    }
    let record: Value = serde_json::from_str(&fs::read_to_string(root.join("out/run.json")).unwrap()).unwrap();
    assert!(record["checksums"]["models"]["cogltx"].as_str().unwrap().starts_with("judge:"), "{record}");
    // Another way to read is another run.
    fs::write(root.join("x.toml"), format!("{SMALL_EXPERIMENT}{retriever}{answer}steps = 1\nrehearsal = false\n"))
        .unwrap();
    assert_eq!(eval(root, "other").status.code(), Some(0));
    let other: Value = serde_json::from_str(&fs::read_to_string(root.join("other/run.json")).unwrap()).unwrap();
    assert_ne!(other["checksums"]["models"]["cogltx"], record["checksums"]["models"]["cogltx"]);
}

#[test]
fn blocks_are_labelled_by_interventions_where_labels_are_not_used() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.jsonl"), documents(8)).unwrap();
    let data =
        ["--data", "a.jsonl", "--out", "model", "--no-holdout", "--unsupervised", "--sentences", "0", "--epochs", "2"];
    let more = ["--max-steps", "0", "--start-blocks", "1"];
    let mut given: Vec<&str> = data.to_vec();
    given.extend(more);
    let base = root().join("crates/learn/tests/golden/training").display().to_string();
    let mut command = without_models(folder.path());
    command
        .args(["train", "judge", "--base", &base, "--tokens", "64", "--block", "14", "--query", "20", "--batch", "4"]);
    let output = command.args(given).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("after pass 1: "), "{}", stderr(&output));
    let report: Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("model/training.json")).unwrap()).unwrap();
    assert_eq!((&report["options"]["unsupervised"]["up"], &report["questions"]["train"]), (&json!(0.2), &json!(16)));
}

#[test]
fn what_is_missing_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir(root.join("empty")).unwrap();
    let refused = |more: &[&str], said: &str| {
        let output = train(root, more);
        assert_eq!(output.status.code(), Some(2), "{more:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(said), "{more:?}: {}", stderr(&output));
    };
    refused(&["--data", "empty", "--out", "model"], "no *.json, *.jsonl or *.jsonl.gz");
    refused(&["--data", "none.json", "--out", "model"], "none.json");
    fs::write(root.join("bad.json"), "{").unwrap();
    refused(&["--data", "bad.json", "--out", "model"], "SQuAD");
    three_questions(root);
    refused(&["--data", "questions.json", "--out", "model", "--start", "none"], "pericope train judge");
    refused(
        &["--data", "questions.json", "--out", "model", "--test", "1", "--validation", "0"],
        "no question is left to train on",
    );
    // Without the model that it names, an experiment says which command makes one.
    let answer = "[answer]\ngenerator = \"cogltx\"\nmodel = \"none\"\n";
    fs::write(root.join("x.toml"), format!("{SMALL_EXPERIMENT}{answer}")).unwrap();
    let output = eval(root, "out");
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("answer.model") && said.contains("pericope train judge"), "{said}");
}
