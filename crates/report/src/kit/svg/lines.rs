//! Scores along an axis: by k, by token budget, by tokens paid.

use crate::kit::markup::Markup;
use pericope_eval::format;
use pericope_eval::metric::{Metric, Unit};

use super::axis::{Scale, around, decimals, step, ticks};
use super::{WIDTH, at, class, figure, label, marker, rule};

const HEIGHT: f64 = 290.0;
const LEFT: f64 = 48.0;
const RIGHT: f64 = 104.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 48.0;
/// Least distance between two labels at the lines' ends.
const APART: f64 = 15.0;

/// Where, how much, and what the point is called (`k = 3`).
pub(crate) type Point = (f64, f64, String);

/// A series and those of its points that have a place on the chart.
type Drawn<'a> = (&'a Series, Vec<&'a Point>);

/// One chunker's line.
#[derive(Debug)]
pub(crate) struct Series {
    /// Name of the chunker.
    pub name: String,
    /// Its place in the configuration.
    pub place: usize,
    /// Its points, in the order of the line.
    pub points: Vec<Point>,
}

/// A chart of lines.
#[derive(Debug)]
pub(crate) struct LineChart<'a> {
    pub title: String,
    pub x_label: &'a str,
    pub metric: &'a Metric,
    pub series: Vec<Series>,
    /// Where the horizontal axis has its ticks; round numbers where none are given.
    pub x_ticks: Vec<f64>,
    /// The vertical axis in the unit shown, from [`score_range`]: the same for charts that stand side by side.
    pub y_range: (f64, f64),
    pub note: &'a str,
}

/// What shares are multiplied by to be shown.
fn factor(unit: Unit) -> f64 {
    if unit == Unit::Share { 100.0 } else { 1.0 }
}

/// A range for the vertical axis that holds these values of a metric.
pub(crate) fn score_range(metric: &Metric, values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let (least, bounds) = match metric.unit() {
        Unit::Share => (10.0, (0.0, 100.0)),
        Unit::Ten => (1.0, (0.0, 10.0)),
        Unit::Plain => (0.1, (f64::NEG_INFINITY, f64::INFINITY)),
    };
    around(values.into_iter().map(|x| x * factor(metric.unit())), least, bounds)
}

/// Draws the chart; nothing where there is no point.
pub(crate) fn lines(m: &mut Markup, chart: &LineChart) {
    let drawn: Vec<Drawn> = chart
        .series
        .iter()
        .map(|s| (s, s.points.iter().filter(|(x, y, _)| x.is_finite() && y.is_finite()).collect::<Vec<_>>()))
        .filter(|(_, points)| !points.is_empty())
        .collect();
    if drawn.is_empty() {
        return;
    }
    let unit = chart.metric.unit();
    let (factor, y_range) = (factor(unit), chart.y_range);
    let xs = || drawn.iter().flat_map(|(_, points)| points.iter().map(|p| p.0));
    let x_range = if chart.x_ticks.is_empty() {
        around(xs(), 1.0, (0.0, f64::INFINITY))
    } else {
        xs().chain(chart.x_ticks.iter().copied())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)))
    };
    let inset = if chart.x_ticks.is_empty() { 0.0 } else { 14.0 };
    let x = Scale::new(x_range, (LEFT + inset, WIDTH - RIGHT - inset));
    let y = Scale::new(y_range, (HEIGHT - BOTTOM, TOP));
    let spoken = drawn.iter().map(|(s, points)| spoken(s, points, unit)).collect::<Vec<_>>().join(" ");
    let note = match (chart.note, y_range.0 > 0.0) {
        (note, false) => note.to_owned(),
        ("", true) => "The vertical axis does not begin at zero.".to_owned(),
        (note, true) => format!("{note} The vertical axis does not begin at zero."),
    };
    figure(m, &chart.title, &spoken, &note, HEIGHT, |m| {
        frame(m, chart, &x, &y);
        for (series, points) in &drawn {
            line(m, series, points, &x, &y, factor, unit);
        }
        ends(m, &drawn, &x, &y, factor);
    });
}

fn spoken(series: &Series, points: &[&Point], unit: Unit) -> String {
    let parts: Vec<String> = points.iter().map(|(_, y, name)| format!("{} at {name}", unit.value(*y))).collect();
    format!("{}: {}.", series.name, format::listed(&parts))
}

