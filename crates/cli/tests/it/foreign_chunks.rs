//! Chunks that others make: `chunks:FILE.jsonl` and `command:PROGRAM`, through the commands.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::common::{SMALL_EXPERIMENT, folder_with, stderr, stdout, three_questions, without_models};

fn run(folder: &Path, args: &[&str]) -> Output {
    without_models(folder).args(args).output().unwrap()
}

/// The lines that a command prints, each a JSON document.
fn lines(output: &Output) -> Vec<Value> {
    stdout(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn texts(output: &Output) -> Vec<String> {
    lines(output).iter().map(|chunk| chunk["text"].as_str().unwrap().to_owned()).collect()
}

const PAGE: &str = "# Füchse\n\nFüchse graben Baue. Sie ruhen am Tag.\n\nEulen rufen bei Nacht.\n";

fn pages() -> tempfile::TempDir {
    folder_with(&[("a.md", PAGE), ("b.md", "Owls hoot at night. Foxes dig.\n")])
}

#[test]
fn what_segment_prints_is_a_file_of_chunks() {
    let folder = pages();
    let segment = |spec: &str| run(folder.path(), &["segment", "docs", "--segmenter", spec, "--format", "json"]);
    let made = segment("sentence");
    fs::write(folder.path().join("cuts.jsonl"), &made.stdout).unwrap();
    let again = segment("chunks:cuts.jsonl");
    assert_eq!((again.status.code(), &again.stdout), (Some(0), &made.stdout), "{}", stderr(&again));
}

#[test]
fn chunks_of_a_file_are_kept_and_documents_without_any_are_named() {
    let folder = pages();
    let root = folder.path();
    let chunks = [
        json!({"document": "docs/a.md", "start": 10, "end": 30, "offsets": "chars"}),
        json!({"document": "docs/a.md", "text": "Sie ruhen am Tag. Eulen rufen"}),
    ];
    let name = "my, (own) cuts=1.jsonl";
    fs::write(root.join(name), chunks.map(|chunk| format!("{chunk}\n")).concat()).unwrap();
    let segment = |settings: &str| {
        let spec = format!("chunks:({name}){settings}");
        run(root, &["segment", "docs", "--segmenter", &spec, "--format", "json"])
    };
    let strict = segment("");
    assert_eq!(strict.status.code(), Some(1));
    let own = ["Füchse graben Baue. ", "Sie ruhen am Tag.\n\nEulen rufen"];
    assert_eq!(texts(&strict), own);
    let said = stderr(&strict);
    assert!(
        said.contains("docs/b.md") && said.contains("no chunk of 1 of 1 document") && said.contains("missing=one"),
        "{said}"
    );
    let one = segment(",missing=one");
    assert_eq!((one.status.code(), texts(&one).len()), (Some(0), 3), "{}", stderr(&one));
    assert_eq!(texts(&segment(",missing=skip")), own);
    // Flags of the command cut what is longer, and nothing else.
    let spec = format!("chunks:({name}),missing=skip");
    let cut = run(
        root,
        &["segment", "docs", "--segmenter", &spec, "--format", "json", "--tokenizer", "words", "--max-tokens", "4"],
    );
    assert!(
        texts(&cut).len() > 2 && lines(&cut).iter().all(|chunk| chunk["tokens"].as_u64() <= Some(4)),
        "{}",
        stdout(&cut)
    );
    let refused = run(root, &["segment", "docs", "--segmenter", &spec, "--overlap", "1"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("kept as they are"), "{}", stderr(&refused));
}

#[test]
fn an_index_of_chunks_of_others_is_searched() {
    let folder = pages();
    let root = folder.path();
    let line = json!({"document": "docs/a.md", "text": "Füchse graben Baue. Sie ruhen"});
    fs::write(root.join("cuts.jsonl"), line.to_string()).unwrap();
    let spec = "chunks:cuts.jsonl,missing=skip";
    let index = run(root, &["index", "docs", "--into", "x.idx", "--embedder", "none", "--segmenter", spec, "--json"]);
    assert_eq!(index.status.code(), Some(0), "{}", stderr(&index));
    let report: Value = serde_json::from_str(&stdout(&index)).unwrap();
    assert_eq!(report["chunks"], 1, "{report}");
    let search = run(root, &["search", "graben", "--in", "x.idx", "--json"]);
    let found: Value = serde_json::from_str(&stdout(&search)).unwrap();
    assert_eq!(found["hits"][0]["text"], "Füchse graben Baue. Sie ruhen");
    // An index may come from anybody: a server does not read the file, or start the program, that it names.
    let served = run(root, &["serve", "--in", "x.idx", "--follow", "docs", "--bind", "127.0.0.1:0"]);
    assert_eq!(served.status.code(), Some(2), "{}", stderr(&served));
    assert!(stderr(&served).contains("names a file, a program or a service"), "{}", stderr(&served));
    // Other chunks under the same name are another segmenter.
    fs::write(root.join("cuts.jsonl"), json!({"document": "docs/a.md", "text": "Füchse"}).to_string()).unwrap();
    let again = run(root, &["index", "docs", "--into", "x.idx", "--embedder", "none", "--segmenter", spec]);
    assert_eq!(again.status.code(), Some(2), "{}", stderr(&again));
}

/// An experiment on three documents, whose chunkers are these.
fn experiment(root: &Path, specs: &[(&str, &str)]) {
    three_questions(root);
    let (head, _) = SMALL_EXPERIMENT.split_once("[[chunker]]").unwrap();
    let chunkers = specs.iter().map(|(name, spec)| format!("[[chunker]]\nname = '{name}'\nspec = '''{spec}'''\n"));
    fs::write(root.join("small.toml"), format!("{head}{}", chunkers.collect::<String>())).unwrap();
}

#[cfg(unix)]
#[test]
fn experiments_measure_chunks_of_others_beside_ours() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let program = r#"while read -r line; do echo 'one more' >&2
case $line in
  *badger*) echo '{"chunks":[{"text":"The wind blew over the hill."},{"text":"The badger slept in the garden all day. It was late by then."}]}';;
  *) echo '{"chunks":[{"start":0,"end":28},{"start":10,"end":60}]}';;
esac; done"#;
    fs::write(root.join("cut.sh"), program).unwrap();
    experiment(
        root,
        &[("whole", "chunks:whole.jsonl"), ("mine", "command:/bin/sh cut.sh"), ("fixed", "fixed:words=8")],
    );
    let whole = ["t0", "t1", "t2"].map(|id| format!("{}\n", json!({"document": id, "start": 0, "end": 86})));
    fs::write(root.join("whole.jsonl"), whole.concat()).unwrap();
    let ran = run(root, &["eval", "run", "small.toml", "--out", "out"]);
    assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
    let summary: Value = serde_json::from_str(&fs::read_to_string(root.join("out/summary.json")).unwrap()).unwrap();
    let rows = summary["chunkers"].as_array().unwrap();
    let of = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap();
    assert_eq!((&of("whole")["chunks"], &of("mine")["chunks"]), (&json!(3), &json!(6)), "{summary}");
    assert_eq!(of("mine")["spec"], "command:/bin/sh cut.sh,max_tokens=0");
    assert!(of("whole")["fingerprint"].as_str().unwrap().starts_with("sha256="));
    // One program for the whole run: each line that it writes for people is told with its name.
    assert_eq!(stderr(&ran).matches("sh: one more").count(), 3, "{}", stderr(&ran));
    // A document without chunks ends the run before anything is measured.
    fs::write(root.join("whole.jsonl"), &whole[0]).unwrap();
    let refused = run(root, &["eval", "run", "small.toml", "--out", "out2"]);
    let said = stderr(&refused);
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("no chunk of 2 of 3 documents: `t1`, `t2`; it names 1 document: `t0`"), "{said}");
}

