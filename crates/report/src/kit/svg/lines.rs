//! Values along an axis, a line a series.

use maud::{Markup, html};
use pericope_eval::format;

use super::axis::{Scale, around, decimals, step, ticks};
use super::marks::{WIDTH, at, class, figure, label, marker, rule};

const HEIGHT: f64 = 290.0;
const LEFT: f64 = 48.0;
const RIGHT: f64 = 104.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 48.0;
/// Least distance between two labels at the lines' ends.
const APART: f64 = 15.0;

/// A point of a line, in the units of the axes.
#[derive(Debug)]
pub(crate) struct Point {
    pub x: f64,
    pub y: f64,
    /// The name of its place: `k = 3`.
    pub name: String,
    /// Its value in words: `71.2 %`.
    pub value: String,
}

/// A series and those of its points that have a place on the chart.
type Drawn<'a> = (&'a Series, Vec<&'a Point>);

/// One line.
#[derive(Debug)]
pub(crate) struct Series {
    pub name: String,
    /// Its place among all series, for its colour and marker.
    pub place: usize,
    /// Its points, in the order of the line.
    pub points: Vec<Point>,
}

/// A chart of lines.
#[derive(Debug)]
pub(crate) struct LineChart<'a> {
    pub title: String,
    pub x_label: &'a str,
    pub y_label: &'a str,
    pub series: Vec<Series>,
    /// The ticks of the horizontal axis; round numbers where none are given.
    pub x_ticks: Vec<f64>,
    /// The ends of the vertical axis: the same for charts that stand side by side.
    pub y_range: (f64, f64),
    pub note: &'a str,
}

/// Returns the chart; nothing where there is no point.
pub(crate) fn lines(chart: &LineChart) -> Markup {
    let finite = |p: &&Point| p.x.is_finite() && p.y.is_finite();
    let points = |s: &'_ Series| s.points.iter().filter(finite).count();
    let drawn: Vec<Drawn> = (chart.series.iter().filter(|s| points(s) > 0))
        .map(|s| (s, s.points.iter().filter(finite).collect()))
        .collect();
    if drawn.is_empty() {
        return html! {};
    }
    let xs = || drawn.iter().flat_map(|(_, points)| points.iter().map(|p| p.x));
    let ends = |(low, high): (f64, f64), x: f64| (low.min(x), high.max(x));
    let (x_range, inset) = if chart.x_ticks.is_empty() {
        (around(xs(), 1.0, (0.0, f64::INFINITY)), 0.0)
    } else {
        (xs().chain(chart.x_ticks.iter().copied()).fold((f64::INFINITY, f64::NEG_INFINITY), ends), 14.0)
    };
    let x = Scale::new(x_range, (LEFT + inset, WIDTH - RIGHT - inset));
    let y = Scale::new(chart.y_range, (HEIGHT - BOTTOM, TOP));
    let spoken = drawn.iter().map(spoken).collect::<Vec<_>>().join(" ");
    let raised = if chart.y_range.0 > 0.0 { "The vertical axis does not begin at zero." } else { "" };
    let note = format!("{} {raised}", chart.note);
    let body = html! {
        (frame(chart, &x, &y))
        @for (series, points) in &drawn { (line(series, points, &x, &y)) }
        (names(&drawn, &x, &y))
    };
    figure(&chart.title, &spoken, note.trim(), HEIGHT, body)
}

fn spoken((series, points): &Drawn) -> String {
    let parts: Vec<String> = points.iter().map(|p| format!("{} at {}", p.value, p.name)).collect();
    format!("{}: {}.", series.name, format::listed(&parts))
}

