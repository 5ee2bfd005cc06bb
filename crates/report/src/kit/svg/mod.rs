//! Charts as inline SVG. Colours come from the page's style sheet by class, so that they follow the dark mode; every
//! chunker has a colour and a marker of its own, so that no chart depends on telling colours apart.

pub(crate) mod axis;
mod histogram;
mod lines;

pub(crate) use histogram::{SizeRow, histograms};
pub(crate) use lines::{LineChart, Point, Series, lines, score_range};

use crate::kit::markup::Markup;

/// Width of every chart in its own units; about the width of a phone, so that letters keep their size there.
pub(crate) const WIDTH: f64 = 400.0;
/// Colours, and so classes `s0` to `s7`; further chunkers begin again.
pub(crate) const COLOURS: usize = 8;
/// Shapes of markers: fewer than colours and prime to them would be ideal; five against eight repeats after forty.
const SHAPES: usize = 5;

/// A coordinate: one decimal, and never anything but a number.
pub(crate) fn at(x: f64) -> String {
    if x.is_finite() { format!("{}", (x * 10.0).round() / 10.0) } else { "0".to_owned() }
}

/// `s3 extra`: the class of the chunker at a place.
pub(crate) fn class(place: usize, extra: &str) -> String {
    format!("s{} {extra}", place % COLOURS).trim_end().to_owned()
}

/// The marker of the chunker at a place, about its centre.
pub(crate) fn marker(m: &mut Markup, place: usize, x: f64, y: f64, extra: &str) {
    let class = class(place, &format!("mark {extra}"));
    if place.is_multiple_of(SHAPES) {
        m.empty("circle", &[("class", &class), ("cx", &at(x)), ("cy", &at(y)), ("r", "4.5")]);
        return;
    }
    let corners: &[(f64, f64)] = match place % SHAPES {
        1 => &[(-4.2, -4.2), (4.2, -4.2), (4.2, 4.2), (-4.2, 4.2)],
        2 => &[(0.0, -5.6), (5.2, 4.2), (-5.2, 4.2)],
        3 => &[(0.0, -6.0), (6.0, 0.0), (0.0, 6.0), (-6.0, 0.0)],
        _ => &[(0.0, 5.6), (5.2, -4.2), (-5.2, -4.2)],
    };
    let points: Vec<String> = corners.iter().map(|(dx, dy)| format!("{},{}", at(x + dx), at(y + dy))).collect();
    m.empty("polygon", &[("class", &class), ("points", &points.join(" "))]);
}

/// The marker alone, for legends and headings in HTML.
pub(crate) fn badge(m: &mut Markup, place: usize) {
    m.element("svg", &[("class", "badge"), ("viewBox", "0 0 14 14"), ("aria-hidden", "true")], |m| {
        marker(m, place, 7.0, 7.0, "");
    });
}

/// A line of text; `class` says how it is set and anchored (`start`, `middle`, `end`).
pub(crate) fn label(m: &mut Markup, class: &str, x: f64, y: f64, text: &str) {
    m.leaf("text", &[("class", class), ("x", &at(x)), ("y", &at(y))], text);
}

/// A straight line.
pub(crate) fn rule(m: &mut Markup, class: &str, from: (f64, f64), to: (f64, f64)) {
    m.empty(
        "line",
        &[("class", class), ("x1", &at(from.0)), ("y1", &at(from.1)), ("x2", &at(to.0)), ("y2", &at(to.1))],
    );
}

/// A box; nothing where it has no area.
pub(crate) fn bar(m: &mut Markup, class: &str, (x, y): (f64, f64), (width, height): (f64, f64), title: &str) {
    if width <= 0.0 || height <= 0.0 {
        return;
    }
    let (x, y, width, height) = (at(x), at(y), at(width), at(height));
    let place = [("class", class), ("x", x.as_str()), ("y", &y), ("width", &width), ("height", &height)];
    if title.is_empty() {
        m.empty("rect", &place);
    } else {
        m.element("rect", &place, |m| m.leaf("title", &[], title));
    }
}

/// The frame of a chart: a figure with its title, what it says in words for those who do not see it, and a note.
pub(crate) fn figure(
    m: &mut Markup,
    title: &str,
    spoken: &str,
    note: &str,
    height: f64,
    draw: impl FnOnce(&mut Markup),
) {
    m.element("figure", &[("class", "chart")], |m| {
        m.leaf("figcaption", &[], title);
        let view = format!("0 0 {} {}", at(WIDTH), at(height));
        let words = format!("{title}. {spoken}");
        m.element("svg", &[("viewBox", &view), ("role", "img"), ("aria-label", &words)], draw);
        if !note.is_empty() {
            m.leaf("p", &[("class", "note")], note);
        }
    });
    m.line();
}

#[cfg(test)]
mod tests {
    use super::{at, badge};
    use crate::kit::markup::Markup;

    #[test]
    fn coordinates_are_always_numbers() {
        assert_eq!(
            (at(1.25), at(-0.04), at(f64::NAN), at(f64::INFINITY)),
            ("1.3".into(), "-0".into(), "0".into(), "0".into())
        );
    }

    #[test]
    fn forty_places_can_be_told_apart() {
        let looks: std::collections::BTreeSet<String> = (0..40)
            .map(|place| {
                let mut m = Markup::default();
                badge(&mut m, place);
                m.finish()
            })
            .collect();
        assert_eq!(looks.len(), 40);
    }
}
