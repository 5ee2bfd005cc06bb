//! Real documentation, where the environment says where it is, and input that is long or strange.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::time::{Duration, Instant};

use pericope_api::Kind;
use pericope_read::{ReadOptions, read_each, read_text};

#[test]
fn all_documentation_keeps_the_invariants() {
    let Some(data) = std::env::var_os("PERICOPE_DATA") else {
        eprintln!("skipped: PERICOPE_DATA is not set");
        return;
    };
    let mut documents = 0;
    for entry in std::fs::read_dir(Path::new(&data).join("docs")).unwrap() {
        let path = entry.unwrap().path();
        if !path.to_string_lossy().ends_with(".raw.jsonl") {
            continue;
        }
        read_each(&path, &ReadOptions::default(), &mut |document| {
            let document = document.unwrap();
            assert_eq!(document.check(), Ok(()), "{}", document.id);
            documents += 1;
        });
    }
    assert!(documents > 1_000, "{documents}");
}

/// The limit is far above what linear time needs and far below what quadratic time would.
#[test]
fn long_and_strange_documents_take_linear_time() {
    let n = 1_000_000;
    let inputs = [
        ("plain", "word ".repeat(n / 5)),
        ("plain", "a. ".repeat(n / 3)),
        ("plain", "\n\n".repeat(n / 2)),
        ("plain", "a\n\n".repeat(n / 3)),
        ("markdown", "word ".repeat(n / 5)),
        ("markdown", "x".repeat(n)),
        ("markdown", "a. ".repeat(n / 3)),
        ("markdown", "*a* ".repeat(n / 4)),
        ("markdown", "[a](b) ".repeat(n / 7)),
        ("markdown", "[".repeat(n)),
        ("markdown", "`a` b. ".repeat(n / 7)),
        ("markdown", "- a\n".repeat(n / 4)),
        ("markdown", "> a\n".repeat(n / 4)),
        ("markdown", "[a]: b\n".repeat(n / 7)),
        ("markdown", "-\n".repeat(n / 2)),
        ("markdown", "# a\n".repeat(n / 4)),
        ("markdown", "<b>a</b> ".repeat(n / 9)),
        ("markdown", "<div>\n\n".repeat(n / 7)),
        ("html", "<p>a. b</p>".repeat(n / 11)),
        ("html", "<div>".repeat(n / 5)),
        ("html", "<table>".repeat(n / 7)),
        ("html", "<p>&nbsp;".repeat(n / 9)),
        ("html", "<br>".repeat(n / 4)),
        ("html", "<h1>a".repeat(n / 5)),
        ("html", "&".repeat(n)),
    ];
    for (format, source) in inputs {
        let start = Instant::now();
        let document = read_text("d", format, source.as_str(), &ReadOptions::default()).unwrap();
        let took = start.elapsed();
        assert_eq!(document.check(), Ok(()));
        assert!(took < Duration::from_secs(20), "{format} {:?}: {took:?}", &source[..20]);
    }
}

#[test]
fn a_line_without_punctuation_is_one_sentence() {
    let line = "word ".repeat(2_000_000);
    let document = read_text("d", "plain", line, &ReadOptions::default()).unwrap();
    assert_eq!((document.len(), document.sentences[0].kind), (1, Kind::Prose));
}
