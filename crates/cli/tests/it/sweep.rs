//! `[sweep]` in `pericope eval run`, and `pericope tune` on such an experiment, from end to end.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::common::{root, rounded, stderr, stdout, without_models};
use serde_json::Value;

/// Four variants of a small experiment that needs no model.
fn config(folder: &Path) {
    let questions = root().join("corpora/handbook-questions.json");
    let text = format!(
        r#"name = "swept"
[data]
kind = "squad"
path = '{}'
documents = 0
questions = 0
[retrieval]
embedder = "none"
modes = ["bm25"]
k = [1, 3]
[[chunker]]
name = "sized"
spec = "fixed:words=100"
[answer]
generator = "extractive"
[judge]
kind = "lexical"
[sweep]
"chunker.sized.spec" = ["fixed:words=5", "fixed:words=120"]
"retrieval.k" = [[1], [1, 3]]
[tune]
chunker = "sized"
metric = "span_recall"
k = 1
"#,
        questions.display()
    );
    fs::write(folder.join("swept.toml"), text).unwrap();
}

fn pericope(folder: &Path, args: &[&str]) -> Output {
    without_models(folder).args(args).output().unwrap()
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", stderr(output));
    serde_json::from_str(&stdout(output)).unwrap()
}

/// Mean span recall of a run's items with one chunk retrieved, on questions of the part named.
fn mean(items: &Path, keep: impl Fn(&Value) -> bool) -> (f64, usize) {
    let text = fs::read_to_string(items).unwrap();
    let values: Vec<f64> = (text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()))
        .filter(|item| item["k"] == 1 && keep(item))
        .map(|item| item["metrics"]["span_recall"].as_f64().unwrap())
        .collect();
    (values.iter().sum::<f64>() / values.len() as f64, values.len())
}

#[test]
fn a_sweep_is_a_run_for_every_combination_and_a_report_of_all() {
    let folder = tempfile::tempdir().unwrap();
    config(folder.path());
    let run = ["eval", "run", "swept.toml", "--out", "out", "--json"];
    let runs = json(&pericope(folder.path(), &run))["runs"].as_array().unwrap().clone();
    let labels: Vec<&str> = runs.iter().map(|run| run["label"].as_str().unwrap()).collect();
    assert_eq!(
        labels,
        [
            "chunker.sized.spec=fixed:words=5, retrieval.k=[1]",
            "chunker.sized.spec=fixed:words=5, retrieval.k=[1, 3]",
            "chunker.sized.spec=fixed:words=120, retrieval.k=[1]",
            "chunker.sized.spec=fixed:words=120, retrieval.k=[1, 3]",
        ]
    );
    let cells = |run: &Value| run["summary"]["cells"].as_array().unwrap().len();
    assert_eq!(runs.iter().map(cells).collect::<Vec<_>>(), [1, 2, 1, 2]);
    for number in 1..=4 {
        assert!(folder.path().join(format!("out/0{number}/items.jsonl")).is_file());
    }
    let page = fs::read_to_string(folder.path().join("out/index.html")).unwrap();
    assert!(page.contains("words=5") && page.contains("words=120"), "the page sets the variants side by side");

    // A second time it is the same, and with --resume nothing is done again.
    let read = || fs::read_to_string(folder.path().join("out/02/items.jsonl")).unwrap();
    let lines =
        |text: &str| -> Vec<Value> { text.lines().map(|line| rounded(serde_json::from_str(line).unwrap())).collect() };
    let items = lines(&read());
    let began = fs::read_to_string(folder.path().join("out/02/run.json")).unwrap();
    let again = pericope(folder.path(), &["eval", "run", "swept.toml", "--out", "out", "--resume", "--json"]);
    assert_eq!(json(&again)["runs"].as_array().unwrap().len(), 4);
    assert!(lines(&read()) == items, "the items are as they were");
    let started = |text: &str| serde_json::from_str::<Value>(text).unwrap()["started"].clone();
    let now = fs::read_to_string(folder.path().join("out/02/run.json")).unwrap();
    assert_eq!(started(&began), started(&now));
}

