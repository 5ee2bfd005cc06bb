//! Marks that every chart is drawn with, and the frame around a chart in a page.

use maud::{Markup, html};

/// Width of every chart in its own units; about the width of a phone, so that letters keep their size there.
pub(crate) const WIDTH: f64 = 400.0;
/// Colours, and so classes `s0` to `s7`; further series begin again.
pub(crate) const COLOURS: usize = 8;
/// Shapes of markers: fewer than colours and prime to them would be ideal; five against eight repeats after forty.
const SHAPES: usize = 5;

/// A coordinate: one decimal, and never anything but a number.
pub(crate) fn at(x: f64) -> String {
    if x.is_finite() { format!("{}", (x * 10.0).round() / 10.0) } else { "0".to_owned() }
}

/// `s3 extra`: the class of the series at a place.
pub(crate) fn class(place: usize, extra: &str) -> String {
    format!("s{} {extra}", place % COLOURS).trim_end().to_owned()
}

/// The marker of the series at a place, about its centre.
pub(crate) fn marker(place: usize, x: f64, y: f64, extra: &str) -> Markup {
    let class = class(place, &format!("mark {extra}"));
    let corners: &[(f64, f64)] = match place % SHAPES {
        0 => return html! { circle class=(class) cx=(at(x)) cy=(at(y)) r="4.5" {} },
        1 => &[(-4.2, -4.2), (4.2, -4.2), (4.2, 4.2), (-4.2, 4.2)],
        2 => &[(0.0, -5.6), (5.2, 4.2), (-5.2, 4.2)],
        3 => &[(0.0, -6.0), (6.0, 0.0), (0.0, 6.0), (-6.0, 0.0)],
        _ => &[(0.0, 5.6), (5.2, -4.2), (-5.2, -4.2)],
    };
    let points: Vec<String> = corners.iter().map(|(dx, dy)| format!("{},{}", at(x + dx), at(y + dy))).collect();
    html! { polygon class=(class) points=(points.join(" ")) {} }
}

/// The marker alone, for legends and headings in HTML.
pub(crate) fn badge(place: usize) -> Markup {
    html! { svg class="badge" viewBox="0 0 14 14" aria-hidden="true" { (marker(place, 7.0, 7.0, "")) } }
}

/// A line of text; `class` says how it is set and anchored (`start`, `middle`, `end`).
pub(crate) fn label(class: &str, x: f64, y: f64, text: &str) -> Markup {
    html! { text class=(class) x=(at(x)) y=(at(y)) { (text) } }
}

/// A straight line.
pub(crate) fn rule(class: &str, from: (f64, f64), to: (f64, f64)) -> Markup {
    html! { line class=(class) x1=(at(from.0)) y1=(at(from.1)) x2=(at(to.0)) y2=(at(to.1)) {} }
}

/// A box; nothing where it has no area.
pub(crate) fn bar(class: &str, (x, y): (f64, f64), (width, height): (f64, f64), title: &str) -> Markup {
    html! {
        @if width > 0.0 && height > 0.0 {
            rect class=(class) x=(at(x)) y=(at(y)) width=(at(width)) height=(at(height)) {
                @if !title.is_empty() { title { (title) } }
            }
        }
    }
}

/// The frame of a chart: a figure with its title, its content in words for those who do not see it, and a note.
pub(crate) fn figure(title: &str, spoken: &str, note: &str, height: f64, drawn: Markup) -> Markup {
    html! {
        figure class="chart" {
            figcaption { (title) }
            svg viewBox={ "0 0 " (at(WIDTH)) " " (at(height)) } role="img" aria-label={ (title) ". " (spoken) } { (drawn) }
            @if !note.is_empty() { p class="note" { (note) } }
        }
        "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::{at, badge};

    #[test]
    fn coordinates_are_always_numbers() {
        assert_eq!(
            (at(1.25), at(-0.04), at(f64::NAN), at(f64::INFINITY)),
            ("1.3".into(), "-0".into(), "0".into(), "0".into())
        );
    }

    #[test]
    fn forty_places_can_be_told_apart() {
        let looks: std::collections::BTreeSet<String> = (0..40).map(|place| badge(place).into_string()).collect();
        assert_eq!(looks.len(), 40);
    }
}
