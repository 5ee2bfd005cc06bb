//! Differences between chunkers: forest plots, then the tables.

use crate::kit::markup::Markup;
use crate::run::view::{View, decided};
use pericope_eval::format;
use pericope_eval::metric::Metric;
use pericope_eval::record::Comparison;

use super::forest::forest;
use crate::kit::section as wrap;
use crate::kit::table::{Head, Row, Value, table};

/// Rows of one forest plot.
const DRAWN: usize = 18;
/// Rows of the table of all comparisons.
const LISTED: usize = 1_000;

pub(super) fn section(m: &mut Markup, view: &View) {
    wrap(m, "comparisons", "Differences", |m| {
        if view.comparisons.is_empty() {
            m.leaf("p", &[], "The run holds no paired comparisons.");
            return;
        }
        m.leaf(
            "p",
            &[("class", "prose")],
            "Every comparison pairs the two chunkers question by question. The interval is a 95\u{a0}% bootstrap interval \
             of the mean difference, p comes from a paired permutation test, and Holm’s p is corrected for all \
             comparisons by the same metric. “Could find” is the smallest difference that this many questions would most likely \
             have shown.",
        );
        let chief = view.chief_metrics();
        let (first, rest): (Vec<&Comparison>, Vec<&Comparison>) =
            view.comparisons.iter().partition(|c| chief.iter().any(|metric| **metric == c.metric) && is_first(view, c));
        m.element("div", &[("class", "charts")], |m| {
            for metric in &chief {
                let mut drawn: Vec<&Comparison> = first.iter().copied().filter(|c| c.metric == **metric).collect();
                drawn.sort_by_key(|c| view.rank(c));
                drawn.truncate(DRAWN);
                forest(m, view, &format!("Differences in {}", metric.label()), metric, &drawn);
            }
        });
        let labels: Vec<String> = chief.iter().map(|metric| metric.label()).collect();
        let names: Vec<&str> = labels.iter().map(String::as_str).collect();
        list(m, view, &format!("Paired comparisons by {}", format::listed(&names)), first);
        if !rest.is_empty() {
            m.element("details", &[("class", "more")], |m| {
                let title = format!("All other settings and metrics ({})", format::plural(rest.len(), "comparison"));
                m.leaf("summary", &[], &title);
                m.element("div", &[("class", "filtered")], |m| {
                    list(m, view, "Paired comparisons at the other settings and by the other metrics", rest);
                });
            });
        }
    });
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

fn list(m: &mut Markup, view: &View, caption: &str, mut rows: Vec<&Comparison>) {
    let order = |c: &Comparison| view.metrics.iter().position(|metric| *metric == c.metric);
    rows.sort_by_key(|c| (order(c), view.rank(c)));
    let left_out = rows.len().saturating_sub(LISTED);
    rows.truncate(LISTED);
    let modes = view.modes.len() > 1;
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
        Head::number("Holm’s p"),
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
            row(c, modes, opens)
        })
        .collect();
    table(m, caption, &heads, &rows);
    if left_out > 0 {
        let text = format!("{} more are in summary.json.", format::count(left_out));
        m.leaf("p", &[("class", "note")], &text);
    }
}

fn row(c: &Comparison, modes: bool, opens: bool) -> Row {
    let metric = &c.metric;
    let unit = metric.unit();
    let mut values = Vec::new();
    if modes {
        values.push(Value::words(&c.mode));
    }
    values.extend([
        Value::number(c.cutoff.label(), c.cutoff.size() as f64),
        Value::words(&metric.label()),
        Value::number(unit.difference(c.difference), c.difference).strong(decided(c)),
        Value::number(interval(c, &metric), c.low),
        Value::number(format::p_value(c.p), c.p),
        Value::number(format::p_value(c.p_holm), c.p_holm),
        Value::number(format!("{} / {} / {}", c.wins, c.ties, c.losses), c.wins as f64 - c.losses as f64),
        Value::number(format::count(c.n), c.n as f64),
        Value::number(unit.difference(c.detectable).trim_start_matches('+'), c.detectable),
        Value::number(without_one(c, &metric), c.leave_one_out.as_ref().map_or(f64::NAN, |l| l.low)),
    ]);
    let data = vec![("data-metric", metric.label().clone())];
    Row { head: format!("{} − {}", c.a, c.b), place: None, values, opens, data }
}

fn without_one(c: &Comparison, metric: &Metric) -> String {
    let range = c.leave_one_out.as_ref();
    range.map_or_else(
        || format::ABSENT.to_owned(),
        |l| format!("{} to {}", metric.unit().difference(l.low), metric.unit().difference(l.high)),
    )
}

fn interval(c: &Comparison, metric: &Metric) -> String {
    if !(c.low.is_finite() && c.high.is_finite()) {
        return format::ABSENT.to_owned();
    }
    format!("{} to {}", metric.unit().difference(c.low), metric.unit().difference(c.high))
}
