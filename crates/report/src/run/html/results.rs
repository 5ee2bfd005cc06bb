//! Scores by setting: charts, then tables.

use maud::{Markup, html};
use pericope_eval::cell::Setting;
use pericope_eval::format;
use pericope_eval::metric::{Metric, Unit};
use pericope_eval::record::{Cell, RunRecord};

use crate::kit::svg::{self, LineChart, Point, Series};
use crate::kit::{Head, Row, Value, section as wrap, table};
use crate::run::facts::judges;
use crate::run::view::{View, factor};

/// Metrics that get charts of their own; fewer where there are several modes, to keep the page light.
const CHARTED: usize = 6;
const CHARTED_BY_MODE: usize = 4;

/// A coordinate of a cell on the horizontal axis of a chart.
type Across = dyn Fn(&Cell) -> Option<f64>;

pub(super) fn section(view: &View, run: &RunRecord) -> Markup {
    let body = html! {
        @if view.summary.cells.is_empty() {
            p { "Nothing was scored." }
        } @else {
            p class="prose" {
                "Chunks differ in size, so the same k does not cost the same everywhere. Read the scores by k beside those \
                 at an equal budget of tokens, or against the tokens that were paid for."
            }
            (legend(view))
            div class="panels" { @for metric in charted(view) { (panel(view, run, metric)) } }
            @for mode in &view.modes { (tables(view, mode)) }
            @if let Some(judges) = judges(run, &view.metrics.iter().collect::<Vec<_>>()) { p class="note" { (judges) } }
            (glossary(view))
        }
    };
    wrap("results", "Scores", body)
}

/// Each chunker's colour and marker; the script makes the names into switches.
fn legend(view: &View) -> Markup {
    html! {
        ul class="legend" aria-label="Chunkers" {
            @for (place, row) in view.summary.chunkers.iter().enumerate() {
                li data-series=(svg::class(place, "")) { (svg::badge(place)) (row.name) }
            }
        }
        "\n"
    }
}

/// The headline's metric, that of the answers, then the others in order.
fn charted<'a>(view: &'a View) -> Vec<&'a Metric> {
    let mut chosen: Vec<&Metric> = view.metric.iter().chain(view.answer_metric()).collect();
    chosen.extend(&view.metrics);
    let mut seen = std::collections::BTreeSet::new();
    chosen.retain(|metric| seen.insert(metric.key()));
    chosen.truncate(if view.modes.len() > 1 { CHARTED_BY_MODE } else { CHARTED });
    chosen
}

fn panel(view: &View, run: &RunRecord, metric: &Metric) -> Markup {
    html! {
        div class="panel" data-name=(metric.label()) {
            h3 { (metric.title()) }
            @if !metric.meaning().is_empty() { p class="note prose" { (metric.meaning()) } }
            @if let Some(judge) = judges(run, &[metric]) { p class="note" { (judge) } }
            div class="charts" { @for mode in &view.modes { (charts(view, metric, mode)) } }
        }
    }
}

fn charts(view: &View, metric: &Metric, mode: &str) -> Markup {
    let among = if view.modes.len() > 1 { format!(", {mode}") } else { String::new() };
    let settings = view.settings(mode);
    let ks: Vec<f64> = settings.iter().filter_map(|s| s.cutoff.k()).map(|k| k as f64).collect();
    let budgets: Vec<f64> = settings.iter().filter_map(|s| s.cutoff.tokens()).map(|b| b as f64).collect();
    let here = view.summary.cells.iter().filter(|c| c.mode == mode);
    let y_range = score_range(metric, here.filter_map(|c| c.metrics.get(metric).copied()));
    let draw = |by: &str, x_label: &str, x_ticks: Vec<f64>, note: &str, x: &Across| {
        svg::lines(&LineChart {
            title: format!("{} by {by}{among}", metric.title()),
            x_label,
            y_label: &metric.heading(),
            series: series(view, metric, mode, x),
            x_ticks,
            y_range,
            note,
        })
    };
    let note = "One point a k: further right, more tokens are read for the same k.";
    html! {
        (draw("k", "k, chunks retrieved", ks.clone(), "", &|c| c.cutoff.k().map(|k| k as f64)))
        (draw("token budget", "tokens that may be retrieved", budgets, "", &|c| c.cutoff.tokens().map(|b| b as f64)))
        @if ks.len() > 1 {
            (draw("tokens paid", "tokens given to the reader, mean", Vec::new(), note, &|c| {
                c.cutoff.k().map(|_| c.context_tokens).filter(|t| *t > 0.0)
            }))
        }
    }
}

/// A range for the vertical axis that holds these values of a metric.
fn score_range(metric: &Metric, values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let (least, bounds) = match metric.unit() {
        Unit::Share => (10.0, (0.0, 100.0)),
        Unit::Ten => (1.0, (0.0, 10.0)),
        Unit::Plain => (0.1, (f64::NEG_INFINITY, f64::INFINITY)),
    };
    svg::axis::around(values.into_iter().map(|x| x * factor(metric)), least, bounds)
}

