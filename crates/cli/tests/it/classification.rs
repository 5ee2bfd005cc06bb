//! `pericope dataset classes`, and `pericope eval run` on what it writes.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::common::{SMALL_EXPERIMENT, pericope, stderr, stdout, three_questions, without_models};

const WORDS: [(&str, [&str; 4]); 2] =
    [("kettle", ["water", "leaves", "cup", "steam"]), ("tractor", ["engine", "field", "plough", "diesel"])];

/// Twenty-four pages of each of two projects, which name themselves.
fn pages(folder: &Path) {
    for (project, words) in WORDS {
        fs::create_dir_all(folder.join("docs").join(project)).unwrap();
        for n in 0..24 {
            let part = |i: usize| {
                let (a, b) = (words[(i + n) % 4], words[(i * n + 1) % 4]);
                format!("## Part {i}\n\nThe {a} of {project} number {n} is by the {b}. It needs {i} more {a}.\n\n")
            };
            let page = format!("# {project} page {n}\n\n") + &(0..4).map(part).collect::<String>();
            fs::write(folder.join("docs").join(project).join(format!("{n}.md")), page).unwrap();
        }
    }
}

fn classes(folder: &Path, more: &[&str]) -> Output {
    let mut command = without_models(folder);
    command.args(["dataset", "classes", "docs/kettle", "docs/tractor", "--out", "classes.jsonl"]).args(more);
    command.output().unwrap()
}

const EXPERIMENT: &str = r#"
kind = "classification"
name = "two projects"
embedder = "hashed"
[data]
kind = "classes"
path = "classes.jsonl"
[classifier]
hidden = 16
head = 8
learning_rate = 0.01
epochs = 15
seeds = [1, 2]
[[chunker]]
name = "naive"
spec = "fixed:words=12"
[[chunker]]
name = "structure"
spec = "structure"
[[published]]
system = "somebody's"
data = "other pages"
accuracy = 58
source = "a paper"
"#;

#[test]
fn documents_become_a_set_and_the_set_a_report() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    pages(at);
    let made = classes(at, &["--mask", "--mask-words", "diesel", "--test", "0.4", "--json"]);
    assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
    let counts: Value = serde_json::from_str(&stdout(&made)).unwrap();
    assert_eq!(counts["documents"], 48);
    assert!(counts["masked"].as_u64().unwrap() >= 48 * 5, "{counts}");
    let text = fs::read_to_string(at.join("classes.jsonl")).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in &lines {
        let text = line["text"].as_str().unwrap().to_lowercase();
        assert!(!text.contains("kettle") && !text.contains("tractor") && !text.contains("diesel"), "{text}");
        assert!(line["format"] == "md" && line["split"].is_string(), "{line}");
    }
    // The same again, whatever the run.
    classes(at, &["--mask", "--mask-words", "diesel", "--test", "0.4"]);
    assert_eq!(fs::read_to_string(at.join("classes.jsonl")).unwrap(), text);

    fs::write(at.join("experiment.toml"), EXPERIMENT).unwrap();
    let run = |out: &str| {
        let mut command = pericope(at);
        command.args(["eval", "run", "experiment.toml", "--json", "--out", out]);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        serde_json::from_str::<Value>(&stdout(&output)).unwrap()
    };
    let first = run("first");
    let counted = |out: &str| {
        let run = fs::read_to_string(at.join(out).join("run.json")).unwrap();
        serde_json::from_str::<Value>(&run).unwrap()["tokenizer"].clone()
    };
    assert_eq!(counted("first"), "words");
    for row in first["chunkers"].as_array().unwrap() {
        assert!(row["accuracy"].as_f64().unwrap() > 0.8, "{row}");
        assert_eq!(row["runs"].as_array().unwrap().len(), 2);
    }
    assert_eq!(first["comparisons"][0]["family"], "primary");
    assert_eq!(first["published"][0]["accuracy"], 58.0);
    for file in ["run.json", "summary.json", "summary.md", "index.html", "items.jsonl"] {
        assert!(at.join("first").join(file).is_file(), "{file}");
    }
    // The same figures again.
    let again = run("again");
    let accuracies = |summary: &Value| -> Vec<Value> {
        summary["chunkers"].as_array().unwrap().iter().flat_map(|row| row["runs"].as_array().unwrap().clone()).collect()
    };
    assert_eq!((accuracies(&first), &first["comparisons"]), (accuracies(&again), &again["comparisons"]));
    // The page is made again from the folder.
    let page = fs::read_to_string(at.join("first/index.html")).unwrap();
    fs::remove_file(at.join("first/index.html")).unwrap();
    let report = pericope(at).args(["eval", "report", "first"]).output().unwrap();
    assert_eq!(report.status.code(), Some(0), "{}", stderr(&report));
    assert_eq!(fs::read_to_string(at.join("first/index.html")).unwrap(), page);
    let both = pericope(at).args(["eval", "report", "first", "again", "--out", "both"]).output().unwrap();
    assert_eq!(both.status.code(), Some(2), "{}", stderr(&both));
    let says = "first is a run of classification; several cannot be put side by side";
    assert!(stderr(&both).contains(says) && !at.join("both").exists(), "{}", stderr(&both));

    if pericope_encode::models::locate("minilm").is_err() {
        eprintln!(
            "SKIPPED: documents_become_a_set_and_the_set_a_report: minilm, whose tokens are counted, is not installed"
        );
        return;
    }
    // What counts the tokens is seen of a few documents, too.
    let few: String = text.lines().step_by(4).map(|line| format!("{line}\n")).collect();
    fs::write(at.join("classes.jsonl"), few).unwrap();
    fs::write(at.join("experiment.toml"), EXPERIMENT.replace("\"hashed\"", "\"minilm\"")).unwrap();
    run("embedded");
    assert_eq!(counted("embedded"), "minilm");
    fs::write(at.join("experiment.toml"), EXPERIMENT.replace("\"hashed\"", "\"minilm\"\ntokenizer = \"words\""))
        .unwrap();
    run("by words");
    assert_eq!(counted("by words"), "words");
}

