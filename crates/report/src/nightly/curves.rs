//! Every cell's scores and every chunker's times over the nights.

use super::spark::{extremes, spark};
use super::{Parts, table};
use crate::kit::markup::Markup;
use crate::kit::section as wrap;
use crate::kit::svg;
use pericope_eval::config::TIMES;
use pericope_eval::format;
use pericope_eval::metric::{Metric, Unit};
use pericope_nightly::Verdict;
use pericope_nightly::history::{HistoryError, Series, TimeSeries};

/// Metrics that get curves at most.
const METRICS: usize = 4;

/// Everything that is drawn, read from the history once.
pub(super) struct Curves {
    scores: Vec<(Metric, Series)>,
    times: Vec<(&'static str, TimeSeries)>,
    calibration: Vec<(u32, f64)>,
    failed: Vec<u32>,
}

impl Curves {
    pub fn read(parts: &Parts<'_>) -> Result<Self, HistoryError> {
        let last = parts.conclusion.night.number;
        let mut scores = Vec::new();
        for metric in metrics(parts) {
            let series = parts.history.series(&metric, last)?;
            scores.push((metric, series));
        }
        let mut times = Vec::new();
        for what in TIMES {
            times.push((what, parts.history.times(what, last)?));
        }
        let calibration = parts.history.times("calibration_seconds", last)?.into_values().next().unwrap_or_default();
        let failed = |verdict: Verdict| verdict == Verdict::Failed;
        let failed = parts.heads.iter().filter(|head| failed(head.verdict)).map(|head| head.number).collect();
        Ok(Self { scores, times, calibration, failed })
    }
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

/// The smallest extent of a curve that fills its height.
fn least(unit: Unit) -> f64 {
    match unit {
        Unit::Share => 0.04,
        Unit::Ten => 0.4,
        Unit::Plain => 0.04,
    }
}

/// A panel a metric, a curve a cell.
pub(super) fn section(m: &mut Markup, parts: &Parts<'_>, curves: &Curves) {
    let night = &parts.conclusion.night;
    wrap(m, "curves", "Over the nights", |m| {
        let intro = format!(
            "Each cell’s mean on every night up to night {}. Red dots are nights that failed. Documents and questions may \
             have changed on the way, so what counts is in the checks, which pair the questions.",
            night.number
        );
        m.leaf("p", &[("class", "prose")], &intro);
        m.element("div", &[("class", "panels")], |m| {
            for (metric, series) in &curves.scores {
                m.element("div", &[("class", "panel"), ("data-name", &metric.label())], |m| {
                    m.leaf("h3", &[], &metric.title());
                    let heads = [
                        ("chunker", false),
                        ("tonight", true),
                        ("over the nights", false),
                        ("lowest", true),
                        ("highest", true),
                    ];
                    table(m, &metric.heading(), &heads, |m| {
                        for cell in &night.cells {
                            let Some(points) = series.get(&cell.key).filter(|points| !points.is_empty()) else {
                                continue;
                            };
                            score_row(m, parts, curves, metric, &cell.key.setting_words(), &cell.key.chunker, points);
                        }
                    });
                });
            }
        });
    });
}

fn score_row(
    m: &mut Markup,
    parts: &Parts<'_>,
    curves: &Curves,
    metric: &Metric,
    setting: &str,
    chunker: &str,
    points: &[(u32, f64)],
) {
    let (low, high) = extremes(points);
    let last = points.last().map_or(f64::NAN, |p| p.1);
    let spoken = format!(
        "{} of {chunker} at {setting} over {}: lowest {}, highest {}, last {}",
        metric.label(),
        format::plural(points.len(), "night"),
        metric.unit().value(low),
        metric.unit().value(high),
        metric.unit().value(last)
    );
    row(
        m,
        parts,
        chunker,
        setting,
        |m| {
            spark(m, points, parts.conclusion.night.number, least(metric.unit()), &curves.failed, &spoken);
        },
        &[last, low, high].map(|x| (metric.unit().bare(x), x)),
    );
}

/// A row: chunker and what of it, the newest number, a curve, further numbers.
fn row(
    m: &mut Markup,
    parts: &Parts<'_>,
    chunker: &str,
    word: &str,
    curve: impl FnOnce(&mut Markup),
    numbers: &[(String, f64)],
) {
    let place = super::place(parts, chunker);
    let number = |m: &mut Markup, (shown, key): &(String, f64)| {
        m.leaf("td", &[("class", "num"), ("data-key", &format!("{key:.6}"))], shown);
    };
    m.element("tr", &[], |m| {
        m.element("th", &[("scope", "row")], |m| {
            if chunker.is_empty() {
                m.text("whole night");
            } else {
                svg::badge(m, place);
                m.text(chunker);
            }
            m.leaf("span", &[("class", "at")], &format!(" {word}"));
        });
        numbers.iter().take(1).for_each(|one| number(m, one));
        let class = if chunker.is_empty() { "curve".to_owned() } else { svg::class(place, "curve") };
        m.element("td", &[("class", &class)], curve);
        numbers.iter().skip(1).for_each(|one| number(m, one));
    });
    m.line();
}

/// A curve a chunker and time.
pub(super) fn times(m: &mut Markup, parts: &Parts<'_>, curves: &Curves) {
    let night = &parts.conclusion.night;
    wrap(m, "times", "Times", |m| {
        m.leaf(
            "p",
            &[("class", "prose")],
            "As taken, on whatever else the machine was doing; gates on speed compare quotients of times of one night.",
        );
        let heads =
            [("time", false), ("tonight", true), ("over the nights", false), ("shortest", true), ("longest", true)];
        table(m, "Times over the nights", &heads, |m| {
            for chunker in &night.chunkers {
                for (what, series) in &curves.times {
                    let of_chunker = series.iter().filter(|((name, _), _)| *name == chunker.name);
                    for ((name, mode), points) in of_chunker {
                        let word = if mode.is_empty() { words(what) } else { format!("{}, {mode}", words(what)) };
                        time_row(m, parts, name, &word, what, points);
                    }
                }
            }
            if !curves.calibration.is_empty() {
                time_row(m, parts, "", "calibration", "calibration_ms", &milliseconds(&curves.calibration));
            }
        });
    });
}

fn time_row(m: &mut Markup, parts: &Parts<'_>, chunker: &str, word: &str, what: &str, points: &[(u32, f64)]) {
    let shown = |x: f64| {
        if what.ends_with("_ms") { format!("{}\u{a0}ms", format::decimal(x, 2)) } else { format::seconds(x) }
    };
    let (low, high) = extremes(points);
    let last = points.last().map_or(f64::NAN, |p| p.1);
    let spoken = format!(
        "{word} of {chunker} over {}: shortest {}, longest {}, last {}",
        format::plural(points.len(), "night"),
        shown(low),
        shown(high),
        shown(last)
    );
    // A tenth of the time itself is no news.
    let least = (high * 0.2).max(1e-6);
    row(
        m,
        parts,
        chunker,
        word,
        |m| {
            spark(m, points, parts.conclusion.night.number, least, &[], &spoken);
        },
        &[last, low, high].map(|x| (shown(x), x)),
    );
}

fn milliseconds(points: &[(u32, f64)]) -> Vec<(u32, f64)> {
    points.iter().map(|(night, seconds)| (*night, seconds * 1000.0)).collect()
}

fn words(what: &str) -> String {
    match what {
        "segment_seconds" => "cutting",
        "index_seconds" => "indexing",
        "query_p50_ms" => "query, median",
        "query_p95_ms" => "query, 95th percentile",
        other => other,
    }
    .to_owned()
}
