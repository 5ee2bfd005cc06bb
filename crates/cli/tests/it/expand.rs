//! `pericope search --expand`, in a folder and on a server.

use std::fs;
use std::path::Path;

use crate::common::{SMALL_EXPERIMENT, search, stderr, stdout, three_questions, without_models};
use pericope_testkit::qdrant::Server;
use serde_json::{Value, json};

const PAGE: &str = "# Pumps\n\nPrime the pump before use. Water rises at once.\n\n## Errors\n\nThe pump hums. It stays dry. \
    Bleed it.\n\n## Care\n\nOil the seals each spring. Drain it before a frost.\n";

/// A page of sections and another one, cut into sentences, in a folder and on the server.
fn indexed(folder: &Path, server: &Server) -> [String; 2] {
    fs::create_dir(folder.join("docs")).unwrap();
    fs::write(folder.join("docs/pump.md"), PAGE).unwrap();
    fs::write(folder.join("docs/owl.txt"), "Owls hoot at night. A pump does not.").unwrap();
    let places = ["x.idx".to_owned(), server.url("docs")];
    for place in &places {
        let index = ["index", "docs", "--into", place, "--segmenter", "sentence", "--tokenizer", "words"];
        let output = without_models(folder).args(index).args(["--embedder", "hashed"]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
    places
}

#[test]
fn a_section_comes_in_place_of_its_sentences() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Server::start().unwrap());
    let folder = folder.path();
    for place in indexed(folder, &server) {
        for mode in ["bm25", "dense", "hybrid"] {
            let find = |query: &str, extra: &[&str]| {
                search(folder, &place, query, &[&["--mode", mode, "--k", "1"], extra].concat())["hits"][0].clone()
            };
            let plain = find("stays", &[]);
            assert_eq!(plain["text"], "It stays dry.");
            assert_eq!(plain["chunks"], Value::Null);
            let section = find("stays", &["--expand", "parent", "--expand-tokens", "20"]);
            let at = PAGE.find("## Errors").unwrap();
            let end = PAGE.find("\n\n## Care").unwrap();
            assert_eq!(section["text"], PAGE[at..end]);
            assert_eq!((&section["start"], &section["end"]), (&json!(at), &json!(end)), "{place} {mode}");
            assert_eq!(section["heading_path"], json!(["Pumps", "Errors"]));
            assert_eq!((&section["id"], &section["score"]), (&plain["id"], &plain["score"]));
            assert_eq!((section["chunks"].as_array().unwrap().len(), &section["lines"]), (3, &json!([5, 7])));
            assert!(section["tokens"].as_u64().unwrap() <= 20);
            let whole = find("stays", &["--expand", "parent"]);
            assert_eq!(whole["text"], PAGE.trim_end());
            let around = find("bleed", &["--expand", "neighbours:1"]);
            assert_eq!(around["text"], "It stays dry. Bleed it.\n\n## Care\n\nOil the seals each spring.");
            assert_eq!(around["heading_path"], json!(["Pumps"]));
        }
        // Two of the three sentences of a section; one stands between them.
        for expand in ["merge", "segment"] {
            let answer = search(folder, &place, "hums bleed", &["--expand", expand, "--mode", "bm25"]);
            assert_eq!(answer["hits"].as_array().unwrap().len(), 1, "{answer}");
            let text = answer["hits"][0]["text"].as_str().unwrap();
            assert!(text.starts_with("## Errors") && text.ends_with("Bleed it."), "{answer}");
        }
        let groups = search(folder, &place, "pump", &["--expand", "parent", "--group", "--mode", "bm25"]);
        assert_eq!(groups["groups"].as_array().unwrap().len(), 2);
        assert!(groups["groups"][0]["hits"][0]["chunks"].as_array().unwrap().len() > 1);
    }
}

#[test]
fn people_see_all_of_an_expanded_hit() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Server::start().unwrap());
    let folder = folder.path();
    let [place, _] = indexed(folder, &server);
    let run = |extra: &[&str]| {
        without_models(folder).args(["search", "hums", "--in", &place, "--mode", "bm25"]).args(extra).output().unwrap()
    };
    let said = stdout(&run(&["--expand", "neighbours:2"]));
    assert!(said.contains("## Errors") && said.contains("It stays dry. Bleed it."), "{said}");
    assert!(!stdout(&run(&[])).contains("Bleed it."));
    for (wrong, says) in [
        (&["--expand", "parents"][..], "none, parent, merge, neighbours:N"),
        (&["--expand", "parent", "--context", "1"], "--context"),
        (&["--expand", "parent", "--expand-tokens", "0"], "from 1 on"),
        // What would be ignored is refused.
        (&["--expand-tokens", "9"], "--expand <HOW>"),
        (&["--rerank-depth", "9"], "--rerank <SPEC>"),
        (&["--repeat", "9"], "--timing"),
    ] {
        let output = run(wrong);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
    }
}

