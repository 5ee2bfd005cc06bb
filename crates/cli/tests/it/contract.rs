//! The command-line contract: what scripts rely on.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::common::{pericope, root, stderr, stdout, without_models};
use serde_json::Value;

fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("a JSON object a line")).collect()
}

fn squeeze(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

const PAGE: &str = "---\ntitle: Bees\n---\n\n# Bees\n\nBees gather nectar. They make honey of it!\n\n## What do bees eat?\n\n\
    Nectar and pollen, mostly; in winter the honey they stored. A colony needs some twenty kilograms of it to last until \
    the first flowers open, so a keeper who harvests leaves enough behind.\n\n```sh\ncount --bees hive.txt\n```\n\n\
    | month | flowers |\n|---|---|\n| May | apple |\n\n## Hives\n\nBoxes of wood. Frames hang in them.\n";

#[test]
fn segment_prints_every_byte_once_and_keeps_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bees.md"), PAGE).unwrap();
    for spec in ["structure", "fixed:words=12", "recursive:chars=80", "sentence", "paragraph", "texttiling"] {
        for max in ["12", "40", "256", "0"] {
            let output = without_models(folder.path())
                .args(["segment", "bees.md", "--segmenter", spec, "--max-tokens", max, "--format", "json"])
                .output()
                .unwrap();
            assert_eq!(output.status.code(), Some(0), "{spec}: {}", stderr(&output));
            let chunks = json_lines(&stdout(&output));
            let joined: String = chunks.iter().map(|c| c["text"].as_str().unwrap()).collect();
            assert_eq!(squeeze(&joined), squeeze(PAGE), "{spec} {max}");
            for (i, chunk) in chunks.iter().enumerate() {
                assert_eq!(chunk["document"], "bees.md");
                assert_eq!(chunk["ordinal"], i);
                let (start, end) = (chunk["start"].as_u64().unwrap() as usize, chunk["end"].as_u64().unwrap() as usize);
                assert_eq!(chunk["text"], PAGE[start..end]);
                assert!(chunk["heading_path"].is_array());
                let tokens = chunk["tokens"].as_u64().unwrap();
                assert!(max == "0" || tokens <= max.parse().unwrap(), "{spec}: {chunk}");
            }
        }
    }
}

#[test]
fn overlap_is_whole_sentences() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.txt"), "One is first. Two is second. Three is third. Four is fourth.").unwrap();
    let output = without_models(folder.path())
        .args(["segment", "a.txt", "--segmenter", "sentence", "--overlap", "1", "--format", "json"])
        .output()
        .unwrap();
    let texts: Vec<String> =
        json_lines(&stdout(&output)).iter().map(|c| c["text"].as_str().unwrap().to_owned()).collect();
    assert_eq!(texts[0], "One is first.");
    assert_eq!(texts[1], "One is first. Two is second.");
    assert_eq!(texts.len(), 4);
}

#[test]
fn wrong_usage_is_one_line_and_status_2() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("a.md"), "Text.").unwrap();
    fs::write(path.join("half.toml"), "name = \"x\"\n[data]\nkind = \"squ").unwrap();
    fs::write(path.join("spec.toml"), "name = \"x\"\n[data]\nkind = \"squad\"\npath = \"q.json\"\n[[chunker]]\nname = \"a\"\nspec = \"fixt:words=9\"\n").unwrap();
    fs::write(
        path.join("dense.toml"),
        "kind = \"retrieval\"\nname = \"x\"\n[data]\nkind = \"squad\"\npath = \"q.json\"\n[[chunker]]\nname = \"a\"\nspec = \"fixed\"\n",
    )
    .unwrap();
    for (args, says) in [
        (vec!["segment", "a.md", "--segmenter", "fixd"], "fixed"),
        (vec!["segment", "a.md", "--segmenter", "fixed:word=9"], "words"),
        (vec!["segment", "a.md", "--segmenter", "fixed:words=none"], "words"),
        (vec!["segment", "a.md", "--segmenter", "window"], "pericope models pull minilm"),
        (vec!["segment", "absent.md"], "absent.md"),
        (vec!["index", ".", "--into", "i", "--embedder", "word2vec"], "minilm"),
        (vec!["index", ".", "--into", "i"], "pericope models pull minilm"),
        (vec!["search", "x", "--in", "absent"], "pericope index"),
        (vec!["eval", "run", "absent.toml"], "absent.toml"),
        (vec!["eval", "run", "half.toml"], "line 3"),
        (vec!["eval", "run", "spec.toml"], "fixt"),
        (vec!["eval", "run", "dense.toml"], "pericope models pull minilm"),
        (vec!["eval", "run", "dense.toml", "--set", "retrieval.embedder=none"], "needs an embedder"),
        (
            vec![
                "eval",
                "run",
                "dense.toml",
                "--set",
                "retrieval.embedder=none",
                "--set",
                "retrieval.modes=[\"bm25\"]",
            ],
            "q.json",
        ),
        (vec!["eval", "report", "."], "pericope eval run"),
        (vec!["models", "pull", "gpt"], "minilm"),
        (vec!["segment-eval", "--data", "absent.jsonl", "--segmenter", "sentence"], "absent.jsonl"),
    ] {
        let output = without_models(path).args(&args).output().unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(says), "{args:?}: {said}");
        assert_eq!(said.trim().lines().count(), 1, "{args:?}: {said}");
        assert!(output.stdout.is_empty());
    }
    assert_eq!(without_models(path).arg("--frobnicate").output().unwrap().status.code(), Some(2));
}

