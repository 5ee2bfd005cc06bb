//! A curve the size of a word.

use crate::kit::markup::Markup;
use crate::kit::svg::at;

const WIDTH: f64 = 160.0;
const HEIGHT: f64 = 30.0;
const AIR: f64 = 3.5;
/// Points of a curve: with more nights, each stretch of them is drawn by its lowest and its highest.
const POINTS: usize = 120;
/// Failed nights that are marked, the newest.
const MARKED: usize = 40;

/// Draws values over the nights `1..=last`; `least` is the smallest extent that fills the height, so that a hair's
/// breadth does not look like a fall. `marked` are nights that failed.
pub(super) fn spark(m: &mut Markup, points: &[(u32, f64)], last: u32, least: f64, marked: &[u32], spoken: &str) {
    let view = format!("0 0 {WIDTH} {HEIGHT}");
    let drawn = thinned(points);
    let (mut low, mut high) = extremes(&drawn);
    if high - low < least {
        let middle = f64::midpoint(low, high);
        (low, high) = (middle - least / 2.0, middle + least / 2.0);
    }
    let first = points.first().map_or(1, |p| p.0);
    let span = f64::from(last.saturating_sub(first).max(1));
    let x = |night: u32| AIR + f64::from(night.saturating_sub(first)) / span * (WIDTH - 2.0 * AIR);
    let y = |value: f64| HEIGHT - AIR - (value - low) / (high - low) * (HEIGHT - 2.0 * AIR);
    m.element("svg", &[("class", "spark"), ("viewBox", &view), ("role", "img"), ("aria-label", spoken)], |m| {
        if drawn.len() > 1 {
            let path: Vec<String> = drawn.iter().map(|(night, v)| format!("{},{}", at(x(*night)), at(y(*v)))).collect();
            m.empty("polyline", &[("points", &path.join(" "))]);
        }
        let failed = |night: u32| points.iter().find(|p| p.0 == night);
        for (night, value) in marked.iter().rev().take(MARKED).filter_map(|night| failed(*night)) {
            dot(m, "failed", x(*night), y(*value), "2.6");
        }
        if let Some((night, value)) = points.last() {
            let class = if marked.contains(night) { "end failed" } else { "end" };
            dot(m, class, x(*night), y(*value), "3");
        }
    });
}

fn dot(m: &mut Markup, class: &str, x: f64, y: f64, r: &str) {
    m.empty("circle", &[("class", class), ("cx", &at(x)), ("cy", &at(y)), ("r", r)]);
}

/// Lowest and highest value; (0, 1) of none.
pub(super) fn extremes(points: &[(u32, f64)]) -> (f64, f64) {
    let ends = |(low, high): (f64, f64), (_, x): &(u32, f64)| (low.min(*x), high.max(*x));
    let (low, high) = points.iter().fold((f64::INFINITY, f64::NEG_INFINITY), ends);
    if low > high { (0.0, 1.0) } else { (low, high) }
}

/// At most [`POINTS`] points that keep every extreme, and the last one as it is.
fn thinned(points: &[(u32, f64)]) -> Vec<(u32, f64)> {
    if points.len() <= POINTS {
        return points.to_vec();
    }
    let each = points.len().div_ceil(POINTS / 2 - 1);
    let mut kept: Vec<(u32, f64)> = Vec::with_capacity(POINTS);
    for stretch in points.chunks(each) {
        let lowest = stretch.iter().min_by(|a, b| a.1.total_cmp(&b.1));
        let highest = stretch.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let mut ends: Vec<(u32, f64)> = lowest.into_iter().chain(highest).copied().collect();
        ends.sort_by_key(|end| end.0);
        ends.dedup();
        kept.extend(ends);
    }
    kept.extend(points.last().filter(|last| kept.last() != Some(last)).copied());
    kept
}

#[cfg(test)]
mod tests {
    use super::{POINTS, extremes, spark, thinned};
    use crate::kit::markup::Markup;

    #[test]
    fn a_thousand_nights_keep_their_extremes_and_their_end() {
        let wave = |n: u32| 0.5 + 0.1 * f64::from(n % 17) / 17.0;
        let mut points: Vec<(u32, f64)> = (1..=1000).map(|n| (n, wave(n))).collect();
        if let Some(point) = points.get_mut(617) {
            point.1 = 0.01;
        }
        let kept = thinned(&points);
        assert!(kept.len() <= POINTS + 1, "{}", kept.len());
        assert_eq!((extremes(&kept), kept.last()), (extremes(&points), points.last()));
        assert!(kept.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn odd_curves_are_still_drawn() {
        for points in [vec![], vec![(1, 0.5)], vec![(1, 0.5), (2, 0.5)], vec![(7, 0.1), (9, 0.9)]] {
            let mut m = Markup::default();
            spark(&mut m, &points, 9, 0.02, &[9], "x");
            let svg = m.finish();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            assert_eq!(svg.contains("polyline"), points.len() > 1);
        }
    }
}