#[test]
fn an_experiment_compares_expansions_at_equal_budgets() {
    let folder = tempfile::tempdir().unwrap();
    three_questions(folder.path());
    let mut experiment = SMALL_EXPERIMENT.split("[[chunker]]").next().unwrap().to_owned();
    let expansions = ["none", "parent", "neighbours:1", "merge", "segment"];
    for expand in expansions {
        experiment += &format!("[[chunker]]\nname = \"{expand}\"\nspec = \"sentence\"\nexpand = \"{expand}\"\n");
    }
    fs::write(folder.path().join("small.toml"), experiment).unwrap();
    let run = |out: &str, extra: &[&str]| {
        let args = ["eval", "run", "small.toml", "--out", out, "--set", "retrieval.token_budgets=[10]"];
        let output = without_models(folder.path()).args(args).args(extra).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let read = |name: &str| fs::read_to_string(folder.path().join(out).join(name)).unwrap();
        let summary: Value = serde_json::from_str(&read("summary.json")).unwrap();
        let items: Vec<Value> = read("items.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        (summary, items)
    };
    let (summary, items) = run("out", &[]);
    let row = |name: &str| summary["chunkers"].as_array().unwrap().iter().find(|row| row["name"] == name).unwrap();
    assert_eq!((row("none").get("expand"), &row("parent")["expand"]), (None, &json!("parent")));
    assert_eq!(row("parent")["expand_tokens"], 512);
    for expand in expansions {
        assert_eq!(row(expand)["index_seconds"], row("none")["index_seconds"], "one index for all");
        assert_eq!(row(expand)["chunks"], 9);
    }
    let item = |name: &str, k: Value| {
        items.iter().find(|item| item["chunker"] == name && item["k"] == k && item["question_id"] == "q0").unwrap()
    };
    let whole = "The wind blew over the hill. The badger slept in the garden all day. It was late by then.";
    let first = |name: &str| &item(name, json!(1))["retrieved"][0];
    assert_eq!(first("none")["text"], "The badger slept in the garden all day.");
    for expand in ["parent", "neighbours:1"] {
        let found = first(expand);
        assert_eq!((&found["text"], &found["tokens"], &found["chunks"]), (&json!(whole), &json!(22), &json!(3)));
        // Within a budget only its beginning is given.
        let cut = item(expand, Value::Null);
        assert_eq!((&cut["context_tokens"], &cut["retrieved"][0]["whole_tokens"]), (&json!(10), &json!(22)));
    }
    for cell in summary["cells"].as_array().unwrap() {
        let is_plain = cell["chunker"] == "none";
        for metric in ["ndcg", "precision_omega"] {
            assert_eq!(cell["metrics"][metric].is_number(), is_plain, "{metric} of {cell}");
        }
        assert!(cell["token_budget"].is_null() || cell["context_tokens"].as_f64().unwrap() <= 10.0, "{cell}");
    }
    // For all chunkers that say nothing, and with another limit.
    let all = ["--set", "chunker=[{name=\"s\",spec=\"sentence\"}]", "--set", "retrieval.expand=\"parent\""];
    let (_, items) = run("all", &[&all[..], &["--set", "retrieval.expand_tokens=16"]].concat());
    assert_eq!(items[0]["retrieved"][0]["chunks"], 2, "{}", items[0]);
}

#[test]
fn the_embedder_reads_headings_where_it_is_told_to() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Server::start().unwrap());
    let folder = folder.path();
    for place in indexed(folder, &server) {
        let run = |extra: &[&str]| {
            let args = ["index", "docs", "--into", &place, "--segmenter", "sentence", "--tokenizer", "words", "--json"];
            without_models(folder).args(args).args(["--embedder", "hashed"]).args(extra).output().unwrap()
        };
        let embedded = |output: std::process::Output| {
            assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
            serde_json::from_str::<Value>(&stdout(&output)).unwrap()["texts_embedded"].as_u64().unwrap()
        };
        // A sentence without the words of its heading.
        let found = || {
            let hits = search(folder, &place, "errors", &["--mode", "dense", "--k", "20"])["hits"].take();
            let hits = hits.as_array().unwrap().clone();
            hits.into_iter().find(|hit| hit["text"] == "It stays dry.").unwrap()
        };
        let plain = found();
        let other = run(&["--prefix-headings"]);
        assert_eq!(other.status.code(), Some(2));
        assert!(
            stderr(&other).contains("heading prefix") && stderr(&other).contains("--rebuild"),
            "{}",
            stderr(&other)
        );
        assert!(embedded(run(&["--prefix-headings", "--rebuild"])) > 0);
        let below = found();
        assert!(below["score"].as_f64() > plain["score"].as_f64(), "{plain} {below}");
        for key in ["start", "end", "text", "tokens", "heading_path", "lines"] {
            assert_eq!(below[key], plain[key], "what is stored stays as it is");
        }
        // Words are looked for in the text as before.
        let by_words = |query: &str| search(folder, &place, query, &["--mode", "bm25"])["hits"][0]["text"].clone();
        assert_eq!(by_words("dry"), "It stays dry.");
        assert_eq!(embedded(run(&["--prefix-headings"])), 0);
        assert_eq!(run(&[]).status.code(), Some(2));
    }
}