#[test]
fn bad_files_are_named_and_the_rest_is_indexed() {
    let folder = tempfile::tempdir().unwrap();
    let docs = folder.path().join("docs");
    fs::create_dir(&docs).unwrap();
    fs::write(docs.join("good.md"), PAGE).unwrap();
    fs::write(docs.join("binary.bin"), [0u8, 159, 146, 150, 0, 1, 2]).unwrap();
    fs::write(docs.join("latin.txt"), b"caf\xe9 au lait").unwrap();
    fs::write(docs.join("broken.txt"), b"caf\xc3\xa9 cr\xc3\xa8me br\xfbl\xc3\xa9e").unwrap();
    fs::write(docs.join("empty.md"), "").unwrap();
    fs::write(docs.join("line.txt"), "word ".repeat(400_000)).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("nowhere.md", docs.join("dangling.md")).unwrap();
    // A folder that is named like a page cannot be read as one, whoever asks (root may read any file).
    let index = ["index", "docs", "--into", "docs.idx", "--embedder", "none"];
    let output = without_models(folder.path()).args(index).output().unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for name in ["binary.bin", "broken.txt", "empty.md", "dangling.md"] {
        assert!(said.contains(name), "{name} is not named: {said}");
    }
    // Text in an older encoding is decoded; only broken UTF-8 is refused.
    assert!(!said.lines().any(|line| line.contains("skipped") && line.contains("latin.txt")), "{said}");
    assert!(!said.contains("good.md") && !said.contains("line.txt"), "{said}");
    assert!(said.contains("1 page holds no text: docs/empty.md"), "{said}");
    assert!(said.contains("3 of the inputs"), "{said}");

    let output =
        without_models(folder.path()).args(["search", "pollen", "--in", "docs.idx", "--json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let found: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(found["query"], "pollen");
    assert_eq!(found["mode"], "bm25");
    let hit = &found["hits"][0];
    assert_eq!(hit["rank"], 1);
    assert_eq!(hit["document"], "docs/good.md");
    let (start, end) = (hit["start"].as_u64().unwrap() as usize, hit["end"].as_u64().unwrap() as usize);
    assert_eq!(hit["text"], PAGE[start..end]);
    assert_eq!(hit["heading_path"], serde_json::json!(["Bees", "What do bees eat?"]));
    assert!(hit["score"].as_f64().unwrap() > 0.0);
}

#[test]
fn an_index_remembers_what_it_was_built_with() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.md"), PAGE).unwrap();
    let run = |extra: &[&str]| {
        let mut args = vec!["index", "a.md", "--into", "x.idx", "--embedder", "none"];
        args.extend(extra);
        without_models(folder.path()).args(args).output().unwrap()
    };
    assert_eq!(run(&["--json"]).status.code(), Some(0));
    let again: Value = serde_json::from_str(&stdout(&run(&["--json"]))).unwrap();
    let first = again["chunks"].clone();
    assert_eq!(again["documents"], 1);
    let other = run(&["--segmenter", "sentence"]);
    assert_eq!(other.status.code(), Some(2), "{}", stderr(&other));
    assert!(stderr(&other).contains("sentence") && stderr(&other).contains("structure"));
    let rebuilt = run(&["--segmenter", "sentence", "--rebuild", "--json"]);
    assert_eq!(rebuilt.status.code(), Some(0), "{}", stderr(&rebuilt));
    let rebuilt: Value = serde_json::from_str(&stdout(&rebuilt)).unwrap();
    assert_ne!(rebuilt["chunks"], first);
    let dense =
        without_models(folder.path()).args(["search", "bees", "--in", "x.idx", "--mode", "dense"]).output().unwrap();
    assert_eq!(dense.status.code(), Some(2));
    assert!(stderr(&dense).contains("--embedder minilm"), "{}", stderr(&dense));
}

#[test]
fn prune_forgets_what_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let docs = folder.path().join("docs");
    fs::create_dir(&docs).unwrap();
    fs::write(docs.join("a.md"), PAGE).unwrap();
    fs::write(docs.join("b.md"), "Foxes dig dens in banks of sand.").unwrap();
    let index = |extra: &[&str]| {
        let mut args = vec!["index", "docs", "--into", "x.idx", "--embedder", "none", "--json"];
        args.extend(extra);
        let output = without_models(folder.path()).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        serde_json::from_str::<Value>(&stdout(&output)).unwrap()
    };
    assert_eq!(index(&[])["documents"], 2);
    fs::remove_file(docs.join("b.md")).unwrap();
    assert_eq!(index(&[])["documents"], 2, "without --prune nothing is removed");
    assert_eq!(index(&["--prune"])["documents"], 1);
    let output = without_models(folder.path()).args(["search", "foxes", "--in", "x.idx", "--json"]).output().unwrap();
    assert_eq!(serde_json::from_str::<Value>(&stdout(&output)).unwrap()["hits"], serde_json::json!([]));
}

#[test]
fn a_program_that_fails_costs_its_row_and_not_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let line = r#"{"id": "a", "sentences": ["Ships sail.", "Sails fill.", "Bread rises.", "Dough rests."], "boundaries": [2]}"#;
    fs::write(folder.path().join("d.jsonl"), format!("{line}\n")).unwrap();
    let args = ["segment-eval", "--data", "d.jsonl", "-s", "sentence", "-s", "command:false", "--json"];
    let output = without_models(folder.path()).args(args).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let found: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let rows = found["results"].as_array().unwrap();
    let documents: Vec<_> = rows.iter().map(|row| (row["segmenter"].as_str(), row["documents"].as_u64())).collect();
    assert_eq!(documents, [(Some("sentence"), Some(1)), (Some("command:false"), Some(0))], "{found}");
    // Only documents of the data are sent.
    assert!(!stderr(&output).contains("probe"), "{}", stderr(&output));
}

