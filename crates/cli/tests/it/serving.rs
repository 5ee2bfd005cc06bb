//! `pericope serve` and `pericope keys`, as people run them.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use pericope_testkit::llm::{Act, Server as Rerankers};
use serde_json::Value;

use crate::common::{folder_with, root, stderr, stdout, without_models};

/// A server that a test started; it ends with the test.
struct Serving {
    child: Child,
    lines: Receiver<String>,
    address: SocketAddr,
}

impl Serving {
    fn start(folder: &Path, extra: &[&str]) -> Self {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin("pericope"))
            .current_dir(folder)
            .env("PERICOPE_HOME", folder.join("no-home"))
            .args(["serve", "--in", "docs.idx", "--bind", "127.0.0.1:0"])
            .args(extra)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let errors = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || errors.lines().map_while(Result::ok).for_each(|line| drop(sender.send(line))));
        let told = loop {
            let line = lines.recv_timeout(Duration::from_secs(60)).expect("the address is told");
            if let Some((_, address)) = line.split_once(" at http://") {
                break address.split('/').next().unwrap().parse().unwrap();
            }
        };
        Self { child, lines, address: told }
    }

    fn get(&self, path: &str, headers: &str) -> (u16, String) {
        self.ask("GET", path, headers)
    }

    fn ask(&self, method: &str, path: &str, headers: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let length = if method == "POST" { "Content-Length: 0\r\n" } else { "" };
        write!(stream, "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{length}{headers}\r\n")
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    fn found(&self, query: &str) -> usize {
        let (status, body) = self.get(&format!("/v1/search?mode=bm25&q={query}"), "");
        assert_eq!(status, 200, "{body}");
        serde_json::from_str::<Value>(&body).unwrap()["hits"].as_array().unwrap().len()
    }

    fn wait_for(&self, what: &str) {
        while !self.lines.recv_timeout(Duration::from_secs(60)).expect(what).contains(what) {}
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn until(mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it did not come about within a minute");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn indexed() -> tempfile::TempDir {
    let folder = folder_with(&[
        ("guide/tides.md", "# Tides\n\nThe moon pulls the sea."),
        ("bread.md", "# Bread\n\nA starter keeps."),
    ]);
    let flags = [
        "index",
        "docs",
        "--into",
        "docs.idx",
        "--embedder",
        "hashed",
        "--tokenizer",
        "words",
        "-s",
        "structure:max_tokens=60",
    ];
    let output = without_models(folder.path()).args(flags).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    folder
}

#[test]
fn a_folder_is_served() {
    let folder = indexed();
    let flags = ["--url-prefix", "https://example.org/x", "--url-root", "docs", "--url-strip", "md"];
    let mut server = Serving::start(folder.path(), &flags);
    let (status, body) = server.get("/v1/search?q=moon", "X-Request-Id: trace-7\r\n");
    let answer: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, answer["mode"].as_str()), (200, Some("hybrid")));
    assert_eq!(answer["hits"][0]["url"], "https://example.org/x/guide/tides#tides");
    server.wait_for("\"request_id\":\"trace-7\"");
    #[cfg(unix)]
    {
        let pid = server.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        assert_eq!(server.child.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn a_server_reranks_by_what_it_was_started_with() {
    let folder = indexed();
    // Bread is best, whatever is asked.
    let score = |text: &Value| if text.as_str().unwrap().contains("starter") { 2.5 } else { 0.5 };
    let service = Rerankers::start(
        |_| String::new(),
        move |seen| {
            let texts = seen.body["texts"].as_array().unwrap().iter().enumerate();
            let scores = texts.map(|(i, text)| serde_json::json!({"index": i, "score": score(text)}));
            Act::Raw(200, Value::from(scores.collect::<Vec<_>>()).to_string())
        },
    )
    .unwrap();
    let tei = format!("tei={}/rerank", service.base_url());
    let server = Serving::start(folder.path(), &["--rerank", &tei, "--rerank-depth", "20"]);
    let search = |more: &str| {
        let (status, body) = server.get(&format!("/v1/search?q=moon&mode=dense{more}"), "");
        (status, serde_json::from_str::<Value>(&body).unwrap())
    };
    let (status, answer) = search("");
    let best = &answer["hits"][0];
    assert_eq!((status, answer["rerank"].as_str(), best["score"].as_f64()), (200, Some("tei"), Some(2.5)), "{answer}");
    assert!(best["text"].as_str().unwrap().contains("starter"));
    let calls = service.calls();
    let (status, plain) = search("&rerank=none");
    assert_eq!((status, plain["hits"][0]["document"].as_str()), (200, Some("docs/guide/tides.md")));
    assert_eq!(service.calls(), calls);
    let (status, problem) = search("&rerank=http");
    assert_eq!((status, problem["code"].as_str()), (400, Some("no-such-reranker")), "{problem}");
    // What cannot be opened ends the server before it begins.
    for (spec, says) in [("none=weswin", "pericope models pull minilm"), ("bge", "there is no reranker `bge`")] {
        let args = ["serve", "--in", "docs.idx", "--bind", "127.0.0.1:0", "--rerank", spec];
        let output = without_models(folder.path()).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
    }
}

#[test]
fn keys_are_made_listed_and_removed() {
    let folder = indexed();
    let keys = |args: &[&str]| without_models(folder.path()).arg("keys").args(args).output().unwrap();
    let added = keys(&["add", "keys", "--name", "ops", "--scope", "admin"]);
    assert!(added.status.success() && stderr(&added).contains("shown this once"), "{}", stderr(&added));
    let key = stdout(&added).trim().to_owned();
    assert!(key.starts_with("pericope_") && !fs::read_to_string(folder.path().join("keys")).unwrap().contains(&key));
    assert_eq!(keys(&["add", "keys", "--name", "ops"]).status.code(), Some(2));
    assert_eq!(keys(&["add", "keys", "--name", "a b"]).status.code(), Some(2));
    assert!(keys(&["add", "keys", "--name", "site"]).status.success());
    let listed: Value = serde_json::from_str(&stdout(&keys(&["list", "keys", "--json"]))).unwrap();
    assert_eq!(listed, serde_json::json!([{ "name": "ops", "scope": "admin" }, { "name": "site", "scope": "search" }]));
    assert_eq!(stdout(&keys(&["list", "keys"])), "ops  admin\nsite  search\n");
    let server = Serving::start(folder.path(), &["--keys", "keys"]);
    let with = format!("Authorization: Bearer {key}\r\n");
    assert_eq!(server.get("/v1/search?q=moon", "").0, 401);
    assert_eq!(server.get("/v1/search?q=moon", &with).0, 200);
    assert!(keys(&["remove", "keys", "--name", "ops"]).status.success());
    until(|| server.get("/v1/search?q=moon", &with).0 == 401);
    assert_eq!(keys(&["remove", "keys", "--name", "ops"]).status.code(), Some(2));
    let none = keys(&["list", "nothing"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(stderr(&none).contains("nothing: there is no such file; `pericope keys add "), "{}", stderr(&none));
}

#[test]
fn what_is_wrong_is_said_before_anything_is_served() {
    let folder = indexed();
    fs::write(folder.path().join("keys"), "site root 00\n").unwrap();
    for (flags, named) in [
        (&["--in", "nothing"][..], "nothing"),
        (&["--in", "docs.idx", "--in", "docs=docs.idx"], "two indexes are called docs"),
        (&["--in", "docs.idx", "--bind", "0.0.0.0:0"], "--insecure-no-keys"),
        (&["--in", "docs.idx", "--bind", "0.0.0.0:0", "--insecure-no-keys"], "--insecure-no-tls"),
        (&["--in", "docs.idx", "--bind", "nowhere"], "--bind: nowhere"),
        (&["--in", "docs.idx", "--keys", "keys"], "line 1"),
        (&["--in", "docs.idx", "--cors", "example.org"], "no origin"),
        (&["--in", "docs.idx", "--url-prefix", "javascript:alert(1)"], "--url-prefix"),
        (&["--in", "docs.idx", "--url-prefix", "api=https://example.org"], "no index of that name"),
        (&["--in", "docs.idx", "--bind", "127.0.0.1:0", "--follow", "nothing"], "--follow: nothing"),
        (&["--in", "docs.idx", "--tls-cert", "keys"], "--tls-key"),
    ] {
        let output =
            without_models(folder.path()).arg("serve").args(flags).timeout(Duration::from_secs(60)).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{flags:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(named), "{flags:?}: {}", stderr(&output));
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let bind = taken.local_addr().unwrap().to_string();
    let output = without_models(folder.path()).args(["serve", "--in", "docs.idx", "--bind", &bind]).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
}

#[test]
fn files_are_followed_while_they_are_served() {
    let folder = indexed();
    // It changed while nobody looked.
    fs::write(folder.path().join("docs/new.md"), "# Volcano\n\nIt smokes.").unwrap();
    let server = Serving::start(folder.path(), &["--follow", "docs", "--log", "none"]);
    until(|| server.found("volcano") > 0);
    fs::write(folder.path().join("docs/bread.md"), "# Bread\n\nA baguette does not keep.").unwrap();
    until(|| server.found("baguette") > 0 && server.found("starter") == 0);
    fs::remove_file(folder.path().join("docs/new.md")).unwrap();
    until(|| server.found("volcano") == 0);
    let (status, body) = server.ask("POST", "/v1/indexes/docs/refresh", "");
    let answer: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, &answer["following"]), (200, &Value::from(true)));
    assert_eq!(server.found("moon"), 1);
}

#[test]
fn files_are_followed_after_a_rebuild_with_other_settings() {
    let folder = indexed();
    let server = Serving::start(folder.path(), &["--follow", "docs", "--log", "none"]);
    until(|| server.found("starter") > 0);
    let rebuild = ["index", "docs", "--into", "docs.idx", "--embedder", "none", "--segmenter", "sentence", "--rebuild"];
    let output = without_models(folder.path()).args(rebuild).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    fs::write(folder.path().join("docs/new.md"), "# Volcano\n\nIt smokes.").unwrap();
    until(|| server.found("volcano") > 0);
}

#[test]
fn an_index_is_followed_with_the_headings_or_documents_around_chunks_as_it_was_made() {
    for read in ["--prefix-headings", "--late-chunking"] {
        let folder = folder_with(&[("bread.md", "# Bread\n\nA starter keeps.")]);
        let index = ["index", "docs", "--into", "docs.idx", "--embedder", "hashed", read];
        let output = without_models(folder.path()).args(index).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        let server = Serving::start(folder.path(), &["--follow", "docs", "--log", "none"]);
        fs::write(folder.path().join("docs/new.md"), "# Volcano\n\nIt smokes.").unwrap();
        until(|| server.found("volcano") > 0);
    }
}

/// The OpenAPI document is valid, and a client that is generated from it can search.
#[test]
fn a_generated_client_can_search() {
    let script = root().join("scripts/ci/openapi");
    let output = Command::new(script).arg(assert_cmd::cargo::cargo_bin("pericope")).output().unwrap();
    if output.status.code() == Some(3) && stderr(&output).contains("could not be fetched from PyPI") {
        eprintln!("SKIPPED: a_generated_client_can_search: {}", stderr(&output).trim());
        return;
    }
    assert!(output.status.success(), "{}\n{}", stdout(&output), stderr(&output));
    assert!(stdout(&output).contains("searches, lists, reads and cuts"), "{}", stdout(&output));
}
