//! Differences between chunkers: forest plots, then the tables.

use maud::{Markup, html};
use pericope_eval::format;
use pericope_eval::metric::{Metric, Unit};
use pericope_eval::record::{Comparison, Family};

use crate::kit::svg::{Interval, forest};
use crate::kit::{Head, Row, Value, section as wrap, table};
use crate::run::view::{View, decided, factor};

/// Rows of one forest plot.
const DRAWN: usize = 18;
/// Rows of the table of all comparisons.
const LISTED: usize = 1_000;

pub(super) fn section(view: &View) -> Markup {
    let chief = view.chief_metrics();
    let exploratory = view.summary.verdict.is_some();
    // The primary ones are in the table by chunker, and drawn here.
    let primary: Vec<&Comparison> = view.comparisons.iter().filter(|c| c.family == Some(Family::Primary)).collect();
    let others = view.comparisons.iter().filter(|c| c.family != Some(Family::Primary));
    let (first, rest): (Vec<&Comparison>, Vec<&Comparison>) =
        others.partition(|c| chief.iter().any(|metric| **metric == c.metric) && is_first(view, c));
    let labels: Vec<String> = chief.iter().map(|metric| metric.label()).collect();
    let names: Vec<&str> = labels.iter().map(String::as_str).collect();
    let (caption, title) =
        if exploratory { ("Exploratory comparisons", "Exploratory") } else { ("Paired comparisons", "Differences") };
    let body = html! {
        @if view.comparisons.is_empty() {
            p { "The run holds no paired comparisons." }
        } @else {
            p class="prose" { (about(exploratory)) }
            @if let (Some(metric), false) = (&view.metric, primary.is_empty()) {
                div class="charts" { (plot(view, "What decides", metric, &primary)) }
            }
            @if exploratory && !first.is_empty() { h3 { "Exploratory" } }
            div class="charts" { @for metric in &chief { (plot(view, title, metric, &first)) } }
            @if !first.is_empty() { (list(view, &format!("{caption} by {}", format::listed(&names)), first)) }
            @if !rest.is_empty() {
                details class="more" {
                    summary { "All other settings and metrics (" (format::plural(rest.len(), "comparison")) ")" }
                    div class="filtered" {
                        (list(view, "Paired comparisons at the other settings and by the other metrics", rest))
                    }
                }
            }
        }
    };
    wrap("comparisons", "Differences", body)
}

/// How the figures came about.
fn about(verdict: bool) -> &'static str {
    if verdict {
        "Every comparison pairs the two chunkers question by question, and the unit is the document: documents are drawn for \
         the 95\u{a0}% interval of the mean difference, and signs are flipped by document for p. Only the comparisons with the \
         baseline at the cell that was named before the run are corrected (Holm) and decide. All others are exploratory: their \
         intervals and p-values stand as if each were the only one. “Could find” is the smallest true difference that this \
         sample would most likely have shown."
    } else {
        "Every comparison pairs the two chunkers question by question. The interval is a 95\u{a0}% bootstrap interval of the \
         mean difference, p comes from a paired permutation test, and Holm’s p is corrected for all comparisons by the same \
         metric. “Could find” is the smallest difference that this many questions would most likely have shown."
    }
}

/// What is shown unfolded: the headline's pair at every setting of its mode, and every pair at the headline's setting
/// and at the largest budget of tokens.
fn is_first(view: &View, c: &Comparison) -> bool {
    let Some(setting) = &view.setting else { return true };
    let pair = view.pair.as_ref().is_some_and(|(a, b)| c.a == *a && c.b == *b && c.mode == setting.mode);
    let largest = view.comparisons.iter().filter_map(|other| other.cutoff.tokens()).max();
    let budget = c.cutoff.tokens().is_some() && c.cutoff.tokens() == largest && c.mode == setting.mode;
    pair || budget || c.cutoff == setting.cutoff
}

/// The forest plot of the comparisons by a metric.
fn plot(view: &View, title: &str, metric: &Metric, comparisons: &[&Comparison]) -> Markup {
    let mut drawn: Vec<&Comparison> = comparisons.iter().copied().filter(|c| c.metric == *metric).collect();
    drawn.sort_by_key(|c| view.rank(c));
    drawn.truncate(DRAWN);
    let unit = if metric.unit() == Unit::Share { "points" } else { metric.unit().mark() };
    let x_label = format!("difference in {}{}{unit}", metric.label(), if unit.is_empty() { "" } else { ", " });
    let rows: Vec<Interval> = drawn.iter().map(|c| drawn_row(view, c)).collect();
    let title = match title {
        "Differences" => format!("Differences in {}", metric.label()),
        title => format!("{title}: differences in {}", metric.label()),
    };
    forest(&title, &x_label, &rows)
}

