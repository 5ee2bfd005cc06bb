//! Embedders that a server runs.

use std::fs;

use pericope_testkit::llm::{Act, Seen, Server};

use crate::common::{stderr, stdout, without_models};

/// An index remembers what embedded it by a name, which must ask for the same vectors again.
#[test]
fn an_index_with_shortened_vectors_is_searched() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.md"), "The badger slept in the garden.\n").unwrap();
    let server = Server::start(|_| String::new(), |_| Act::Answer).unwrap();
    let run = |args: &[&str]| {
        let mut command = without_models(folder.path());
        command.env("OPENAI_BASE_URL", server.base_url()).env_remove("OPENAI_API_KEY");
        let output = command.args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
        stdout(&output)
    };
    for embedder in ["openai:ok:4", "openai:ok", "openai:ok:4,prompts=none", "openai:nomic-embed-text:3"] {
        let index = ["index", "a.md", "--into", "i", "--rebuild", "--tokenizer", "words", "--embedder", embedder];
        run(&index);
        let found = run(&["search", "--in", "i", "--mode", "dense", "badger", "--json"]);
        assert!(found.contains("slept in the garden"), "{embedder}: {found}");
    }
    let log = server.log();
    let last = log.last().unwrap();
    assert_eq!(last.body["dimensions"], 3);
    assert_eq!(last.body["input"][0], "search_query: badger");
}

#[test]
fn texts_that_are_too_long_for_a_server_are_told_of() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.md", "b.md"] {
        fs::write(folder.path().join(name), format!("{name} {}\n", "word ".repeat(200))).unwrap();
    }
    let plan = |seen: &Seen| {
        let long = |text: &serde_json::Value| text.as_str().is_some_and(|text| text.len() > 500);
        let is_long = seen.body["input"].as_array().unwrap().iter().any(long);
        if is_long { Act::TooLong } else { Act::Answer }
    };
    let server = Server::start(|_| String::new(), plan).unwrap();
    let args = ["index", "a.md", "b.md", "--into", "i", "--tokenizer", "words", "--embedder", "openai:ok:4"];
    let output = without_models(folder.path()).env("OPENAI_BASE_URL", server.base_url()).args(args).output().unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_eq!(said.matches("is longer than the model reads, and its end is left out").count(), 1, "{said}");
    assert!(said.contains("2 of 2 chunks are longer than openai:ok:4 reads"), "{said}");
}
