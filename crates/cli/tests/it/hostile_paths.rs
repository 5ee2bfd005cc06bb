//! Paths that mislead: empty ones, files called like ours, links, names that are not UTF-8, pipes.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::common::{folder_with, report, stderr, stdout, without_models};

fn run(folder: &Path, args: &[&str]) -> Output {
    without_models(folder).args(args).output().unwrap()
}

/// Indexes `docs` into `x.idx`, by words.
fn index(folder: &Path, extra: &[&str]) -> Output {
    let args = ["index", "docs", "--into", "x.idx", "--embedder", "none", "--tokenizer", "words", "--json"];
    run(folder, &[&args, extra].concat())
}

fn found(folder: &Path, query: &str) -> Vec<String> {
    let output = run(folder, &["search", query, "--in", "x.idx", "--json", "--mode", "bm25"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let hits = report(&output)["hits"].clone();
    hits.as_array().unwrap().iter().map(|hit| hit["document"].as_str().unwrap().to_owned()).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

/// What every version writes into the metadata of an index.
const META: &str = r#"{"format": 2, "segmenter": "structure", "tokenizer": "words", "program": "0.1.0"}"#;

#[test]
fn empty_and_root_paths_are_wrong_usage_at_every_flag() {
    let folder = folder_with(&[("a.md", "# How do foxes dig?\n\nThey dig with their paws, deep into banks of sand.")]);
    fs::write(
        folder.path().join("e.toml"),
        "name = \"n\"\n[data]\nkind = \"squad\"\npath = \"q\"\n[[chunker]]\nname = \"c\"\nspec = \"paragraph\"\n",
    )
    .unwrap();
    let commands: [&[&str]; 15] = [
        &["index", "docs", "--embedder", "none", "--into"],
        &["index", "docs", "--embedder", "none", "--rebuild", "--into"],
        &["search", "foxes", "--in"],
        &["eval", "run", "e.toml", "--out"],
        &["eval", "report", "e.toml", "--out"],
        &["nightly", "e.toml", "--history"],
        &["nightly", "e.toml", "--export"],
        &["dataset", "from-docs", "docs", "--out"],
        &["dataset", "from-docs", "docs", "--out", "q.json", "--segmentation"],
        &["dataset", "synthetic", "docs", "--out"],
        &["segment-eval", "e.toml", "--out"],
        &["segment-eval", "-s", "texttiling", "--data"],
        &["train", "weswin", "--out", "m", "--data"],
        &["train", "weswin", "--data", "d", "--out"],
        &["tune", "e.toml", "--out"],
    ];
    let before = names(folder.path());
    for command in commands {
        for path in ["", "/", "//", "/.", "/.."] {
            let output = run(folder.path(), &[command, &[path]].concat());
            assert_eq!(output.status.code(), Some(2), "{command:?} {path:?}: {}", stderr(&output));
            let said = stderr(&output);
            assert!(said.contains("root of the file system") || path.is_empty(), "{command:?} {path:?}: {said}");
        }
    }
    for setting in ["nightly.history=\"\"", "nightly.history=\"/\""] {
        let output = run(folder.path(), &["nightly", "e.toml", "--set", setting]);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains("nightly.history"), "{}", stderr(&output));
    }
    assert_eq!(names(folder.path()), before, "nothing was written");
}

#[test]
fn a_rebuild_deletes_what_pericope_wrote_and_nothing_else() {
    let folder = folder_with(&[("a.md", "Foxes dig.")]);
    assert_eq!(index(folder.path(), &[]).status.code(), Some(0));
    let mine = folder.path().join("x.idx/text/mine.txt");
    fs::write(&mine, "precious").unwrap();
    let rebuilt = index(folder.path(), &["--rebuild"]);
    assert_eq!((rebuilt.status.code(), report(&rebuilt)["documents"].as_u64()), (Some(0), Some(1)));
    assert!(stderr(&rebuilt).contains("left alone: x.idx/text/mine.txt"), "{}", stderr(&rebuilt));
    assert_eq!(fs::read_to_string(&mine).unwrap(), "precious");
    assert_eq!(found(folder.path(), "foxes"), ["docs/a.md"]);
}

#[test]
fn a_folder_with_a_file_called_like_ours_is_no_index() {
    let folder = folder_with(&[("a.md", "Foxes dig.")]);
    for (name, content) in [("empty", "{}"), ("garbage", "not json"), ("package", "{\"format\": 2, \"name\": \"x\"}")] {
        let fake = folder.path().join(name);
        fs::create_dir_all(fake.join("text")).unwrap();
        fs::create_dir_all(fake.join("vectors")).unwrap();
        fs::write(fake.join("pericope.json"), content).unwrap();
        fs::write(fake.join("text/keep.txt"), "precious").unwrap();
        fs::write(fake.join("vectors/keep.txt"), "precious").unwrap();
        for extra in [&["--rebuild"][..], &[]] {
            let args = ["index", "docs", "--into", name, "--embedder", "none"];
            let output = run(folder.path(), &[&args, extra].concat());
            assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
            assert!(stderr(&output).contains("is not an index of Pericope"), "{}", stderr(&output));
        }
        let output = run(folder.path(), &["search", "foxes", "--in", name]);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        for kept in ["text/keep.txt", "vectors/keep.txt"] {
            assert_eq!(fs::read_to_string(fake.join(kept)).unwrap(), "precious");
        }
        assert_eq!(names(&fake), ["pericope.json", "text", "vectors"]);
    }
}

#[test]
fn a_file_called_like_ours_hides_no_documents() {
    let folder = folder_with(&[("a.md", "Foxes dig."), ("sub/b.md", "Owls hoot.")]);
    assert_eq!(report(&index(folder.path(), &[]))["documents"], 2);
    for place in ["docs/sub/pericope.json", "docs/pericope.json", "pericope.json"] {
        fs::write(folder.path().join(place), "{}").unwrap();
        let output = index(folder.path(), &["--prune", "--glob", "*.md"]);
        let report = report(&output);
        assert_eq!(output.status.code(), Some(0), "{place}: {}", stderr(&output));
        assert_eq!((&report["documents"], &report["documents_removed"]), (&2.into(), &0.into()), "{place}: {report}");
    }
    let cut = run(folder.path(), &["segment", "docs/sub", "docs/a.md", "--format", "json"]);
    let cut = stdout(&cut);
    assert!(cut.contains("docs/sub/b.md") && cut.contains("docs/a.md"), "{cut}");
}

#[test]
fn an_index_among_the_documents_is_left_out_and_named() {
    let folder = folder_with(&[("a.md", "Foxes dig."), ("sub/b.md", "Owls hoot."), ("sub/deep/c.md", "Eels swim.")]);
    assert_eq!(report(&index(folder.path(), &[]))["documents"], 3);
    fs::write(folder.path().join("docs/sub/pericope.json"), META).unwrap();
    let output = index(folder.path(), &["--prune"]);
    let (said, told) = (stderr(&output), report(&output));
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("left out: docs/sub: is an index of Pericope"), "{said}");
    assert_eq!(said.matches("is an index of Pericope").count(), 1, "{said}");
    assert_eq!(
        (told["skipped"].as_u64(), told["documents"].as_u64()),
        (Some(1), Some(3)),
        "nothing is removed: {told}"
    );
    let output = run(folder.path(), &["segment", "docs", "--format", "json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("docs/a.md") && !stdout(&output).contains("b.md"));
    assert!(stderr(&output).contains("left out: docs/sub: is an index of Pericope"), "{}", stderr(&output));
    // A folder above what was named is nobody's business.
    assert_eq!(run(folder.path(), &["segment", "docs/sub/deep"]).status.code(), Some(0));
}

#[test]
fn the_index_that_is_written_may_lie_among_the_documents() {
    let folder = folder_with(&[("a.md", "Foxes dig.")]);
    for _ in 0..2 {
        let args = ["index", "docs", "--into", "docs/x.idx", "--embedder", "none", "--json", "--prune"];
        let output = run(folder.path(), &args);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(report(&output)["documents"], 1);
    }
}

#[test]
fn a_narrower_glob_prunes_nothing_that_is_there() {
    let folder = folder_with(&[("a.md", "Foxes dig."), ("b.txt", "Owls hoot."), ("c.txt", "Eels swim.")]);
    assert_eq!(report(&index(folder.path(), &[]))["documents"], 3);
    fs::remove_file(folder.path().join("docs/c.txt")).unwrap();
    let pruned = report(&index(folder.path(), &["--prune", "--glob", "*.md"]));
    assert_eq!((pruned["documents"].as_u64(), pruned["documents_removed"].as_u64()), (Some(2), Some(1)), "{pruned}");
    assert_eq!(found(folder.path(), "owls"), ["docs/b.txt"]);
    assert!(found(folder.path(), "eels").is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_utf8_are_told_apart() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = folder_with(&[("plain.md", "Hares run.")]);
    let docs = folder.path().join("docs");
    let files: [(&[u8], &str); 3] =
        [(b"a\xff.md", "Foxes dig."), (b"a\xfe.md", "Badgers sleep."), (br"a\xff.md", "Owls hoot.")];
    for (name, text) in files {
        fs::write(docs.join(OsStr::from_bytes(name)), text).unwrap();
    }
    let first = report(&index(folder.path(), &[]));
    assert_eq!((first["documents"].as_u64(), first["documents_written"].as_u64()), (Some(4), Some(4)), "{first}");
    assert_eq!(found(folder.path(), "foxes"), [r"docs/a\xff.md"]);
    assert_eq!(found(folder.path(), "badgers"), [r"docs/a\xfe.md"]);
    assert_eq!(found(folder.path(), "owls"), [r"docs/a\x5cxff.md"]);
    let again = report(&index(folder.path(), &["--prune"]));
    let counts =
        (again["files_unchanged"].as_u64(), again["documents_written"].as_u64(), again["documents_removed"].as_u64());
    assert_eq!(counts, (Some(4), Some(0), Some(0)), "{again}");
    // A document goes with its own file.
    fs::remove_file(docs.join(OsStr::from_bytes(b"a\xfe.md"))).unwrap();
    assert_eq!(report(&index(folder.path(), &["--prune"]))["documents_removed"], 1);
    assert!(found(folder.path(), "badgers").is_empty() && found(folder.path(), "foxes").len() == 1);
    // What has no text is named apart, too.
    fs::write(docs.join(OsStr::from_bytes(b"z\xff.md")), "").unwrap();
    fs::write(docs.join(OsStr::from_bytes(b"z\xfe.md")), "").unwrap();
    let said = stderr(&index(folder.path(), &[]));
    assert!(said.contains(r"2 pages hold no text: docs/z\xfe.md, docs/z\xff.md"), "{said}");
    // And so is what cannot be read.
    fs::write(docs.join(OsStr::from_bytes(b"z\xff.md")), b"\x89PNG\r\n\x1a\n\0").unwrap();
    let said = stderr(&index(folder.path(), &[]));
    assert!(said.contains(r"skipped: docs/z\xff.md: not text"), "{said}");
}

#[cfg(unix)]
mod links {
    use std::os::unix::fs::symlink;

    use super::*;

    /// Documents with links out of them: to a file and to a folder.
    fn with_links() -> tempfile::TempDir {
        let folder = folder_with(&[("a.md", "# How do foxes dig?\n\nFoxes dig with their paws, deep into the sand.")]);
        let secret = folder.path().join("secret");
        fs::create_dir(&secret).unwrap();
        fs::write(secret.join("key.md"), "# What is the key?\n\nThe zebrasecret opens every door of this house.")
            .unwrap();
        symlink(secret.join("key.md"), folder.path().join("docs/notes.md")).unwrap();
        symlink("../secret", folder.path().join("docs/more")).unwrap();
        folder
    }

    #[test]
    fn links_out_of_the_folder_are_followed_on_demand_alone() {
        let folder = with_links();
        let output = index(folder.path(), &[]);
        let said = stderr(&output);
        assert_eq!((output.status.code(), report(&output)["documents"].as_u64()), (Some(0), Some(1)), "{said}");
        let note: Vec<&str> = said.lines().filter(|line| line.contains("--follow-links")).collect();
        assert!(note.len() == 1 && note[0].contains("docs/more") && note[0].contains("docs/notes.md"), "{said}");
        assert!(found(folder.path(), "zebrasecret").is_empty());
        let followed = report(&index(folder.path(), &["--follow-links"]));
        assert_eq!(followed["documents"], 2, "each file once: {followed}");
        assert_eq!(found(folder.path(), "zebrasecret").len(), 1);
        // What was named on the command line is followed in any case.
        for named in ["docs/notes.md", "docs/more"] {
            let cut = run(folder.path(), &["segment", named]);
            assert!(stdout(&cut).contains("zebrasecret") && cut.status.code() == Some(0), "{}", stderr(&cut));
        }
    }

    #[test]
    fn every_door_has_the_same_rule() {
        let folder = with_links();
        let doors: [&[&str]; 2] = [
            &["segment", "docs", "--format", "json"],
            &["dataset", "from-docs", "docs", "--out", "q.json", "--min-answer-words", "1"],
        ];
        for door in doors {
            for follow in [false, true] {
                let output = run(folder.path(), &[door, if follow { &["--follow-links"][..] } else { &[] }].concat());
                assert_eq!(output.status.code(), Some(0), "{door:?}: {}", stderr(&output));
                let made = fs::read_to_string(folder.path().join("q.json")).unwrap_or_default();
                let text = if door[0] == "segment" { stdout(&output) } else { made };
                assert!(text.contains("Foxes dig"), "{door:?}: {text}");
                assert_eq!(text.contains("zebrasecret"), follow, "{door:?}");
                assert_eq!(stderr(&output).contains("not followed"), !follow, "{door:?}: {}", stderr(&output));
            }
        }
    }

    #[test]
    fn a_folder_of_data_with_a_link_out_of_it_is_refused() {
        let folder = folder_with(&[]);
        let at = |name: &str| folder.path().join(name);
        for inner in ["squad", "choi", "chroma/corpora"] {
            fs::create_dir_all(at(inner)).unwrap();
        }
        fs::write(at("secret"), "========\nThe zebrasecret opens every door.\n========\nTwo.\n").unwrap();
        for link in ["squad/a.json", "choi/a.ref", "chroma/corpora/c.md"] {
            symlink(at("secret"), at(link)).unwrap();
        }
        fs::write(at("chroma/questions_df.csv"), "question,references,corpus_id\nq,\"[]\",c\n").unwrap();
        for kind in ["squad", "chroma"] {
            let experiment = format!(
                "name = \"n\"\n[data]\nkind = \"{kind}\"\npath = \"{kind}\"\n[retrieval]\nembedder = \"none\"\n\
                 modes = [\"bm25\"]\n[[chunker]]\nname = \"c\"\nspec = \"paragraph\"\n"
            );
            fs::write(at(&format!("{kind}.toml")), experiment).unwrap();
        }
        let doors: [&[&str]; 4] = [
            &["eval", "run", "squad.toml"],
            &["eval", "run", "chroma.toml"],
            &["nightly", "squad.toml"],
            &["segment-eval", "--data", "choi", "-s", "texttiling"],
        ];
        for door in doors {
            let output = run(folder.path(), door);
            assert_eq!(output.status.code(), Some(2), "{door:?}: {}", stderr(&output));
            assert!(stderr(&output).contains("a link out of the folder"), "{door:?}: {}", stderr(&output));
        }
    }

    #[test]
    fn links_within_the_folder_bring_each_file_once() {
        let folder = folder_with(&[("v1/a.md", "Foxes dig."), (".v2/b.md", "Owls hoot."), ("c.md", "Eels swim.")]);
        let docs = folder.path().join("docs");
        symlink("v1", docs.join("current")).unwrap();
        symlink("c.md", docs.join("also.md")).unwrap();
        // Hidden itself, and shown by the link, as a mounted volume does.
        symlink(".v2", docs.join("next")).unwrap();
        symlink(".v2", docs.join("once-more")).unwrap();
        // Folders that link to each other.
        for (from, to) in [("x/to-y", "../y"), ("y/to-x", "../x")] {
            fs::create_dir_all(docs.join(from).parent().unwrap()).unwrap();
            symlink(to, docs.join(from)).unwrap();
        }
        fs::write(docs.join("x/d.md"), "Hares run.").unwrap();
        let output = run(folder.path(), &["segment", "docs", "--format", "json"]);
        let mut documents: Vec<String> = stdout(&output)
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["document"].as_str().unwrap().to_owned())
            .collect();
        documents.dedup();
        assert_eq!(documents, ["docs/c.md", "docs/next/b.md", "docs/v1/a.md", "docs/x/d.md"], "{}", stderr(&output));
    }

    #[test]
    fn a_document_that_has_another_path_is_not_kept_twice() {
        let folder = folder_with(&[("a.md", "Foxes dig.")]);
        let docs = folder.path().join("docs");
        fs::write(docs.join("b.md"), "Foxes dig.").unwrap();
        assert_eq!(report(&index(folder.path(), &[]))["documents"], 2);
        fs::remove_file(docs.join("b.md")).unwrap();
        symlink("a.md", docs.join("b.md")).unwrap();
        assert_eq!(report(&index(folder.path(), &["--prune"]))["documents"], 1);
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_is_refused_wherever_a_file_is_read() {
    let folder = folder_with(&[("a.md", "Foxes dig.")]);
    let pipe = folder.path().join("pipe.jsonl");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let experiment = |path: &str| {
        format!(
            "name = \"n\"\n[data]\nkind = \"squad\"\npath = \"{path}\"\n[[chunker]]\nname = \"c\"\nspec = \"paragraph\"\n[retrieval]\nembedder = \"none\"\nmodes = [\"bm25\"]\n"
        )
    };
    fs::write(folder.path().join("e.toml"), experiment("pipe.jsonl")).unwrap();
    fs::write(folder.path().join("device.toml"), experiment("/dev/zero")).unwrap();
    let commands: [&[&str]; 7] = [
        &["eval", "run", "e.toml"],
        &["eval", "run", "device.toml"],
        &["eval", "run", "pipe.jsonl"],
        &["nightly", "e.toml", "--import", "pipe.jsonl"],
        &["segment-eval", "--data", "pipe.jsonl", "-s", "texttiling"],
        &["segment", "pipe.jsonl"],
        &["index", "pipe.jsonl", "--into", "x.idx", "--embedder", "none"],
    ];
    for command in commands {
        let mut command_line = without_models(folder.path());
        let output = command_line.args(command).timeout(std::time::Duration::from_secs(60)).output().unwrap();
        let said = stderr(&output);
        assert!(matches!(output.status.code(), Some(1..=3)), "{command:?} waited for ever: {said}");
        assert!(said.contains("not a file"), "{command:?}: {said}");
    }
}