#[test]
fn chunks_may_be_embedded_within_their_documents() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Server::start().unwrap());
    let folder = folder.path();
    for place in indexed(folder, &server) {
        let run = |extra: &[&str]| {
            let args = ["index", "docs", "--into", &place, "--segmenter", "sentence", "--tokenizer", "words", "--json"];
            without_models(folder).args(args).args(["--embedder", "hashed"]).args(extra).output().unwrap()
        };
        let embedded = |output: std::process::Output| {
            assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
            serde_json::from_str::<Value>(&stdout(&output)).unwrap()["texts_embedded"].as_u64().unwrap()
        };
        // A word of another sentence of its document.
        let found = || {
            let hits = search(folder, &place, "frost", &["--mode", "dense", "--k", "20"])["hits"].take();
            let hits = hits.as_array().unwrap().clone();
            hits.into_iter().find(|hit| hit["text"] == "It stays dry.").unwrap()
        };
        let plain = found();
        let other = run(&["--late-chunking"]);
        assert_eq!(other.status.code(), Some(2));
        assert!(stderr(&other).contains("late chunking") && stderr(&other).contains("--rebuild"), "{}", stderr(&other));
        assert!(embedded(run(&["--late-chunking", "--rebuild"])) > 0);
        let within = found();
        assert!(within["score"].as_f64() > plain["score"].as_f64(), "{plain} {within}");
        for key in ["start", "end", "text", "tokens", "heading_path", "lines"] {
            assert_eq!(within[key], plain[key], "what is stored stays as it is");
        }
        assert_eq!(embedded(run(&["--late-chunking"])), 0);
        assert_eq!(run(&[]).status.code(), Some(2));
        let both = run(&["--late-chunking", "--prefix-headings"]);
        assert_eq!(both.status.code(), Some(2));
        assert!(stderr(&both).contains("cannot be used with"), "{}", stderr(&both));
    }
}

#[test]
fn an_experiment_compares_late_chunking_with_the_same_chunks_by_themselves() {
    let folder = tempfile::tempdir().unwrap();
    three_questions(folder.path());
    fs::write(folder.path().join("small.toml"), SMALL_EXPERIMENT).unwrap();
    let run = |out: &str, extra: &[&str]| {
        let args = ["eval", "run", "small.toml", "--out", out, "--set", "retrieval.embedder=\"hashed\""];
        let dense = ["--set", "retrieval.modes=[\"dense\"]", "--set", "retrieval.k=[1]"];
        without_models(folder.path()).args(args).args(dense).args(extra).output().unwrap()
    };
    let chunkers = "chunker=[{name=\"plain\",spec=\"sentence\"},{name=\"late\",spec=\"sentence\",late_chunking=true}]";
    let output = run("out", &["--set", chunkers]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let summary = fs::read_to_string(folder.path().join("out/summary.json")).unwrap();
    let summary: Value = serde_json::from_str(&summary).unwrap();
    let rows = summary["chunkers"].as_array().unwrap();
    assert_eq!((&rows[0]["late_chunking"], &rows[1]["late_chunking"]), (&Value::Null, &json!(true)));
    assert_eq!(rows[0]["chunks"], rows[1]["chunks"]);
    let items = fs::read_to_string(folder.path().join("out/items.jsonl")).unwrap();
    let items: Vec<Value> = items.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let scores = |chunker: &str| {
        let own = items.iter().filter(|item| item["chunker"] == chunker);
        own.map(|item| item["retrieved"][0]["score"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(scores("plain").len(), scores("late").len());
    assert_ne!(scores("plain"), scores("late"));
    let both = run("both", &["--set", chunkers, "--set", "chunker.late.prefix_headings=true"]);
    assert_eq!(both.status.code(), Some(2));
    assert!(
        stderr(&both).contains("chunker 'late': late_chunking goes neither with prefix_headings nor with context"),
        "{}",
        stderr(&both)
    );
}

#[test]
fn a_project_may_want_headings_read() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let output = without_models(folder.path()).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output)
    };
    fs::write(folder.path().join("pump.md"), PAGE).unwrap();
    run(&["init", "--embedder", "hashed"]);
    let settings = folder.path().join(".pericope/pericope.toml");
    let written = fs::read_to_string(&settings).unwrap();
    assert!(written.contains("\nprefix_headings = false\n"), "{written}");
    fs::write(&settings, written.replace("prefix_headings = false", "prefix_headings = true")).unwrap();
    let report: Value = serde_json::from_str(&run(&["index", "--json"])).unwrap();
    // Room for the headings.
    assert_eq!(report["segmenter"], "structure:max_tokens=224");
    let about = fs::read_to_string(folder.path().join(".pericope/index/pericope.json")).unwrap();
    let about: Value = serde_json::from_str(&about).unwrap();
    assert_eq!(about["embedder"]["prefix_headings"], true);
    // Without an embedder nobody reads them, and the limit is as ever.
    let words: Value = serde_json::from_str(&run(&["index", "--embedder", "none", "--rebuild", "--json"])).unwrap();
    assert_eq!(words["segmenter"], "structure:max_tokens=256");
}
