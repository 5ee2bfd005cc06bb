//! `pericope nightly` from end to end.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use crate::common::{model_or_skip, pericope, root, stderr, stdout, without_models};
use serde_json::Value;

/// A small experiment on full-text search alone: no model is needed.
const CONFIG: &str = r#"
name = "small"
[data]
kind = "squad"
path = "QUESTIONS"
[retrieval]
embedder = "none"
modes = ["bm25"]
k = [1, 3]
[[chunker]]
name = "fixed"
spec = "fixed:words=60"
[[chunker]]
name = "blocks"
spec = "paragraph"
[[gate]]
metric = "span_recall"
k = 3
max_drop = 0.03
[[gate]]
metric = "iou"
k = 1
max_drop = 0.02
"#;

struct Bed {
    folder: tempfile::TempDir,
}

impl Bed {
    /// An experiment on the first articles of the handbook, in a folder of its own.
    fn new(further: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let text = fs::read_to_string(root().join("corpora/handbook-questions.json")).unwrap();
        let mut questions: Value = serde_json::from_str(&text).unwrap();
        questions["data"].as_array_mut().unwrap().truncate(8);
        fs::write(folder.path().join("questions.json"), questions.to_string()).unwrap();
        let bed = Self { folder };
        bed.configure(further);
        bed
    }

