//! Scores by setting: charts, then tables.

use crate::kit::markup::Markup;
use crate::kit::svg::{self, LineChart, Point, Series};
use crate::run::view::View;
use pericope_eval::cell::Setting;
use pericope_eval::format;
use pericope_eval::metric::Metric;
use pericope_eval::record::Cell;

use crate::kit::section as wrap;
use crate::kit::table::{Head, Row, Value, table};

/// Metrics that get charts of their own; fewer where there are several modes, to keep the page light.
const CHARTED: usize = 6;
const CHARTED_BY_MODE: usize = 4;

pub(super) fn section(m: &mut Markup, view: &View) {
    wrap(m, "results", "Scores", |m| {
        if view.summary.cells.is_empty() {
            m.leaf("p", &[], "Nothing was scored.");
            return;
        }
        m.leaf(
            "p",
            &[("class", "prose")],
            "Chunks differ in size, so the same k does not cost the same everywhere. Read the scores by k beside those \
             at an equal budget of tokens, or against the tokens that were paid for.",
        );
        legend(m, view);
        m.element("div", &[("class", "panels")], |m| {
            for metric in charted(view) {
                m.element("div", &[("class", "panel"), ("data-name", &metric.label())], |m| {
                    m.leaf("h3", &[], &metric.title());
                    if !metric.meaning().is_empty() {
                        m.leaf("p", &[("class", "note prose")], metric.meaning());
                    }
                    m.element("div", &[("class", "charts")], |m| {
                        for mode in &view.modes {
                            charts(m, view, metric, mode);
                        }
                    });
                });
            }
        });
        for mode in &view.modes {
            tables(m, view, mode);
        }
        glossary(m, view);
    });
}

/// Each chunker's colour and marker; the script makes the names into switches.
fn legend(m: &mut Markup, view: &View) {
    m.element("ul", &[("class", "legend"), ("aria-label", "Chunkers")], |m| {
        for (place, row) in view.summary.chunkers.iter().enumerate() {
            let class = format!("s{}", place % svg::COLOURS);
            m.element("li", &[("data-series", &class)], |m| {
                svg::badge(m, place);
                m.text(&row.name);
            });
        }
    });
    m.line();
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

fn charts(m: &mut Markup, view: &View, metric: &Metric, mode: &str) {
    let among = if view.modes.len() > 1 { format!(", {mode}") } else { String::new() };
    let settings = view.settings(mode);
    let ks: Vec<f64> = settings.iter().filter_map(|s| s.cutoff.k()).map(|k| k as f64).collect();
    let budgets: Vec<f64> = settings.iter().filter_map(|s| s.cutoff.tokens()).map(|b| b as f64).collect();
    let by_k = |c: &Cell| c.cutoff.k().map(|k| k as f64);
    let by_budget = |c: &Cell| c.cutoff.tokens().map(|b| b as f64);
    let by_cost = |c: &Cell| c.cutoff.k().map(|_| c.context_tokens).filter(|t| *t > 0.0);
    let title = metric.title();
    let here = view.summary.cells.iter().filter(|c| c.mode == mode);
    let y_range = svg::score_range(metric, here.filter_map(|c| c.metrics.get(metric).copied()));
    let draw = |m: &mut Markup,
                title: String,
                x_label: &str,
                x_ticks: Vec<f64>,
                note: &str,
                x: &dyn Fn(&Cell) -> Option<f64>| {
        let series = series(view, metric, mode, x);
        svg::lines(m, &LineChart { title, x_label, metric, series, x_ticks, y_range, note });
    };
    draw(m, format!("{title} by k{among}"), "k, chunks retrieved", ks.clone(), "", &by_k);
    draw(m, format!("{title} by token budget{among}"), "tokens that may be retrieved", budgets, "", &by_budget);
    if ks.len() > 1 {
        let note = "One point a k: further right, more tokens are read for the same k.";
        draw(
            m,
            format!("{title} by tokens paid{among}"),
            "tokens given to the reader, mean",
            Vec::new(),
            note,
            &by_cost,
        );
    }
}

fn series(view: &View, metric: &Metric, mode: &str, x: &dyn Fn(&Cell) -> Option<f64>) -> Vec<Series> {
    let of = |(place, name): (usize, &String)| {
        let mut points: Vec<Point> = view
            .summary
            .cells
            .iter()
            .filter(|c| c.chunker == *name && c.mode == mode)
            .filter_map(|c| Some((x(c)?, *c.metrics.get(metric)?, c.cutoff.label())))
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Series { name: name.clone(), place, points }
    };
    view.summary.chunkers.iter().map(|row| &row.name).enumerate().map(of).collect()
}

fn tables(m: &mut Markup, view: &View, mode: &str) {
    let (by_k, by_budget): (Vec<Setting>, Vec<Setting>) =
        view.settings(mode).into_iter().partition(|s| s.cutoff.k().is_some());
    let note = "Shares in percent; in brackets, the 95\u{a0}% interval of the mean; bold: the highest of its setting, which may be chance.";
    if !by_k.is_empty() {
        scores(m, view, &format!("Results by k, {mode} retrieval. {note}"), "k", &by_k);
    }
    if !by_budget.is_empty() {
        scores(
            m,
            view,
            &format!("Results at an equal budget of tokens, {mode} retrieval. {note}"),
            "budget",
            &by_budget,
        );
    }
}

fn scores(m: &mut Markup, view: &View, caption: &str, held: &str, settings: &[Setting]) {
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
    let mut heads = vec![Head::words("chunker"), Head::number(held), Head::number("context tokens")];
    heads.extend(metrics.iter().map(|metric| {
        let name = if metric.unit().mark() == "of 10" { metric.heading() } else { metric.label().clone() };
        Head::number(&name).explained(metric.meaning())
    }));
    if failed {
        heads.push(Head::number("failed"));
    }
    if timed {
        heads.extend([Head::number("query p50, ms"), Head::number("query p95, ms")]);
    }
    let mut rows = Vec::new();
    for (setting, group) in &cells {
        for (i, (place, cell)) in group.iter().enumerate() {
            let size = setting.cutoff.size();
            let mut values = vec![
                Value::number(format::count(size), size as f64),
                Value::number(format::mean(cell.context_tokens), cell.context_tokens),
            ];
            let chief = |metric: &Metric| Some(metric) == view.metric.as_ref() || Some(metric) == view.answer_metric();
            values.extend(metrics.iter().map(|metric| score(metric, cell, group, chief(metric))));
            if failed {
                values.push(Value::number(format::count(cell.failed), cell.failed as f64));
            }
            if timed {
                let ms =
                    |x: Option<f64>| Value::number(format::decimal(x.unwrap_or(f64::NAN), 1), x.unwrap_or(f64::NAN));
                values.extend([ms(cell.query_p50_ms), ms(cell.query_p95_ms)]);
            }
            rows.push(Row { head: cell.chunker.clone(), place: Some(*place), values, opens: i == 0, data: Vec::new() });
        }
    }
    table(m, caption, &heads, &rows);
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

fn glossary(m: &mut Markup, view: &View) {
    let known: Vec<&Metric> = view.metrics.iter().filter(|metric| !metric.meaning().is_empty()).collect();
    if known.is_empty() {
        return;
    }
    m.element("details", &[("class", "glossary")], |m| {
        m.leaf("summary", &[], "What the metrics mean");
        m.element("dl", &[], |m| {
            for metric in known {
                m.leaf("dt", &[], &metric.title());
                m.leaf("dd", &[], metric.meaning());
            }
        });
    });
    m.line();
}
