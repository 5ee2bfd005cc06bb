//! Scores pairs of segmentations: one JSON object a line on standard input, one object of scores a line on standard
//! output.
//!
//! An input is `{"sentences": n, "reference": [...], "hypothesis": [...], "windows": {"name": k, ...}}`, with boundaries
//! as everywhere. Pk and WindowDiff are computed with the window size of this crate (`ours`), and with each that is
//! given. Any program can compare its own metrics with ours this way; `scripts/golden/golden_metrics.py check` does.

use std::collections::BTreeMap;
use std::io::{BufRead, BufWriter, Write};

use pericope_api::Boundaries;
use pericope_segment::metrics::{boundary_edits, evaluate, pk, window_diff, window_size};

#[derive(serde::Deserialize)]
struct Pair {
    sentences: usize,
    reference: Vec<usize>,
    hypothesis: Vec<usize>,
    #[serde(default)]
    windows: BTreeMap<String, usize>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let pair: Pair = serde_json::from_str(&line?)?;
        let reference = Boundaries::new(pair.sentences, pair.reference)?;
        let hypothesis = Boundaries::new(pair.sentences, pair.hypothesis)?;
        let scores = evaluate(&reference, &hypothesis)?;
        let mut object = serde_json::to_value(scores.scores)?;
        let mut sizes = pair.windows;
        sizes.insert("ours".into(), window_size(&reference));
        for (name, k) in sizes {
            object[format!("k_{name}")] = k.into();
            object[format!("pk_{name}")] = pk(&reference, &hypothesis, k)?.into();
            object[format!("wd_{name}")] = window_diff(&reference, &hypothesis, k)?.into();
        }
        for (suffix, span) in [("", 2), ("_span3", 3)] {
            let edits = boundary_edits(&reference, &hypothesis, span)?;
            object[format!("b{suffix}")] = edits.boundary_similarity().into();
            object[format!("s{suffix}")] = edits.segmentation_similarity().into();
        }
        writeln!(out, "{object}")?;
    }
    out.flush()?;
    Ok(())
}
