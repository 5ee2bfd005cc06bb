//! What embeds the sentences that segmenters read: `--segment-embedder`, `embedder=` in a spec, and what `index` takes by itself.

use std::fs;
use std::process::Output;

use serde_json::Value;

use crate::common::{root, stderr, stdout, without_models};

const PAGE: &str = "The river rose in the night. It carried sand to the sea. The bridge stood in water. \
    Bread needs salt. The dough rests for an hour. An oven must be hot.\n\n\
    Ships sail by the wind. A mast holds the sail. Ropes are tied to it.\n";

fn run(args: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.md"), PAGE).unwrap();
    without_models(folder.path()).args(args).output().unwrap()
}

fn said(args: &[&str]) -> String {
    let output = run(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
    stdout(&output)
}

/// A table of token vectors that lies in the checkout.
fn table() -> String {
    format!("static:{}", root().join("crates/encode/tests/golden/static-tiny").display())
}

#[test]
fn segmenters_read_with_the_embedder_that_they_are_told() {
    let table = table();
    for name in ["fusion", "window", "variance", "kamradt", "cluster"] {
        let told = said(&["segment", "a.md", "--segmenter", name, "--segment-embedder", &table, "--format", "json"]);
        let spec = format!("{name}:embedder={table}");
        let named = said(&["segment", "a.md", "--segmenter", &spec, "--format", "json"]);
        assert_eq!(told, named, "{name}");
        // Without either it is MiniLM, which is not here.
        let missing = run(&["segment", "a.md", "--segmenter", name, "--format", "json"]);
        assert_eq!(missing.status.code(), Some(2), "{name}");
        assert!(stderr(&missing).contains("pericope models pull minilm"), "{name}: {}", stderr(&missing));
    }
    // A spec that names one keeps it, and one that reads with none takes none.
    let kept = run(&["segment", "a.md", "--segmenter", "fusion:embedder=minilm", "--segment-embedder", &table]);
    assert!(stderr(&kept).contains("pericope models pull minilm"), "{}", stderr(&kept));
    said(&["segment", "a.md", "--segmenter", "texttiling", "--segment-embedder", &table, "--format", "json"]);
}

#[test]
fn an_index_with_static_vectors_cuts_with_them() {
    let table = table();
    let index = |args: &[&str]| {
        let made = said(&[&["index", "a.md", "--into", "i", "--json"], args].concat());
        serde_json::from_str::<Value>(&made).unwrap()["segmenter"].as_str().unwrap().to_owned()
    };
    let own = index(&["--segmenter", "fusion", "--embedder", &table]);
    assert!(own.contains(&format!("embedder={table}")), "{own}");
    // The size of a reference is that of the reference as it would be cut.
    let sized = index(&["--segmenter", "same-size:reference=fusion", "--embedder", &table]);
    assert!(sized.starts_with("fixed:"), "{sized}");
    let told = ["--segment-embedder", &table, "--embedder", "none"];
    assert_eq!(index(&[&["--segmenter", "same-size:reference=fusion"], &told[..]].concat()), sized);
}

/// `hashed` is an embedder of the command's own tests, which no segmenter can name: one that is told to read with it reads with the
/// index's.
#[test]
fn a_segmenter_that_reads_with_the_embedder_of_the_index_shares_it() {
    let index = ["index", "a.md", "--into", "i", "--segmenter", "variance:embedder=hashed", "--tokenizer", "words"];
    let made = said(&[&index[..], &["--embedder", "hashed", "--json"]].concat());
    assert!(serde_json::from_str::<Value>(&made).unwrap()["chunks"].as_u64().unwrap() > 0, "{made}");
    // Chunks that are embedded with more before them were not read to cut.
    for more in [&["--embedder", "hashed", "--prefix-headings"][..], &["--embedder", "none"]] {
        let alone = run(&[&index[..], more].concat());
        assert_eq!(alone.status.code(), Some(2), "{more:?}");
        assert!(stderr(&alone).contains("there is no embedder \"hashed\""), "{more:?}: {}", stderr(&alone));
    }
}
