//! Runs that ask language models: keys that a server repeats, and the ledger of a night.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pericope_testkit::llm::{Act, Seen, Server};

use crate::common::{stderr, stdout};

const KEY: &str = "sk-live/AbCd/1234567890+zz";

struct Bed {
    folder: tempfile::TempDir,
}

impl Bed {
    /// An experiment whose answers come from `server`, on a few questions.
    fn new(server: &Server, questions: usize, further: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let articles: Vec<serde_json::Value> = (0..questions)
            .map(|i| {
                let fact = format!("Pump number {i} is primed with {i} litres of water.");
                serde_json::json!({"title": format!("Pump {i}"), "paragraphs": [{"context": fact, "qas": [{
                    "id": format!("q{i}"), "question": format!("How is pump number {i} primed?"),
                    "answers": [{"text": fact, "answer_start": 0}]}]}]})
            })
            .collect();
        let data = serde_json::json!({"version": "1.1", "data": articles});
        fs::write(folder.path().join("q.json"), data.to_string()).unwrap();
        let config = format!(
            "name = \"pumps\"\n[data]\nkind = \"squad\"\npath = \"q.json\"\n\
             [retrieval]\nembedder = \"none\"\nmodes = [\"bm25\"]\nk = [1]\n\
             [[chunker]]\nname = \"sentences\"\nspec = \"sentence\"\n\
             [answer]\ngenerator = \"llm\"\n[judge]\nkind = \"lexical\"\nchecks = false\n\
             [llm.generator]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"{}\"\napi_key_env = \"PUMPS_KEY\"\n\
             retries = 0\nmax_tokens = 2\nconcurrency = 1\nprice = {{input = 0.0, output = 1000000.0}}\n{further}",
            server.base_url()
        );
        fs::write(folder.path().join("pumps.toml"), config).unwrap();
        Self { folder }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pericope"));
        command.current_dir(self.folder.path()).env("PERICOPE_HOME", self.path("no-home"));
        command.env("PUMPS_KEY", KEY).env_remove("GITHUB_STEP_SUMMARY").args(arguments).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn night(&self, extra: &[&str]) -> Output {
        self.run(&[&["nightly", "pumps.toml", "--history", "h"], extra].concat())
    }
}

fn bytes_under(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(bytes_under(&path));
        } else {
            found.push((path.clone(), fs::read(&path).unwrap()));
        }
    }
    found
}

/// The key as people and programs would find it.
fn forms() -> Vec<String> {
    let each = |of: &dyn Fn(u8) -> String| KEY.bytes().map(of).collect::<String>();
    let base64: String = STANDARD.encode(KEY).chars().take(32).collect();
    vec![
        KEY.to_owned(),
        KEY.to_uppercase(),
        KEY.replace('/', "\\/"),
        KEY.replace('/', "\\\\/"),
        KEY.replace('/', "%2F").replace('+', "%2B"),
        KEY.replace('/', "&#47;").replace('+', "&#43;"),
        each(&|b| format!("\\u{b:04x}")),
        each(&|b| format!("\\\\u{b:04x}")),
        each(&|b| format!("%{b:02x}")),
        base64,
    ]
}

/// An error that repeats the key, written in a way that changes from call to call.
fn leak(status: u16) -> impl Fn(&Seen) -> Act {
    move |seen| {
        let forms = forms();
        let form = forms.get(seen.number % forms.len()).cloned().unwrap_or_default();
        let body = match seen.number % 3 {
            0 => format!(
                "{{\"error\": {{\"message\": \"bad key {form}\", \"code\": \"{form}\", \"param\": \"{form}\"}}}}"
            ),
            1 => format!("{{\"detail\": [{{\"msg\": \"bad key {form}\"}}]}}"),
            _ => format!("<html><h1>bad key {form}</h1></html>"),
        };
        Act::Raw(status, body)
    }
}

fn assert_clean(bed: &Bed, output: &Output, server: &Server) {
    assert!(server.log().iter().all(|seen| seen.headers["authorization"].contains(KEY)), "the server did get the key");
    let (out, err) = (stdout(output), stderr(output));
    for form in forms() {
        assert!(!out.contains(&form) && !err.contains(&form), "{form} in {out} {err}");
        for (path, bytes) in bytes_under(bed.folder.path()) {
            let found = bytes.windows(form.len()).any(|window| window.eq_ignore_ascii_case(form.as_bytes()));
            assert!(!found, "{form} in {}", path.display());
        }
    }
}

