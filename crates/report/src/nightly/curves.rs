//! Every cell's scores over the nights.

use maud::{Markup, html};
use pericope_eval::format;
use pericope_eval::metric::{Metric, Unit};
use pericope_nightly::history::{HistoryError, Series};
use pericope_nightly::{PageParts as Parts, Verdict};

use crate::kit::svg::{Spark, badge, class, extremes};
use crate::kit::{Head, Row, Value, section as wrap, table};

/// Metrics that get curves at most.
const METRICS: usize = 4;

/// A chunker's place in the configuration: the number of its colour and its marker.
pub(super) fn place(parts: &Parts<'_>, chunker: &str) -> usize {
    let chunkers = &parts.conclusion.night.chunkers;
    chunkers.iter().position(|row| row.name == chunker).unwrap_or(chunkers.len())
}

/// The gates' metrics first, then those that the report speaks of first, as far as they were measured.
fn metrics(parts: &Parts<'_>) -> Vec<Metric> {
    let conclusion = parts.conclusion;
    let gated = |metric: &&Metric| conclusion.checks.iter().any(|check| check.metric.metric() == Some(*metric));
    let mut chosen: Vec<Metric> = Metric::all().iter().filter(gated).cloned().collect();
    for metric in [Metric::SPAN_RECALL, Metric::JUDGE, Metric::IOU, Metric::NDCG] {
        if !chosen.contains(&metric) {
            chosen.push(metric);
        }
    }
    chosen.retain(|metric| conclusion.night.cells.iter().any(|cell| cell.scores.contains_key(metric)));
    chosen.truncate(METRICS);
    chosen
}

/// A panel a metric, a curve a cell.
pub(super) fn section(parts: &Parts<'_>) -> Result<Markup, HistoryError> {
    let night = &parts.conclusion.night;
    let failed: Vec<u32> =
        parts.heads.iter().filter(|head| head.verdict == Verdict::Failed).map(|head| head.number).collect();
    let mut panels = Vec::new();
    for metric in metrics(parts) {
        let series = parts.history.series(&metric, night.number)?;
        panels.push(panel(parts, &metric, &series, &failed));
    }
    let body = html! {
        p class="prose" {
            "Each cell’s mean on every night up to night " (night.number) ". Red dots are nights that failed. Documents and \
             questions may have changed on the way, so what counts is in the checks, which pair the questions."
        }
        div class="panels" { @for panel in panels { (panel) } }
    };
    Ok(wrap("curves", "Over the nights", body))
}

fn panel(parts: &Parts<'_>, metric: &Metric, series: &Series, failed: &[u32]) -> Markup {
    let mut rows = Vec::new();
    for cell in &parts.conclusion.night.cells {
        if let Some(points) = series.get(&cell.key).filter(|points| !points.is_empty()) {
            let (chunker, setting) = (&cell.key.chunker, cell.key.setting_words());
            let what = format!("{} of {chunker} at {setting}", metric.label());
            // The smallest extent of a curve that fills its height.
            let least = if metric.unit() == Unit::Ten { 0.4 } else { 0.04 };
            let curve = Curve { what, words: ("lowest", "highest"), points, least, failed };
            let unit = metric.unit();
            rows.push(curve.row(parts, chunker, &setting, |x| unit.value(x), |x| unit.bare(x)));
        }
    }
    html! {
        div class="panel" data-name=(metric.label()) {
            h3 { (metric.title()) }
            (table(&metric.heading(), &heads("chunker", "lowest", "highest"), &rows))
        }
    }
}

/// The heads of a table with curves.
pub(super) fn heads(first: &str, low: &str, high: &str) -> [Head; 5] {
    [Head::words(first), Head::number("tonight"), Head::words("over the nights"), Head::number(low), Head::number(high)]
}

/// A number over the nights.
pub(super) struct Curve<'a> {
    pub what: String,
    /// Words for its least and its greatest value.
    pub words: (&'a str, &'a str),
    pub points: &'a [(u32, f64)],
    pub least: f64,
    pub failed: &'a [u32],
}

impl Curve<'_> {
    /// The row of a chunker (of the whole night where its name is empty): its newest number, the curve, its extremes.
    /// `spoken` and `shown` write a number in a sentence and in the table.
    pub fn row(
        &self,
        parts: &Parts<'_>,
        chunker: &str,
        word: &str,
        spoken: impl Fn(f64) -> String,
        shown: impl Fn(f64) -> String,
    ) -> Row {
        let place = place(parts, chunker);
        let (low, high) = extremes(self.points);
        let last = self.points.last().map_or(f64::NAN, |p| p.1);
        let words = format!(
            "{} over {}: {} {}, {} {}, last {}",
            self.what,
            format::plural(self.points.len(), "night"),
            self.words.0,
            spoken(low),
            self.words.1,
            spoken(high),
            spoken(last)
        );
        let number = parts.conclusion.night.number;
        let curve = Spark { points: self.points, last: number, least: self.least, marked: self.failed }.render(&words);
        let number = |x: f64| Value::number(shown(x), x);
        let look = if chunker.is_empty() { "curve".to_owned() } else { class(place, "curve") };
        let head = html! {
            @if chunker.is_empty() { "whole night" } @else { (badge(place)) (chunker) }
            span class="at" { " " (word) }
        };
        Row::new(head, vec![number(last), Value::words(curve).class(look), number(low), number(high)])
    }
}