/// A chunker that is to have the size of another has its limit too.
#[test]
fn a_same_size_has_the_limit_of_its_reference() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    experiment(
        root,
        &[
            ("big", "fixed:words=400,max_tokens=512"),
            ("like-big", "same-size:reference=big"),
            ("whole", "fixed:words=700,max_tokens=0"),
            ("like-whole", "same-size:reference=whole"),
            ("like-spec", "same-size:reference=(fixed:words=400,max_tokens=512)"),
            ("like-chunks", "same-size:reference=(chunks:cuts.jsonl)"),
            ("small", "same-size:reference=big,max_tokens=64"),
        ],
    );
    let mut set: Value = serde_json::from_str(&fs::read_to_string(root.join("questions.json")).unwrap()).unwrap();
    let mut cuts = String::new();
    for (at, article) in set["data"].as_array_mut().unwrap().iter_mut().enumerate() {
        let context = &mut article["paragraphs"][0]["context"];
        let long = format!("{}{}", context.as_str().unwrap(), " The sun was up and the wind went down.".repeat(300));
        for half in [0..long.len() / 2, long.len() / 2..long.len()] {
            cuts += &format!("{}\n", json!({"document": format!("t{at}"), "start": half.start, "end": half.end}));
        }
        *context = json!(long);
    }
    fs::write(root.join("questions.json"), set.to_string()).unwrap();
    fs::write(root.join("cuts.jsonl"), cuts).unwrap();
    let ran = run(root, &["eval", "run", "small.toml", "--out", "out"]);
    assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
    let summary: Value = serde_json::from_str(&fs::read_to_string(root.join("out/summary.json")).unwrap()).unwrap();
    for (name, limit) in
        [("like-big", 512), ("like-whole", 0), ("like-spec", 512), ("like-chunks", 0), ("small", 64), ("big", 512)]
    {
        let row = summary["chunkers"].as_array().unwrap().iter().find(|row| row["name"] == name).unwrap();
        assert_eq!(row["limit"].as_u64().unwrap_or(0), limit, "{row}");
        // Chunks as long as the default limit allows would be half of that.
        assert!(limit == 64 || row["mean_words"].as_f64() > Some(300.0), "{row}");
    }
}

