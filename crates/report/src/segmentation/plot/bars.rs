//! Scores as bars: a panel a set, a row a segmenter, a second bar for the same segmenter with the number of segments given.

use maud::{Markup, html};
use pericope_eval::format;
use pericope_segeval::evaluate::Evaluation;

use super::document::shown;
use crate::kit::svg::axis::{Scale, stacked, step, ticks};
use crate::kit::svg::{WIDTH, bar, class, figure, file, label, marker, rule};

/// What outlines mean.
pub(crate) const NOTE: &str = "Outlined: told the true number of segments.";
/// Rows of one panel.
const MOST: usize = 40;
const LEFT: f64 = 138.0;
const RIGHT: f64 = 44.0;
const BAR: f64 = 17.0;
const BETWEEN: f64 = 5.0;
const BOTTOM: f64 = 26.0;

/// One segmenter's figures on a set, 0 to 1; none where there is no such run.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// The segmenter.
    pub name: String,
    /// Its place among the segmenters, for its colour and marker.
    pub place: usize,
    /// Where it finds the number of segments itself.
    pub auto: Option<f64>,
    /// Where it was told.
    pub known: Option<f64>,
}

/// A set's bars.
#[derive(Debug, Clone, PartialEq)]
pub struct BarGroup {
    /// The set.
    pub set: String,
    /// Its segmenters.
    pub bars: Vec<Bar>,
}

/// F1 (over all boundaries of the set) by set and segmenter.
#[must_use]
pub fn groups(evaluation: &Evaluation) -> Vec<BarGroup> {
    let names = evaluation.segmenters();
    let mut groups: Vec<BarGroup> = Vec::new();
    for row in &evaluation.rows {
        if groups.last().is_none_or(|group| group.set != row.set) {
            groups.push(BarGroup { set: row.set.clone(), bars: Vec::new() });
        }
        let Some(group) = groups.last_mut() else { continue };
        let there = group.bars.iter().position(|bar| bar.name == row.segmenter);
        let at = there.unwrap_or_else(|| {
            let place = names.iter().position(|name| *name == row.segmenter).unwrap_or(0);
            group.bars.push(Bar { name: row.segmenter.clone(), place, auto: None, known: None });
            group.bars.len() - 1
        });
        if let Some(bar) = group.bars.get_mut(at) {
            *(if row.known_count { &mut bar.known } else { &mut bar.auto }) = Some(row.f1);
        }
    }
    groups
}

/// Draws a set's bars as a figure of a page.
pub(crate) fn bars(title: &str, group: &BarGroup) -> Markup {
    figure(title, &spoken(group), "", height(group), draw(group, 0.0))
}

/// The bars of all sets below each other as an SVG file. `metric` names what is shown ("F1").
#[must_use]
pub fn bars_svg(title: &str, metric: &str, groups: &[BarGroup]) -> String {
    const HEAD: f64 = 30.0;
    let words: Vec<String> = groups.iter().map(spoken).collect();
    let description = format!("{metric} x 100 by set and segmenter. {}", words.join(" "));
    let (tops, end) = stacked(file::TOP, groups.iter().map(|group| HEAD + height(group)));
    let drawn = html! {
        @for (group, top) in groups.iter().zip(tops) {
            @let name = format!("{}: {metric} x 100", group.set);
            (label("direct", 14.0, top + 17.0, &format::clipped(&name, 48)))
            (draw(group, top + HEAD))
        }
        (label("small", 14.0, end + 14.0, NOTE))
    };
    file::document(title, &description, (WIDTH, end + 26.0), &drawn)
}

fn listed(group: &BarGroup) -> &[Bar] {
    group.bars.get(..MOST).unwrap_or(&group.bars)
}

fn tall(bar: &Bar) -> f64 {
    BAR * values(bar).count().max(1) as f64 + BETWEEN
}

fn values(bar: &Bar) -> impl Iterator<Item = (bool, f64)> {
    [(false, bar.auto), (true, bar.known)].into_iter().filter_map(|(told, value)| Some((told, value?)))
}

fn height(group: &BarGroup) -> f64 {
    listed(group).iter().map(tall).sum::<f64>() + BOTTOM
}

fn draw(group: &BarGroup, top: f64) -> Markup {
    let most = listed(group).iter().flat_map(values).map(|(_, x)| 100.0 * x).filter(|x| x.is_finite());
    let most = most.fold(10.0, f64::max);
    let unit = step(most, 5.0);
    let high = (most / unit - 1e-9).ceil() * unit;
    let x = Scale::new((0.0, high), (LEFT, WIDTH - RIGHT));
    let base = top + height(group) - BOTTOM;
    let (tops, _) = stacked(top, listed(group).iter().map(tall));
    html! {
        @for tick in ticks(0.0, high, unit) {
            (rule("grid", (x.at(tick), top), (x.at(tick), base)))
            (label("tick middle", x.at(tick), base + 15.0, &tick.to_string()))
        }
        @for (one, y) in listed(group).iter().zip(tops) {
            (marker(one.place, 8.0, y + 9.0, ""))
            (label("", 20.0, y + 13.5, &format::clipped(&one.name, 17)))
            @for (i, (told, value)) in values(one).enumerate() { (draw_bar(one, told, value, &x, y + BAR * i as f64)) }
        }
        (rule("axis", (LEFT, top), (LEFT, base)))
        "\n"
    }
}

fn draw_bar(one: &Bar, told: bool, value: f64, x: &Scale, y: f64) -> Markup {
    let look = class(one.place, if told { "hatch" } else { "bar" });
    let figure = format::decimal(100.0 * value, 1);
    let title = format!("{}: {figure}", shown(&one.name, told));
    let wide = if value.is_finite() { x.at(100.0 * value) - LEFT } else { 0.0 };
    html! {
        (bar(&look, (LEFT, y + 2.0), (wide, BAR - 4.0), &title))
        (label("tick", LEFT + wide + 5.0, y + 13.0, &figure))
    }
}

fn spoken(group: &BarGroup) -> String {
    let words = |bar: &Bar| -> Vec<String> {
        values(bar).map(|(told, x)| format!("{} {}", shown(&bar.name, told), format::decimal(100.0 * x, 1))).collect()
    };
    let all: Vec<String> = listed(group).iter().flat_map(words).collect();
    format!("{}: {}.", group.set, all.join(", "))
}

#[cfg(test)]
mod tests {
    use super::{bars_svg, groups};
    use crate::segmentation::samples::evaluation;

    #[test]
    fn told_and_not_told_stand_together() {
        let found = groups(&evaluation());
        assert_eq!(found.iter().map(|g| g.set.as_str()).collect::<Vec<_>>(), ["one", "two"]);
        let names: Vec<&str> = found[0].bars.iter().map(|bar| bar.name.as_str()).collect();
        assert_eq!(names, ["near", "none"]);
        assert!(found[0].bars[0].known.is_some() && found[0].bars[1].known.is_none());
    }

    #[test]
    fn nothing_but_numbers_is_drawn() {
        let mut found = groups(&evaluation());
        found[0].bars[0].auto = Some(f64::NAN);
        let svg = bars_svg("F1", "F1", &found);
        assert!(svg.contains("</svg>") && !svg.contains("NaN"));
        assert!(bars_svg("F1", "F1", &[]).contains("</svg>"));
    }
}