fn frame(m: &mut Markup, chart: &LineChart, x: &Scale, y: &Scale) {
    let (left, right, base) = (LEFT, WIDTH - RIGHT, HEIGHT - BOTTOM);
    let each = step(y.high - y.low, 5.0);
    for tick in ticks(y.low, y.high, each) {
        rule(m, "grid", (left, y.at(tick)), (right, y.at(tick)));
        label(m, "tick end", left - 8.0, y.at(tick) + 4.0, &format::decimal(tick, decimals(each)));
    }
    rule(m, "axis", (left, base), (right, base));
    let round = step(x.high - x.low, 4.0);
    let x_ticks = if chart.x_ticks.is_empty() { ticks(x.low, x.high, round) } else { chart.x_ticks.clone() };
    let mut last = f64::NEG_INFINITY;
    for tick in x_ticks {
        let place = x.at(tick);
        rule(m, "axis", (place, base), (place, base + 4.0));
        // A tick whose number would run into the one before it stays without.
        if place - last >= 26.0 {
            label(m, "tick middle", place, base + 18.0, &format::mean(tick).replace(".0", ""));
            last = place;
        }
    }
    label(m, "name middle", f64::midpoint(left, right), HEIGHT - 8.0, chart.x_label);
    let turned = format!("rotate(-90 12 {})", at(f64::midpoint(TOP, base)));
    m.leaf(
        "text",
        &[("class", "name middle"), ("x", "12"), ("y", &at(f64::midpoint(TOP, base))), ("transform", &turned)],
        &chart.metric.heading(),
    );
}

fn line(m: &mut Markup, series: &Series, points: &[&Point], x: &Scale, y: &Scale, factor: f64, unit: Unit) {
    m.element("g", &[("class", &class(series.place, "series"))], |m| {
        if points.len() > 1 {
            let path: Vec<String> =
                points.iter().map(|(px, py, _)| format!("{},{}", at(x.at(*px)), at(y.at(py * factor)))).collect();
            m.empty("polyline", &[("class", &class(series.place, "line")), ("points", &path.join(" "))]);
        }
        for (px, py, name) in points {
            m.element("g", &[], |m| {
                m.leaf("title", &[], &format!("{}, {name}: {}", series.name, unit.value(*py)));
                marker(m, series.place, x.at(*px), y.at(py * factor), "");
            });
        }
    });
}

/// The chunkers' names at the right ends of their lines, pushed apart where they would touch.
fn ends(m: &mut Markup, drawn: &[Drawn], x: &Scale, y: &Scale, factor: f64) {
    let mut ends: Vec<(f64, f64, &Series)> = drawn
        .iter()
        .filter_map(|(series, points)| {
            let last = points.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
            Some((y.at(last.1 * factor), x.at(last.0), *series))
        })
        .collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let wanted: Vec<f64> = ends.iter().map(|end| end.0).collect();
    let column = ends.iter().map(|end| end.1).fold(0.0, f64::max).max(WIDTH - RIGHT) + 12.0;
    for ((from_y, from_x, series), to) in ends.iter().zip(spread(&wanted, TOP + 4.0, HEIGHT - BOTTOM)) {
        m.element("g", &[("class", &class(series.place, "series"))], |m| {
            rule(m, "lead", (from_x + 7.0, *from_y), (column - 3.0, to));
            label(m, &class(series.place, "direct"), column, to + 4.0, &format::clipped(&series.name, 14));
        });
    }
}

/// Places at least [`APART`] from each other and as near as possible to those wanted (in rising order), between `top`
/// and `bottom` where they all fit.
fn spread(wanted: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let mut places: Vec<f64> = wanted.to_vec();
    let mut least = top;
    for place in &mut places {
        *place = place.max(least);
        least = *place + APART;
    }
    let mut most = bottom;
    for place in places.iter_mut().rev() {
        *place = place.min(most);
        most = *place - APART;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::{LineChart, Series, lines, spread};
    use crate::kit::markup::Markup;
    use pericope_eval::metric::Metric;

    fn drawn(series: Vec<Series>) -> String {
        let metric = Metric::named("span_recall");
        let mut m = Markup::default();
        lines(
            &mut m,
            &LineChart {
                title: "T".into(),
                x_label: "k",
                metric: &metric,
                series,
                x_ticks: vec![1.0, 3.0],
                y_range: (0.0, 100.0),
                note: "",
            },
        );
        m.finish()
    }

    #[test]
    fn labels_keep_their_distance() {
        assert_eq!(spread(&[50.0, 51.0, 52.0], 0.0, 100.0), [50.0, 65.0, 80.0]);
        assert_eq!(spread(&[98.0, 99.0], 0.0, 100.0), [85.0, 100.0]);
    }

    #[test]
    fn points_without_a_number_are_left_out() {
        let points = vec![(1.0, 0.5, "k = 1".to_owned()), (3.0, f64::NAN, "k = 3".to_owned())];
        let svg = drawn(vec![Series { name: "a<b".into(), place: 0, points }]);
        assert!(svg.contains("50.0\u{a0}% at k = 1.") && svg.contains("a&lt;b"), "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("polyline"), "{svg}");
        assert!(
            drawn(vec![Series { name: "x".into(), place: 0, points: vec![(f64::NAN, 1.0, String::new())] }]).is_empty()
        );
    }
}
