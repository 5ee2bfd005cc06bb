//! `pericope train embed`.

use std::fs;
use std::io::Write;
use std::path::Path;

use pericope_learn::corpus::SentenceVectors;
use serde_json::Value;

use crate::common::{stderr, stdout, without_models};

/// Documents of 50 sentences `{prefix} {d}: {i}`, all different; every tenth ends a segment.
fn documents(prefix: &str, count: usize) -> String {
    let line = |d: usize| {
        let sentences: Vec<String> = (0..50).map(|i| format!("{prefix} {d}: number {i}")).collect();
        let headings: Vec<String> = (0..5).map(|i| format!("Part {i}")).collect();
        let id = format!("{prefix}/{d}");
        let line = serde_json::json!({
            "id": id, "sentences": sentences, "boundaries": [10, 20, 30, 40], "headings": headings,
        });
        format!("{line}\n")
    };
    (0..count).map(line).collect()
}

fn embed(folder: &Path, more: &[&str]) -> std::process::Output {
    let mut command = without_models(folder);
    command.args(["train", "embed", "--data", "data", "--out", "vectors", "--embedder", "hashed"]);
    command.args(more).output().unwrap()
}

#[test]
fn vectors_are_made_once_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("data/deep")).unwrap();
    fs::write(at("data/a.jsonl"), documents("a", 4)).unwrap();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(documents("b", 2).as_bytes()).unwrap();
    fs::write(at("data/deep/b.jsonl.gz"), packed.finish().unwrap()).unwrap();

    let output = embed(folder.path(), &["--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    for (key, value) in [("files", 2), ("documents", 6), ("sentences", 300), ("headings", 30), ("distinct", 305)] {
        assert_eq!(report[key], value, "{key} of {report}");
    }
    assert_eq!((&report["embedded"], &report["missing"], &report["unreadable"]), (&305.into(), &0.into(), &0.into()));
    assert!(report["seconds"].as_f64().unwrap() > 0.0 && report["bytes"].as_u64().unwrap() > 305 * 128);
    let vectors = SentenceVectors::open(&at("vectors")).unwrap();
    assert!(vectors.len() == 305 && vectors.contains("b 1: number 49") && vectors.contains("Part 4"));

    // Again, with more data, of which a line is none.
    fs::write(at("data/a.jsonl"), documents("a", 5) + "nonsense\n").unwrap();
    let output = embed(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("a.jsonl:6: expected"), "{}", stderr(&output));
    assert!(stdout(&output).contains("355 different texts\nembedded 50 ("), "{}", stdout(&output));
    assert_eq!(SentenceVectors::open(&at("vectors")).unwrap().len(), 355);
}

#[test]
fn what_cannot_be_embedded_is_said_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    for (data, embedder, said) in [
        ("data", "none", "name a model"),
        ("data", "word2vec", "there is no embedder"),
        ("data", "hashed", "data: the folder holds no file *.jsonl or *.jsonl.gz"),
        ("nowhere", "hashed", "nowhere: "),
    ] {
        let mut command = without_models(folder.path());
        command.args(["train", "embed", "--data", data, "--out", "vectors", "--embedder", embedder]);
        let output = command.output().unwrap();
        assert!(stderr(&output).contains(said), "{said}: {}", stderr(&output));
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(!folder.path().join("vectors").exists(), "{said}");
    }
    fs::write(folder.path().join("data/a.jsonl"), documents("a", 1)).unwrap();
    assert_eq!(embed(folder.path(), &[]).status.code(), Some(0));
    let meta = folder.path().join("vectors/vectors.json");
    fs::write(&meta, fs::read_to_string(&meta).unwrap().replace("\"1\"", "\"0\"")).unwrap();
    let output = embed(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(2));
    let said = "vectors holds vectors of 0, and these would be of 1: name another folder";
    assert!(stderr(&output).contains(said), "{}", stderr(&output));
}

#[test]
fn a_model_says_which_encoder_its_data_are_embedded_with() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    fs::write(folder.path().join("data/a.jsonl"), documents("a", 1)).unwrap();
    let embed = |model: &str| {
        let mut command = without_models(folder.path());
        command.args(["train", "embed", "--data", "data", "--out", "vectors", "--for", model]).output().unwrap()
    };
    for (model, said) in [("shipped", "pericope models pull minilm"), ("nowhere.safetensors", "nowhere.safetensors")] {
        let output = embed(model);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(said) && stderr(&output).contains("--for"), "{}", stderr(&output));
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_it_with_what_is_done_and_the_same_command_goes_on() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    fs::write(folder.path().join("data/a.jsonl"), documents("a", 6_000)).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_pericope"))
        .current_dir(folder.path())
        .args(["train", "embed", "--data", "data", "--out", "vectors", "--embedder", "hashed", "--json"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let first = folder.path().join("vectors/000000.vec");
    let until = Instant::now() + Duration::from_secs(60);
    while !first.exists() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let done = SentenceVectors::open(&folder.path().join("vectors")).unwrap().len();
    assert!((8_192..300_005).contains(&done), "{done}");
    let output = embed(folder.path(), &["--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(report["embedded"], 300_005 - done);
    assert_eq!(SentenceVectors::open(&folder.path().join("vectors")).unwrap().len(), 300_005);
}
