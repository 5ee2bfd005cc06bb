//! `pericope train hiercrf`.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::common::{stderr, stdout, without_models};

/// Documents of four sections of ten sentences, each section about something else.
fn documents(count: usize) -> String {
    let line = |d: usize| {
        let sentence = |i: usize| format!("subject{} tells {d} of number {i}", (d * 7 + i / 10 * 3) % 20);
        let sentences: Vec<String> = (0..40).map(sentence).collect();
        let line = serde_json::json!({
            "id": format!("d{d}"), "sentences": sentences, "boundaries": [10, 20, 30], "levels": [1, 2, 1],
            "headings": ["One", "Two", "Three", "Four"],
        });
        format!("{line}\n")
    };
    (0..count).map(line).collect()
}

fn run(folder: &Path, args: &[&str]) -> Output {
    without_models(folder).args(args).output().unwrap()
}

fn train(folder: &Path, more: &[&str]) -> Output {
    let common = ["train", "hiercrf", "--data", "data", "--vectors", "vectors", "--out", "model", "--hidden", "16"];
    run(folder, &[&common, more].concat())
}

#[test]
fn a_model_is_trained_from_vectors_and_says_how_it_is_used() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    fs::write(folder.path().join("data/a.jsonl"), documents(24)).unwrap();
    let embed = ["train", "embed", "--data", "data", "--out", "vectors", "--embedder", "hashed"];
    assert_eq!(run(folder.path(), &embed).status.code(), Some(0));

    let steps = ["--max-steps", "4", "--batch", "4", "--validations", "20", "--validation", "0.3", "--test", "0"];
    let output = train(folder.path(), &[&steps[..], &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let of = |part: &str| report["documents"][part].as_u64().unwrap();
    assert!(of("train") + of("validation") == 24 && of("validation") > 0 && of("test") == 0, "{report}");
    assert_eq!((&report["steps"], &report["options"]["sizes"]["hidden"]), (&4.into(), &16.into()));
    assert_eq!(report["losses"].as_array().unwrap().len(), 4);
    assert!(report["validation_f1"].is_number() && report["best_step"].is_number(), "{report}");
    assert_eq!((&report["settings"]["encoder"], &report["settings"]["sizes"]["input"]), (&"hashed".into(), &64.into()));
    let kept: Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("model/training.json")).unwrap()).unwrap();
    assert_eq!(kept, report);

    // The same command has nothing left to do; with other options it is another training.
    let output = train(folder.path(), &steps);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("--segmenter hiercrf:model=model"), "{}", stdout(&output));
    let output = train(folder.path(), &[&steps[..], &["--seed", "8"]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("another training"), "{}", stderr(&output));

    // It goes on from a model, into another folder alone.
    let start = ["--start", "model"];
    let output = train(folder.path(), &[&steps[..], &start].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("what training begins from"), "{}", stderr(&output));
    let tuned = ["train", "hiercrf", "--data", "data", "--vectors", "vectors", "--out", "tuned", "--max-steps", "1"];
    let output = run(folder.path(), &[&tuned[..], &start].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(folder.path().join("tuned/hiercrf.safetensors").exists());

    // To segment, it reads with an encoder.
    fs::write(folder.path().join("a.md"), "One. Two. Three.").unwrap();
    let output = run(folder.path(), &["segment", "a.md", "--segmenter", "hiercrf:model=model,level=1"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("pericope models pull minilm"), "{}", stderr(&output));
}

/// The matrix products of a whole process take their number of threads from this variable.
#[test]
fn any_number_of_threads_writes_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    fs::write(folder.path().join("data/a.jsonl"), documents(12)).unwrap();
    let embed = ["train", "embed", "--data", "data", "--out", "vectors", "--embedder", "hashed"];
    assert_eq!(run(folder.path(), &embed).status.code(), Some(0));
    let written = ["1", "3"].map(|threads| {
        let mut command = without_models(folder.path());
        command.args(["train", "hiercrf", "--data", "data", "--vectors", "vectors", "--out", threads]);
        command.args(["--hidden", "16", "--max-steps", "2", "--batch", "8", "--validation", "0.3", "--test", "0"]);
        let output = command.env("RAYON_NUM_THREADS", threads).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        fs::read(folder.path().join(threads).join("hiercrf.safetensors")).unwrap()
    });
    assert!(written[0] == written[1]);
}

#[test]
fn what_is_missing_is_said_before_anything_is_trained() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    fs::write(folder.path().join("data/a.jsonl"), documents(3)).unwrap();
    let refused = |more: &[&str], said: &str| {
        let output = train(folder.path(), more);
        assert_eq!(output.status.code(), Some(2), "{more:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(said), "{more:?}: {}", stderr(&output));
        assert!(!folder.path().join("model/hiercrf.safetensors").exists());
    };
    refused(&[], "vectors");
    let embed = ["train", "embed", "--data", "data", "--out", "vectors", "--embedder", "hashed"];
    assert_eq!(run(folder.path(), &embed).status.code(), Some(0));
    fs::write(folder.path().join("data/b.jsonl"), documents(4)).unwrap();
    // The command that makes them is named.
    refused(&["--no-holdout"], "train embed");
    fs::remove_file(folder.path().join("data/b.jsonl")).unwrap();
    refused(&["--metric", "bleu"], "window-diff");
    refused(&["--no-holdout", "--dropout", "1"], "dropout is 1");
    refused(&["--no-holdout", "--window", "1"], "window");
    refused(&["--no-holdout", "--start", "nowhere"], "nowhere");
}