#[test]
fn a_document_id_is_printed_once() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("1.jsonl", "First."), ("2.jsonl", "Second.")] {
        fs::write(folder.path().join(name), format!("{{\"id\": \"a\", \"text\": \"{text}\"}}\n")).unwrap();
    }
    let segment = |paths: [&str; 2]| {
        let args = [&["segment"][..], &paths, &["--tokenizer", "words", "--format", "json"]].concat();
        without_models(folder.path()).args(args).output().unwrap()
    };
    let output = segment(["1.jsonl", "2.jsonl"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(json_lines(&stdout(&output)).len(), 1);
    assert!(stderr(&output).contains("a: another document of this id"), "{}", stderr(&output));
    fs::write(folder.path().join("b.md"), "One.\n").unwrap();
    assert_eq!(json_lines(&stdout(&segment(["b.md", "./b.md"]))).len(), 1);
}

#[test]
fn what_a_page_does_not_show_is_not_indexed() {
    let folder = tempfile::tempdir().unwrap();
    let script = "var secret = 'try again later'; ".repeat(60);
    let page = format!(
        "<html><head><style>body {{ font: serif }}</style></head><body><script>{script}</script><p>Pumps need oil.</p>\
         <script>{script}</script></body></html>"
    );
    fs::write(folder.path().join("a.html"), page).unwrap();
    let run = |args: &[&str]| {
        let output = without_models(folder.path()).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        serde_json::from_str::<Value>(&stdout(&output)).unwrap()
    };
    let index =
        ["index", "a.html", "--into", "x.idx", "--embedder", "none", "--tokenizer", "words", "--max-tokens", "64"];
    let made = run(&[&index[..], &["--json"]].concat());
    assert_eq!(made["chunks"], 1, "{made}");
    assert_eq!(run(&["search", "again later", "--in", "x.idx", "--json"])["hits"].as_array().map(Vec::len), Some(0));
    assert_eq!(run(&["search", "pumps", "--in", "x.idx", "--json"])["hits"].as_array().map(Vec::len), Some(1));
}

#[test]
fn lines_without_sentences_are_cut_at_their_ends() {
    let folder = tempfile::tempdir().unwrap();
    let line =
        |i: usize| format!("2025-02-03T09:00:{i} INFO com.acme.Service - request id=10{i} took 35 ms path=/v1/{i}\n");
    fs::write(folder.path().join("app.log.txt"), (10..40).map(line).collect::<String>()).unwrap();
    for segmenter in ["structure", "sentence", "bayesseg"] {
        let args = [
            "segment",
            "app.log.txt",
            "-s",
            segmenter,
            "--max-tokens",
            "64",
            "--tokenizer",
            "words",
            "--format",
            "json",
        ];
        let output = without_models(folder.path()).args(args).output().unwrap();
        let chunks = json_lines(&stdout(&output));
        let begins = |chunk: &Value| chunk["text"].as_str().is_some_and(|text| text.starts_with("2025-"));
        assert!(chunks.len() > 3 && chunks.iter().all(begins), "{segmenter}: {}", stdout(&output));
    }
}

#[test]
fn boundaries_need_no_question() {
    let folder = tempfile::tempdir().unwrap();
    let section =
        |name: &str| format!("## {name}\n\nThe {name} is old. It is kept in a shed. Nobody has seen it for years.\n\n");
    let page: String = ["Pump", "Boat", "Mast", "Rope", "Sail", "Hull"].map(section).concat();
    fs::write(folder.path().join("a.md"), format!("# Things\n\n{page}")).unwrap();
    let made = ["dataset", "from-docs", "a.md", "--out", "q.json", "--segmentation", "s.jsonl"];
    let output = without_models(folder.path()).args(made).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("q.json was not written: no heading"), "{}", stderr(&output));
    assert!(!folder.path().join("q.json").exists());
    let lines = json_lines(&fs::read_to_string(folder.path().join("s.jsonl")).unwrap());
    assert_eq!(lines[0]["boundaries"].as_array().map(Vec::len), Some(5), "{lines:?}");
    let output = without_models(folder.path()).args(&made[..5]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_prune_takes_paths_that_are_gone_themselves() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("docs")).unwrap();
    fs::write(folder.path().join("docs/a.md"), "Owls fly.\n").unwrap();
    fs::write(folder.path().join("README.md"), "Foxes dig.\n").unwrap();
    let index = |more: &[&str]| {
        let args =
            ["index", "docs", "README.md", "--into", "x.idx", "--embedder", "none", "--tokenizer", "words", "--json"];
        without_models(folder.path()).args([&args, more].concat()).output().unwrap()
    };
    let report = |output: &Output| serde_json::from_str::<Value>(&stdout(output)).unwrap();
    assert_eq!(report(&index(&[]))["documents"], 2);
    fs::remove_file(folder.path().join("README.md")).unwrap();
    fs::write(folder.path().join("docs/b.md"), "Badgers sleep.\n").unwrap();
    assert_eq!(index(&[]).status.code(), Some(2), "without --prune a path that is not there is a mistake");
    let args = [
        "index",
        "./docs",
        "./README.md",
        "--into",
        "x.idx",
        "--embedder",
        "none",
        "--tokenizer",
        "words",
        "--prune",
        "--json",
    ];
    let found = report(&without_models(folder.path()).args(args).output().unwrap());
    assert_eq!((&found["documents"], &found["documents_removed"]), (&2.into(), &1.into()), "{found}");
    // The index has nothing of it any more.
    let output = index(&["--prune"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("README.md: no such file or folder, and none in the index"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_prune_keeps_what_could_not_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let docs = folder.path().join("docs");
    fs::create_dir(&docs).unwrap();
    fs::write(docs.join("a.md"), PAGE).unwrap();
    fs::write(docs.join("two.jsonl"), "{\"id\":\"one\",\"text\":\"Foxes.\"}\n{\"id\":\"two\",\"text\":\"Hares.\"}\n")
        .unwrap();
    let index = ["index", "docs", "--into", "docs/x.idx", "--embedder", "none", "--prune", "--json"];
    let run = || without_models(folder.path()).args(index).output().unwrap();
    let documents =
        |output: &std::process::Output| serde_json::from_str::<Value>(&stdout(output)).unwrap()["documents"].clone();
    assert_eq!(documents(&run()), 3);
    // The index lies among the documents, and is none of them.
    let again = run();
    assert_eq!((again.status.code(), documents(&again)), (Some(0), Value::from(3)), "{}", stderr(&again));
    fs::write(docs.join("two.jsonl"), "{\"id\":\"one\",\"text\":\"Foxes.\"}\n{\"id\":\"tw").unwrap();
    let broken = run();
    assert_eq!((broken.status.code(), documents(&broken)), (Some(1), Value::from(3)), "{}", stderr(&broken));
    // What is gone goes all the same.
    fs::remove_file(docs.join("a.md")).unwrap();
    let broken = run();
    assert_eq!((broken.status.code(), documents(&broken)), (Some(1), Value::from(2)), "{}", stderr(&broken));
}

#[cfg(unix)]
#[test]
fn a_prune_keeps_what_lies_where_nobody_could_look() {
    let folder = tempfile::tempdir().unwrap();
    let (docs, elsewhere) = (folder.path().join("docs"), folder.path().join("elsewhere"));
    fs::create_dir(&docs).unwrap();
    fs::create_dir(&elsewhere).unwrap();
    fs::write(docs.join("a.md"), PAGE).unwrap();
    fs::write(docs.join("b.md"), "Foxes dig dens.").unwrap();
    fs::write(elsewhere.join("c.md"), "Owls hoot.").unwrap();
    std::os::unix::fs::symlink("../elsewhere", docs.join("mounted")).unwrap();
    let index = ["index", "docs", "--into", "x.idx", "--embedder", "none", "--prune", "--json", "--follow-links"];
    let run = || without_models(folder.path()).args(index).output().unwrap();
    let documents =
        |output: &std::process::Output| serde_json::from_str::<Value>(&stdout(output)).unwrap()["documents"].clone();
    assert_eq!(documents(&run()), 3);
    fs::rename(&elsewhere, folder.path().join("away")).unwrap();
    fs::remove_file(docs.join("b.md")).unwrap();
    let dangling = run();
    assert_eq!((dangling.status.code(), documents(&dangling)), (Some(1), Value::from(2)), "{}", stderr(&dangling));
    // A link that is gone has nothing below it.
    fs::remove_file(docs.join("mounted")).unwrap();
    let gone = run();
    assert_eq!((gone.status.code(), documents(&gone)), (Some(0), Value::from(1)), "{}", stderr(&gone));
}

#[test]
fn an_index_is_written_from_inside_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("docs.idx");
    fs::create_dir(&inside).unwrap();
    fs::create_dir(folder.path().join("docs")).unwrap();
    fs::write(folder.path().join("docs/a.md"), PAGE).unwrap();
    for _ in 0..2 {
        let output = without_models(&inside)
            .args(["index", "../docs", "--into", ".", "--embedder", "none", "--prune", "--json"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(serde_json::from_str::<Value>(&stdout(&output)).unwrap()["documents"], 1);
    }
}

#[test]
fn standard_input_may_hold_many_documents() {
    let folder = tempfile::tempdir().unwrap();
    let run = |text: &'static str| {
        without_models(folder.path())
            .args(["segment", "-", "--stdin-format", "jsonl", "--format", "json"])
            .write_stdin(text)
            .output()
            .unwrap()
    };
    let two = run("{\"id\":\"a\",\"text\":\"One.\"}\n{\"id\":\"b\",\"text\":\"Two.\"}\n");
    assert_eq!(two.status.code(), Some(0), "{}", stderr(&two));
    let ids: Vec<Value> = json_lines(&stdout(&two)).into_iter().map(|c| c["document"].clone()).collect();
    assert_eq!(ids, ["a", "b"]);
    let broken = run("{\"id\":\"a\",\"text\":\"One.\"}\n{\"id\":\n");
    assert_eq!(broken.status.code(), Some(1));
    assert!(stderr(&broken).contains("line 2"), "{}", stderr(&broken));
    assert_eq!(run("").status.code(), Some(0), "nothing to cut is no failure");
}

#[test]
fn standard_input_is_decoded_as_files_are() {
    let folder = tempfile::tempdir().unwrap();
    let utf16 = "\u{feff}Grüße aus Köln. Noch ein Satz.".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let run = |bytes: Vec<u8>| {
        without_models(folder.path())
            .args(["segment", "-", "-s", "sentence", "--format", "json"])
            .write_stdin(bytes)
            .output()
            .unwrap()
    };
    let mut quiet = without_models(folder.path());
    let quiet = quiet.args(["segment", "-", "-q", "-s", "sentence"]).write_stdin(utf16.clone()).output().unwrap();
    assert!(quiet.status.success() && stderr(&quiet).is_empty(), "{}", stderr(&quiet));
    let output = run(utf16);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("Grüße aus Köln."), "{}", stdout(&output));
    assert!(stderr(&output).contains("standard input: decoded from UTF-16LE"), "{}", stderr(&output));
    let output = run(vec![b' ', b'\n']);
    assert_eq!((output.status.code(), stdout(&output)), (Some(0), String::new()));
    assert!(stderr(&output).contains("1 page holds no text: standard input"), "{}", stderr(&output));
    let output = run((0..=255).collect());
    assert_eq!(output.status.code(), Some(1), "bytes that are no text: {}", stderr(&output));
}

#[test]
fn segment_eval_prints_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let line = serde_json::json!({
        "id": "d", "source": "t", "boundaries": [3],
        "sentences": ["Bees fly.", "Bees sting.", "Bees buzz.", "Rain falls.", "Rain is wet.", "Rain ends."]
    });
    fs::write(folder.path().join("d.jsonl"), format!("{line}\n{{broken\n")).unwrap();
    let output = without_models(folder.path())
        .args(["segment-eval", "--data", "d.jsonl", "--segmenter", "sentence", "--segmenter", "texttiling", "--json"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "the broken line counts: {}", stderr(&output));
    assert!(stderr(&output).contains("d.jsonl:2"));
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(report["data"], "d.jsonl");
    assert_eq!(report["documents"], 1);
    let row = &report["results"][0];
    assert_eq!(row["segmenter"], "sentence");
    // Five boundaries are proposed, one is true.
    assert_eq!(row["precision"], 0.2);
    assert_eq!(row["recall"], 1.0);
    for key in ["pk", "window_diff", "f1", "boundary_similarity", "seconds", "sentences_per_second"] {
        assert!(row[key].is_number(), "{key}: {row}");
    }
}

#[test]
fn help_has_examples_and_completions_know_the_commands() {
    let folder = tempfile::tempdir().unwrap();
    for command in [
        vec!["segment"],
        vec!["segment-eval"],
        vec!["index"],
        vec!["search"],
        vec!["eval", "run"],
        vec!["eval", "report"],
        vec!["dataset", "from-docs"],
        vec!["models", "pull"],
        vec!["completions"],
    ] {
        let output = pericope(folder.path()).args(&command).arg("--help").output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert!(stdout(&output).contains("Example"), "{command:?}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let output = pericope(folder.path()).args(["completions", shell]).output().unwrap();
        assert!(stdout(&output).contains("segment-eval"), "{shell}");
    }
    let listed: Value =
        serde_json::from_str(&stdout(&pericope(folder.path()).args(["segmenters", "--json"]).output().unwrap()))
            .unwrap();
    let names: Vec<&str> = listed.as_array().unwrap().iter().map(|e| e["name"].as_str().unwrap()).collect();
    for name in [
        "fixed",
        "same-size",
        "sentence",
        "paragraph",
        "recursive",
        "cogltx-blocks",
        "structure",
        "window",
        "kamradt",
        "texttiling",
        "fusion",
        "graph",
        "variance",
        "cluster",
        "c99",
        "u00",
        "bayesseg",
        "random",
    ] {
        assert!(names.contains(&name), "{name}");
    }
}

#[test]
fn documentation_that_asks_nothing_is_told_what_drafts_questions() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("hives.md"), "# Hives\n\nBoxes of wood. Frames hang in them.\n").unwrap();
    let output = without_models(folder.path()).args(["dataset", "from-docs", "hives.md", "--out", "q.json"]).output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("pericope dataset draft"), "{}", stderr(&output));
}