#[test]
fn lines_that_cannot_be_used_are_counted_and_tell_by_the_status() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    pages(at);
    assert_eq!(classes(at, &["--test", "0.4"]).status.code(), Some(0));
    let good = fs::read_to_string(at.join("classes.jsonl")).unwrap();
    fs::write(at.join("classes.jsonl"), good + &"no json\n".repeat(7)).unwrap();
    fs::write(at.join("experiment.toml"), EXPERIMENT).unwrap();
    let output = pericope(at).args(["eval", "run", "experiment.toml", "--json", "--out", "run"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("left out: line 49: ") && said.contains("left out: 2 more"), "{said}");
    let summary: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!((&summary["left_out"], &summary["unusable"], &summary["failed"]), (&7.into(), &7.into(), &0.into()));
}

#[test]
fn mistakes_are_told_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    pages(at);
    for (args, says) in [
        (&["dataset", "classes", "docs/kettle", "--out", "c.jsonl"][..], "at least two"),
        (&["dataset", "classes", "docs/kettle", "docs/kettle", "--out", "c.jsonl"], "two paths are the class 'kettle'"),
        (&["dataset", "classes", "docs/kettle", "docs/tractor", "--out", "c.jsonl", "--test", "2"], "0 to 1"),
        (
            &["dataset", "classes", "docs/kettle", "docs/tractor", "--out", "c.jsonl", "--min-words", "900"],
            "--min-words",
        ),
        (&["eval", "run", "experiment.toml", "--limit", "3"], "this is one on classification"),
        (&["eval", "run", "experiment.toml", "--set", "compare.baseline=x"], "not among the chunkers here"),
        (&["tune", "experiment.toml"], "an experiment on classification"),
    ] {
        fs::write(at.join("experiment.toml"), EXPERIMENT).unwrap();
        let output = without_models(at).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(says), "{args:?}: {}", stderr(&output));
    }
    let classes = ["dataset", "classes", "docs/kettle", "docs/tractor", "--out", "classes.jsonl"];
    assert_eq!(without_models(at).args(classes).output().unwrap().status.code(), Some(0));
    let dry = ["eval", "run", "experiment.toml", "--dry-run", "--json", "--set", "embedder=openai:e"];
    let dry = without_models(at).args(dry).output().unwrap();
    assert_eq!(dry.status.code(), Some(0), "{}", stderr(&dry));
    let dry: serde_json::Value = serde_json::from_str(&stdout(&dry)).unwrap();
    assert_eq!((&dry["models"][0]["role"], &dry["models"][0]["model"]), (&"embedder".into(), &"e".into()), "{dry}");
    assert!(dry["calls"].as_u64() > Some(0) && dry["documents"].as_u64() > Some(0), "{dry}");
    let settings = without_models(at).args(["eval", "run", "experiment.toml", "--settings"]).output().unwrap();
    assert_eq!(settings.status.code(), Some(0), "{}", stderr(&settings));
    assert!(stdout(&settings).contains("\"classifier.hidden\": 16"), "{}", stdout(&settings));
}

/// NSP, whose weights ship, beside another chunker by what they retrieve.
#[test]
fn nsp_takes_part_in_a_comparison_by_retrieval() {
    if pericope_encode::models::locate("minilm").is_err() {
        eprintln!("SKIPPED: nsp_takes_part_in_a_comparison_by_retrieval: tokens are counted by the model's tokenizer");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    three_questions(at);
    let nsp = "[[chunker]]\nname = \"nsp\"\nspec = \"nsp:one_minus_p=0\"\n[[chunker]]\nname = \"nsp, overlap\"\n\
        spec = \"nsp:one_minus_p=0,overlap_next=1\"\n";
    fs::write(at.join("small.toml"), format!("{SMALL_EXPERIMENT}{nsp}")).unwrap();
    let output = pericope(at).args(["eval", "run", "small.toml", "--json", "--out", "run"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let summary: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let chunks = |name: &str| {
        let rows = summary["chunkers"].as_array().unwrap();
        let row = rows.iter().find(|row| row["name"] == name).unwrap();
        (row["chunks"].as_u64().unwrap(), row["mean_words"].as_f64().unwrap())
    };
    // Three articles of three sentences each, cut at every one; all but the last of each also have the next.
    let (alone, overlap) = (chunks("nsp"), chunks("nsp, overlap"));
    assert!(alone.0 == 9 && overlap.0 == 9 && overlap.1 > alone.1, "{alone:?} {overlap:?}");
    let compared = summary["comparisons"].as_array().unwrap();
    let primary: Vec<&Value> = compared.iter().filter(|c| c["family"] == "primary").map(|c| &c["a"]).collect();
    assert_eq!(primary, ["nsp", "nsp, overlap"]);
}
