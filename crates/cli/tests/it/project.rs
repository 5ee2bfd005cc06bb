//! A project: `pericope init`, and `index` and `search` that find it.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::common::{folder_with, stderr, stdout, without_models};

fn run(folder: &Path, args: &[&str]) -> Output {
    without_models(folder).args(args).output().unwrap()
}

/// Runs a command that must end well, and reads what it prints.
fn json(folder: &Path, args: &[&str]) -> Value {
    let output = run(folder, args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
    serde_json::from_str(&stdout(&output)).unwrap()
}

/// Wrong usage: what is said.
fn refused(folder: &Path, args: &[&str]) -> String {
    let output = run(folder, args);
    assert_eq!((output.status.code(), stdout(&output)), (Some(2), String::new()), "{args:?}: {}", stderr(&output));
    stderr(&output)
}

/// The documents that a search from this folder finds, sorted.
fn found(folder: &Path, query: &str) -> Vec<String> {
    let answer = json(folder, &["search", query, "--json"]);
    let mut found: Vec<String> =
        answer["hits"].as_array().unwrap().iter().map(|hit| hit["document"].as_str().unwrap().to_owned()).collect();
    found.sort();
    found
}

fn settings(folder: &Path) -> std::path::PathBuf {
    folder.join(".pericope/pericope.toml")
}

/// A folder with pages in `docs`, and a project of them.
fn project(paths: &[&str]) -> tempfile::TempDir {
    let folder = folder_with(&[("a.md", "Foxes dig dens."), ("guide/deep/b.md", "Foxes sleep by day.")]);
    fs::write(folder.path().join("README.md"), "Foxes live here.").unwrap();
    let output = run(folder.path(), &[&["init"], paths].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    folder
}

#[test]
fn a_project_is_found_from_every_folder_in_it() {
    let folder = project(&[]);
    let root = folder.path();
    let all = ["README.md", "docs/a.md", "docs/guide/deep/b.md"];
    let report = json(&root.join("docs/guide"), &["index", "--json"]);
    assert_eq!(
        (report["documents"].as_u64(), report["index"].as_str()),
        (Some(3), Some(".pericope/index")),
        "{report}"
    );
    assert!(root.join(".pericope/index/pericope.json").is_file());
    for below in ["", "docs", "docs/guide/deep"] {
        assert_eq!(found(&root.join(below), "foxes"), all, "{below:?}");
        // The documents are those that are there already.
        let again = json(&root.join(below), &["index", "--json"]);
        assert_eq!((again["files_unchanged"].as_u64(), again["documents"].as_u64()), (Some(3), Some(3)), "{again}");
    }
    // Paths that are named are seen from where the command is started; documents are not.
    fs::write(root.join("docs/guide/deep/b.md"), "Foxes sleep in dens.").unwrap();
    let report = json(&root.join("docs/guide"), &["index", "deep", "../a.md", "--json"]);
    assert_eq!((report["documents_written"].as_u64(), report["documents"].as_u64()), (Some(1), Some(3)), "{report}");
    fs::remove_file(root.join("docs/a.md")).unwrap();
    let report = json(&root.join("docs/guide/deep"), &["index", "--prune", "--json"]);
    assert_eq!(report["documents_removed"].as_u64(), Some(1), "{report}");
    assert_eq!(found(root, "foxes"), ["README.md", "docs/guide/deep/b.md"]);
    let said = stdout(&run(&root.join("docs"), &["search", "foxes"]));
    assert!(said.contains("docs/guide/deep/b.md:1"), "{said}");
}

#[test]
fn hits_count_lines_and_on_demand_characters() {
    let folder = folder_with(&[("a.md", "# Füchse\n\nFüchse graben.\n\nÄltere Füchse ruhen äußerst gern.\n")]);
    let root = folder.path();
    let args = ["index", "docs", "--into", "x.idx", "--embedder", "none", "--segmenter", "sentence", "--json"];
    json(root, &args);
    let text = fs::read_to_string(root.join("docs/a.md")).unwrap();
    let characters: Vec<char> = text.chars().collect();
    let search = ["search", "ruhen", "--in", "x.idx", "--context", "1"];
    for (more, group) in [(&[][..], false), (&["--group"], true)] {
        let bytes = json(root, &[&search[..], more, &["--json"]].concat());
        let chars = json(root, &[&search[..], more, &["--json", "--offsets", "chars"]].concat());
        let hit =
            |answer: &Value| if group { answer["groups"][0]["hits"][0].clone() } else { answer["hits"][0].clone() };
        let (bytes, chars) = (hit(&bytes), hit(&chars));
        let number = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
        let of = |value: &Value| characters[number(&value["start"])..number(&value["end"])].iter().collect::<String>();
        assert_eq!((&bytes["lines"], &chars["lines"]), (&serde_json::json!([5, 5]), &serde_json::json!([5, 5])));
        assert_eq!(text[number(&bytes["start"])..number(&bytes["end"])], of(&chars));
        assert_eq!(of(&chars), chars["text"].as_str().unwrap());
        assert_eq!(of(&chars["context"]), chars["context"]["text"].as_str().unwrap());
        let mark = &chars["highlights"][0];
        let words: Vec<char> = chars["text"].as_str().unwrap().chars().collect();
        assert_eq!(words[number(&mark[0])..number(&mark[1])].iter().collect::<String>(), "ruhen");
    }
    let said = stdout(&run(root, &[&search[..4], &["--offsets", "chars"]].concat()));
    let start = text.chars().take_while(|c| *c != 'Ä').count();
    assert!(said.contains(&format!("docs/a.md:5 #füchse · characters {start}–")), "{said}");
}

#[test]
fn init_writes_what_it_was_told_and_git_ignores_the_index() {
    let folder = project(&["docs/guide", "README.md", "--segmenter", "sentence", "--url-prefix", "https://x.example/"]);
    let root = folder.path();
    let text = fs::read_to_string(settings(root)).unwrap();
    for line in [
        "paths = [\"docs/guide\", \"README.md\"]",
        "segmenter = \"sentence\"",
        "embedder = \"none\"",
        "url_prefix = \"https://x.example/\"",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
    let report = json(root, &["index", "--json"]);
    assert_eq!(
        (report["documents"].as_u64(), report["segmenter"].as_str()),
        (Some(2), Some("sentence:max_tokens=256")),
        "{report}"
    );
    assert_eq!(found(root, "foxes"), ["README.md", "docs/guide/deep/b.md"]);
    // Hits have the addresses that the service gives them, in groups too; those of an index that is named have none.
    let by_day = ["search", "foxes sleep by day", "--json", "-k", "1"];
    let address = "https://x.example/docs/guide/deep/b.md";
    assert_eq!(json(&root.join("docs"), &by_day)["hits"][0]["url"], address);
    assert_eq!(json(root, &[&by_day[..], &["--group"]].concat())["groups"][0]["hits"][0]["url"], address);
    let named = json(root, &[&by_day[..], &["--in", ".pericope/index"]].concat());
    assert!(named["hits"][0]["rank"] == 1 && named["hits"][0].get("url").is_none(), "{named}");
    let ignored = fs::read_to_string(root.join(".pericope/.gitignore")).unwrap();
    assert!(ignored.lines().any(|line| line == "*") && ignored.lines().any(|line| line == "!pericope.toml"));
    // What is there stays.
    let said = refused(root, &["init", "--segmenter", "window"]);
    assert!(said.contains(".pericope/pericope.toml is there already"), "{said}");
    assert_eq!(fs::read_to_string(settings(root)).unwrap(), text);
    for (args, says) in [
        (&["init", "../elsewhere"][..], "no such file"),
        (&["init", ".."], "docs: make the project in a folder that holds it"),
        (&["init", "--segmenter", "windoww"], "windoww"),
        (&["init", "--url-prefix", "x.example"], "no address"),
    ] {
        let said = refused(&root.join("docs"), args);
        assert!(said.contains(says) && !root.join("docs/.pericope").exists(), "{args:?}: {said}");
    }
    // A project in a project: the nearer one counts.
    let output = run(&root.join("docs"), &["init"]);
    assert!(stderr(&output).contains("is not used from here on"), "{}", stderr(&output));
    json(&root.join("docs"), &["index", "--json"]);
    assert_eq!(found(&root.join("docs/guide"), "foxes"), ["a.md", "guide/deep/b.md"]);
}

#[test]
fn flags_outrank_the_file() {
    let folder = project(&["docs"]);
    let root = folder.path();
    json(root, &["index", "--json"]);
    let said = refused(root, &["index", "--segmenter", "sentence"]);
    assert!(said.contains("sentence") && said.contains("--rebuild"), "{said}");
    let report = json(root, &["index", "--segmenter", "sentence", "--embedder", "hashed", "--rebuild", "--json"]);
    let made = (report["segmenter"].as_str(), report["embedder"].as_str());
    assert_eq!(made, (Some("sentence:max_tokens=256"), Some("hashed")), "{report}");
    // An index that is named has nothing to do with the project.
    let args = ["index", "guide", "--into", "x.idx", "--embedder", "none", "--json"];
    let report = json(&root.join("docs"), &args);
    assert_eq!(
        (report["documents"].as_u64(), report["segmenter"].as_str()),
        (Some(1), Some("structure:max_tokens=256"))
    );
    let answer = json(&root.join("docs"), &["search", "foxes", "--in", "x.idx", "--json"]);
    assert_eq!(answer["hits"][0]["document"], "guide/deep/b.md");
}

#[test]
fn what_is_wrong_with_the_settings_is_said() {
    let folder = project(&["docs"]);
    let root = folder.path();
    for (text, says) in [
        ("paths = [\"docs\"]\nsegmentor = \"window\"\n", "line 2, key segmentor: there is no such key"),
        ("# c\n\nembedder = 7\n", "line 3, key embedder: a text in quotes is expected, not a number"),
        ("segmenter = \"windoww\"\n", "line 1, key segmenter: "),
        ("paths = [\"../docs\"]\n", "line 1, key paths: \"../docs\" lies outside of the project"),
        ("paths = [\"nowhere\"]\n", "key paths: nowhere: no such file or folder"),
        ("embedder = \"nobody\"\n", "key embedder"),
        ("paths = [\n", "line "),
    ] {
        fs::write(settings(root), text).unwrap();
        let said = refused(&root.join("docs"), &["index"]);
        assert!(said.contains(".pericope/pericope.toml, ") && said.contains(says), "{text:?}: {said}");
    }
    fs::write(settings(root), "embedder = \"none\"\n").unwrap();
    let said = refused(&root.join("docs"), &["index", "../.."]);
    assert!(said.contains("outside of the project") && said.contains("--into"), "{said}");
    let said = refused(root, &["serve", "--follow", ".."]);
    assert!(said.contains("outside of the project") && said.contains("with --in\n"), "{said}");
    let said = refused(root, &["search", "foxes"]);
    assert!(said.contains("there is no index yet; `pericope index` makes it"), "{said}");
    // Settings that name no path mean the whole project.
    assert_eq!(json(root, &["index", "--json"])["documents"].as_u64(), Some(3));
}

#[test]
fn segment_cuts_as_the_project_says() {
    let folder = project(&["docs", "--segmenter", "sentence"]);
    let root = folder.path();
    fs::write(root.join("docs/a.md"), "Foxes dig dens. They sleep by day.\n").unwrap();
    let cut = |folder: &Path, args: &[&str]| -> Vec<String> {
        let output = run(folder, &[&["segment", "--format", "json"], args].concat());
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
        let line = |line: &str| serde_json::from_str::<Value>(line).unwrap()["document"].as_str().unwrap().to_owned();
        stdout(&output).lines().map(line).collect()
    };
    let twice = ["docs/a.md", "docs/a.md"];
    assert_eq!(cut(root, &["docs/a.md"]), twice);
    assert_eq!(cut(&root.join("docs/guide"), &["../a.md"]), twice, "documents are called as in the index");
    // Flags win, and what lies outside of the project is cut as well.
    assert_eq!(cut(&root.join("docs"), &["a.md", "--segmenter", "structure"]), ["a.md"]);
    let other = tempfile::tempdir().unwrap();
    fs::write(other.path().join("b.md"), "Owls hoot. They fly.\n").unwrap();
    assert_eq!(cut(root, &[other.path().join("b.md").to_str().unwrap()]).len(), 2);
    // Settings that cannot be read are no defaults; a flag needs none.
    fs::write(settings(root), "segmenter = \"windoww\"\n").unwrap();
    let said = refused(&root.join("docs"), &["segment", "a.md"]);
    assert!(said.contains(".pericope/pericope.toml, line 1, key segmenter: "), "{said}");
    assert_eq!(cut(root, &["docs/a.md", "--segmenter", "structure"]).len(), 1);
    // What is not there is structure.
    fs::write(settings(root), "embedder = \"none\"\n").unwrap();
    assert_eq!(cut(&root.join("docs"), &["a.md"]), ["a.md"]);
}

#[test]
fn without_a_project_an_index_has_to_be_named() {
    let folder = folder_with(&[("a.md", "Foxes dig dens.")]);
    for (args, flag) in [(&["index"][..], "--into"), (&["index", "docs"], "--into"), (&["search", "foxes"], "--in")] {
        let said = refused(folder.path(), args);
        assert!(said.contains("pericope init") && said.contains(flag), "{args:?}: {said}");
    }
    assert!(!folder.path().join(".pericope").exists());
    refused(folder.path(), &["index", "--into", "x.idx"]);
}

#[test]
fn the_projects_own_folder_is_never_read() {
    let folder = project(&[]);
    let root = folder.path();
    fs::write(root.join(".pericope/notes.md"), "Foxes are secret.").unwrap();
    fs::write(root.join(".hidden.md"), "Foxes hide.").unwrap();
    let hidden = ["index", "--hidden", "--no-ignore", "--json"];
    for _ in 0..2 {
        assert_eq!(json(root, &hidden)["documents"].as_u64(), Some(4));
        assert_eq!(found(root, "foxes"), [".hidden.md", "README.md", "docs/a.md", "docs/guide/deep/b.md"]);
    }
    // Nor is it by others.
    let other = tempfile::tempdir().unwrap();
    let into = other.path().join("other.idx");
    let args =
        ["index", ".", "--into", into.to_str().unwrap(), "--embedder", "none", "--hidden", "--no-ignore", "--json"];
    assert_eq!(json(root, &args)["documents"].as_u64(), Some(4));
    let said = stdout(&run(root, &["segment", "."]));
    assert!(!said.contains("secret"), "{said}");
}

/// Only root can give a file to somebody else.
#[cfg(unix)]
#[test]
fn the_project_of_another_user_is_not_obeyed() {
    let folder = project(&["--segmenter", "sentence", "--embedder", "none"]);
    let root = folder.path().canonicalize().unwrap();
    let owned = [root.join(".pericope"), settings(&root)];
    for part in &owned {
        if std::os::unix::fs::chown(part, Some(54_321), None).is_err() {
            eprintln!("SKIPPED: the_project_of_another_user_is_not_obeyed: only root gives files away");
            return;
        }
        for args in [&["index"][..], &["search", "foxes"], &["serve"]] {
            let said = refused(&root.join("docs"), args);
            assert!(said.contains("belongs to another user (number 54321)") && said.contains(".pericope"), "{said}");
        }
        let trusting = |value: &Path, caller: &str| {
            let mut command = without_models(&root);
            command.args(["index", "--json"]).env("PERICOPE_SAFE_DIRECTORY", value).env("SUDO_UID", caller);
            command.output().unwrap().status.code()
        };
        assert_eq!(trusting(Path::new("/no/such"), "7"), Some(2));
        assert_eq!(trusting(&root, "7"), Some(0));
        assert_eq!(trusting(Path::new("*"), "7"), Some(0));
        assert_eq!(trusting(Path::new(""), "54321"), Some(0), "under sudo it is the caller's");
        std::os::unix::fs::chown(part, Some(0), None).unwrap();
        assert_eq!(run(&root, &["index"]).status.code(), Some(0), "root's is everybody's");
    }
}