#[test]
fn tune_chooses_on_one_part_of_the_documents_and_reports_on_the_other() {
    let folder = tempfile::tempdir().unwrap();
    config(folder.path());
    let chosen = json(&pericope(folder.path(), &["tune", "swept.toml", "--out", "tuned", "--json"]));
    // A chunk of five words holds next to nothing of an answer.
    assert!(chosen["best"].as_u64().unwrap() >= 2, "{chosen}");
    assert!(chosen["against_first"]["difference"].as_f64().unwrap() > 0.1, "{chosen}");
    assert_eq!(chosen["left_out"], 0);

    // The figures are those of the items: both parts together are all questions, and no document is on both sides.
    let tried = &chosen["tried"][2];
    let items = folder.path().join("tuned/03/items.jsonl");
    let (all, questions) = mean(&items, |_| true);
    let n = |part: usize| tried["questions"][part].as_f64().unwrap();
    assert_eq!((n(0) + n(1)) as usize, questions);
    let both =
        (tried["validation"].as_f64().unwrap() * n(0) + tried["held_out"].as_f64().unwrap() * n(1)) / (n(0) + n(1));
    assert!((both - all).abs() < 1e-9, "{both} is not {all}");
    assert!(n(0) > 10.0 && n(1) > 10.0);

    let kept: Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("tuned/tune.json")).unwrap()).unwrap();
    assert_eq!(kept, chosen);
    let table = pericope(folder.path(), &["tune", "swept.toml", "--out", "tuned", "--resume"]);
    assert!(table.status.success(), "{}", stderr(&table));
    assert_eq!(stdout(&table).matches("<- best").count(), 1);

    // The first variant does not retrieve three chunks: the questions that are counted are those of the best.
    let three = pericope(folder.path(), &["tune", "swept.toml", "--out", "tuned", "--resume", "--set", "tune.k=3"]);
    assert!(three.status.success(), "{}", stderr(&three));
    let head = format!("; {} questions choose, {} report", n(0), n(1));
    assert!(stdout(&three).contains(&head), "{}", stdout(&three));
}

#[test]
fn what_cannot_be_tuned_is_said_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    config(folder.path());
    let text = fs::read_to_string(folder.path().join("swept.toml")).unwrap();
    let cut = |at: &str| text[..text.find(at).unwrap()].to_owned();
    for (name, text, says) in [
        ("no-sweep.toml", cut("[sweep]") + "[tune]\nchunker = \"sized\"\n", "[sweep]"),
        ("no-tune.toml", cut("[tune]"), "[tune]"),
        ("no-chunker.toml", text.replace("chunker = \"sized\"", "chunker = \"seized\""), "seized"),
        ("no-key.toml", text.replace("\"retrieval.k\"", "\"retrieval.depth\""), "depth"),
        ("no-share.toml", text.clone() + "validation = 1.5\n", "validation"),
        ("no-k.toml", text.replace("\nk = 1\n", "\nk = 7\n"), "k or token_budget of [tune]"),
        ("no-metric.toml", text.replace("span_recall", "span_recal"), "span_recal"),
        (
            "no-score.toml",
            text.replace("span_recall", "ndcg").replace("\nk = [1, 3]\n", "\nk = [1, 3]\nexpand = \"parent\"\n"),
            "tune.metric = \"ndcg\" needs to know all chunks",
        ),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
        let output = pericope(folder.path(), &["tune", name, "--out", "out"]);
        assert_eq!(output.status.code(), Some(2), "{name}: {}", stderr(&output));
        assert!(stderr(&output).contains(says), "{name}: {}", stderr(&output));
        assert!(!folder.path().join("out").exists(), "{name} ran");
    }
    let output = pericope(folder.path(), &["nightly", "swept.toml"]);
    assert!(output.status.code() == Some(2) && stderr(&output).contains("[sweep]"), "{}", stderr(&output));
    fs::write(folder.path().join("model.toml"), "data = [\"absent.jsonl\"]\n").unwrap();
    let output = pericope(folder.path(), &["tune", "model.toml", "--resume"]);
    assert!(output.status.code() == Some(2) && stderr(&output).contains("--resume"), "{}", stderr(&output));
}
