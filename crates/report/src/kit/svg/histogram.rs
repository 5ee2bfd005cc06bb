//! Histograms of chunk sizes, one below the other on one axis.

use maud::{Markup, html};
use pericope_eval::format;
use pericope_eval::record::Histogram;

use super::axis::{Scale, step, ticks};
use super::marks::{WIDTH, at, bar, class, figure, label, marker, rule};

const LEFT: f64 = 14.0;
const RIGHT: f64 = 16.0;
/// Height of a chunker's row: its name, then its bars.
const ROW: f64 = 84.0;
const BARS: f64 = 50.0;
const BOTTOM: f64 = 46.0;
/// Bars at most.
const MOST: usize = 48;

/// One chunker's sizes.
#[derive(Debug)]
pub(crate) struct SizeRow<'a> {
    pub name: &'a str,
    pub place: usize,
    pub mean: f64,
    pub longest: usize,
    pub limit: Option<usize>,
    pub sizes: &'a Histogram,
}

/// Returns the histograms; nothing where no chunk was counted.
pub(crate) fn histograms(rows: &[SizeRow]) -> Markup {
    let rows: Vec<&SizeRow> = rows.iter().filter(|r| r.sizes.total() > 0 && r.sizes.width > 0).collect();
    let Some(high) = rows.iter().map(|r| reach(r)).max() else { return html! {} };
    // The bars' width is a whole number of the finest bins, so that every chunk falls into one bar.
    let unit = rows.iter().map(|r| r.sizes.width).max().unwrap_or(1);
    let width = high.div_ceil(MOST).next_multiple_of(unit).max(unit);
    let bins = high.div_ceil(width).max(1);
    let high = (bins * width) as f64;
    let x = Scale::new((0.0, high), (LEFT, WIDTH - RIGHT));
    let height = ROW * rows.len() as f64 + BOTTOM;
    let base = ROW * rows.len() as f64 + 2.0;
    let spoken: Vec<String> = rows.iter().map(|r| spoken(r)).collect();
    let note = format!(
        "Share of a chunker's chunks in bars of {} tokens; a triangle at the mean, a dashed line at the limit.",
        format::count(width)
    );
    let drawn = html! {
        @for (i, row) in rows.iter().enumerate() { (draw(row, &x, ROW * i as f64, width, bins)) }
        @for tick in ticks(0.0, high, step(high, 5.0)) {
            (rule("axis", (x.at(tick), base - 4.0), (x.at(tick), base)))
            (label("tick middle", x.at(tick), base + 14.0, &format::mean(tick).replace(".0", "")))
        }
        (label("name middle", WIDTH / 2.0, height - 8.0, "tokens a chunk"))
    };
    figure("Chunk sizes", &spoken.join(" "), &note, height, drawn)
}

/// Where the axis may end for this row: beyond all but one in two hundred of its chunks, its limit included where that
/// lies near.
fn reach(row: &SizeRow) -> usize {
    let enough = row.sizes.total() - row.sizes.total() / 200;
    let mut seen = 0;
    let mut end = row.sizes.counts.len();
    for (i, count) in row.sizes.counts.iter().enumerate() {
        seen += count;
        if seen >= enough {
            end = i + 1;
            break;
        }
    }
    let end = (end * row.sizes.width).max(1);
    row.limit.map_or(end, |limit| if limit <= 2 * end { end.max(limit + row.sizes.width) } else { end })
}

/// Chunks in bars of `width` tokens, and those beyond the last bar.
fn collect(sizes: &Histogram, width: usize, bins: usize) -> (Vec<usize>, usize) {
    let mut bars = vec![0; bins];
    let mut beyond = sizes.beyond;
    for (i, count) in sizes.counts.iter().enumerate() {
        match bars.get_mut(i * sizes.width / width) {
            Some(bar) => *bar += count,
            None => beyond += count,
        }
    }
    (bars, beyond)
}

fn draw(row: &SizeRow, x: &Scale, top: f64, width: usize, bins: usize) -> Markup {
    let (bars, beyond) = collect(row.sizes, width, bins);
    let total = row.sizes.total() as f64;
    let most = bars.iter().copied().max().unwrap_or(0).max(1) as f64;
    let base = top + ROW - 4.0;
    let longer = if beyond > 0 { format!(" · {} beyond", format::count(beyond)) } else { String::new() };
    let facts = format!("mean {} · longest {}{longer}", format::mean(row.mean), format::count(row.longest));
    html! {
        g class=(class(row.place, "series")) {
            (marker(row.place, LEFT + 6.0, top + 13.0, ""))
            (label(&class(row.place, "direct"), LEFT + 18.0, top + 17.0, &format::clipped(row.name, 24)))
            (label("tick end", WIDTH - RIGHT, top + 17.0, &facts))
            @for (i, &count) in bars.iter().enumerate() {
                @let (from, to) = (i * width, (i + 1) * width);
                @let (left, right) = (x.at(from as f64), x.at(to as f64));
                @let tall = BARS * count as f64 / most;
                @let share = format::percent(count as f64 / total);
                @let title = format!("{from} to {} tokens: {} ({share})", to - 1, format::plural(count, "chunk"));
                (bar(&class(row.place, "bar"), (left + 0.5, base - tall), ((right - left - 1.0).max(0.6), tall), &title))
            }
            (rule("axis", (LEFT, base), (WIDTH - RIGHT, base)))
            @if let Some(limit) = row.limit.map(|limit| limit as f64).filter(|limit| *limit <= x.high) {
                (rule("limit", (x.at(limit), top + 26.0), (x.at(limit), base)))
            }
            @if row.mean.is_finite() && row.mean <= x.high {
                polygon class="mean" points=(triangle(x.at(row.mean), base)) {}
            }
        }
    }
}

fn triangle(x: f64, base: f64) -> String {
    let low = base + 8.0;
    format!("{},{base} {},{low} {},{low}", at(x), at(x - 5.0), at(x + 5.0))
}

fn spoken(row: &SizeRow) -> String {
    let limit = row.limit.map_or_else(|| "no limit".to_owned(), |limit| format!("limit {}", format::count(limit)));
    format!(
        "{}: {}, mean {} tokens, longest {}, {limit}.",
        row.name,
        format::plural(row.sizes.total(), "chunk"),
        format::mean(row.mean),
        format::count(row.longest)
    )
}

#[cfg(test)]
mod tests {
    use super::{SizeRow, collect, histograms, reach};
    use pericope_eval::record::Histogram;

    #[test]
    fn every_chunk_is_in_a_bar_or_beyond() {
        let sizes = Histogram::of((0..5_000).map(|i| i % 700).chain([100_000]));
        let (bars, beyond) = collect(&sizes, 16, 20);
        assert_eq!(bars.iter().sum::<usize>() + beyond, sizes.total());
        assert!(beyond > 1);
    }

    #[test]
    fn one_giant_does_not_flatten_the_rest() {
        let sizes = Histogram::of((0..1_000).map(|i| i % 200).chain([100_000]));
        let row = SizeRow { name: "x", place: 0, mean: 120.0, longest: 100_000, limit: None, sizes: &sizes };
        assert!(reach(&row) <= 208, "{}", reach(&row));
        let svg = histograms(&[row]).into_string();
        assert!(svg.contains("1 beyond") && svg.contains("longest 100,000"), "{svg}");
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        let sizes = Histogram::of([]);
        let row = SizeRow { name: "x", place: 0, mean: f64::NAN, longest: 0, limit: None, sizes: &sizes };
        assert!(histograms(&[row]).into_string().is_empty());
    }
}
