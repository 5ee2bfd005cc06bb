//! F1 against speed: a panel a set, a marker a segmenter, documents a minute on a logarithmic axis.

use maud::{Markup, html};
use pericope_eval::format;
use pericope_segeval::evaluate::Evaluation;

use crate::kit::svg::axis::{Scale, around, step, ticks};
use crate::kit::svg::{WIDTH, figure, file, label, marker, rule};

const LEFT: f64 = 40.0;
/// Room for names at the right.
const RIGHT: f64 = 130.0;
const HEIGHT: f64 = 230.0;
const BOTTOM: f64 = 38.0;
/// Least distance of two names.
const LINE: f64 = 12.5;

/// A segmenter's place in a panel.
#[derive(Debug, Clone, PartialEq)]
pub struct SpeedPoint {
    /// The segmenter.
    pub name: String,
    /// Its place among the segmenters, for its colour and marker.
    pub place: usize,
    /// Documents segmented a minute.
    pub documents_per_minute: f64,
    /// F1 over all boundaries of the set, 0 to 1.
    pub f1: f64,
}

/// Segmenters that found the number of segments themselves, by set; sets with fewer than two of them are left out.
#[must_use]
pub fn speeds(evaluation: &Evaluation) -> Vec<(String, Vec<SpeedPoint>)> {
    let names = evaluation.segmenters();
    let mut sets: Vec<(String, Vec<SpeedPoint>)> = Vec::new();
    for row in evaluation.rows.iter().filter(|row| !row.known_count) {
        if sets.last().is_none_or(|(set, _)| *set != row.set) {
            sets.push((row.set.clone(), Vec::new()));
        }
        let documents_per_minute = 60.0 * row.documents as f64 / row.seconds;
        if let Some((_, points)) = sets.last_mut()
            && documents_per_minute.is_finite()
            && documents_per_minute > 0.0
            && row.f1.is_finite()
        {
            let place = names.iter().position(|name| *name == row.segmenter).unwrap_or(0);
            points.push(SpeedPoint { name: row.segmenter.clone(), place, documents_per_minute, f1: row.f1 });
        }
    }
    sets.retain(|(_, points)| points.len() > 1);
    sets
}

/// Draws a set's panel as a figure of a page.
pub(crate) fn speed(title: &str, points: &[SpeedPoint]) -> Markup {
    figure(title, &spoken(title, points), "", HEIGHT, draw(points, 0.0))
}

/// The panels below each other as an SVG file.
#[must_use]
pub fn speed_svg(title: &str, sets: &[(String, Vec<SpeedPoint>)]) -> String {
    const HEAD: f64 = 30.0;
    let words: Vec<String> = sets.iter().map(|(set, points)| spoken(set, points)).collect();
    let top = |i: usize| file::TOP + (HEAD + HEIGHT) * i as f64;
    let drawn = html! {
        @for (i, (set, points)) in sets.iter().enumerate() {
            (label("direct", 14.0, top(i) + 17.0, &format::clipped(set, 48)))
            (draw(points, top(i) + HEAD))
        }
    };
    file::document(title, &words.join(" "), (WIDTH, top(sets.len()) + 12.0), &drawn)
}

fn draw(points: &[SpeedPoint], top: f64) -> Markup {
    let logs = points.iter().map(|p| p.documents_per_minute.log10());
    let (low, high) = logs.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    let (low, high) = (low.floor(), high.ceil().max(low.floor() + 1.0));
    let x = Scale::new((low, high), (LEFT, WIDTH - RIGHT));
    let (least, most) = around(points.iter().map(|p| 100.0 * p.f1), 10.0, (0.0, 100.0));
    let base = top + HEIGHT - BOTTOM;
    let y = Scale::new((least, most), (base, top + 8.0));
    // Names from the top down, pushed apart.
    let mut order: Vec<&SpeedPoint> = points.iter().collect();
    order.sort_by(|a, b| b.f1.total_cmp(&a.f1).then_with(|| a.name.cmp(&b.name)));
    let mut free = top;
    let mut line_of = |point: &SpeedPoint| {
        let line = (y.at(100.0 * point.f1) + 4.0).max(free);
        free = line + LINE;
        line
    };
    html! {
        @for tick in ticks(least, most, step(most - least, 4.0)) {
            (rule("grid", (LEFT, y.at(tick)), (WIDTH - RIGHT, y.at(tick))))
            (label("tick end", LEFT - 6.0, y.at(tick) + 4.0, &tick.to_string()))
        }
        @for tick in ticks(low, high, 1.0) {
            (rule("grid", (x.at(tick), top + 8.0), (x.at(tick), base)))
            (label("tick middle", x.at(tick), base + 15.0, &format::mean(10f64.powf(tick))))
        }
        (label("small", LEFT, base + 31.0, "documents a minute, by F1 × 100"))
        @for point in order {
            @let (px, py) = (x.at(point.documents_per_minute.log10()), y.at(100.0 * point.f1));
            @let line = line_of(point);
            (marker(point.place, px, py, ""))
            (rule("grid", (px + 6.0, py), (WIDTH - RIGHT + 4.0, line - 4.0)))
            (label("", WIDTH - RIGHT + 8.0, line, &format::clipped(&point.name, 19)))
        }
    }
}

fn spoken(set: &str, points: &[SpeedPoint]) -> String {
    let one = |p: &SpeedPoint| {
        let (f1, speed) = (format::decimal(100.0 * p.f1, 1), format::mean(p.documents_per_minute));
        format!("{} F1 {f1} at {speed} documents a minute", p.name)
    };
    format!("{set}: {}.", points.iter().map(one).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::{speed_svg, speeds};
    use crate::segmentation::samples::evaluation;

    #[test]
    fn every_segmenter_that_counts_itself_has_a_point() {
        let found = speeds(&evaluation());
        assert!(!found.is_empty());
        for (_, points) in &found {
            assert!(points.iter().all(|p| p.documents_per_minute > 0.0 && (0.0..=1.0).contains(&p.f1)));
        }
        let svg = speed_svg("Speed", &found);
        assert!(svg.contains("documents a minute") && svg.contains("</svg>") && !svg.contains("NaN"), "{svg}");
        assert!(speed_svg("Speed", &[]).contains("</svg>"));
    }
}
