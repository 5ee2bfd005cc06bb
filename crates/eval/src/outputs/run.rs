use crate::cell::CellKey;
use crate::outputs::{Label, OpenMetrics, label};
use crate::record::{ChunkerRow, Summary};

/// Returns the labels of one cell: experiment, chunker, mode, and `k` or `token_budget`.
#[must_use]
pub fn cell_labels(experiment: &str, cell: &CellKey) -> Vec<Label> {
    let cutoff = match (cell.cutoff.k(), cell.cutoff.tokens()) {
        (Some(k), _) => label("k", k.to_string()),
        (None, tokens) => label("token_budget", tokens.unwrap_or_default().to_string()),
    };
    vec![
        label("experiment", experiment),
        label("chunker", cell.chunker.as_str()),
        label("mode", cell.mode.as_str()),
        cutoff,
    ]
}

/// Adds what chunkers' cutting amounts to: chunks, mean tokens, and the times of those whose times are known.
pub fn chunker_figures(figures: &mut OpenMetrics, experiment: &str, rows: &[ChunkerRow]) {
    let labels = |row: &ChunkerRow| [label("experiment", experiment), label("chunker", row.name.as_str())];
    let mut family = |name: &'static str, help: &str, value: &dyn Fn(&ChunkerRow) -> Option<f64>| {
        figures.gauge(name, help);
        for row in rows {
            if let Some(value) = value(row) {
                figures.sample(&labels(row), value);
            }
        }
    };
    family("pericope_chunks", "Chunks in the index.", &|row| Some(row.chunks as f64));
    family("pericope_chunk_tokens_mean", "Mean tokens of a chunk.", &|row| Some(row.mean_tokens));
    family("pericope_segment_seconds", "Time spent on cutting.", &|row| row.seconds().map(|_| row.segment_seconds));
    family("pericope_index_seconds", "Time spent on embedding and indexing.", &|row| {
        row.seconds().map(|_| row.index_seconds)
    });
}

/// Adds the figures of a run: its size, failed items, and every mean score by chunker, mode, cutoff and metric.
pub fn run_figures(figures: &mut OpenMetrics, summary: &Summary) {
    let name = summary.name.as_str();
    let whole = [label("experiment", name)];
    for (family, help, value) in [
        ("pericope_questions", "Questions asked.", summary.questions),
        ("pericope_documents", "Documents in the corpus.", summary.documents),
        ("pericope_failed_items", "Items without a result.", summary.failed),
    ] {
        figures.gauge(family, help);
        figures.sample(&whole, value as f64);
    }
    chunker_figures(figures, name, &summary.chunkers);
    figures.gauge("pericope_score", "Mean score: shares 0 to 1, judge 0 to 10; more is better.");
    for cell in &summary.cells {
        for (metric, value) in &cell.metrics {
            let mut labels = cell_labels(name, &cell.key());
            labels.push(label("metric", metric.key()));
            figures.sample(&labels, *value);
        }
    }
}