    fn configure(&self, further: &str) {
        let config = format!("{}{further}", CONFIG.replace("QUESTIONS", "questions.json"));
        fs::write(self.folder.path().join("nightly.toml"), config).unwrap();
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    fn run(&self, extra: &[&str]) -> Output {
        let mut command = without_models(self.folder.path());
        command.env_remove("GITHUB_STEP_SUMMARY").args(["nightly", "nightly.toml", "--history", "h"]).args(extra);
        command.output().unwrap()
    }

    fn latest(&self) -> Value {
        serde_json::from_str(&fs::read_to_string(self.path("h/latest.json")).unwrap()).unwrap()
    }

    /// A regression: chunks of six words.
    fn spoil(&self) {
        let config = fs::read_to_string(self.path("nightly.toml")).unwrap();
        fs::write(self.path("nightly.toml"), config.replace("fixed:words=60", "fixed:words=6")).unwrap();
    }
}

/// Checks that do not hold.
fn broken(latest: &Value) -> usize {
    latest["checks"].as_array().unwrap().iter().filter(|check| check["state"] == "broken").count()
}

#[test]
fn a_night_says_its_verdict_in_one_line_and_leaves_its_files() {
    let bed = Bed::new("");
    let output = bed.run(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let line = stdout(&output);
    assert_eq!(line.lines().count(), 1, "{line}");
    assert!(
        line.starts_with("small: night 1 (2") && line.contains("passed") && line.contains("no good night yet"),
        "{line}"
    );
    for file in [
        "index.html",
        "latest.json",
        "feed.xml",
        "summary.md",
        "junit.xml",
        "badge.svg",
        "metrics.prom",
        "history.db",
        "nights/000001/index.html",
        "nights/000001/items.jsonl",
    ] {
        assert!(bed.path("h").join(file).is_file(), "{file}");
    }
    let latest = bed.latest();
    assert_eq!((latest["verdict"].as_str(), latest["night"].as_u64()), (Some("passed"), Some(1)));
    assert_eq!(latest["program"]["sha256"].as_str().map(str::len), Some(64));

    // The same again: one more night, and no score changed. --json prints what latest.json holds.
    let output = bed.run(&["--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let printed: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(printed, bed.latest());
    assert_eq!((printed["night"].as_u64(), printed["reference"]["night"].as_u64()), (Some(2), Some(1)));
    assert!(printed["text"].as_str().unwrap().contains("no score changed since night 1"), "{printed}");
    assert!(printed["losses"].as_array().unwrap().is_empty());

    // A regression: exit status 1, by name, with what was changed.
    bed.spoil();
    let output = bed.run(&[]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let line = stdout(&output);
    assert!(line.lines().count() == 1 && line.contains("failed") && line.contains("of fixed"), "{line}");
    let latest = bed.latest();
    // Test reports say by how much it fell, badge and figures that it failed.
    let (junit, broken) = (fs::read_to_string(bed.path("h/junit.xml")).unwrap(), broken(&latest));
    assert!(broken > 0 && junit.contains(&format!("failures=\"{broken}\"")), "{junit}");
    assert!(junit.contains("<failure type=\"nightly.drop\" message=\"fell by "), "{junit}");
    assert!(fs::read_to_string(bed.path("h/badge.svg")).unwrap().contains("failed</text>"));
    let figures = fs::read_to_string(bed.path("h/metrics.prom")).unwrap();
    assert!(figures.contains("pericope_night_good{experiment=\"small\"} 0.0\n") && figures.ends_with("# EOF\n"));
    let changes = latest["reference"]["changes"].to_string();
    assert!(changes.contains("chunker.fixed.spec"), "{changes}");
    let page = fs::read_to_string(bed.path("h/index.html")).unwrap();
    assert!(
        page.contains("Failed") && page.contains("chunker.fixed.spec") && page.contains("nights/000003/index.html")
    );

    // It is as it should be: accepted, and good from then on.
    let output = bed.run(&["--accept", "last"]);
    assert_eq!((output.status.code(), stdout(&output).trim()), (Some(0), "night 3 counts as good from now on"));
    let junit = fs::read_to_string(bed.path("h/junit.xml")).unwrap();
    assert!(junit.contains("failures=\"0\"") && junit.contains("accepted by hand: fell by "), "{junit}");
    let output = bed.run(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    assert_eq!(bed.latest()["reference"]["night"], 3);
}

#[test]
fn a_question_set_that_was_replaced_or_is_broken_is_said() {
    let bed = Bed::new("");
    assert_eq!(bed.run(&[]).status.code(), Some(0));
    let good = fs::read_to_string(bed.path("questions.json")).unwrap();
    let mut set: Value = serde_json::from_str(&good).unwrap();
    // Every question under another id: nothing pairs up.
    let questions = |set: &mut Value, act: &dyn Fn(&mut Value)| {
        let paragraphs = set["data"].as_array_mut().unwrap().iter_mut();
        let paragraphs = paragraphs.flat_map(|article| article["paragraphs"].as_array_mut().unwrap());
        paragraphs.flat_map(|paragraph| paragraph["qas"].as_array_mut().unwrap()).for_each(act);
    };
    questions(&mut set, &|question: &mut Value| {
        question["id"] = format!("x{}", question["id"].as_str().unwrap()).into()
    });
    fs::write(bed.path("questions.json"), set.to_string()).unwrap();
    let output = bed.run(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let line = stdout(&output);
    assert!(line.contains("not comparable with night 1: no question in common"), "{line}");
    assert!(!line.contains("changed since"), "{line}");

    // An answer that is not where the file says: the question is left out, and the night fails.
    let mut set: Value = serde_json::from_str(&good).unwrap();
    set["data"][0]["paragraphs"][0]["qas"][0]["answers"][0]["text"] = "this stands nowhere in the handbook".into();
    fs::write(bed.path("questions.json"), set.to_string()).unwrap();
    let output = bed.run(&[]);
    assert_eq!(output.status.code(), Some(1), "{}{}", stdout(&output), stderr(&output));
    assert!(stdout(&output).contains("1 part of the data could not be used and was left out"), "{}", stdout(&output));
    let latest = bed.latest();
    assert_eq!((latest["left_out"].as_u64(), latest["checks"][1]["kind"].as_str()), (Some(1), Some("left_out")));
    assert!(fs::read_to_string(bed.path("h/junit.xml")).unwrap().contains("nightly.left_out"));
    let output = bed.run(&["--accept", "last"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(bed.run(&[]).status.code(), Some(0), "accepted: good from then on");
}

#[test]
fn what_is_wrong_is_said_before_anything_runs() {
    let bed = Bed::new("[[gate]]\nmetric = \"span_recall\"\nchunker = \"nobody\"\nmax_drop = 0.1\n");
    let output = bed.run(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("'nobody'") || stderr(&output).contains("\"nobody\""), "{}", stderr(&output));
    assert!(!bed.path("h").exists());

    bed.configure("");
    for (extra, code, word) in [
        (&["--export", "x.jsonl"][..], 2, "no history yet"),
        (&["--pin", "last"], 2, "no history yet"),
        (&["--import", "nosuch.jsonl"], 2, "nosuch.jsonl: no such file"),
        (&["--pin", "none"], 2, "a night's number"),
        (&["--pin", "1", "--unpin"], 2, "cannot be used with"),
        (&["--set", "nightly.keep=0"], 2, "nightly.keep"),
        (&["--set", "data.path=nowhere.json"], 2, "nowhere.json"),
    ] {
        let output = bed.run(extra);
        assert_eq!(output.status.code(), Some(code), "{extra:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(word), "{extra:?}: {}", stderr(&output));
    }
    // An experiment on segmentation has no questions.
    let output = pericope(&root()).args(["nightly", "eval/segmentation.toml"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("experiment on segmentation"), "{}", stderr(&output));
    // A history of another experiment.
    assert_eq!(bed.run(&[]).status.code(), Some(0));
    let output = bed.run(&["--set", "name=other"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("is the history of 'small', not of 'other'"), "{}", stderr(&output));
}

#[test]
fn a_history_that_cannot_be_written_is_found_before_the_run() {
    let bed = Bed::new("");
    // A file where the folder should be.
    fs::write(bed.path("h"), "in the way").unwrap();
    let output = bed.run(&[]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("error:") && stderr(&output).contains('h'), "{}", stderr(&output));
    fs::remove_file(bed.path("h")).unwrap();
    // Pages of others.
    fs::create_dir(bed.path("site")).unwrap();
    fs::write(bed.path("site/index.html"), "mine").unwrap();
    for more in [&[][..], &["--import", "nights.jsonl"]] {
        let mut command = without_models(bed.folder.path());
        let output = command.args(["nightly", "nightly.toml", "--history", "site"]).args(more).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains("site: it holds a file index.html"), "{}", stderr(&output));
        assert_eq!(fs::read_to_string(bed.path("site/index.html")).unwrap(), "mine");
    }
    // A file that is no history.
    fs::create_dir(bed.path("h")).unwrap();
    fs::write(bed.path("h/history.db"), "not a database, and far too long to be an empty one. ".repeat(30)).unwrap();
    let output = bed.run(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("is no history of nights"), "{}", stderr(&output));
    assert!(!bed.path("h/nights").exists(), "nothing was run");
}

/// A limit on the size of files stands for a full disk: the database cannot grow, while the run's own files are small
/// enough.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_run_and_the_next_night_takes_it_up() {
    let bed = Bed::new("");
    assert_eq!(bed.run(&[]).status.code(), Some(0));
    // Other scores than those that are stored already.
    bed.spoil();
    let binary = pericope(bed.folder.path()).get_program().to_owned();
    let pad = bed.path("h/history.db");
    // The database is padded beyond the run's largest file, so that the limit meets it first.
    let largest = fs::metadata(bed.path("h/nights/000001/items.jsonl")).unwrap().len();
    let wanted = 3 * largest + 1_000_000;
    pad_history(&pad, wanted);
    let blocks = fs::metadata(&pad).unwrap().len() / 1024;
    let script = format!(
        "trap '' XFSZ; ulimit -f {blocks}; exec '{}' nightly nightly.toml --history h",
        binary.to_string_lossy()
    );
    let output = std::process::Command::new("bash")
        .current_dir(bed.folder.path())
        .env("PERICOPE_HOME", bed.path("no-home"))
        .env_remove("GITHUB_STEP_SUMMARY")
        .args(["-c", &script])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3), "{}{}", stdout(&output), stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("cannot add the night to the history"), "{said}");
    assert!(said.contains("run the same command again") && said.contains("nights/000002"), "{said}");
    assert!(bed.path("h/nights/000002/index.html").is_file(), "the night's run is whole");
    assert_eq!(bed.latest()["night"], 1, "what was said last still stands");
    // With room again, the same command takes up the run and has only the history to write.
    let items = fs::metadata(bed.path("h/nights/000002/items.jsonl")).unwrap().modified().unwrap();
    let output = bed.run(&[]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("2 chunkers are done already"), "{}", stderr(&output));
    assert_eq!(bed.latest()["night"], 2);
    assert!(fs::metadata(bed.path("h/nights/000002/items.jsonl")).unwrap().modified().unwrap() >= items);
}

/// Fills a table that the program does not know, until the file is so large.
#[cfg(unix)]
fn pad_history(path: &Path, wanted: u64) {
    let db = rusqlite::Connection::open(path).unwrap();
    db.execute_batch("CREATE TABLE IF NOT EXISTS padding(data BLOB)").unwrap();
    db.execute("INSERT INTO padding VALUES(zeroblob(?))", [i64::try_from(wanted).unwrap()]).unwrap();
}

#[test]
fn nights_never_overlap() {
    let bed = Bed::new("");
    assert_eq!(bed.run(&[]).status.code(), Some(0));
    // The lock is the operating system's, on this file.
    let lock = fs::OpenOptions::new().write(true).open(bed.path("h/lock")).unwrap();
    lock.lock().unwrap();
    let output = bed.run(&[]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("two nights never overlap"), "{}", stderr(&output));
    drop(lock);
    // What a process that died left in the file is no lock.
    assert_eq!(bed.run(&[]).status.code(), Some(0));
}

#[test]
fn the_history_travels_and_the_page_is_made_from_it_alone() {
    let bed = Bed::new("");
    for _ in 0..3 {
        assert_eq!(bed.run(&[]).status.code(), Some(0));
    }
    let output = bed.run(&["--pin", "2"]);
    assert_eq!(stdout(&output).trim(), "night 2 is the baseline from now on");
    assert_eq!(stdout(&bed.run(&["--export", "nights.jsonl"])).trim(), "3 nights written to nights.jsonl");
    let page = fs::read_to_string(bed.path("h/index.html")).unwrap();
    fs::rename(bed.path("h"), bed.path("old")).unwrap();
    let output = bed.run(&["--import", "nights.jsonl"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output).trim(), "3 nights added, 0 were there already");
    // Without the run folders there are no links to reports; all else is the same.
    let again = fs::read_to_string(bed.path("h/index.html")).unwrap();
    let figures = |page: &str| {
        let start = page.find("id=\"curves\"").unwrap();
        page[start..page.find("id=\"nights\"").unwrap()].to_owned()
    };
    assert_eq!(figures(&page), figures(&again));
    assert!(!again.contains("nights/000003/index.html") && again.contains("night 2"));
    let output = bed.run(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!((bed.latest()["night"].as_u64(), bed.latest()["baseline"]["night"].as_u64()), (Some(4), Some(2)));
    let output = bed.run(&["--unpin"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(bed.latest()["baseline"].is_null());
}

#[test]
fn old_runs_go_and_their_nights_stay() {
    let bed = Bed::new("[nightly]\nkeep = 2\nbaseline = 1\n");
    for _ in 0..4 {
        assert_eq!(bed.run(&[]).status.code(), Some(0));
    }
    let mut folders: Vec<String> =
        fs::read_dir(bed.path("h/nights")).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    folders.sort();
    assert_eq!(folders, ["000001", "000003", "000004"], "two nights and the baseline");
    assert_eq!(stdout(&bed.run(&["--export", "all.jsonl"])).trim(), "4 nights written to all.jsonl");
}

#[cfg(unix)]
#[test]
fn hooks_are_told_and_cannot_change_the_verdict() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let mut bodies = Vec::new();
        for status in ["200 OK", "500 Broken", "200 OK"] {
            let (mut stream, _) = listener.accept().unwrap();
            bodies.push(request_body(&mut stream));
            write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
        }
        bodies
    });
    let hook = "env | grep ^PERICOPE_ | sort > told.txt; cat > told.json; echo noise; exit 3";
    let bed = Bed::new(&format!(
        "[nightly]\nurl = \"https://nights.example\"\non_finish = [\"sh\", \"-c\", \"{hook}\"]\nwebhook = \"http://127.0.0.1:{port}/${{HOOK:-secret}}\"\n"
    ));
    let output = bed.run(&[]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stdout(&output).lines().count(), 1, "what a hook prints goes elsewhere: {}", stdout(&output));
    assert!(
        stderr(&output).contains("noise") && stderr(&output).contains("nightly.on_finish (sh): it ended with"),
        "{}",
        stderr(&output)
    );
    let told = fs::read_to_string(bed.path("told.txt")).unwrap();
    for line in [
        "PERICOPE_EXPERIMENT=small",
        "PERICOPE_NIGHT=1",
        "PERICOPE_VERDICT=passed",
        "PERICOPE_PAGE=https://nights.example/index.html",
    ] {
        assert!(told.contains(line), "{line} in {told}");
    }
    let json: Value = serde_json::from_str(&fs::read_to_string(bed.path("told.json")).unwrap()).unwrap();
    assert_eq!(
        (json["night"].as_u64(), json["report"].as_str()),
        (Some(1), Some("https://nights.example/nights/000001/index.html"))
    );
    // A server that answers with an error is a warning that does not give the address away.
    let output = bed.run(&[]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("nightly.webhook: the server answered 500"), "{}", stderr(&output));
    assert!(!stderr(&output).contains("secret"), "{}", stderr(&output));
    // A night that breaks off is told of as well.
    fs::remove_file(bed.path("questions.json")).unwrap();
    let output = bed.run(&[]);
    assert_eq!(output.status.code(), Some(2));
    let told = fs::read_to_string(bed.path("told.txt")).unwrap();
    assert!(told.contains("PERICOPE_VERDICT=error") && told.contains("questions.json"), "{told}");
    let bodies = server.join().unwrap();
    assert_eq!(serde_json::from_str::<Value>(&bodies[0]).unwrap()["verdict"], "passed");
    assert_eq!(serde_json::from_str::<Value>(&bodies[2]).unwrap()["verdict"], "error");
    // Nobody listens any more: a warning, too; and --offline does not even try.
    fs::copy(root().join("corpora/handbook-questions.json"), bed.path("questions.json")).unwrap();
    let output = bed.run(&["--set", "nightly.on_finish=[]"]);
    assert!(output.status.code() != Some(3) && stderr(&output).contains("nightly.webhook:"), "{}", stderr(&output));
    let output = bed.run(&["--set", "nightly.on_finish=[]", "--offline"]);
    assert!(!stderr(&output).contains("nightly.webhook:"), "{}", stderr(&output));
}

/// All bytes of the files below a folder, but for the configuration.
fn everything(folder: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            everything(&path, found);
        } else if path.extension().is_none_or(|e| e != "toml") {
            found.push((path.clone(), fs::read(path).unwrap()));
        }
    }
}

#[test]
fn secrets_of_a_configuration_are_in_no_output() {
    if cfg!(not(unix)) {
        return;
    }
    let further = |n: u32| {
        format!(
            r#"
[nightly]
url = "https://me:hush-url-{n}@ci.example/nights/"
on_finish = ["sh", "-c", "env > told.env; cat > told.json; : $0", "Authorization: Bearer hush-hook-{n}"]
webhook = "http://127.0.0.1:1/hush-webhook-{n}"
[llm.generator]
provider = "openai"
model = "m"
base_url = "http://127.0.0.1:1/hush-path-{n}/v1"
[llm.generator.headers]
X-One = "hush-header-{n} ${{PERICOPE_HUSH:-hush-default-{n}}}"
[llm.judge]
provider = "openai"
model = "m"
base_url = "http://me:hush-login-{n}@127.0.0.1:1/v1?code=hush-query-{n}"
"#
        )
    };
    let bed = Bed::new(&further(1));
    let mut said = Vec::new();
    for n in 1..=2 {
        // The second night has other secrets: what changed is said, too.
        bed.configure(&further(n));
        let output = bed.run(&[]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        said.push((PathBuf::from("standard output"), output.stdout));
        said.push((PathBuf::from("standard error"), output.stderr));
        let run =
            without_models(bed.folder.path()).args(["eval", "run", "nightly.toml", "--out", "run"]).output().unwrap();
        assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
        said.push((PathBuf::from("standard error of eval run"), run.stderr));
    }
    assert_eq!(bed.run(&["--export", "nights.jsonl"]).status.code(), Some(0));
    let swept = without_models(bed.folder.path())
        .args(["eval", "run", "nightly.toml", "--out", "sweep", "--set"])
        .arg("sweep={\"llm.judge.base_url\"=[\"http://127.0.0.1:1/hush-sweep/v1\",\"http://127.0.0.1:1/v1\"]}")
        .output()
        .unwrap();
    assert_eq!(swept.status.code(), Some(0), "{}", stderr(&swept));
    said.extend([(PathBuf::from("sweep"), swept.stdout), (PathBuf::from("sweep"), swept.stderr)]);
    everything(bed.folder.path(), &mut said);
    let names: Vec<String> = said.iter().map(|(path, _)| path.display().to_string()).collect();
    for name in
        ["history.db", "run.json", "latest.json", "feed.xml", "summary.md", "told.env", "told.json", "nights.jsonl"]
    {
        assert!(names.iter().any(|path| path.ends_with(name)), "{name} is not looked at: {names:?}");
    }
    for (path, bytes) in &said {
        let text = String::from_utf8_lossy(bytes);
        let around = text
            .find("hush-")
            .map(|at| &text[text.floor_char_boundary(at.saturating_sub(80))..text.ceil_char_boundary(at + 40)]);
        assert_eq!(around, None, "in {}", path.display());
    }
    let record = fs::read_to_string(bed.path("run/run.json")).unwrap();
    assert!(record.contains("127.0.0.1") && record.contains("${PERICOPE_HUSH:-(hidden)}"), "{record}");
    assert!(bed.latest()["page"] == "https://ci.example/nights/index.html", "{}", bed.latest()["page"]);
}

#[test]
fn a_night_that_is_turned_away_touches_nothing() {
    let bed = Bed::new("");
    assert_eq!(bed.run(&[]).status.code(), Some(0));
    let mut before = Vec::new();
    everything(&bed.path("h"), &mut before);
    let _held = pericope_nightly::Lock::take(&bed.path("h")).unwrap();
    before
        .iter_mut()
        .filter(|(path, _)| path.ends_with("h/lock"))
        .for_each(|(path, bytes)| *bytes = fs::read(path).unwrap());
    for more in [&[][..], &["--accept", "last"], &["--export", "e.jsonl"]] {
        assert_eq!(bed.run(more).status.code(), Some(3));
    }
    let mut after = Vec::new();
    everything(&bed.path("h"), &mut after);
    assert!(before == after, "a file of the history was touched");
}

fn request_body(stream: &mut std::net::TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let n = stream.read(&mut buffer).unwrap();
        bytes.extend_from_slice(&buffer[..n]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head
            .lines()
            .find_map(|l| l.to_lowercase().strip_prefix("content-length:").map(|n| n.trim().parse::<usize>().unwrap()));
        if n == 0 || length.is_none_or(|length| body.len() >= length) {
            return body.to_owned();
        }
    }
}

#[test]
fn a_hook_that_hangs_is_stopped() {
    if cfg!(not(unix)) {
        return;
    }
    let bed = Bed::new("[nightly]\non_finish = [\"sleep\", \"600\"]\ntimeout_seconds = 1\nnotify = \"failure\"\n");
    // A night that passes is none of its business.
    let output = bed.run(&[]);
    assert!(output.status.code() == Some(0) && !stderr(&output).contains("on_finish"), "{}", stderr(&output));
    bed.spoil();
    let output = bed.run(&[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("it was stopped after 1 seconds"), "{}", stderr(&output));
}

#[test]
fn continuous_integration_gets_the_summary() {
    let bed = Bed::new("");
    let summary = bed.path("step.md");
    fs::write(&summary, "before\n").unwrap();
    let output = without_models(bed.folder.path())
        .env("GITHUB_STEP_SUMMARY", &summary)
        .args(["nightly", "nightly.toml", "--history", "h", "--quiet"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = fs::read_to_string(&summary).unwrap();
    assert!(text.starts_with("before\n# small, night 1: ✅ passed") && text.contains("| check | outcome |"), "{text}");
    assert!(stderr(&output).is_empty(), "{}", stderr(&output));
}

#[test]
fn two_nights_at_once_leave_one_refused() {
    let bed = Bed::new("");
    let start = || {
        std::process::Command::new(pericope(bed.folder.path()).get_program())
            .current_dir(bed.folder.path())
            .env("PERICOPE_HOME", bed.path("no-home"))
            .env_remove("GITHUB_STEP_SUMMARY")
            .args(["nightly", "nightly.toml", "--history", "h"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let both = [start(), start()].map(|child| child.wait_with_output().unwrap());
    let mut codes: Vec<Option<i32>> = both.iter().map(|output| output.status.code()).collect();
    codes.sort();
    // Where the second came after the first had ended, both are nights of their own.
    let nights = bed.latest()["night"].as_u64().unwrap();
    assert!(
        codes == [Some(0), Some(3)] && nights == 1 || codes == [Some(0), Some(0)] && nights == 2,
        "{codes:?}, {nights}"
    );
}

#[test]
fn the_shipped_experiment_runs() {
    if !model_or_skip("the_shipped_experiment_runs") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let run = || {
        pericope(&root())
            .env_remove("GITHUB_STEP_SUMMARY")
            .args(["nightly", "eval/nightly.toml", "--quiet", "--set", "data.questions=3", "--set", "data.documents=3"])
            .arg("--history")
            .arg(folder.path())
            .output()
            .unwrap()
    };
    for night in 1..=2 {
        let output = run();
        assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
        assert!(stdout(&output).contains(&format!("nightly: night {night} (")), "{}", stdout(&output));
    }
    let latest: Value = serde_json::from_str(&fs::read_to_string(folder.path().join("latest.json")).unwrap()).unwrap();
    assert!(
        latest["losses"].as_array().unwrap().is_empty() && latest["gains"].as_array().unwrap().is_empty(),
        "{latest}"
    );
    assert_eq!(latest["baseline"]["night"], 1);
}
