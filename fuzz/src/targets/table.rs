//! All targets by name.

use super::{endpoints, experiments, history, index, judge, questions, readers, requests, segmentation, specs};

/// One target.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// The name: that of its folder in `corpus/`.
    pub name: &'static str,
    /// What it feeds, in a few words.
    pub about: &'static str,
    /// Hands bytes to that part of Pericope. Panics where a law is broken.
    pub run: fn(&[u8]),
    /// The length in bytes above which inputs are not made.
    pub longest: usize,
    /// Words of the format, which mutations put in.
    pub words: &'static [&'static str],
}

const fn target(
    name: &'static str,
    about: &'static str,
    run: fn(&[u8]),
    longest: usize,
    words: &'static [&'static str],
) -> Target {
    Target { name, about, run, longest, words }
}

/// Every target, in the order of tables.
pub const TARGETS: &[Target] = &[
    target("plain", "the reader of plain text", readers::plain, 8192, readers::PLAIN),
    target("markdown", "the reader of Markdown", readers::markdown, 8192, readers::MARKDOWN),
    target("mdx", "the reader of MDX", readers::mdx, 8192, readers::MDX),
    target("html", "the reader of HTML, with and without navigation", readers::html, 8192, readers::HTML),
    target("rst", "the reader of reStructuredText", readers::rst, 8192, readers::RST),
    target("asciidoc", "the reader of AsciiDoc", readers::asciidoc, 8192, readers::ASCIIDOC),
    target("jsonl", "the reader of JSON lines", readers::jsonl, 8192, readers::JSONL),
    target("pdf", "the reader of PDF", readers::pdf, 16_384, readers::PDF),
    target("splitter", "the sentence splitter", readers::splitter, 8192, readers::PLAIN),
    target("specs", "specs of segmenters, embedders and modes", specs::specs, 512, specs::WORDS),
    target("experiments", "experiments in TOML, with --set", experiments::experiments, 4096, experiments::WORDS),
    target("judge", "what judges and generators answer", judge::judge, 4096, judge::WORDS),
    target("endpoints", "HTTP answers of language models and embedders", endpoints::endpoints, 4096, endpoints::WORDS),
    target("segmentation", "files with known boundaries", segmentation::segmentation, 4096, segmentation::WORDS),
    target("questions", "question sets: SQuAD, Chroma, BEIR", questions::questions, 4096, questions::WORDS),
    target("history_import", "exported nightly histories", history::import, 8192, history::WORDS),
    target("history_open", "damaged nightly histories", history::open, 512, &[]),
    target("index_meta", "pericope.json", index::meta, 2048, index::WORDS),
    target("index_open", "damaged indexes", index::open, 512, &[]),
    target("query", "queries and filters of searches", index::query, 512, index::QUERY_WORDS),
    target("requests", "HTTP requests to pericope serve", requests::requests, 4096, requests::WORDS),
];

/// Returns the target of a name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