fn drawn_row(view: &View, c: &Comparison) -> Interval {
    let (unit, factor) = (c.metric.unit(), factor(&c.metric));
    Interval {
        names: format!("{} − {}, {}", format::clipped(&c.a, 15), format::clipped(&c.b, 15), c.cutoff.label()),
        shown: unit.difference(c.difference),
        spoken: format!(
            "{} minus {}, {}: {}{}, 95\u{a0}% interval {} to {}, {}{}.",
            c.a,
            c.b,
            c.cutoff.label(),
            unit.difference(c.difference),
            unit.points(),
            unit.difference(c.low),
            unit.difference(c.high),
            format::p_sentence(c.p_holm.unwrap_or(c.p)),
            if c.p_holm.is_some() { " after correction" } else { "" }
        ),
        difference: c.difference * factor,
        low: c.low * factor,
        high: c.high * factor,
        detectable: c.detectable * factor,
        place: view.place(if c.difference >= 0.0 { &c.a } else { &c.b }),
        holds: decided(c),
    }
}

fn list(view: &View, caption: &str, mut rows: Vec<&Comparison>) -> Markup {
    let order = |c: &Comparison| view.metrics.iter().position(|metric| *metric == c.metric);
    rows.sort_by_key(|c| (order(c), view.rank(c)));
    let left_out = rows.len().saturating_sub(LISTED);
    rows.truncate(LISTED);
    let (modes, exploratory) = (view.modes.len() > 1, view.summary.verdict.is_some());
    let mut heads = vec![Head::words("chunkers")];
    if modes {
        heads.push(Head::words("mode"));
    }
    heads.extend([
        Head::words("setting"),
        Head::words("metric"),
        Head::number("difference"),
        Head::number("95\u{a0}% interval"),
        Head::number("p"),
    ]);
    if !exploratory {
        heads.push(Head::number("Holm’s p"));
    }
    heads.extend([
        Head::number("win / tie / loss").explained("Questions on which the first scores higher, the same, lower."),
        Head::number("n").explained("Questions that both have a score for."),
        Head::number("could find")
            .explained("The smallest difference that this many questions would most likely show."),
        Head::number("without one document")
            .explained("The difference when the questions of any one document are left out: lowest to highest."),
    ]);
    let mut last = None;
    let rows: Vec<Row> = rows
        .into_iter()
        .map(|c| {
            let group = (&c.metric, &c.mode, &c.a, &c.b);
            let opens = last.replace(group) != Some(group);
            row(c, modes, exploratory).opens(opens)
        })
        .collect();
    html! {
        (table(caption, &heads, &rows))
        @if left_out > 0 { p class="note" { (format::count(left_out)) " more are in summary.json." } }
    }
}

fn row(c: &Comparison, modes: bool, exploratory: bool) -> Row {
    let unit = c.metric.unit();
    let range = |low: f64, high: f64| format!("{} to {}", unit.difference(low), unit.difference(high));
    let absent = || format::ABSENT.to_owned();
    let interval = if c.low.is_finite() && c.high.is_finite() { range(c.low, c.high) } else { absent() };
    let without_one = c.leave_one_out.as_ref();
    let mut values = Vec::new();
    if modes {
        values.push(Value::words(&c.mode));
    }
    values.extend([
        Value::number(c.cutoff.label(), c.cutoff.size() as f64),
        Value::words(c.metric.label()),
        Value::number(unit.difference(c.difference), c.difference).strong(decided(c)),
        Value::number(interval, c.low),
        Value::number(format::p_value(c.p), c.p),
    ]);
    if !exploratory {
        let p = c.p_holm.unwrap_or(f64::NAN);
        values.push(Value::number(format::p_value(p), p));
    }
    values.extend([
        Value::number(format!("{} / {} / {}", c.wins, c.ties, c.losses), c.wins as f64 - c.losses as f64),
        Value::number(format::count(c.n), c.n as f64),
        Value::number(unit.difference(c.detectable).trim_start_matches('+'), c.detectable),
        Value::number(
            without_one.map_or_else(absent, |l| range(l.low, l.high)),
            without_one.map_or(f64::NAN, |l| l.low),
        ),
    ]);
    Row::new(format!("{} − {}", c.a, c.b), values).metric(c.metric.label())
}

#[cfg(test)]
mod tests {
    use super::plot;
    use crate::run::view::View;
    use pericope_eval::metric::Metric;
    use pericope_eval::record::{Comparison, Family, Summary};

    fn drawn(c: Comparison) -> String {
        let summary = Summary::default();
        let c = Comparison { metric: Metric::SPAN_RECALL, ..c };
        plot(&View::new(&summary), "Differences", &Metric::SPAN_RECALL, &[&c]).into_string()
    }

    #[test]
    fn only_what_holds_is_filled() {
        let sure = Comparison { difference: 0.05, low: 0.01, high: 0.09, p_holm: Some(0.01), ..Comparison::default() };
        assert!(!drawn(sure.clone()).contains("mark hollow"));
        assert!(drawn(Comparison { p_holm: Some(0.2), ..sure.clone() }).contains("mark hollow"));
        // An exploratory one holds nothing, whatever its p.
        assert!(drawn(Comparison { family: Some(Family::Exploratory), ..sure }).contains("mark hollow"));
    }

    #[test]
    fn a_comparison_without_numbers_is_not_drawn() {
        assert!(drawn(Comparison { difference: f64::NAN, ..Comparison::default() }).is_empty());
    }
}