/// Programs that do what programs do.
#[cfg(unix)]
#[test]
fn hostile_programs_cost_their_documents_alone() {
    let folder = pages();
    let root = folder.path();
    for (script, says) in [
        ("echo Loading...; cat >/dev/null", "all else on its standard error"),
        ("read -r l; printf '{\"chunks\":['", "in the middle of its answer"),
        ("exit 3", "ended before it answered (status 3)"),
        ("printf 'boom \\033[31m\\n' >&2; kill -9 $$", "signal 9); its last line on standard error: boom \\u{1b}[31m"),
        ("while read -r l; do echo '{\"chunks\":[{\"start\":0,\"end\":999}]}'; done", "reaches beyond the document"),
        ("while read -r l; do echo '{\"chunks\":[{\"start\":9,\"end\":3}]}'; done", "behind its end"),
        ("while read -r l; do echo '{\"chunks\":[{\"start\":3,\"end\":4}]}'; done", "docs/a.md"),
        ("while read -r l; do echo '{\"document\":\"other\",\"chunks\":[]}'; done", "answered for document `other`"),
        ("while read -r l; do echo '{\"error\":\"no idea\"}'; done", "the program says: no idea"),
        // Two minutes to start are for the first answer alone.
        ("read -r l; echo '{\"error\":\"docs/a.md, no idea\"}'; exec sleep 1000", "did not answer within 1 s"),
    ] {
        fs::write(root.join("bad.sh"), script).unwrap();
        let mut command = without_models(root);
        command.args(["segment", "docs", "--segmenter", "command:/bin/sh bad.sh,time=1", "--format", "json"]);
        let output = command.output().unwrap();
        let said = stderr(&output);
        assert_eq!((output.status.code(), said.contains('\u{1b}')), (Some(1), false), "{script}: {said}");
        assert!(said.contains(says) && said.contains("docs/a.md"), "{script}: {said}");
    }
}

/// The limit of reading is no limit of programs, which have their own.
#[cfg(unix)]
#[test]
fn a_program_has_the_time_that_it_was_given() {
    let folder = pages();
    let root = folder.path();
    let script = "while read -r l; do sleep 1; echo '{\"chunks\":[{\"start\":0,\"end\":2}]}'; done";
    fs::write(root.join("slow.sh"), script).unwrap();
    let spec = "command:/bin/sh slow.sh,time=60";
    let cut = run(root, &["segment", "docs", "--segmenter", spec, "--format", "json", "--file-timeout", "0.5"]);
    assert_eq!((cut.status.code(), texts(&cut).len()), (Some(0), 2), "{}", stderr(&cut));
    let index =
        ["index", "docs", "--into", "x.idx", "--embedder", "none", "--file-timeout", "0.5", "--segmenter", spec];
    let index = run(root, &index);
    assert_eq!(index.status.code(), Some(0), "{}", stderr(&index));
}

/// What cannot be started is a wrong setting: it is said before anything is cut.
#[cfg(unix)]
#[test]
fn a_program_that_is_not_there_is_wrong_usage() {
    let folder = pages();
    let root = folder.path();
    for args in [&["segment", "docs"][..], &["index", "docs", "--into", "x.idx", "--embedder", "none"]] {
        for spec in ["command:no-such-program-anywhere", "command:./docs/a.md --size 4"] {
            let output = run(root, &[args, &["--segmenter", spec]].concat());
            let said = stderr(&output);
            assert_eq!((output.status.code(), stdout(&output)), (Some(2), String::new()), "{said}");
            assert!(said.contains("--segmenter: ") && said.contains("cannot be started"), "{said}");
        }
    }
    assert!(!root.join("x.idx").exists());
}

/// The program runs in a process group of its own; who ends the command ends it too.
#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_command_leaves_no_program_behind() {
    use std::time::{Duration, Instant};
    let folder = pages();
    let root = folder.path();
    fs::write(root.join("slow.sh"), "sleep 1000 & echo $! > started.tmp; mv started.tmp started; wait").unwrap();
    let binary = assert_cmd::cargo::cargo_bin("pericope");
    let mut command = std::process::Command::new(binary);
    command.current_dir(root).args(["segment", "docs", "--segmenter", "command:/bin/sh slow.sh"]);
    let mut child = command.env("PERICOPE_HOME", root.join("no-home")).spawn().unwrap();
    let begun = Instant::now();
    let waiting = |begun: Instant| begun.elapsed() < Duration::from_secs(60);
    while !root.join("started").exists() && waiting(begun) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let grandchild = fs::read_to_string(root.join("started")).unwrap();
    let told = std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(told.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    // Gone, or dead and not yet buried by whoever inherited it.
    let state = || fs::read_to_string(format!("/proc/{}/stat", grandchild.trim())).unwrap_or_default();
    let is_gone = || state().is_empty() || state().contains(") Z ");
    let begun = Instant::now();
    while !is_gone() && waiting(begun) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(is_gone(), "{}", state());
}
