//! Specs of segmenters, embedders, token counters and modes.

use std::sync::OnceLock;

use pericope_api::Document;
use pericope_segment::spec::Spec;
use pericope_segment::{Standalone, laws, registry};
use pericope_store::{Mode, canonical_type};

use super::parts::text;

pub(super) const WORDS: &[&str] = &[
    "fixed",
    "words=",
    "recursive",
    "sentence",
    "paragraph",
    "same-size",
    "reference=(",
    "max_tokens=",
    "min_tokens=",
    "target_tokens=",
    "overlap=",
    "tau=",
    "window:k=",
    "pool=min",
    "texttiling",
    "graph:similarity=jaccard",
    "fusion",
    "structure",
    "nan",
    "inf",
    "-0",
    "1e308",
    "18446744073709551615",
    "0",
    "(",
    ")",
    ",",
    ":",
    "=",
    "hybrid",
    "bm25",
    "minilm",
    "none",
    "fastembed:",
    "openai:",
];

pub(super) fn specs(data: &[u8]) {
    let text = text(data);
    let _ = text.parse::<Mode>();
    let _ = canonical_type(&text);
    // The model of the default embedder is no part of this test, and what is downloaded even less.
    if !text.contains("minilm") && !text.contains("fastembed") {
        let _ = pericope_encode::registry::embedder(&text);
        let _ = pericope_encode::registry::counter(&text);
    }
    let Ok(spec) = Spec::parse(&text) else { return };
    assert_eq!(Spec::parse(&spec.to_string()).as_ref(), Ok(&spec), "a spec is read as it is written");
    let _ = registry::needs(registry::list(), &spec);
    let Ok(chunker) = registry::build(&spec, &Standalone::default()) else { return };
    Spec::parse(&chunker.spec().to_string()).expect("a resolved spec is a spec");
    let document = document();
    if let Ok(chunks) = chunker.chunks(document) {
        // Where chunks repeat the sentence after them, the laws are others.
        let repeats = spec.args.values().chain([&spec.name]).any(|value| value.contains("next"));
        if !repeats {
            laws::check(document, &chunks, chunker.counter().as_ref(), &chunker.limits()).expect("the laws of chunks");
        }
    }
}

fn document() -> &'static Document {
    static MADE: OnceLock<Document> = OnceLock::new();
    MADE.get_or_init(|| {
        let sentences: Vec<String> =
            (0..24).map(|i| format!("Word{} of {} goes on with {}.", i % 5, i % 7, "more ".repeat(i % 4))).collect();
        Document::from_sentences("document", &sentences)
    })
}