fn frame(chart: &LineChart, x: &Scale, y: &Scale) -> Markup {
    let (left, right, base) = (LEFT, WIDTH - RIGHT, HEIGHT - BOTTOM);
    let each = step(y.high - y.low, 5.0);
    let x_ticks = match chart.x_ticks.as_slice() {
        [] => ticks(x.low, x.high, step(x.high - x.low, 4.0)),
        given => given.to_vec(),
    };
    // A tick whose number would run into the one before it stays without.
    let mut last = f64::NEG_INFINITY;
    let mut has_room = |place: f64| {
        let room = place - last >= 26.0;
        last = if room { place } else { last };
        room
    };
    let middle = at(f64::midpoint(TOP, base));
    html! {
        @for tick in ticks(y.low, y.high, each) {
            (rule("grid", (left, y.at(tick)), (right, y.at(tick))))
            (label("tick end", left - 8.0, y.at(tick) + 4.0, &format::decimal(tick, decimals(each))))
        }
        (rule("axis", (left, base), (right, base)))
        @for tick in x_ticks {
            (rule("axis", (x.at(tick), base), (x.at(tick), base + 4.0)))
            @if has_room(x.at(tick)) {
                (label("tick middle", x.at(tick), base + 18.0, &format::mean(tick).replace(".0", "")))
            }
        }
        (label("name middle", f64::midpoint(left, right), HEIGHT - 8.0, chart.x_label))
        text class="name middle" x="12" y=(middle) transform={ "rotate(-90 12 " (middle) ")" } { (chart.y_label) }
    }
}

fn line(series: &Series, points: &[&Point], x: &Scale, y: &Scale) -> Markup {
    let path: Vec<String> = points.iter().map(|p| format!("{},{}", at(x.at(p.x)), at(y.at(p.y)))).collect();
    html! {
        g class=(class(series.place, "series")) {
            @if path.len() > 1 { polyline class=(class(series.place, "line")) points=(path.join(" ")) {} }
            @for point in points {
                g {
                    title { (series.name) ", " (point.name) ": " (point.value) }
                    (marker(series.place, x.at(point.x), y.at(point.y), ""))
                }
            }
        }
    }
}

/// The names of the series at the right ends of their lines, pushed apart where they would touch.
fn names(drawn: &[Drawn], x: &Scale, y: &Scale) -> Markup {
    let end = |(series, points): &Drawn<'_>| {
        let last = points.iter().max_by(|a, b| a.x.total_cmp(&b.x))?;
        Some((y.at(last.y), x.at(last.x), class(series.place, ""), format::clipped(&series.name, 14)))
    };
    let mut ends: Vec<(f64, f64, String, String)> = drawn.iter().filter_map(end).collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let wanted: Vec<f64> = ends.iter().map(|end| end.0).collect();
    let column = ends.iter().map(|end| end.1).fold(0.0, f64::max).max(WIDTH - RIGHT) + 12.0;
    html! {
        @for ((from_y, from_x, class, name), to) in ends.iter().zip(spread(&wanted, TOP + 4.0, HEIGHT - BOTTOM)) {
            g class={ (class) " series" } {
                (rule("lead", (from_x + 7.0, *from_y), (column - 3.0, to)))
                (label(&format!("{class} direct"), column, to + 4.0, name))
            }
        }
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
    use super::{LineChart, Point, Series, lines, spread};

    fn drawn(points: Vec<Point>) -> String {
        let chart = LineChart {
            title: "T".into(),
            x_label: "k",
            y_label: "span recall, %",
            series: vec![Series { name: "a<b".into(), place: 0, points }],
            x_ticks: vec![1.0, 3.0],
            y_range: (0.0, 100.0),
            note: "",
        };
        lines(&chart).into_string()
    }

    #[test]
    fn labels_keep_their_distance() {
        assert_eq!(spread(&[50.0, 51.0, 52.0], 0.0, 100.0), [50.0, 65.0, 80.0]);
        assert_eq!(spread(&[98.0, 99.0], 0.0, 100.0), [85.0, 100.0]);
    }

    #[test]
    fn points_without_a_number_are_left_out() {
        let point = |x: f64, y: f64| Point { x, y, name: format!("k = {x}"), value: format!("{y} %") };
        let svg = drawn(vec![point(1.0, 50.0), point(3.0, f64::NAN)]);
        assert!(svg.contains("50 % at k = 1.") && svg.contains("a&lt;b"), "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("polyline"), "{svg}");
        assert!(drawn(vec![point(f64::NAN, 1.0)]).is_empty());
    }
}
