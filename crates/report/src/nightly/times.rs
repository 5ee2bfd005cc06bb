//! Every chunker's times over the nights.

use maud::{Markup, html};
use pericope_eval::config::TIMES;
use pericope_eval::format;
use pericope_nightly::PageParts as Parts;
use pericope_nightly::history::HistoryError;

use super::curves::{Curve, heads};
use crate::kit::svg::extremes;
use crate::kit::{Row, section as wrap, table};

/// A curve a chunker and time.
pub(super) fn section(parts: &Parts<'_>) -> Result<Markup, HistoryError> {
    let night = &parts.conclusion.night;
    let mut times = Vec::new();
    for what in TIMES {
        times.push((what, parts.history.times(what, night.number)?));
    }
    let mut rows = Vec::new();
    for chunker in &night.chunkers {
        for (what, series) in &times {
            for ((name, mode), points) in series.iter().filter(|((name, _), _)| *name == chunker.name) {
                let word = if mode.is_empty() { words(what).to_owned() } else { format!("{}, {mode}", words(what)) };
                rows.push(row(parts, name, &word, what.ends_with("_ms"), points));
            }
        }
    }
    let calibration =
        parts.history.times("calibration_seconds", night.number)?.into_values().next().unwrap_or_default();
    if !calibration.is_empty() {
        let points: Vec<(u32, f64)> = calibration.iter().map(|(night, seconds)| (*night, seconds * 1000.0)).collect();
        rows.push(row(parts, "", "calibration", true, &points));
    }
    let body = html! {
        p class="prose" {
            "As taken, on whatever else the machine was doing; gates on speed compare quotients of times of one night."
        }
        (table("Times over the nights", &heads("time", "shortest", "longest"), &rows))
    };
    Ok(wrap("times", "Times", body))
}

fn row(parts: &Parts<'_>, chunker: &str, word: &str, milliseconds: bool, points: &[(u32, f64)]) -> Row {
    let shown = |x: f64| {
        if milliseconds { format!("{}\u{a0}ms", format::decimal(x, 2)) } else { format::seconds(x) }
    };
    // A tenth of the time itself is no news.
    let least = (extremes(points).1 * 0.2).max(1e-6);
    let what = format!("{word} of {chunker}");
    Curve { what, words: ("shortest", "longest"), points, least, failed: &[] }.row(parts, chunker, word, shown, shown)
}

fn words(what: &str) -> &str {
    match what {
        "segment_seconds" => "cutting",
        "index_seconds" => "indexing",
        "query_p50_ms" => "query, median",
        "query_p95_ms" => "query, 95th percentile",
        other => other,
    }
}
