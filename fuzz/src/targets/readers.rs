//! The readers of documents and the sentence splitter. Their laws: sentences and chunks tile the text, offsets lie on
//! characters, limits hold.

use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use pericope_api::{Document, Kind, Span};
use pericope_read::{Isolation, ReadOptions, WorkerLimits, WorkerPool, default_splitter, read_bytes};
use pericope_segment::spec::Spec;
use pericope_segment::{Chunker, Standalone, laws, registry};

use super::parts::text;

pub(super) const PLAIN: &[&str] = &[
    "Dr.", "e.g.", "...", "!?", "\"", "'", ")", "\r\n", "\n\n", "\u{2028}", "\u{feff}", "。", "\u{301}", "U.S.", "1.",
];
pub(super) const MARKDOWN: &[&str] = &[
    "# ",
    "## ",
    "---\n",
    "===\n",
    "> ",
    "- ",
    "1. ",
    "```\n",
    "~~~\n",
    "|a|b|\n|-|-|\n",
    "**",
    "__",
    "`",
    "[a](b)",
    "![",
    "<div>",
    "</div>",
    "<!--",
    "-->",
    "[^1]",
    "[^1]: ",
    "&amp;",
    "\\",
    "    ",
    "\t",
    ":::note\n",
    "{#id}",
    "$$",
];
pub(super) const MDX: &[&str] = &[
    "import x from 'y'\n",
    "export const a = {\n",
    "<A b={",
    "</A>",
    "<>",
    "</>",
    "{/*",
    "*/}",
    "{`",
    "`}",
    "${",
    "}",
    "{",
    "\\{",
    "# ",
    "```\n",
];
pub(super) const HTML: &[&str] = &[
    "<p>",
    "</p>",
    "<h1>",
    "</h1>",
    "<h2 id=\"x\">",
    "<nav>",
    "</nav>",
    "<table><tr><td>",
    "<script>",
    "</script>",
    "<style>",
    "<!--",
    "-->",
    "<![CDATA[",
    "<pre>",
    "</pre>",
    "<li>",
    "<main>",
    "&amp;",
    "&#x41;",
    "&notanentity;",
    "<title>",
    "<br/>",
    "<template>",
    "<a href='",
    "<plaintext>",
    "<!DOCTYPE html>",
    "<svg>",
    "\u{0}",
];
pub(super) const RST: &[&str] = &[
    ".. note::\n\n   ",
    ".. |a| replace:: ",
    "|a|",
    ".. _x:\n",
    "`a <b>`_",
    "``",
    ":ref:`x`",
    "[1]_",
    ".. [1] ",
    "=====\n",
    "-----\n",
    "::\n\n  ",
    ".. code-block:: c\n\n   ",
    "+---+\n|   |\n+---+\n",
    "* ",
    "#. ",
    ":field: ",
    ".. include:: x\n",
    ".. table::\n",
    "=== ===\n",
    "| line\n",
    ">>> ",
];
pub(super) const ASCIIDOC: &[&str] = &[
    "= Title\n",
    "== ",
    "----\n",
    "====\n",
    "|===\n",
    "[NOTE]\n",
    "NOTE: ",
    "[source,c]\n",
    ":a: b\n",
    "{a}",
    "*",
    "_",
    "`",
    "link:",
    "image::x[]\n",
    "<<x>>",
    "[[x]]",
    "//c\n",
    "////\n",
    "....\n",
    "+\n",
    "* ",
    ". ",
    "term:: ",
    "include::x[]\n",
    "ifdef::a[]\n",
    "endif::[]\n",
    "footnote:[",
    "pass:[",
];
pub(super) const JSONL: &[&str] = &[
    "{\"id\":\"a\",\"text\":\"b\"}\n",
    "\"title\":",
    "\"format\":\"markdown\"",
    "\"text\":",
    "\"id\":",
    "\\u0000",
    "\\ud800",
    "null",
    "[",
    "{",
    "}",
    "\n",
];
pub(super) const PDF: &[&str] = &[
    "1 0 obj",
    "endobj",
    "stream\n",
    "\nendstream",
    "<</Type/Page",
    "/Contents 1 0 R",
    "/Resources",
    "/Filter/FlateDecode",
    "/Filter/LZWDecode",
    "/Filter/ASCII85Decode",
    "/XObject",
    "/Subtype/Form",
    "/Length 9",
    "xref\n0 1\n",
    "trailer<<",
    "startxref\n",
    "%%EOF",
    "BT",
    "ET",
    "Tj",
    "TJ",
    "Tf",
    "Do",
    "beginbfchar",
    "beginbfrange",
    "endbfrange",
    "/ToUnicode",
    "/ObjStm",
    "/XRef",
    "/Kids[",
    "/Parent",
    "<FEFF0041>",
    "(a)",
    "/W[1 2 1]",
    "/Encoding",
];

