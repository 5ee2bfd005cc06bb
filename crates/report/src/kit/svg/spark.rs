//! A curve the size of a word.

use maud::{Markup, html};

use super::marks::at;

const WIDTH: f64 = 160.0;
const HEIGHT: f64 = 30.0;
const AIR: f64 = 3.5;
/// Points of a curve: with more of them, each stretch is drawn by its lowest and its highest.
const POINTS: usize = 120;
/// Places that are marked, the last.
const MARKED: usize = 40;

/// A curve over numbered places, of which the last may be beyond the curve's own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spark<'a> {
    pub points: &'a [(u32, f64)],
    pub last: u32,
    /// The smallest extent that fills the height, so that a hair's breadth does not look like a fall.
    pub least: f64,
    /// Places that are marked.
    pub marked: &'a [u32],
}

impl Spark<'_> {
    /// Returns the curve, with its words for those who do not see it.
    pub fn render(&self, spoken: &str) -> Markup {
        let drawn = thinned(self.points);
        let (mut low, mut high) = extremes(&drawn);
        if high - low < self.least {
            let middle = f64::midpoint(low, high);
            (low, high) = (middle - self.least / 2.0, middle + self.least / 2.0);
        }
        let first = self.points.first().map_or(1, |p| p.0);
        let span = f64::from(self.last.saturating_sub(first).max(1));
        let x = |place: u32| at(AIR + f64::from(place.saturating_sub(first)) / span * (WIDTH - 2.0 * AIR));
        let y = |value: f64| at(HEIGHT - AIR - (value - low) / (high - low) * (HEIGHT - 2.0 * AIR));
        let path: Vec<String> = drawn.iter().map(|(place, value)| format!("{},{}", x(*place), y(*value))).collect();
        let dot = |class: &str, (place, value): &(u32, f64), r: &str| {
            html! { circle class=(class) cx=(x(*place)) cy=(y(*value)) r=(r) {} }
        };
        let point = |place: &u32| self.points.iter().find(|p| p.0 == *place);
        html! {
            svg class="spark" viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(spoken) {
                @if path.len() > 1 { polyline points=(path.join(" ")) {} }
                @for point in self.marked.iter().rev().take(MARKED).filter_map(point) { (dot("failed", point, "2.6")) }
                @if let Some(end) = self.points.last() {
                    (dot(if self.marked.contains(&end.0) { "end failed" } else { "end" }, end, "3"))
                }
            }
        }
    }
}

/// Lowest and highest value; (0, 1) of none.
pub(crate) fn extremes(points: &[(u32, f64)]) -> (f64, f64) {
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
    use super::{POINTS, Spark, extremes, thinned};

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
            let svg = Spark { points: &points, last: 9, least: 0.02, marked: &[9] }.render("x").into_string();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            assert_eq!(svg.contains("polyline"), points.len() > 1);
        }
    }
}
