//! What a run would cost, short runs, files for other tools, judges beside people, and settings of segmenters.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::common::{SECOND_CHUNKER, SMALL_EXPERIMENT, stderr, stdout, three_questions, without_models};

fn pericope(folder: &Path, args: &[&str]) -> Output {
    without_models(folder).env_remove("OPENAI_API_KEY").args(args).output().unwrap()
}

fn json(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    serde_json::from_str(&stdout(output)).unwrap()
}

/// Models at an address where nobody answers, with a key that is not there.
const MODELS: &str = r#"
[answer]
generator = "llm"
[judge]
kind = "llm"
votes = 2
pairwise = true
[llm.generator]
provider = "openai"
base_url = "http://127.0.0.1:9/v1"
model = "reader"
api_key_env = "A_KEY_THAT_IS_NOT_SET"
price = { input = 1.0, output = 2.0 }
[llm.judge]
provider = "openai"
base_url = "http://127.0.0.1:9/v1"
model = "judge"
api_key_env = "A_KEY_THAT_IS_NOT_SET"
tokens_per_minute = 100
[limits]
budget = 3.0
"#;

#[test]
fn a_dry_run_needs_no_key_asks_nobody_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    three_questions(folder.path());
    let paid =
        format!("{SMALL_EXPERIMENT}{SECOND_CHUNKER}{MODELS}").replace("embedder = \"none\"", "embedder = \"openai:e\"");
    fs::write(folder.path().join("paid.toml"), paid).unwrap();
    let before = fs::read_dir(folder.path()).unwrap().count();
    for command in [&["eval", "run"][..], &["nightly"]] {
        let args = [command, &["paid.toml", "--dry-run"]].concat();
        let output = pericope(folder.path(), &args);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let said = stdout(&output);
        for part in
            ["generator", "reader", "judge", "embedder", "Nothing was asked", "at most about", "limits.budget is 3"]
        {
            assert!(said.contains(part), "{part} in {said}");
        }
        assert!(said.contains("by tokens_per_minute"), "{said}");
        let found = json(&pericope(folder.path(), &[&args[..], &["--json"]].concat()));
        // Two chunkers, three questions, one k: 6 answers; 12 votes, 6 verdicts in 3 pairs, 12 votes of the judge's checks.
        let calls = |role: &str| {
            let models = found["models"].as_array().unwrap();
            models.iter().find(|model| model["role"] == role).unwrap()["calls"].as_u64().unwrap()
        };
        assert_eq!((calls("generator"), calls("judge")), (6, 12 + 6 + 12));
        // The questions, the chunks of two chunkers, and what the reader reads of them.
        assert!(calls("embedder") > 3, "{found}");
        assert_eq!(found["calls"], 6 + 30 + calls("embedder"));
        assert!(found["price"].as_f64().unwrap() > 0.0);
    }
    let swept = pericope(
        folder.path(),
        &["eval", "run", "paid.toml", "--dry-run", "--json", "--set", "sweep={\"retrieval.k\"=[[1],[2]]}"],
    );
    assert_eq!(json(&swept)["models"][0]["calls"], 12);
    let tuned = "sweep={\"retrieval.k\"=[[1],[2]]}";
    let by = "tune={chunker=\"fixed\"}";
    let tune = pericope(folder.path(), &["tune", "paid.toml", "--dry-run", "--json", "--set", tuned, "--set", by]);
    assert_eq!(json(&tune)["models"][0]["calls"], 12);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), before, "nothing is written");
    // Without the flag, the missing key is found before anything is asked.
    let output = pericope(folder.path(), &["eval", "run", "paid.toml", "--set", "retrieval.embedder=none"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

#[test]
fn indexing_and_searching_say_what_an_endpoint_would_be_sent() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("docs")).unwrap();
    for i in 0..3 {
        fs::write(folder.path().join(format!("docs/{i}.md")), format!("# Page {i}\n\nFoxes dig. Owls fly at night.\n"))
            .unwrap();
    }
    let index = |more: &[&str]| {
        pericope(folder.path(), &[&["index", "docs", "--into", "i", "--dry-run", "--json"], more].concat())
    };
    let found = json(&index(&["--embedder", "openai:text-embedding-3-large"]));
    assert_eq!((found["texts"].as_u64(), found["calls"].as_u64()), (Some(3), Some(1)));
    assert!(found["models"][0]["prompt_tokens"].as_u64().unwrap() >= 3 * 6);
    // What runs here costs nothing.
    assert_eq!(json(&index(&["--embedder", "none"]))["calls"], 0);
    // Nor is the endpoint asked that a segmenter reads with: its key is not there.
    let own = "window:embedder=openai:text-embedding-3-small";
    let cut = json(&index(&["--embedder", "none", "--tokenizer", "words", "--segmenter", own]));
    assert_eq!((&cut["models"][0]["role"], &cut["calls"]), (&"embedder".into(), &3.into()), "{cut}");
    assert!(!folder.path().join("i").exists());
    let output = pericope(folder.path(), &["index", "docs", "--into", "i", "--embedder", "none"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(json(&pericope(folder.path(), &["search", "foxes", "--in", "i", "--dry-run", "--json"]))["calls"], 0);
}

#[test]
fn a_short_run_writes_files_that_other_tools_score() {
    let folder = tempfile::tempdir().unwrap();
    three_questions(folder.path());
    fs::write(folder.path().join("small.toml"), format!("{SMALL_EXPERIMENT}{SECOND_CHUNKER}")).unwrap();
    let output = pericope(
        folder.path(),
        &["eval", "run", "small.toml", "--out", "run", "--limit", "2", "--trec", "trec", "--json"],
    );
    assert_eq!(json(&output)["questions"], 2);
    for name in ["fixed", "blocks"] {
        let run = fs::read_to_string(folder.path().join(format!("trec/{name}.bm25.run"))).unwrap();
        let queries: std::collections::BTreeSet<&str> = run.lines().filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(queries.into_iter().collect::<Vec<_>>(), ["q0", "q1"]);
        assert!(run.lines().all(|line| line.split(' ').count() == 6 && line.ends_with(&format!("{name}.bm25"))));
        let qrels = fs::read_to_string(folder.path().join(format!("trec/{name}.qrels"))).unwrap();
        assert!(qrels.lines().count() >= 2 && qrels.lines().all(|line| line.split(' ').count() == 4));
    }
    // What is taken over from an earlier session is not searched again.
    let again = ["eval", "run", "small.toml", "--out", "run", "--limit", "2", "--resume", "--trec", "more"];
    let output = pericope(folder.path(), &again);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let says = "no TREC files of fixed and blocks: an earlier session measured them";
    assert!(stderr(&output).contains(says) && !folder.path().join("more").exists(), "{}", stderr(&output));
}

#[test]
fn a_judge_is_set_beside_people() {
    let folder = tempfile::tempdir().unwrap();
    three_questions(folder.path());
    fs::write(folder.path().join("small.toml"), SMALL_EXPERIMENT).unwrap();
    let run = pericope(folder.path(), &["eval", "run", "small.toml", "--out", "run"]);
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    fs::write(folder.path().join("labels.csv"), "question_id,human,k\nq0,9,1\nq1,2,1\nq2,10,1\n").unwrap();
    let output = pericope(folder.path(), &["eval", "calibrate", "labels.csv", "--run", "run"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = stdout(&output);
    for part in ["Judge: the lexical judge", "3 answers", "Cohen's kappa, quadratic", "Fewer than 10 documents"] {
        assert!(said.contains(part), "{part} in {said}");
    }
    let found = json(&pericope(folder.path(), &["eval", "calibrate", "labels.csv", "--run", "run", "--json"]));
    assert_eq!((found["labels"].as_u64(), found["unit"].as_str()), (Some(3), Some("document")));
    assert!(found["bias"]["value"].is_number() && found["judge"]["kind"] == "lexical");
    let output = pericope(folder.path(), &["eval", "calibrate", "labels.csv", "--run", "run", "--metric", "foo"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(
        said.contains("--metric \"foo\" is not known") && said.contains("judge, ") && said.contains("judge_lexical")
    );
    let lexical = ["eval", "calibrate", "labels.csv", "--run", "run", "--metric", "judge_lexical"];
    let output = pericope(folder.path(), &lexical);
    assert!(stderr(&output).contains("no score by judge_lexical"), "{}", stderr(&output));
    // Without a run the file must hold both.
    let output = pericope(folder.path(), &["eval", "calibrate", "labels.csv"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("labels.csv") && stderr(&output).contains("--run"), "{}", stderr(&output));
    // A line that fits no item is named, and the rest counts.
    fs::write(folder.path().join("more.csv"), "question_id,human\nq0,9\nnone,2\n").unwrap();
    let output = pericope(folder.path(), &["eval", "calibrate", "more.csv", "--run", "run"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("line 3: question 'none'"), "{}", stderr(&output));
    assert!(stdout(&output).contains("1 answer that a person and the judge scored, 1 document"), "{}", stdout(&output));
    assert!(!stdout(&output).contains("1 answers"), "{}", stdout(&output));
}

#[test]
fn settings_and_threshold_of_a_segmenter_are_chosen_on_documents() {
    let folder = tempfile::tempdir().unwrap();
    let line = |i: usize| {
        let sentences: Vec<String> = (0..12).map(|n| format!("Sentence {n} of document {i}.")).collect();
        serde_json::json!({"id": format!("d{i}"), "sentences": sentences, "boundaries": [3, 7]}).to_string()
    };
    let lines: Vec<String> = (0..8).map(line).collect();
    fs::write(folder.path().join("s.jsonl"), lines.join("\n")).unwrap();
    let config = "kind = \"tune\"\nsegmenter = \"random\"\ndata = [\"s.jsonl\"]\nthresholds = [0.1, 0.9, 0.1]\n[grid]\nseed = [1, 2, 3]\n";
    fs::write(folder.path().join("t.toml"), config).unwrap();
    let found = json(&pericope(folder.path(), &["tune", "t.toml", "--json"]));
    assert_eq!((found["documents"].as_u64(), found["tried"].as_array().map(Vec::len)), (Some(8), Some(3)));
    let f1 = |row: &Value| row["f1"].as_f64().unwrap();
    let most = found["tried"].as_array().unwrap().iter().map(f1).fold(0.0, f64::max);
    assert_eq!(f1(&found["best"]), most);
    let text = stdout(&pericope(folder.path(), &["tune", "t.toml"]));
    assert!(text.contains("Best: random:seed=") && text.contains(",tau=0."), "{text}");
    let wrong = pericope(folder.path(), &["tune", "t.toml", "--set", "segmenter=fixed:words=3", "--set", "grid={}"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("no scores"), "{}", stderr(&wrong));
}
