//! Differences with their intervals, one below the other (a forest plot).

use crate::kit::markup::Markup;
use crate::run::view::{View, decided};
use pericope_eval::format;
use pericope_eval::metric::{Metric, Unit};
use pericope_eval::record::Comparison;

use crate::kit::svg::axis::{Scale, decimals, padded, step, ticks};
use crate::kit::svg::{WIDTH, bar, figure, label, marker, rule};

const LEFT: f64 = 14.0;
const RIGHT: f64 = 14.0;
/// Height of a row: its names, then its interval.
const ROW: f64 = 42.0;
/// Where a row's interval lies.
const MIDDLE: f64 = 30.0;
const BOTTOM: f64 = 48.0;

/// Draws the comparisons (all of one metric); nothing where none has a number.
pub(crate) fn forest(m: &mut Markup, view: &View, title: &str, metric: &Metric, comparisons: &[&Comparison]) {
    let rows: Vec<&&Comparison> =
        comparisons.iter().filter(|c| c.difference.is_finite() && c.low.is_finite() && c.high.is_finite()).collect();
    if rows.is_empty() {
        return;
    }
    let factor = if metric.unit() == Unit::Share { 100.0 } else { 1.0 };
    let ends = rows.iter().flat_map(|c| [c.low * factor, c.high * factor, 0.0]);
    let x = Scale::new(padded(ends), (LEFT, WIDTH - RIGHT));
    let base = ROW * rows.len() as f64 + 4.0;
    let height = base + BOTTOM;
    let spoken: Vec<String> = rows.iter().map(|c| spoken(c, metric)).collect();
    let note = "Line: 95\u{a0}% interval. A filled marker in the colour of the chunker that does better: the \
                difference holds after correction; a hollow one: it may be chance. Grey band: differences too small for \
                this sample to find.";
    figure(m, title, &spoken.join(" "), note, height, |m| {
        let each = step(x.high - x.low, 6.0);
        for tick in ticks(x.low, x.high, each) {
            rule(m, "grid", (x.at(tick), 0.0), (x.at(tick), base));
            label(m, "tick middle", x.at(tick), base + 16.0, &format::signed(tick, decimals(each)));
        }
        for (i, c) in rows.iter().enumerate().filter(|(_, c)| c.detectable.is_finite()) {
            let (from, to) = ((-c.detectable * factor).max(x.low), (c.detectable * factor).min(x.high));
            bar(m, "band", (x.at(from), ROW * i as f64 + MIDDLE - 7.0), (x.at(to) - x.at(from), 14.0), "");
        }
        rule(m, "zero", (x.at(0.0), 0.0), (x.at(0.0), base));
        for (i, c) in rows.iter().enumerate() {
            row(m, view, c, metric, factor, &x, ROW * i as f64);
        }
        let unit = if metric.unit() == Unit::Share { "points" } else { metric.unit().mark() };
        let name = format!("difference in {}{}{unit}", metric.label(), if unit.is_empty() { "" } else { ", " });
        label(m, "name middle", WIDTH / 2.0, height - 8.0, &name);
    });
}

fn row(m: &mut Markup, view: &View, c: &Comparison, metric: &Metric, factor: f64, x: &Scale, top: f64) {
    let middle = top + MIDDLE;
    let setting = c.cutoff.label();
    let names = format!("{} − {}, {setting}", format::clipped(&c.a, 15), format::clipped(&c.b, 15));
    label(m, "row", LEFT, top + 15.0, &names);
    label(m, "row end", WIDTH - RIGHT, top + 15.0, &metric.unit().difference(c.difference));
    let better = if c.difference >= 0.0 { &c.a } else { &c.b };
    m.element("g", &[], |m| {
        m.leaf("title", &[], &spoken(c, metric));
        let (low, high) = (x.at(c.low * factor), x.at(c.high * factor));
        rule(m, "interval", (low, middle), (high, middle));
        rule(m, "interval", (low, middle - 4.0), (low, middle + 4.0));
        rule(m, "interval", (high, middle - 4.0), (high, middle + 4.0));
        let look = if decided(c) { "" } else { "hollow" };
        marker(m, view.place(better), x.at(c.difference * factor), middle, look);
    });
}

fn spoken(c: &Comparison, metric: &Metric) -> String {
    let unit = metric.unit();
    format!(
        "{} minus {}, {}: {}{}, 95\u{a0}% interval {} to {}, {} after correction.",
        c.a,
        c.b,
        c.cutoff.label(),
        unit.difference(c.difference),
        unit.points(),
        unit.difference(c.low),
        unit.difference(c.high),
        format::p_sentence(c.p_holm)
    )
}

#[cfg(test)]
mod tests {
    use super::forest;
    use crate::kit::markup::Markup;
    use crate::run::view::View;
    use pericope_eval::metric::Metric;
    use pericope_eval::record::{Comparison, Summary};

    fn drawn(c: Comparison) -> String {
        let summary = Summary::default();
        let mut m = Markup::default();
        forest(&mut m, &View::new(&summary), "T", &Metric::named("span_recall"), &[&c]);
        m.finish()
    }

    #[test]
    fn only_what_holds_is_filled() {
        let sure = Comparison { difference: 0.05, low: 0.01, high: 0.09, p_holm: 0.01, ..Comparison::default() };
        assert!(!drawn(sure.clone()).contains("mark hollow"));
        assert!(drawn(Comparison { p_holm: 0.2, ..sure }).contains("mark hollow"));
    }

    #[test]
    fn a_comparison_without_numbers_is_not_drawn() {
        assert!(drawn(Comparison { difference: f64::NAN, ..Comparison::default() }).is_empty());
    }
}
