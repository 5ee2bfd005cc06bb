//! `pericope train topic`.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::common::{model_or_skip, pericope, stderr, stdout, without_models};

/// Documents of four sections of eight sentences, each section about something else.
fn documents(count: usize) -> String {
    let subjects = ["ships", "bread", "glaciers", "guitars", "bees", "trains", "castles"];
    let line = |d: usize| {
        let sentence = |i: usize| format!("The {} of place {d} have the number {i}.", subjects[(d + i / 8 * 3) % 7]);
        let sentences: Vec<String> = (0..32).map(sentence).collect();
        let line = serde_json::json!({
            "id": format!("d{d}"), "sentences": sentences, "boundaries": [8, 16, 24], "paragraphs": [4, 8, 12, 16, 24],
            "headings": ["One", "Two", "Three", "Four"],
        });
        format!("{line}\n")
    };
    (0..count).map(line).collect()
}

fn run(folder: &Path, args: &[&str]) -> Output {
    without_models(folder).args(args).output().unwrap()
}

/// A folder with data and the vectors of the test embedder.
fn prepared(count: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    fs::write(folder.path().join("data/a.jsonl"), documents(count)).unwrap();
    let embed = ["train", "embed", "--data", "data", "--out", "vectors", "--embedder", "hashed"];
    assert_eq!(run(folder.path(), &embed).status.code(), Some(0));
    folder
}

const SMALL: [&str; 8] = ["--hidden", "16", "--projection", "16", "--head", "16", "--batch", "4"];

const TRAIN: [&str; 8] = ["train", "topic", "--data", "data", "--vectors", "vectors", "--out", "model"];

