//! `pericope dataset split`, and the same options of `pericope train`.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;

use pericope_segment::split::{Split, split_of};
use serde_json::Value;

use crate::common::{root, stderr, stdout, without_models};

/// A document of 20 sentences that no other subject has.
fn document(source: &str, id: &str, subject: &str) -> String {
    let sentences: Vec<String> = (0..20).map(|i| format!("The {subject} has part {i} of {subject}.")).collect();
    let line = serde_json::json!({
        "id": id, "source": source, "title": id, "sentences": sentences, "boundaries": [5, 12], "levels": [1, 2],
        "headings": ["A", "B", "C"], "paragraphs": [5, 9, 12],
    });
    format!("{line}\n")
}

fn write_packed(path: &Path, text: &str) {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    fs::write(path, packed.finish().unwrap()).unwrap();
}

fn split(folder: &Path, out: &str, more: &[&str]) -> (Value, Vec<BTreeSet<String>>) {
    let mut command = without_models(folder);
    command.args(["dataset", "split", "--data", "data", "--out", out, "--json"]);
    let output = command.args(more).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let written = fs::read_to_string(folder.join(out).join("split.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), report);
    let ids = |part: &str| -> BTreeSet<String> {
        let text = fs::read_to_string(folder.join(out).join(format!("{part}.jsonl"))).unwrap();
        let documents = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        documents.map(|one| one["id"].as_str().unwrap().to_owned()).collect()
    };
    (report, ["train", "validation", "test"].map(ids).to_vec())
}

#[test]
fn documents_are_parted_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("data/deep")).unwrap();
    fs::create_dir(at("apart")).unwrap();
    let text: String =
        (0..60).map(|i| document(&format!("s{}", i % 6), &format!("d{i}"), &format!("pump{i}"))).collect();
    write_packed(&at("data/deep/many.jsonl.gz"), &text);
    // The same text under two ids of which one is tested on.
    let [trained, tested] = [Split::Train, Split::Test]
        .map(|part| (0..).map(|i| format!("copy{i}")).find(|id| split_of(id) == part).unwrap());
    fs::write(at("data/copies.jsonl"), document("s7", &trained, "valve") + &document("s8", &tested, "valve")).unwrap();
    fs::write(at("apart/held.jsonl"), document("s9", "held", "secret")).unwrap();

    let (report, ids) = split(folder.path(), "parted", &["--held-out", "apart"]);
    let [train, validation, test] = ids.as_slice() else { panic!("{ids:?}") };
    for i in 0..60 {
        let id = format!("d{i}");
        let part = match split_of(&id) {
            Split::Train => train,
            Split::Validation => validation,
            Split::Test => test,
        };
        assert!(part.contains(&id), "{id}");
    }
    assert!(test.contains(&trained) && test.contains(&tested) && test.contains("held"));
    assert_eq!(train.len() + validation.len() + test.len(), 63);
    assert_eq!((&report["all"]["documents"], &report["groups"], &report["moved"]), (&63.into(), &1.into(), &1.into()));
    assert_eq!(report["sources"]["s9"]["test"], 1);
    let line = fs::read_to_string(at("parted/test.jsonl")).unwrap();
    let held = line.lines().find(|line| line.contains("\"held\"")).unwrap();
    let original: Value = serde_json::from_str(&document("s9", "held", "secret")).unwrap();
    let held: Value = serde_json::from_str(held).unwrap();
    for key in ["source", "title", "sentences", "boundaries", "levels", "headings", "paragraphs"] {
        assert_eq!(held[key], original[key], "{key}");
    }

    let (report, ids) = split(
        folder.path(),
        "few",
        &["--by", "source", "--validation", "0.4", "--test", "0", "--split-seed", "3", "--cap", "60"],
    );
    assert!(report["sources"].as_object().unwrap().values().all(|one| {
        let [train, validation] = ["train", "validation"].map(|part| one[part].as_u64().unwrap());
        train.min(validation) == 0 && train.max(validation) <= 3
    }));
    assert!(ids[0].len() > 3 && ids[1].len() > 3 && ids[2].is_empty(), "{ids:?}");

    let mut command = without_models(folder.path());
    let command =
        command.args(["dataset", "split", "--data", "data", "--out", "no", "--test", "1", "--validation", "1"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("2 together, more than 1"), "{}", stderr(&output));
    assert!(!at("no").exists());
}

#[test]
fn other_layouts_are_parted_with_their_labels() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    let articles: Vec<Value> = (0..30)
        .map(|i| {
            let parts = ["has", "needs"].map(|verb| format!("The pump{i} {verb} part{i} one. It {verb} part{i} two. "));
            let annotations = [(0, "structure"), (1, "care")].map(|(at, label)| {
                let begin = if at == 0 { 0 } else { parts[0].len() };
                serde_json::json!({ "begin": begin, "length": parts[at].len(), "sectionLabel": label })
            });
            serde_json::json!({ "id": format!("a{i}"), "title": "T", "text": parts.concat(), "annotations": annotations })
        })
        .collect();
    fs::write(folder.path().join("data/wiki.json"), serde_json::to_string(&articles).unwrap()).unwrap();
    let mut command = without_models(folder.path());
    let command = command.args(["dataset", "split", "--data", "data/wiki.json", "--out", "parted"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("of 1\u{a0}source"), "{}", stdout(&output));
    let text = fs::read_to_string(folder.path().join("parted/train.jsonl")).unwrap();
    let one: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(one["labels"], serde_json::json!(["structure", "care"]));
    assert_eq!(
        (&one["source"], &one["boundaries"], &one["title"]),
        (&"wiki".into(), &serde_json::json!([2]), &"T".into())
    );
}

#[test]
fn training_parts_its_data_in_the_same_way() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let base = root().join("crates/learn/tests/golden/training");
    fs::create_dir_all(at("data")).unwrap();
    let text: String =
        (0..30).map(|i| document(&format!("s{}", i % 3), &format!("d{i}"), &format!("pump{i}"))).collect();
    write_packed(&at("data/many.jsonl.gz"), &text);
    fs::write(at("held.jsonl"), document("s2", "held", "secret")).unwrap();
    let flags = ["--validation", "0.2", "--test", "0", "--cap-documents", "4", "--held-out", "held.jsonl"];
    let (report, _) = split(folder.path(), "parted", &flags);
    let mut command = without_models(folder.path());
    command.args(["train", "nsp", "--data", "data", "--base"]).arg(&base).args(["--out", "model", "--tokens", "48"]);
    let output = command.args(["--frozen", "0", "--max-steps", "2", "--json"]).args(flags).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let summary: Value = serde_json::from_str(&stdout(&output)).unwrap();
    for part in ["train", "validation", "test"] {
        assert_eq!(summary["documents"][part], report[part]["documents"], "{part}");
        assert_eq!(summary["split"][part], report[part], "{part}");
    }
    assert_eq!(summary["documents"]["test"], 11, "all of the source that is held out");
    let alone = [&flags[..], &["--held-out-by", "document"]].concat();
    assert_eq!(split(folder.path(), "alone", &alone).0["test"]["documents"], 1);
    assert!(stderr(&output).contains("left out"), "{}", stderr(&output));
}