fn series(view: &View, metric: &Metric, mode: &str, x: &Across) -> Vec<Series> {
    let point = |c: &Cell| {
        let value = *c.metrics.get(metric)?;
        let shown = metric.unit().value(value);
        Some(Point { x: x(c)?, y: value * factor(metric), name: c.cutoff.label(), value: shown })
    };
    let of = |(place, name): (usize, &String)| {
        let cells = view.summary.cells.iter().filter(|c| c.chunker == *name && c.mode == mode);
        let mut points: Vec<Point> = cells.filter_map(point).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        Series { name: name.clone(), place, points }
    };
    view.summary.chunkers.iter().map(|row| &row.name).enumerate().map(of).collect()
}

fn tables(view: &View, mode: &str) -> Markup {
    let (by_k, by_budget): (Vec<Setting>, Vec<Setting>) =
        view.settings(mode).into_iter().partition(|s| s.cutoff.k().is_some());
    let note = "Shares in percent; in brackets, the 95\u{a0}% interval of the mean; bold: the highest of its setting, which may be chance.";
    let k = format!("Results by k, {mode} retrieval. {note}");
    let budget = format!("Results at an equal budget of tokens, {mode} retrieval. {note}");
    html! { (scores(view, &k, "k", &by_k)) (scores(view, &budget, "budget", &by_budget)) }
}

fn scores(view: &View, caption: &str, held: &str, settings: &[Setting]) -> Markup {
    if settings.is_empty() {
        return html! {};
    }
    let cells: Vec<(&Setting, Vec<(usize, &Cell)>)> = settings
        .iter()
        .map(|s| {
            let names = view.summary.chunkers.iter().enumerate();
            (s, names.filter_map(|(place, row)| Some((place, view.cell(&row.name, s)?))).collect())
        })
        .collect();
    let all = || cells.iter().flat_map(|(_, group)| group.iter().map(|(_, cell)| *cell));
    let metrics: Vec<&Metric> = view.metrics.iter().filter(|m| all().any(|c| c.metrics.contains_key(*m))).collect();
    let failed = all().any(|c| c.failed > 0);
    let timed = all().any(|c| c.query_p50_ms.is_some());
    let answered = all().any(|c| c.answer_seconds.is_some());
    let mut heads = vec![Head::words("chunker"), Head::number(held), Head::number("context tokens")];
    heads.extend(metrics.iter().map(|metric| {
        let name = if metric.unit().mark() == "of 10" { metric.heading() } else { metric.label() };
        Head::number(&name).explained(metric.meaning())
    }));
    let rest = view.metric.as_ref().filter(|_| all().any(|c| !c.metrics_without_failed.is_empty()));
    if let Some(metric) = rest {
        let name = format!("{} without failed", metric.label());
        heads.push(Head::number(&name).explained("Mean over the items that did not fail."));
    }
    if failed {
        heads.push(Head::number("failed"));
    }
    if timed {
        heads.extend([Head::number("query p50, ms"), Head::number("query p95, ms")]);
    }
    if answered {
        let meaning = "Until all questions were answered, over their number: where several are answered side by side one takes longer.";
        heads.push(Head::number("answer, ms").explained(meaning));
    }
    let chief = |metric: &Metric| Some(metric) == view.metric.as_ref() || Some(metric) == view.answer_metric();
    let mut rows = Vec::new();
    for (setting, group) in &cells {
        for (i, (place, cell)) in group.iter().enumerate() {
            let size = setting.cutoff.size();
            let mut values = vec![
                Value::number(format::count(size), size as f64),
                Value::number(format::mean(cell.context_tokens), cell.context_tokens),
            ];
            values.extend(metrics.iter().map(|metric| score(metric, cell, group, chief(metric))));
            if let Some(metric) = rest {
                let x = view.without_failed(cell, metric);
                values.push(Value::number(metric.unit().bare(x), x));
            }
            if failed {
                values.push(Value::number(format::count(cell.failed), cell.failed as f64));
            }
            if timed {
                values.extend([cell.query_p50_ms, cell.query_p95_ms].map(|x| x.unwrap_or(f64::NAN)).map(milliseconds));
            }
            if answered {
                values.push(milliseconds(1e3 * cell.answer_seconds.unwrap_or(f64::NAN)));
            }
            rows.push(Row::of(*place, &cell.chunker, values).opens(i == 0));
        }
    }
    table(caption, &heads, &rows)
}

fn milliseconds(x: f64) -> Value {
    Value::number(format::decimal(x, 1), x)
}

/// A score (with its interval where it is one of the chief ones), bold where no other of its setting is higher and at least one is lower.
fn score(metric: &Metric, cell: &Cell, group: &[(usize, &Cell)], chief: bool) -> Value {
    let Some(&x) = cell.metrics.get(metric) else { return Value::words(format::ABSENT) };
    let others = || group.iter().filter_map(|(_, other)| other.metrics.get(metric));
    let best = others().all(|y| *y <= x) && others().any(|y| *y < x);
    let text = match cell.intervals.get(metric).filter(|_| chief) {
        Some([low, high]) => {
            format!("{} ({}–{})", metric.unit().bare(x), metric.unit().bare(*low), metric.unit().bare(*high))
        }
        None => metric.unit().bare(x),
    };
    Value::number(text, x).strong(best)
}

fn glossary(view: &View) -> Markup {
    let known: Vec<&Metric> = view.metrics.iter().filter(|metric| !metric.meaning().is_empty()).collect();
    html! {
        @if !known.is_empty() {
            details class="glossary" {
                summary { "What the metrics mean" }
                dl { @for metric in known { dt { (metric.title()) } dd { (metric.meaning()) } } }
            }
            "\n"
        }
    }
}
