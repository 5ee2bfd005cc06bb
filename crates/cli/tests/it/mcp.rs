//! `pericope mcp` over the standard streams, as an agent starts it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::common::{folder_with, stderr, without_models};

/// A running server. Every line that it prints must be a message of the protocol.
struct Agent {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    number: u64,
}

impl Agent {
    fn start(folder: &Path, args: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pericope"));
        command.current_dir(folder).env("PERICOPE_HOME", folder.join("no-home")).arg("mcp").args(args);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (to, from) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut agent = Self { child, to, from, number: 0 };
        let client = json!({"name": "test", "version": "1"});
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        let about = agent.request("initialize", &hello);
        assert_eq!(about["result"]["serverInfo"]["name"], "pericope", "{about}");
        agent.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        agent
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.to.as_mut().unwrap(), "{message}").unwrap();
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.number += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}));
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no message: {line:?}"));
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(self.number)), "{answer}");
        answer
    }

    /// The structured content of a call that must succeed.
    fn ask(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        answer["result"]["structuredContent"].clone()
    }

    /// Hangs up. The server ends, and has printed nothing more.
    fn end(mut self) {
        drop(self.to.take());
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.from, &mut rest).unwrap();
        assert_eq!((self.child.wait().unwrap().code(), rest.as_str()), (Some(0), ""));
    }
}

fn run(folder: &Path, args: &[&str]) {
    let output = without_models(folder).args(args).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
}

#[test]
fn an_agent_asks_the_project_that_it_works_in() {
    let folder = folder_with(&[("a.md", "# Foxes\n\nFoxes dig dens.\n"), ("b.md", "Hares run.\n")]);
    let root = folder.path();
    run(root, &["init", "docs", "--url-prefix", "https://x.example/"]);
    run(root, &["index"]);
    let mut agent = Agent::start(&root.join("docs"), &[]);
    let found = agent.ask("search", json!({"query": "dens"}));
    let hit = &found["hits"][0];
    assert_eq!((&hit["document"], &hit["title"]), (&json!("docs/a.md"), &json!("Foxes")), "{found}");
    assert!(hit["url"].as_str().unwrap().starts_with("https://x.example/docs/a"), "{hit}");
    let status = agent.ask("status", json!({}));
    assert_eq!(status["indexes"][0]["stale"], json!({"changed": 0, "gone": 0, "names": []}), "{status}");
    // What changes is said, and what is indexed again is found, by the server that runs.
    fs::write(root.join("docs/a.md"), "# Foxes\n\nFoxes dig setts and dens.\n").unwrap();
    fs::remove_file(root.join("docs/b.md")).unwrap();
    let mut other = Agent::start(root, &["--in", "here=.pericope/index"]);
    let status = other.ask("status", json!({"index": "here"}));
    let names = ["docs/a.md", "docs/b.md"];
    assert_eq!(status["indexes"][0]["stale"], json!({"changed": 1, "gone": 1, "names": names}), "{status}");
    other.end();
    // From elsewhere too, with the addresses of the project.
    let elsewhere = tempfile::tempdir().unwrap();
    let place = format!("here={}", root.join(".pericope/index").display());
    let mut other = Agent::start(elsewhere.path(), &["--in", &place]);
    assert_eq!(other.ask("status", json!({}))["indexes"][0]["stale"]["names"], json!(names));
    let hit = &other.ask("search", json!({"query": "dens"}))["hits"][0];
    assert!(hit["url"].as_str().unwrap().starts_with("https://x.example/docs/a"), "{hit}");
    other.end();
    run(root, &["index", "--prune"]);
    let mut again = Agent::start(root, &[]);
    let status = again.ask("status", json!({}));
    assert_eq!((&status["indexes"][0]["documents"], &status["indexes"][0]["stale"]["changed"]), (&json!(1), &json!(0)));
    assert_eq!(again.ask("search", json!({"query": "setts"}))["hits"][0]["document"], "docs/a.md");
    again.end();
    // What the protocol cannot read has an answer too, and the connection goes on.
    for (message, code, id) in [
        ("{\"jsonrpc\": \"2.0\", \"id\": 70,", -32700, json!(null)),
        (r#"{"id": 71, "method": "tools/list"}"#, -32600, json!(71)),
        (r#"{"jsonrpc": "2.0", "id": 71.5, "method": "tools/list"}"#, -32600, json!(71.5)),
        (r#"[{"jsonrpc": "2.0", "id": 72, "method": "ping"}]"#, -32600, json!(null)),
    ] {
        writeln!(agent.to.as_mut().unwrap(), "{message}").unwrap();
        let mut line = String::new();
        agent.from.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&answer["error"]["code"], answer.get("id")), (&json!(code), Some(&id)), "{answer}");
    }
    let answer = agent.request("tools/call", &json!({"name": "search", "arguments": {"q": "dens"}}));
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    agent.end();
}

/// As `printf` and files without a last line end have it; some shells put a mark of byte order before it.
#[test]
fn a_last_line_without_its_end_is_answered() {
    let folder = folder_with(&[("a.md", "Foxes dig dens.")]);
    let root = folder.path();
    run(root, &["init", "docs"]);
    run(root, &["index"]);
    let list = "\u{feff}{\"jsonrpc\": \"2.0\", \"id\": 9, \"method\": \"tools/list\"}";
    let batch = r#"[{"jsonrpc": "2.0", "id": 9, "method": "ping"}]"#;
    for (message, id, code) in [
        (list, json!(9), Value::Null),
        (batch, json!(null), json!(-32600)),
        (r#"{"id": 9, "method": "ping"}"#, json!(9), json!(-32600)),
    ] {
        let mut agent = Agent::start(root, &[]);
        write!(agent.to.as_mut().unwrap(), "{message}").unwrap();
        drop(agent.to.take());
        let mut line = String::new();
        agent.from.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no message: {line:?}"));
        assert_eq!((answer.get("id"), &answer["error"]["code"]), (Some(&id), &code), "{answer}");
        assert_eq!(answer["result"]["tools"].is_array(), code.is_null(), "{answer}");
        agent.end();
    }
}

#[test]
fn ten_processes_answer_on_one_index_at_once() {
    let folder = folder_with(&[("a.md", "Foxes dig dens."), ("b.md", "Hares run.")]);
    let root = folder.path();
    run(root, &["init", "docs"]);
    run(root, &["index"]);
    let mut agents: Vec<Agent> = (0..10).map(|_| Agent::start(root, &[])).collect();
    for _ in 0..5 {
        for agent in &mut agents {
            assert_eq!(agent.ask("search", json!({"query": "foxes"}))["hits"][0]["document"], "docs/a.md");
        }
        // A writer is in nobody's way.
        run(root, &["index"]);
    }
    agents.into_iter().for_each(Agent::end);
}

#[test]
fn what_cannot_be_served_is_wrong_usage() {
    let folder = folder_with(&[("a.md", "Foxes dig dens.")]);
    let root = folder.path();
    let refused = |args: &[&str]| {
        let output = without_models(root).arg("mcp").args(args).output().unwrap();
        assert_eq!(
            (output.status.code(), output.stdout.as_slice()),
            (Some(2), &b""[..]),
            "{args:?}: {}",
            stderr(&output)
        );
        stderr(&output)
    };
    assert!(refused(&[]).contains("pericope init"));
    assert!(refused(&["--in", "nowhere.idx"]).contains("nowhere.idx"));
    run(root, &["init", "docs"]);
    assert!(refused(&[]).contains("there is no index yet"));
    run(root, &["index"]);
    assert!(refused(&["--http", "0.0.0.0:0"]).contains("keys"));
}
