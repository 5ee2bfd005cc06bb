//! Scores pairs of segmentations: one JSON object a line on standard input, `{"sentences": n, "reference": [...],
//! "hypothesis": [...]}` (boundaries as everywhere), one object of scores a line on standard output. Any program can
//! compare its own metrics with ours this way; `scripts/golden/golden_metrics.py check` does.

use std::io::{BufRead, BufWriter, Write};

use pericope_api::Boundaries;
use pericope_segment::metrics::{self, boundary_edits, window};

#[derive(serde::Deserialize)]
struct Pair {
    sentences: usize,
    reference: Vec<usize>,
    hypothesis: Vec<usize>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let pair: Pair = serde_json::from_str(&line?)?;
        let reference = Boundaries::new(pair.sentences, pair.reference)?;
        let hypothesis = Boundaries::new(pair.sentences, pair.hypothesis)?;
        let scores = metrics::evaluate(&reference, &hypothesis)?;
        let mut object = serde_json::to_value(scores.scores)?;
        let sizes = [
            ("ours", window::window_size(&reference)),
            ("segeval", window::window_size_segeval(&reference)),
            ("nltk", window::window_size_nltk(&reference)),
        ];
        for (name, k) in sizes {
            object[format!("k_{name}")] = k.into();
            object[format!("pk_{name}")] = window::pk(&reference, &hypothesis, k)?.into();
            object[format!("wd_{name}")] = window::window_diff(&reference, &hypothesis, k)?.into();
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