/// The first argument of a program that is to be a worker.
pub const READ_WORKER: &str = "--read-worker";

/// Chunkers that between them go through packing, scores, overlap, and texts longer than a chunk may be.
const CHUNKERS: &[&str] =
    &["paragraph:max_tokens=7", "fixed:words=5,overlap=1", "recursive:max_tokens=12", "texttiling:min_tokens=3"];

fn chunkers() -> &'static [Chunker] {
    static BUILT: OnceLock<Vec<Chunker>> = OnceLock::new();
    BUILT.get_or_init(|| {
        let build = |spec: &&str| {
            registry::build(&Spec::parse(spec).expect("a spec"), &Standalone::default()).expect("a chunker")
        };
        CHUNKERS.iter().map(build).collect()
    })
}

pub(super) fn plain(data: &[u8]) {
    read("plain", data);
}

pub(super) fn markdown(data: &[u8]) {
    read("markdown", data);
}

pub(super) fn mdx(data: &[u8]) {
    read("mdx", data);
}

pub(super) fn html(data: &[u8]) {
    read("html", data);
}

pub(super) fn rst(data: &[u8]) {
    read("rst", data);
}

pub(super) fn asciidoc(data: &[u8]) {
    read("asciidoc", data);
}

pub(super) fn jsonl(data: &[u8]) {
    read("jsonl", data);
}

pub(super) fn pdf(data: &[u8]) {
    read("pdf", data);
}

pub(super) fn splitter(data: &[u8]) {
    let text = text(data);
    let mut at = 0;
    default_splitter().split(&text, &mut |Span { start, end }| {
        let between = text.get(at..start).expect("sentences are in order and on characters");
        assert!(between.trim().is_empty(), "no sentence covers {between:?}");
        let sentence = text.get(start..end).expect("a sentence is a range of characters");
        assert!(!sentence.is_empty() && sentence.trim() == sentence, "{sentence:?} has blank ends");
        at = end;
    });
    assert!(text[at..].trim().is_empty(), "the end is not covered");
}

/// Reads bytes as a format and checks every document that comes of them. What cannot be read is an error, and fine.
fn read(format: &str, data: &[u8]) {
    // Pages of HTML are read with and without what stands around their text.
    let whole: &[bool] = if format == "html" { &[false, true] } else { &[false] };
    for &whole_page in whole {
        let options = ReadOptions { whole_page, isolation: isolation(), ..ReadOptions::default() };
        read_bytes("document", format, data.to_vec(), &options, &mut |read| match read {
            Ok(document) => check(&document),
            Err(error) => assert!(!error.to_string().is_empty()),
        });
    }
}

/// The workers that read what cannot be trusted, where `PERICOPE_FUZZ_WORKER` names a program for them: as in the command,
/// what such a file does to one is an error and no more. Without, it is read in this process, where counters see it.
fn isolation() -> Option<Arc<dyn Isolation>> {
    static POOL: OnceLock<Option<Arc<dyn Isolation>>> = OnceLock::new();
    let make = || -> Option<Arc<dyn Isolation>> {
        let program = std::env::var_os("PERICOPE_FUZZ_WORKER")?;
        let limits = WorkerLimits { memory: 256 << 20, time: Duration::from_secs(10), workers: 1 };
        let start = move || {
            let mut command = Command::new(&program);
            command.arg(READ_WORKER);
            command
        };
        Some(Arc::new(WorkerPool::new(start, limits)))
    };
    POOL.get_or_init(make).clone()
}

fn check(document: &Document) {
    document.check().expect("sentences cover the source");
    let source = &document.source;
    let mut at = 0;
    for rewrite in &document.rewrites {
        assert!(rewrite.span.start >= at, "rewrites overlap");
        assert!(source.get(rewrite.span.start..rewrite.span.end).is_some(), "a rewrite is no range of characters");
        at = rewrite.span.end;
    }
    assert!(document.anchors.is_empty() || document.anchors.len() == document.sections.len());
    for sentence in &document.sentences {
        assert!(!matches!(sentence.kind, Kind::Heading(level) if !(1..=6).contains(&level)));
        let _ = document.visible(sentence.span);
    }
    for chunker in chunkers() {
        let chunks = chunker.chunks(document).expect("every document can be cut");
        laws::check(document, &chunks, chunker.counter().as_ref(), &chunker.limits()).expect("the laws of chunks");
    }
}
