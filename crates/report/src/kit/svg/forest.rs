//! Differences with their intervals, one below the other (a forest plot).

use maud::{Markup, html};
use pericope_eval::format;

use super::axis::{Scale, decimals, padded, step, ticks};
use super::marks::{WIDTH, bar, figure, label, marker, rule};

const LEFT: f64 = 14.0;
const RIGHT: f64 = 14.0;
/// Height of a row: its names, then its interval.
const ROW: f64 = 42.0;
/// Height within a row at which its interval lies.
const MIDDLE: f64 = 30.0;
const BOTTOM: f64 = 48.0;

const NOTE: &str = "Line: 95\u{a0}% interval. A filled marker in the colour of the chunker that does better: the \
                    difference holds after correction; a hollow one: it may be chance. Grey band: differences too small for \
                    this sample to find.";

/// One difference, in the unit of the axis.
#[derive(Debug)]
pub(crate) struct Interval {
    /// The names of both sides.
    pub names: String,
    /// The difference as written beside them.
    pub shown: String,
    /// The same in words.
    pub spoken: String,
    pub difference: f64,
    pub low: f64,
    pub high: f64,
    /// The smallest difference that would be found; not finite where it is not known.
    pub detectable: f64,
    /// The place of the side that does better, for its colour and marker.
    pub place: usize,
    /// True where the difference holds.
    pub holds: bool,
}

/// Returns the chart of the intervals; nothing where none has a number.
pub(crate) fn forest(title: &str, x_label: &str, intervals: &[Interval]) -> Markup {
    let finite = |i: &&Interval| i.difference.is_finite() && i.low.is_finite() && i.high.is_finite();
    let rows: Vec<&Interval> = intervals.iter().filter(finite).collect();
    if rows.is_empty() {
        return html! {};
    }
    let x = Scale::new(padded(rows.iter().flat_map(|i| [i.low, i.high, 0.0])), (LEFT, WIDTH - RIGHT));
    let base = ROW * rows.len() as f64 + 4.0;
    let height = base + BOTTOM;
    let spoken: Vec<&str> = rows.iter().map(|i| i.spoken.as_str()).collect();
    let each = step(x.high - x.low, 6.0);
    let tops = || rows.iter().enumerate().map(|(i, row)| (ROW * i as f64, *row));
    let drawn = html! {
        @for tick in ticks(x.low, x.high, each) {
            (rule("grid", (x.at(tick), 0.0), (x.at(tick), base)))
            (label("tick middle", x.at(tick), base + 16.0, &format::signed(tick, decimals(each))))
        }
        @for (top, row) in tops().filter(|(_, row)| row.detectable.is_finite()) {
            @let (from, to) = (x.at((-row.detectable).max(x.low)), x.at(row.detectable.min(x.high)));
            (bar("band", (from, top + MIDDLE - 7.0), (to - from, 14.0), ""))
        }
        (rule("zero", (x.at(0.0), 0.0), (x.at(0.0), base)))
        @for (top, row) in tops() { (line(row, &x, top)) }
        (label("name middle", WIDTH / 2.0, height - 8.0, x_label))
    };
    figure(title, &spoken.join(" "), NOTE, height, drawn)
}

fn line(row: &Interval, x: &Scale, top: f64) -> Markup {
    let (low, high, middle) = (x.at(row.low), x.at(row.high), top + MIDDLE);
    html! {
        (label("row", LEFT, top + 15.0, &row.names))
        (label("row end", WIDTH - RIGHT, top + 15.0, &row.shown))
        g {
            title { (row.spoken) }
            (rule("interval", (low, middle), (high, middle)))
            (rule("interval", (low, middle - 4.0), (low, middle + 4.0)))
            (rule("interval", (high, middle - 4.0), (high, middle + 4.0)))
            (marker(row.place, x.at(row.difference), middle, if row.holds { "" } else { "hollow" }))
        }
    }
}