#[test]
fn the_shipped_questions_are_what_from_docs_makes_of_the_handbook() {
    let folder = tempfile::tempdir().unwrap();
    let output = pericope(&root())
        .args(["dataset", "from-docs", "corpora/handbook", "--out"])
        .arg(folder.path().join("questions.json"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let made = fs::read_to_string(folder.path().join("questions.json")).unwrap();
    let shipped = fs::read_to_string(root().join("corpora/handbook-questions.json")).unwrap();
    assert!(made == shipped, "run: pericope dataset from-docs corpora/handbook --out corpora/handbook-questions.json");
    let made: Value = serde_json::from_str(&made).unwrap();
    let questions: usize = made["data"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|a| a["paragraphs"].as_array().unwrap())
        .map(|p| p["qas"].as_array().unwrap().len())
        .sum();
    assert!(questions >= 100, "{questions}");
}

#[test]
fn same_size_keeps_the_size_that_an_index_was_made_with() {
    let folder = tempfile::tempdir().unwrap();
    let docs = folder.path().join("docs");
    fs::create_dir(&docs).unwrap();
    fs::write(docs.join("a.md"), PAGE).unwrap();
    let index = || {
        without_models(folder.path())
            .args(["index", "docs", "--into", "i", "--embedder", "none", "--json"])
            .args(["--segmenter", "same-size:reference=paragraph"])
            .output()
            .unwrap()
    };
    let segmenter = |output: &std::process::Output| -> Value {
        assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
        serde_json::from_str::<Value>(&stdout(output)).unwrap()["segmenter"].clone()
    };
    let before = segmenter(&index());
    // Paragraphs of another size altogether.
    fs::write(docs.join("b.md"), "Word after word. ".repeat(400)).unwrap();
    assert_eq!(segmenter(&index()), before);
    let fresh = without_models(folder.path())
        .args(["index", "docs", "--into", "j", "--embedder", "none", "--json"])
        .args(["--segmenter", "same-size:reference=paragraph"])
        .output()
        .unwrap();
    assert_ne!(segmenter(&fresh), before);
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error_and_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.md"), PAGE).unwrap();
    let status = |args: &[&str]| {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = std::process::Command::new(assert_cmd::cargo::cargo_bin("pericope"))
            .current_dir(folder.path())
            .env("PERICOPE_HOME", folder.path().join("no-home"))
            .args(args)
            .stdout(full)
            .output()
            .unwrap();
        let said = stderr(&output);
        assert!(!said.contains("panicked") && said.contains("error: standard output: "), "{args:?}: {said}");
        output.status.code()
    };
    for args in [
        &["segmenters"][..],
        &["models", "list"],
        &["index", "a.md", "--into", "i", "--embedder", "none"],
        &["search", "honey", "--in", "i"],
        &["segment", "a.md"],
        &["segment", "a.md", "--format", "json"],
        &["completions", "bash"],
    ] {
        assert_eq!(status(args), Some(3), "{args:?}");
    }
    // A key that nobody saw is not kept.
    assert_eq!(status(&["keys", "add", "keys", "--name", "ops"]), Some(3));
    assert!(!folder.path().join("keys").exists());
}

#[test]
fn segment_eval_says_which_ids_it_renames() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let line = serde_json::json!({"id": "d", "sentences": ["One.", "Two.", "Three."], "boundaries": [1]});
    fs::create_dir(path.join("both")).unwrap();
    for name in ["1.jsonl", "2.jsonl"] {
        fs::write(path.join("both").join(name), format!("{line}\n")).unwrap();
    }
    let config = "set = [{ name = \"all\", path = \"both\" }]\nsegmenter = [{ name = \"s\", spec = \"sentence\" }]\n";
    fs::write(path.join("s.toml"), format!("kind = \"segmentation\"\nname = \"t\"\n{config}")).unwrap();
    let says = "1 document has the id of an earlier one and a number behind it in all that is written, the first: \"d\" is \"d#2\"";
    for (args, name) in [
        (vec!["segment-eval", "--data", "both", "-s", "sentence", "--per-document", "d.jsonl"], "both"),
        (vec!["segment-eval", "s.toml", "--out", "out"], "all"),
    ] {
        let run = |quiet: &[&str]| without_models(path).args(quiet).args(&args).output().unwrap();
        let (told, quiet) = (run(&[]), run(&["-q"]));
        assert_eq!((told.status.code(), quiet.status.code()), (Some(0), Some(0)), "{}", stderr(&told));
        assert!(stderr(&told).contains(&format!("{name}: {says}\n")), "{}", stderr(&told));
        assert!(!stderr(&quiet).contains("d#2"), "{}", stderr(&quiet));
    }
    let lines = json_lines(&fs::read_to_string(path.join("d.jsonl")).unwrap());
    assert_eq!((&lines[0]["document"], &lines[1]["document"]), (&Value::from("d"), &Value::from("d#2")));
    let summary: Value = serde_json::from_str(&fs::read_to_string(path.join("out/summary.json")).unwrap()).unwrap();
    assert_eq!(summary["sets"][0]["renamed"], serde_json::json!({"d#2": "d"}));
}

#[test]
fn segment_eval_takes_several_sets_and_draws_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let topics = ["Bees fly to flowers and make honey.", "Ships sail the sea with wind and rope."];
    let sentences: Vec<String> =
        (0..24).map(|i| format!("{} Number {i}.", topics[i / 6 % 2].trim_end_matches('.'))).collect();
    let line = serde_json::json!({"id": "d", "source": "t", "sentences": sentences, "boundaries": [6, 12, 18]});
    fs::write(path.join("d.jsonl"), format!("{line}\n")).unwrap();
    let marks: Vec<String> = sentences.chunks(6).map(|part| part.join("\n")).collect();
    fs::create_dir(path.join("choi")).unwrap();
    fs::write(path.join("choi/0.ref"), format!("==========\n{}\n==========\n", marks.join("\n==========\n"))).unwrap();
    // Two of graph, which asks for a model only where its similarity does.
    let specs = [
        "bayesseg",
        "u00",
        "c99",
        "texttiling",
        "graph:similarity=jaccard",
        "graph:similarity=sequence-matcher",
        "random",
    ];
    let mut args = vec!["segment-eval", "--data", "d.jsonl", "--data", "choi", "--known-count", "--json"];
    args.extend(["--plot", "cuts.svg", "--per-document", "cuts.jsonl"]);
    args.extend(specs.iter().flat_map(|spec| ["-s", spec]));
    let output = without_models(path).args(&args).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let sets = report["sets"].as_array().unwrap();
    assert_eq!((sets[0]["data"].as_str(), sets[1]["data"].as_str()), (Some("d.jsonl"), Some("choi")));
    for set in sets {
        for (row, spec) in set["results"].as_array().unwrap().iter().zip(specs) {
            assert_eq!((row["segmenter"].as_str(), row["proposed_over_true"].as_f64()), (Some(spec), Some(1.0)));
        }
        assert_eq!(set["results"][0]["f1"], 1.0, "bayesseg knows where the words change");
        let verdict = set["verdict"].as_str().unwrap();
        assert!(verdict.contains(": beside bayesseg by Pk, corrected over 6 comparisons: "), "{verdict}");
    }
    // The two layouts hold the same document.
    assert_eq!(sets[0]["results"][2]["pk"], sets[1]["results"][2]["pk"]);
    assert!(fs::read_to_string(path.join("cuts.svg")).unwrap().contains("bayesseg"));
    let lines = json_lines(&fs::read_to_string(path.join("cuts.jsonl")).unwrap());
    assert_eq!(lines.len(), 2 * specs.len());
    assert_eq!(lines[0]["hypothesis"], serde_json::json!([6, 12, 18]));

    // What cannot be told the number says so before anything runs.
    let output = without_models(path)
        .args(["segment-eval", "--data", "d.jsonl", "-s", "bayesseg", "-s", "fixed", "--known-count"])
        .output()
        .unwrap();
    assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(2), true), "{}", stderr(&output));
    let twice = ["segment-eval", "--data", "d.jsonl", "--data", "d.jsonl", "-s", "bayesseg"];
    let output = without_models(path).args(twice).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("twice"), "{}", stderr(&output));

    // A mark at the beginning of a file is no part of it.
    fs::write(path.join("marked.jsonl"), format!("\u{feff}{line}\n")).unwrap();
    let marked = ["segment-eval", "--data", "marked.jsonl", "-s", "bayesseg"];
    assert_eq!(without_models(path).args(marked).output().unwrap().status.code(), Some(0));

    let config = "name = \"t\"\nset = [{ name = \"small\", path = \"d.jsonl\" }]\n\
        segmenter = [{ name = \"bayes\", spec = \"bayesseg\", known = true }, { name = \"u00\", spec = \"u00\" }]\n\
        published = [{ system = \"them\", set = \"small\", pk = 12.5, source = \"a paper\" }]\n";
    fs::write(path.join("s.toml"), config).unwrap();
    for (command, out) in [(&["segment-eval"][..], "a"), (&["eval", "run"], "b")] {
        let output = without_models(path).args(command).args(["s.toml", "--out", out]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(fs::read_to_string(path.join(out).join("index.html")).unwrap().contains("them"));
        let summary: Value =
            serde_json::from_str(&fs::read_to_string(path.join(out).join("summary.json")).unwrap()).unwrap();
        assert!(summary.to_string().contains("bayes"));
        // The sentence of the report is that of the terminal and of the figures.
        let verdict = summary["sets"][0]["verdict"].as_str().unwrap();
        assert!(verdict.starts_with("small: beside bayes by Pk, corrected over 1 comparison: "), "{verdict}");
        assert!(stdout(&output).contains(&format!("\n{verdict}\n")), "{}", stdout(&output));
        assert!(fs::read_to_string(path.join(out).join("segments.md")).unwrap().contains(verdict));
    }
    // Without a file, too; one segmenter alone has nothing beside it.
    let two = ["segment-eval", "--data", "d.jsonl", "-s", "bayesseg", "-s", "u00"];
    let output = without_models(path).args(two).output().unwrap();
    assert!(stdout(&output).contains("\nd.jsonl: beside bayesseg by Pk, corrected over 1 comparison: "));
    let output = without_models(path).args(["segment-eval", "--data", "d.jsonl", "-s", "u00"]).output().unwrap();
    assert!(!stdout(&output).contains("beside"), "{}", stdout(&output));
}