#[test]
fn a_model_is_trained_from_vectors_and_says_how_it_is_used() {
    let folder = prepared(24);
    let path = folder.path();
    let steps = ["--max-steps", "6", "--validations", "20", "--validation", "0.3", "--test", "0"];
    let train = [&TRAIN[..], &SMALL, &steps].concat();
    let output = run(path, &[&train[..], &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let of = |part: &str| report["documents"][part].as_u64().unwrap();
    assert!(of("train") + of("validation") == 24 && of("validation") > 0 && of("test") == 0, "{report}");
    assert_eq!((&report["steps"], &report["options"]["sizes"]["hidden"]), (&6.into(), &16.into()));
    assert_eq!(report["losses"].as_array().unwrap().len(), 6);
    assert!(report["validation_f1"].is_number() && report["best_step"].is_number(), "{report}");
    assert!(report.get("questions").is_none() && report.get("question_losses").is_none());
    let settings = &report["settings"];
    assert_eq!((&settings["encoder"], &settings["sizes"]["input"]), (&"hashed".into(), &64.into()));
    assert!((settings["lengths"]["median"].as_f64().unwrap() - 8.0).abs() < 1e-6, "{settings}");
    // That of `fusion` stays as it is, the others are fitted.
    let weights = &settings["weights"];
    assert!(weights["fusion"] == 0.5 && weights["sequence"].as_f64().is_some_and(|weight| weight > 0.0), "{weights}");
    let kept: Value = serde_json::from_str(&fs::read_to_string(path.join("model/training.json")).unwrap()).unwrap();
    assert_eq!(kept, report);

    // The same command has nothing left to do; with other options it is another training.
    let output = run(path, &train);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = stdout(&output);
    assert!(said.contains("validation F1 ") && said.contains("--segmenter topic:model=model"), "{said}");
    let output = run(path, &[&train[..], &["--seed", "8"]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("another training"), "{}", stderr(&output));

    // It goes on from a model, whose sizes it has, into another folder alone.
    let output = run(path, &[&train[..], &["--start", "model"]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("what training begins from"), "{}", stderr(&output));
    let tuned = ["train", "topic", "--data", "data", "--vectors", "vectors", "--out", "tuned", "--max-steps", "1"];
    let output = run(path, &[&tuned[..], &["--start", "model"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(path.join("tuned/topic.safetensors").exists());

    // To segment, it reads with an encoder.
    fs::write(path.join("a.md"), "One. Two. Three.").unwrap();
    let output = run(path, &["segment", "a.md", "--segmenter", "topic:model=model,granularity=fine"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("pericope models pull minilm"), "{}", stderr(&output));
}

#[test]
fn a_model_is_adapted_to_own_documents_as_far_as_it_is_worth_it() {
    let folder = prepared(30);
    let path = folder.path();
    // It has learned next to nothing, and knows nothing of words.
    let output = run(path, &[&TRAIN[..], &SMALL, &["--max-steps", "1", "--no-holdout"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let adapt = ["train", "topic", "--data", "data", "--vectors", "vectors", "--adapt", "--out", "own"];
    let options = ["--validation", "0.2", "--test", "0.4", "--epochs", "60", "--learning-rate", "0.01", "--batch", "4"];
    let options = [&options[..], &["--dropout", "0", "--joined", "0", "--patience", "60"]].concat();
    let output = run(path, &[&adapt[..], &options].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--start"), "{}", stderr(&output));
    let adapt = [&adapt[..], &options, &["--start", "model"]].concat();
    let output = run(path, &[&adapt[..], &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let adapted: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let rows = adapted["rows"].as_array().unwrap();
    let named: Vec<&str> = rows.iter().map(|row| row["fitted"].as_str().unwrap()).collect();
    assert_eq!(named, ["nothing", "numbers", "heads", "all"]);
    let f1 = |row: &Value| row["f1"].as_f64().unwrap();
    // The words of these sections are all that it takes.
    assert!(f1(&rows[1]) > 0.9 && f1(&rows[1]) > f1(&rows[0]) + 0.2, "{adapted}");
    assert!(rows[0]["behind_best"][2].as_f64().unwrap() < 0.0, "{adapted}");
    assert_eq!((adapted["recommended"].as_str().unwrap(), adapted["documents"].as_u64().unwrap()), ("numbers", 13));
    // What was not fitted is as it was.
    let bytes = |file: &str| fs::read(path.join(file)).unwrap();
    assert!(bytes("own/topic.safetensors") == bytes("own/numbers/topic.safetensors"));
    let tensor = |file: &str, name: &str| {
        let bytes = bytes(file);
        let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
        file.tensor(name).unwrap().data().to_vec()
    };
    let same = |part: &str, name: &str| {
        tensor(&format!("own/{part}/topic.safetensors"), name) == tensor("model/topic.safetensors", name)
    };
    assert!(same("numbers", "head.output.weight") && same("numbers", "projection.weight"));
    assert!(!same("heads", "head.output.weight") && same("heads", "projection.weight"));
    assert!(!same("all", "projection.weight"));

    // For people, a sentence first.
    let output = run(path, &adapt);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = stdout(&output);
    assert!(said.starts_with("Take what was fitted with numbers"), "{said}");
    assert!(said.contains("--segmenter topic:model=own"), "{said}");
    assert!(!stderr(&output).contains("too few"), "{}", stderr(&output));
    let few =
        ["train", "topic", "--data", "data", "--vectors", "vectors", "--adapt", "--out", "few", "--start", "model"];
    let output = run(path, &[&few[..], &["--test", "0.1", "--epochs", "1"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("too few for intervals"), "{}", stderr(&output));

    // The model that is begun with is not written over.
    let before = bytes("model/topic.safetensors");
    let over =
        ["train", "topic", "--data", "data", "--vectors", "vectors", "--adapt", "--start", "model", "--out", "model"];
    let output = run(path, &[&over[..], &options].concat());
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("is what training begins from"), "{}", stderr(&output));
    assert!(bytes("model/topic.safetensors") == before && !path.join("model/numbers").exists());

    // Numbers are fitted on whatever part there is.
    for (shares, out) in [(["--validation", "1", "--test", "0"], "v"), (["--validation", "0", "--test", "0"], "t")] {
        let numbers =
            ["train", "topic", "--data", "data", "--vectors", "vectors", "--fit", "numbers", "--start", "model"];
        let output = run(path, &[&numbers[..], &shares, &["--out", out]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
}

/// The matrix products of a whole process take their number of threads from this variable.
#[test]
fn any_number_of_threads_writes_the_same_file() {
    let folder = prepared(12);
    let written = ["1", "3"].map(|threads| {
        let mut command = without_models(folder.path());
        command.args(["train", "topic", "--data", "data", "--vectors", "vectors", "--out", threads]).args(SMALL);
        command.args(["--max-steps", "3", "--validation", "0.3", "--test", "0"]);
        let output = command.env("RAYON_NUM_THREADS", threads).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        fs::read(folder.path().join(threads).join("topic.safetensors")).unwrap()
    });
    assert!(written[0] == written[1]);
}

#[test]
fn what_is_missing_is_said_before_anything_is_trained() {
    let folder = prepared(3);
    let refused = |more: &[&str], said: &str| {
        let output = run(folder.path(), &[&TRAIN[..], &SMALL, more].concat());
        assert_eq!(output.status.code(), Some(2), "{more:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(said), "{more:?}: {}", stderr(&output));
        assert!(!folder.path().join("model/topic.safetensors").exists());
    };
    fs::write(folder.path().join("data/b.jsonl"), documents(4)).unwrap();
    // The command that makes them is named.
    refused(&["--no-holdout"], "train embed");
    fs::remove_file(folder.path().join("data/b.jsonl")).unwrap();
    refused(&["--no-holdout", "--dropout", "1"], "dropout is 1");
    refused(&["--no-holdout", "--window", "1"], "window is 1");
    refused(&["--no-holdout", "--joined", "1.5"], "joined is 1.5");
    refused(&["--no-holdout", "--start", "nowhere"], "nowhere");
    refused(&["--no-holdout", "--start", "shipped"], "the vectors have 64 numbers, the model reads 384");
    fs::rename(folder.path().join("vectors"), folder.path().join("elsewhere")).unwrap();
    refused(&[], "vectors");
}

/// From documents to boundaries, with the encoder that segmenters read with.
#[test]
fn a_trained_model_segments_and_is_scored() {
    if !model_or_skip("a_trained_model_segments_and_is_scored") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let run = |args: &[&str]| {
        let output = pericope(path).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
        stdout(&output)
    };
    fs::write(path.join("data.jsonl"), documents(7)).unwrap();
    run(&["train", "embed", "--data", "data.jsonl", "--out", "vectors"]);
    let train = ["train", "topic", "--data", "data.jsonl", "--vectors", "vectors", "--out", "model", "--no-holdout"];
    run(&[&train[..], &SMALL, &["--learning-rate", "0.01", "--dropout", "0", "--joined", "0", "--epochs", "80"]]
        .concat());

    let spec = "topic:model=model";
    let scored = |more: &[&str]| -> Value {
        let args = ["segment-eval", "--data", "data.jsonl", "--json", "--segmenter"];
        serde_json::from_str(&run(&[&args[..], more].concat())).unwrap()
    };
    for more in [&[spec][..], &[spec, "--known-count"], &["topic:model=model,objective=window_diff"]] {
        let found = scored(more);
        assert!(found["results"][0]["f1"].as_f64().unwrap() > 0.8, "{more:?}: {found}");
    }
    // 32 sentences in seven for 100: two sections, one boundary of three.
    let coarse = &scored(&["topic:model=model,granularity=medium"])["results"][0];
    assert!(coarse["recall"].as_f64().unwrap() <= 1.0 / 3.0 + 1e-9, "{coarse}");

    let text: Vec<String> = ["bees", "castles"].map(|what| format!("The {what} have a number. ").repeat(8)).to_vec();
    fs::write(path.join("a.txt"), text.concat()).unwrap();
    let known = "topic:model=model,granularity=12.5";
    let chunks = run(&["segment", "a.txt", "--segmenter", known, "--format", "json", "--max-tokens", "0"]);
    let texts: Vec<Value> = chunks.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(texts.len(), 2, "{chunks}");
    assert!(!texts[0]["text"].as_str().unwrap().contains("castles"), "{chunks}");
}

/// Its scores are made for one number of sections: cut off elsewhere they are not what `tau` gives.
#[test]
fn tuning_promises_what_topic_then_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    if !model_or_skip("tuning_promises_what_topic_then_does") {
        return;
    }
    let about = [("bread", "oven"), ("rivers", "bridge"), ("violins", "string"), ("taxes", "letter")];
    let lines: Vec<String> = (0..3)
        .map(|n| {
            let section = |(what, with): (&str, &str)| {
                (0..4 + n).map(|i| format!("Here {what} meet a {with} for time {i}.")).collect::<Vec<_>>()
            };
            let sentences: Vec<String> = about.iter().flat_map(|&one| section(one)).collect();
            let ends: Vec<usize> = (1..about.len()).map(|i| i * (4 + n)).collect();
            serde_json::json!({"id": format!("d{n}"), "sentences": sentences, "boundaries": ends}).to_string()
        })
        .collect();
    fs::write(path.join("own.jsonl"), lines.join("\n")).unwrap();
    let tuned = |grid: &str| -> Value {
        let config = format!(
            "kind = \"tune\"\nsegmenter = \"topic\"\ndata = [\"own.jsonl\"]\nthresholds = [0.1, 0.9, 0.2]\n{grid}"
        );
        fs::write(path.join("tune.toml"), config).unwrap();
        let output = pericope(path).args(["tune", "tune.toml", "--json"]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        serde_json::from_str(&stdout(&output)).unwrap()
    };
    let scored = |spec: &str| -> f64 {
        let output =
            pericope(path).args(["segment-eval", "--data", "own.jsonl", "-s", spec, "--json"]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        serde_json::from_str::<Value>(&stdout(&output)).unwrap()["results"][0]["f1"].as_f64().unwrap()
    };
    let best = &tuned("")["best"];
    let spec = format!("topic:tau={}", best["tau"]);
    assert!((scored(&spec) - best["f1"].as_f64().unwrap()).abs() < 1e-9, "{best}");
    let best = &tuned("grid = { granularity = [\"coarse\", \"fine\"] }")["best"];
    assert!(best["tau"].is_null(), "{best}");
    assert!((scored(best["spec"].as_str().unwrap()) - best["f1"].as_f64().unwrap()).abs() < 1e-9, "{best}");
}