#[test]
fn a_key_that_a_server_repeats_is_in_no_output() {
    // Refused item by item: items, pages, summaries, the cache.
    let server = Server::start(|_| String::new(), leak(400)).unwrap();
    let bed = Bed::new(&server, 12, "[limits]\nmax_failed = 1.0\n");
    let output = bed.run(&["eval", "run", "pumps.toml", "--out", "out"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for file in ["items.jsonl", "items.html", "index.html", "summary.md", "run.json", "responses.sqlite"] {
        assert!(bed.path("out").join(file).is_file(), "{file}");
    }
    let items = fs::read_to_string(bed.path("out/items.jsonl")).unwrap();
    assert!(items.matches("bad key [hidden]").count() >= 12, "{items}");
    assert_clean(&bed, &output, &server);

    // Refused for good: standard error, and what a night tells the webhook and keeps.
    for offset in 0..3 {
        let server = Server::start(
            |_| String::new(),
            move |seen| leak(401)(&Seen { number: seen.number + offset, ..seen.clone() }),
        )
        .unwrap();
        let hook = Server::start(|_| String::new(), |_| Act::Status(200)).unwrap();
        let bed = Bed::new(&server, 2, &format!("[nightly]\nwebhook = \"{}/hook\"\n", hook.base_url()));
        let output = bed.night(&[]);
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        assert!(stderr(&output).contains("bad key [hidden]"), "{}", stderr(&output));
        assert_clean(&bed, &output, &server);
        let told = format!("{:?}", hook.log());
        assert!(hook.calls() == 1 && told.contains("[hidden]"), "{told}");
        assert!(forms().iter().all(|form| !told.contains(form.as_str())), "{told}");
    }
}

/// What the ledger of a folder's cache says, by line.
fn ledger(cache: &Path) -> Vec<(String, f64)> {
    let connection = rusqlite::Connection::open(cache).unwrap();
    let mut statement = connection.prepare("SELECT run, paid FROM spending ORDER BY run").unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn all_sittings_of_a_night_have_one_budget_and_the_next_night_has_its_own() {
    // Each answer costs 2.
    let server = Server::start(|_| "two words".into(), |_| Act::Answer).unwrap();
    let bed = Bed::new(&server, 6, "[limits]\nbudget = 5.0\n");
    for _ in 0..3 {
        let output = bed.night(&[]);
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        assert!(stderr(&output).contains("the budget of 5 is used up: 4.0000 spent"), "{}", stderr(&output));
    }
    assert_eq!(server.calls(), 2);
    assert_eq!(ledger(&bed.path("h/responses.sqlite")), [("pumps, night 1".to_owned(), 4.0)]);
    // With more money the same night goes on where it stopped.
    let output = bed.night(&["--set", "limits.budget=12.0"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(server.calls(), 6);
    // The next night asks nothing that is known, and has spent nothing.
    let output = bed.night(&["--set", "limits.budget=1.0"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(server.calls(), 6);
    assert_eq!(ledger(&bed.path("h/responses.sqlite")), [("pumps, night 1".to_owned(), 12.0)]);
}

#[test]
fn a_night_that_the_lock_turns_away_leaves_the_ledger_alone() {
    let slow = |seen: &Seen| if seen.number < 3 { Act::Answer } else { Act::Slow(Duration::from_secs(60)) };
    let server = Server::start(|_| "two words".into(), slow).unwrap();
    let bed = Bed::new(&server, 6, "");
    let mut night = bed.command(&["nightly", "pumps.toml", "--history", "h"]);
    let mut running = night.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while server.calls() < 4 {
        assert!(Instant::now() < deadline, "only {} calls", server.calls());
        std::thread::sleep(Duration::from_millis(10));
    }
    let cache = bed.path("h/responses.sqlite");
    let before = ledger(&cache);
    assert_eq!(before, [("pumps, night 1".to_owned(), 6.0)]);
    let refused = bed.night(&[]);
    assert_eq!(refused.status.code(), Some(3), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("another run holds"), "{}", stderr(&refused));
    assert_eq!(ledger(&cache), before);
    running.kill().unwrap();
    running.wait().unwrap();
    // The call that was under way may have been answered: it counts, and the next sitting knows it.
    drop(server);
    bed.night(&["--offline"]);
    assert_eq!(ledger(&cache), [("pumps, night 1".to_owned(), 8.0)]);
}

#[test]
fn two_folders_that_share_a_cache_have_two_budgets() {
    let server = Server::start(|_| "two words".into(), |_| Act::Answer).unwrap();
    let bed = Bed::new(&server, 3, "");
    let run = |out: &str, extra: &[&str]| {
        let shared = ["eval", "run", "pumps.toml", "--set", "llm.cache=\"shared.sqlite\"", "--out", out];
        bed.run(&[&shared[..], extra].concat())
    };
    assert_eq!(run("one", &["--set", "limits.budget=4.0"]).status.code(), Some(3));
    let output = run("two", &["--set", "limits.budget=2.0"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let paid: Vec<f64> = ledger(&bed.path("shared.sqlite")).into_iter().map(|(_, paid)| paid).collect();
    assert_eq!((paid, server.calls()), (vec![4.0, 2.0], 3), "what one folder has asked is known to the other");
}