#[test]
fn synthetic_documents_have_their_joins_for_boundaries() {
    let folder = tempfile::tempdir().unwrap();
    let output = pericope(&root())
        .args(["dataset", "synthetic", "corpora/handbook", "--documents", "5", "--parts", "3", "--sentences", "4-6"])
        .arg("--out")
        .arg(folder.path().join("joined.jsonl"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let lines = json_lines(&fs::read_to_string(folder.path().join("joined.jsonl")).unwrap());
    assert_eq!(lines.len(), 5);
    for line in &lines {
        let ends: Vec<u64> = line["boundaries"].as_array().unwrap().iter().map(|b| b.as_u64().unwrap()).collect();
        let n = line["sentences"].as_array().unwrap().len() as u64;
        assert_eq!(ends.len(), 2);
        assert!(
            (4..=6).contains(&ends[0]) && (4..=6).contains(&(ends[1] - ends[0])) && (4..=6).contains(&(n - ends[1]))
        );
        let from: std::collections::BTreeSet<&str> =
            line["headings"].as_array().unwrap().iter().map(|h| h.as_str().unwrap()).collect();
        assert_eq!(from.len(), 3, "parts of different articles");
    }
}

/// A base model, a training, a tuned model and its figures on documents that it has not seen.
#[test]
fn a_model_is_trained_tuned_and_used() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let data = root().join("crates/learn/tests/golden/training");
    let documents = data.join("documents.jsonl").display().to_string();
    let base = Path::new(&at("base")).to_owned();
    fs::create_dir(&base).unwrap();
    for file in ["config.json", "model.safetensors", "tokenizer.json"] {
        fs::copy(data.join(file), base.join(file)).unwrap();
    }
    let train = || {
        let mut command = without_models(folder.path());
        command.args(["train", "weswin", "--data", &documents, "--base", "./base", "--out", "model"]);
        command.args(["--tokens", "48", "--frozen", "0", "--batch", "4", "--epochs", "12", "--patience", "20"]);
        command.args(["--learning-rate", "0.002", "--head-learning-rate", "0.02", "--json"]);
        command.output().unwrap()
    };
    let output = train();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let summary: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let parts = ["train", "validation", "test"].map(|part| summary["documents"][part].as_u64().unwrap());
    assert!(parts.iter().sum::<u64>() == 30 && parts.iter().all(|&n| n > 0), "{parts:?}");
    assert!(summary["validation_f1"].as_f64().unwrap() > 0.3, "{}", summary["validation_f1"]);
    assert!(folder.path().join("model/training.json").is_file());
    assert!(summary["questions"]["train"] == 0 && summary["validations"].as_array().unwrap().len() > 3, "{summary}");
    // The base model is named from the model's folder, not from where training happened to run.
    assert_eq!(summary["settings"]["base"], "../base");
    fs::create_dir(at("elsewhere")).unwrap();
    fs::write(at("elsewhere/a.txt"), "The ship is with the pilot. A sailor and the anchor. Bread of flour.").unwrap();
    let mut segment = without_models(&folder.path().join("elsewhere"));
    let segment = segment.args(["segment", "a.txt", "--segmenter", "weswin:model=../model"]).output().unwrap();
    assert_eq!(segment.status.code(), Some(0), "{}", stderr(&segment));
    // The same command has nothing left to do; another one is refused.
    assert_eq!(train().status.code(), Some(0));
    let mut other = without_models(folder.path());
    other.args(["train", "weswin", "--data", &documents, "--base", "base", "--out", "model"]);
    let other = other.args(["--tokens", "48", "--frozen", "0", "--seed", "8"]).output().unwrap();
    assert_eq!(other.status.code(), Some(2));
    assert!(stderr(&other).contains("another training"), "{}", stderr(&other));

    // Nor does a model go on from itself.
    let mut same = without_models(folder.path());
    same.args(["train", "weswin", "--data", &documents, "--base", "./base", "--start", "model", "--out", "model"]);
    let same = same.args(["--tokens", "48", "--frozen", "0"]).output().unwrap();
    assert_eq!(same.status.code(), Some(2));
    assert!(stderr(&same).contains("is what training begins from"), "{}", stderr(&same));

    // Who goes on from changes of low rank goes on with their rank.
    let low = |start: &str, out: &str, more: &[&str]| {
        let mut command = without_models(folder.path());
        command.args(["train", "weswin", "--data", &documents, "--base", "./base", "--out", out, "--max-steps", "1"]);
        if !start.is_empty() {
            command.args(["--start", start]);
        }
        command.args(["--tokens", "48", "--frozen", "0", "--json"]).args(more).output().unwrap()
    };
    assert_eq!(low("", "low", &["--rank", "2"]).status.code(), Some(0));
    let again = low("low", "again", &[]);
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
    let rank = |output: &Output| serde_json::from_str::<Value>(&stdout(output)).unwrap()["options"]["rank"].clone();
    assert_eq!(rank(&again), 2);
    let refused = low("low", "other", &["--rank", "3"]);
    assert_eq!(refused.status.code(), Some(3));
    assert!(stderr(&refused).contains("changes of rank 2"), "{}", stderr(&refused));

    let plain = "{\"id\":\"a\",\"sentences\":[\"The ship.\",\"The tide.\"],\"boundaries\":[]}\nno document\n";
    fs::write(at("plain.jsonl"), plain).unwrap();
    fs::write(at("none.toml"), "kind = 'tune'\nmodel = 'model'\ndata = ['plain.jsonl']\n").unwrap();
    let none = without_models(folder.path()).args(["tune", "none.toml"]).output().unwrap();
    assert_eq!(none.status.code(), Some(2));
    // What could not be read is told first.
    let told = stderr(&none);
    assert!(told.contains("none.toml: no document to tune on has a boundary"), "{told}");
    assert!(told.find("plain.jsonl:2") < told.find("none.toml"), "{told}");

    let config = format!(
        "model = 'model'\ndata = ['{documents}']\npart = 'validation'\npartitions = ['cr-1', 'ss-2']\nwrite = true\n"
    );
    fs::write(at("tune.toml"), config).unwrap();
    let tuned = without_models(folder.path()).args(["tune", "tune.toml", "--json"]).output().unwrap();
    assert_eq!(tuned.status.code(), Some(0), "{}", stderr(&tuned));
    let tuned: Value = serde_json::from_str(&stdout(&tuned)).unwrap();
    assert_eq!(tuned["tried"].as_array().unwrap().len(), 1 + 13);
    let best = tuned["best"]["f1"].as_f64().unwrap();
    assert!(tuned["tried"].as_array().unwrap().iter().all(|row| row["f1"].as_f64().unwrap() <= best));
    let wrong =
        without_models(folder.path()).args(["tune", "tune.toml", "--set", "partitions=['x-1']"]).output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("no partition"), "{}", stderr(&wrong));

    let score = |part: &str| {
        let mut command = without_models(folder.path());
        command.args(["segment-eval", "--data", &documents, "--part", part, "-s", "weswin:model=model", "--json"]);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        serde_json::from_str::<Value>(&stdout(&output)).unwrap()
    };
    let [train, validation, test] = ["train", "validation", "test"].map(score);
    let counted = [&train, &validation, &test].map(|set| set["documents"].as_u64().unwrap());
    assert_eq!(counted, parts);
    // Tuning and scoring measure the same.
    assert!((validation["results"][0]["f1"].as_f64().unwrap() - best).abs() < 1e-9);
}

