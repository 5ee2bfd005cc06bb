//! Documents and names do not control the terminal.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{folder_with, stderr, stdout, without_models};

/// Sets the title, writes the clipboard, clears the screen, turns the direction of the text.
const HOSTILE: &str = "foxes \u{1b}]0;PWNED\u{7}\u{1b}]52;c;cm0gLXJmIH4=\u{7}\u{1b}[2J\u{9b}2J\u{202e}dig";

/// What the command writes to a terminal (`script` of util-linux gives it one); nothing where there is no such program.
fn on_a_terminal(folder: &Path, args: &str) -> Option<String> {
    let binary = env!("CARGO_BIN_EXE_pericope");
    let output = Command::new("script")
        .args(["-qec", &format!("'{binary}' {args}"), "/dev/null"])
        .current_dir(folder)
        .env("PERICOPE_HOME", folder.join("no-home"))
        .env("TERM", "xterm")
        .stdin(std::process::Stdio::null())
        .output();
    match output {
        Ok(output) => Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        Err(_) => {
            eprintln!("SKIPPED: there is no program `script`");
            None
        }
    }
}

/// Nothing but colours, line ends and tabs steers the terminal.
fn check(said: &str) {
    for sequence in said.split('\u{1b}').skip(1) {
        let end = sequence.find(|c: char| c.is_ascii_alphabetic()).map_or(sequence.len(), |at| at + 1);
        let sequence = &sequence[..end];
        // Colours; and what progress bars need: the cursor up and down, a line erased, the cursor hidden.
        let numbers = sequence.trim_start_matches(['[', '?']).trim_end_matches(['m', 'A', 'B', 'K', 'h', 'l']);
        let harmless = sequence.starts_with('[') && numbers.chars().all(|c| c.is_ascii_digit() || c == ';');
        assert!(harmless, "{sequence:?}");
    }
    let steers = |c: char| (c.is_control() && !"\n\r\t\u{1b}".contains(c)) || matches!(c, '\u{202a}'..='\u{202e}');
    assert!(!said.chars().any(steers), "{said:?}");
}

#[test]
fn no_text_of_a_document_reaches_the_terminal_as_it_is() {
    let folder =
        folder_with(&[("a.md", &format!("# {HOSTILE}\n\nThe {HOSTILE} badgers.")), ("b\u{1b}[2J\nerror: c.md", "")]);
    let index = "index docs --into x.idx --embedder none --tokenizer words";
    for args in [
        "segment docs",
        "segment docs --format json",
        "segment docs --format html",
        index,
        "search badgers --in x.idx",
        "search badgers --in x.idx --group --context 1",
        "search badgers --in x.idx --json",
        "segment 'docs/none\u{1b}[2J'",
    ] {
        let Some(said) = on_a_terminal(folder.path(), args) else { return };
        assert!(said.contains("PWNED") || args.starts_with(index) || args.contains("none"), "{args}: {said:?}");
        check(&said);
    }
}

#[test]
fn names_and_errors_are_shown_in_pipes_too_and_text_is_as_it_is() {
    let folder =
        folder_with(&[("a.md", HOSTILE), ("b\u{1b}[2J\nerror: c.md", "\0\u{1}\0"), ("d\u{1b}[2J\nerror: e.md", "")]);
    let output = without_models(folder.path()).args(["segment", "docs"]).output().unwrap();
    assert!(stdout(&output).contains(HOSTILE), "{:?}", stdout(&output));
    let said = stderr(&output);
    assert!(said.contains("skipped: docs/b\\u{1b}[2J\\nerror: c.md: not text"), "{said:?}");
    assert!(said.contains("no text: docs/d\\u{1b}[2J\\nerror: e.md"), "{said:?}");
    let json = without_models(folder.path()).args(["segment", "docs", "--format", "json"]).output().unwrap();
    let line: serde_json::Value = serde_json::from_str(stdout(&json).lines().next().unwrap()).unwrap();
    assert_eq!(line["text"], HOSTILE);
}

/// Whatever is written goes through one place: nobody writes past it.
#[test]
fn nothing_is_printed_past_the_terminal() {
    fn sources(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match entry.is_dir() {
                true => sources(&entry, found),
                false => found.push(entry),
            }
        }
    }
    let mut found = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    assert!(found.len() > 20);
    for file in found.iter().filter(|file| !file.ends_with("terminal.rs")) {
        let text = fs::read_to_string(file).unwrap();
        for (number, line) in text.lines().enumerate() {
            let past = ["println!", "eprint", "print!(", "stdout().write", "stderr().write", "anstream::"];
            let script = line.contains("write_all(&script)");
            assert!(
                script || !past.iter().any(|past| line.contains(past)),
                "{}:{}: {line}",
                file.display(),
                number + 1
            );
        }
    }
}
