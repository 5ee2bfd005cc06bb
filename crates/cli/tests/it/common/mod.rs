//! What the command-line tests share.

use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

/// The command, in a given folder.
pub fn pericope(folder: &Path) -> Command {
    let mut command = Command::cargo_bin("pericope").expect("the binary is built with the tests");
    command.current_dir(folder);
    command
}

/// The command without any model.
pub fn without_models(folder: &Path) -> Command {
    let mut command = pericope(folder);
    command.env("PERICOPE_HOME", folder.join("no-home"));
    command
}

/// The checkout.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the checkout is there")
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("standard output is UTF-8")
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The JSON document on standard output; what the command said, where there is none.
pub fn report(output: &Output) -> Value {
    serde_json::from_str(&stdout(output)).unwrap_or_else(|_| panic!("{}", stderr(output)))
}

/// Vectors without a model, in the arguments of `index`.
pub const HASHED: [&str; 4] = ["--embedder", "hashed", "--tokenizer", "words"];

/// A folder with these pages below `docs`.
pub fn folder_with(pages: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in pages {
        let path = folder.path().join("docs").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

/// `pericope search QUERY --in PLACE --json`; what it answers.
pub fn search(folder: &Path, place: &str, query: &str, extra: &[&str]) -> Value {
    let output = without_models(folder).args(["search", query, "--in", place, "--json"]).args(extra).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    report(&output)
}

/// Whether the embedding model is on this machine; says so where it is not.
pub fn model_or_skip(test: &str) -> bool {
    let installed = pericope_encode::models::locate("minilm").is_ok();
    if !installed {
        eprintln!("SKIPPED: {test}: the model is not installed (pericope models pull minilm)");
    }
    installed
}

/// Numbers to ten decimals: sums over items may be taken in another order.
pub fn rounded(value: Value) -> Value {
    match value {
        Value::Number(n) => n.as_f64().map_or(Value::Null, |x| Value::from((x * 1e10).round() / 1e10)),
        Value::Array(list) => list.into_iter().map(rounded).collect(),
        Value::Object(map) => Value::Object(map.into_iter().map(|(key, value)| (key, rounded(value))).collect()),
        other => other,
    }
}

/// A small experiment on the questions of [`three_questions`], with full-text search alone. Tables may follow.
pub const SMALL_EXPERIMENT: &str = r#"
kind = "retrieval"
name = "small"
[data]
kind = "squad"
path = "questions.json"
[retrieval]
embedder = "none"
modes = ["bm25"]
k = [1]
[[chunker]]
name = "fixed"
spec = "fixed:words=8"
"#;

/// A second chunker for it.
pub const SECOND_CHUNKER: &str = r#"
[[chunker]]
name = "blocks"
spec = "paragraph"
"#;

/// Puts a question set of three articles into a folder. Their answers have no word in common: else the judge is not trusted.
pub fn three_questions(folder: &Path) {
    let article = |i: usize, who: &str, place: &str| {
        let context =
            format!("The wind blew over the hill. The {who} slept in the {place} all day. It was late by then.");
        let answer = serde_json::json!({"text": who, "answer_start": context.find(who)});
        let question = format!("Who slept in the {place}?");
        let qas = serde_json::json!([{"id": format!("q{i}"), "question": question, "answers": [answer]}]);
        serde_json::json!({"title": format!("t{i}"), "paragraphs": [{"context": context, "qas": qas}]})
    };
    let data = [article(0, "badger", "garden"), article(1, "old sailor", "harbour"), article(2, "grey cat", "kitchen")];
    let set = serde_json::json!({"version": "1.1", "data": data});
    std::fs::write(folder.join("questions.json"), set.to_string()).unwrap();
}

/// A run's summary without what differs from run to run.
pub fn timeless(mut summary: Value) -> Value {
    for row in summary["chunkers"].as_array_mut().unwrap() {
        for key in ["segment_seconds", "index_seconds", "index_bytes", "query_times", "answer_times"] {
            row.as_object_mut().unwrap().remove(key);
        }
    }
    for cell in summary["cells"].as_array_mut().unwrap() {
        for key in ["query_p50_ms", "query_p95_ms", "answer_seconds"] {
            cell.as_object_mut().unwrap().remove(key);
        }
    }
    summary
}
