//! Real documents: the segmentation sets, found through `PERICOPE_DATA`; skipped where that is not set.

use crate::skip;
use crate::support::Fake;
use pericope_api::Document;
use pericope_segment::{laws, registry, spec::Spec};
use serde_json::Value;

#[test]
fn laws_hold_on_real_documents() {
    let Some(data) = skip::data("laws_hold_on_real_documents") else { return };
    let file = data.join("segmentation/wikitext2_valid.jsonl");
    let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let specs = [
        "fixed:words=100",
        "fixed:tokens=100,overlap=20",
        "sentence:overlap=2",
        "paragraph:min_tokens=12",
        "structure",
        "recursive:chars=1000",
        "recursive:tokens=100",
        "window",
        "kamradt",
        "texttiling",
        "c99",
        "u00",
        "bayesseg",
        "fusion",
        "variance",
        "cluster",
        "graph:runs=2",
        "graph:similarity=jaccard,runs=2",
        "random",
    ];
    let chunkers = specs.map(|spec| {
        let spec = Spec::parse(spec).unwrap();
        [256, 24].map(|max| {
            registry::build(&spec.clone().with("max_tokens", max).unwrap(), &Fake::default()).expect("a chunker")
        })
    });
    let mut documents = 0;
    for line in text.lines() {
        let json: Value = serde_json::from_str(line).unwrap();
        let sentences: Vec<&str> = json["sentences"].as_array().unwrap().iter().map(|s| s.as_str().unwrap()).collect();
        let document = Document::from_sentences(json["id"].as_str().unwrap(), &sentences);
        for chunker in chunkers.iter().flatten() {
            let chunks = chunker.chunks(&document).unwrap();
            laws::check(&document, &chunks, chunker.counter().as_ref(), &chunker.limits())
                .unwrap_or_else(|e| panic!("{} on {}: {e}", chunker.spec(), document.id));
        }
        documents += 1;
    }
    assert!(documents > 0);
}
