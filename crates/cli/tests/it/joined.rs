//! What `pericope segment --format json` prints gives back every byte of every document.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;

use crate::common::{stderr, stdout, without_models};

/// Pieces that documents are made of.
static PIECES: [&str; 22] = [
    "One sentence. ",
    "Another one, which is longer! ",
    "\n",
    "\r\n",
    "\n\n",
    "\r\n\r\n",
    "  \t ",
    "你好。世界很大。我们去看看吧。",
    "한국어 문장입니다. ",
    "👩‍👩‍👧‍👦 🇩🇪🇫🇷 ",
    "e\u{301}\u{301} ",
    "\u{a0}\u{3000}",
    "\u{2028}",
    "\n# Heading\n\n",
    "\r\n## Deeper\r\n\r\n",
    "\n- an item\n- another\n",
    "\n```sh\nlet a = 1\n\n  b\n```\n",
    "\n| a | b |\r\n|---|---|\r\n| 1 | 2 |\r\n",
    "<b>bold</b> &amp; <i>more</i> ",
    "<!-- a comment -->",
    "https://example.org/a/very/long/path?with=query&and=more#fragment ",
    "wordwordwordwordwordwordwordwordwordword",
];
/// What stands before and after.
static EDGES: [&str; 7] =
    ["", "\n", "\r\n \t\r\n", " ", "\u{feff}", "---\ntitle: Bees\n---\n", "---\r\ntitle: Bees\r\n---\r\n\r\n"];
static ENDINGS: [&str; 5] = ["md", "txt", "html", "rst", "adoc"];
/// Segmenters with their flags: pieces inside sentences, whole sentences, overlap of either kind.
static CUTS: [&[&str]; 6] = [
    &["--segmenter", "structure"],
    &["--segmenter", "recursive:chars=30", "--max-tokens", "9"],
    &["--segmenter", "sentence", "--overlap", "2"],
    &["--segmenter", "fixed:tokens=12,overlap=5"],
    &["--segmenter", "texttiling:w=3,k=2", "--max-tokens", "3"],
    &["--segmenter", "paragraph", "--max-tokens", "40", "--overlap", "1"],
];

fn document() -> impl Strategy<Value = (&'static str, String)> {
    let pieces = prop::collection::vec(prop::sample::select(&PIECES[..]), 0..14);
    let edge = || prop::sample::select(&EDGES[..]);
    (prop::sample::select(&ENDINGS[..]), edge(), pieces, edge())
        // A page without text has no chunk.
        .prop_map(|(ending, before, pieces, after)| (ending, format!("{before}Bees fly. {}{after}", pieces.concat())))
}

/// The lines as a reader of the page on JSON joins them, by document.
fn joined(lines: &str) -> BTreeMap<String, Vec<u8>> {
    let mut all: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for line in lines.lines() {
        let chunk: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| chunk[key].as_str().unwrap().as_bytes();
        let overlap = usize::try_from(chunk["overlap"].as_u64().unwrap()).unwrap();
        let source = all.entry(chunk["document"].as_str().unwrap().to_owned()).or_default();
        source.extend(text("before"));
        source.extend(&text("text")[overlap..]);
        source.extend(text("after"));
    }
    all
}

fn check(folder: &Path, files: &[(&str, String)], flags: &[&str]) {
    let docs = folder.join("docs");
    fs::create_dir_all(&docs).unwrap();
    let mut wanted = BTreeMap::new();
    for (i, (ending, text)) in files.iter().enumerate() {
        fs::write(docs.join(format!("{i}.{ending}")), text).unwrap();
        wanted.insert(format!("docs/{i}.{ending}"), text.clone().into_bytes());
    }
    let output = without_models(folder).args(["segment", "docs", "--format", "json"]).args(flags).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{flags:?}: {}", stderr(&output));
    let said = joined(&stdout(&output));
    for (name, source) in &wanted {
        let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let got = said.get(name).map(|bytes| shown(bytes));
        assert_eq!(got, Some(shown(source)), "{name}, {flags:?}");
    }
}

#[test]
fn chunks_and_gaps_give_back_every_byte() {
    let page = "\u{feff}---\r\ntitle: Bees\r\n---\r\n\r\n# Bees\r\n\r\nBees fly. 蜜蜂会飞。🐝🐝 They sting.\r\n\r\n\t- one\r\n- two \r\n\r\n";
    let files = ENDINGS.map(|ending| (ending, page.to_owned()));
    for flags in CUTS {
        check(tempfile::tempdir().unwrap().path(), &files, flags);
    }
}

#[test]
fn chunks_and_gaps_give_back_every_byte_of_any_document() {
    let mut runner = TestRunner::new(Config { cases: 12, failure_persistence: None, ..Config::default() });
    let cases = (prop::collection::vec(document(), 24), prop::sample::select(&CUTS[..]));
    runner
        .run(&cases, |(files, flags)| {
            check(tempfile::tempdir().unwrap().path(), &files, flags);
            Ok(())
        })
        .unwrap();
}

#[test]
fn chunks_of_others_that_leave_text_out_and_overlap_are_joined_too() {
    let folder = tempfile::tempdir().unwrap();
    let text = "Zero. One. Two. Three. Four.\n";
    fs::write(folder.path().join("a.txt"), text).unwrap();
    let chunks = [(6, 15), (11, 22), (12, 14), (23, 28)];
    let line = |(start, end): (usize, usize)| format!("{{\"document\":\"a.txt\",\"start\":{start},\"end\":{end}}}\n");
    fs::write(folder.path().join("cut.jsonl"), chunks.map(line).concat()).unwrap();
    let args = ["segment", "a.txt", "--segmenter", "chunks:cut.jsonl", "--format", "json"];
    let output = without_models(folder.path()).args(args).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = stdout(&output);
    assert_eq!(said.lines().count(), 4);
    assert_eq!(String::from_utf8(joined(&said)["a.txt"].clone()).unwrap(), text);
}