#[test]
fn an_nsp_model_is_trained_and_used() {
    let folder = tempfile::tempdir().unwrap();
    let data = root().join("crates/learn/tests/golden/training");
    let documents = data.join("documents.jsonl").display().to_string();
    let mut train = without_models(folder.path());
    train.args(["train", "nsp", "--data", &documents, "--base", &data.display().to_string(), "--out", "model"]);
    train.args(["--tokens", "48", "--frozen", "0", "--epochs", "2", "--half", "--json"]);
    let output = train.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let summary: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let validations = summary["validations"].as_array().unwrap();
    assert!(!validations.is_empty() && validations.iter().all(|v| v["accuracy"].as_f64().unwrap() > 0.3));
    fs::write(folder.path().join("a.txt"), "The ship is with the pilot. A sailor and the anchor. Bread of flour.")
        .unwrap();
    for (spec, chunks) in [("nsp:model=model,p=1", 3), ("nsp:model=model,p=0", 1)] {
        let mut segment = without_models(folder.path());
        segment.args(["segment", "a.txt", "--segmenter", spec, "--format", "json"]);
        let output = segment.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(json_lines(&stdout(&output)).len(), chunks, "{spec}");
    }
}

#[test]
fn a_file_that_does_not_name_its_kind_is_told_and_run_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/v0.1");
    fs::copy(fixtures.join("questions.json"), folder.path().join("questions.json")).unwrap();
    let config = "name = \"old\"\n[data]\nkind = \"squad\"\npath = \"questions.json\"\n[retrieval]\nembedder = \"none\"\n\
        modes = [\"bm25\"]\nk = [1]\n[[chunker]]\nname = \"a\"\nspec = \"fixed:words=20\"\n";
    fs::write(folder.path().join("old.toml"), config).unwrap();
    fs::write(folder.path().join("new.toml"), format!("kind = \"retrieval\"\n{config}")).unwrap();
    let note = "old.toml: taken for kind = \"retrieval\" by its keys";
    for (file, quiet, noted) in [("old.toml", false, true), ("old.toml", true, false), ("new.toml", false, false)] {
        let mut command = without_models(folder.path());
        command.args(["eval", "run", file, "--out", "out"]);
        if quiet {
            command.arg("--quiet");
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(stderr(&output).contains(note), noted, "{file}: {}", stderr(&output));
    }
}
