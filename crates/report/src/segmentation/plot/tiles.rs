//! The coloured bars: the truth on top, a bar a segmenter below it, a tile a segment, along the document's sentences.
//!
//! A tile has the colour of the true segment that it covers most of, so a true segment that was cut in pieces shows as
//! neighbours of one colour, and one that was swallowed is missing from the bar. Dashed lines stand at the true
//! boundaries; nothing depends on telling colours apart.

use maud::{Markup, html};
use pericope_eval::format;

use super::document::{DocumentPlot, TileRow};
use crate::kit::svg::axis::{Scale, stacked, step, ticks};
use crate::kit::svg::{COLOURS, at, class, figure, file, label, rule};

/// Documents that one file shows.
pub const MOST_DOCUMENTS: usize = 40;
/// Segmenters that are shown of one document.
pub const MOST_ROWS: usize = 24;
/// True segments must be at least this wide on average for lines at their ends.
const LINES_FROM: f64 = 5.0;
/// Space below the bars for the axis.
const AXIS: f64 = 40.0;

/// Where names stand and bars lie.
#[derive(Debug, Clone, Copy)]
struct Layout {
    width: f64,
    /// The bars, from and to.
    bars: (f64, f64),
    /// Height of a row, from its top to the bar, and of the bar.
    row: (f64, f64, f64),
    /// Baseline of the name from the row's top.
    name: f64,
    /// Letters of a name.
    letters: usize,
}

impl Layout {
    /// For pages and phones: the name above its bar.
    const NARROW: Self = Self { width: 400.0, bars: (2.0, 398.0), row: (36.0, 18.0, 13.0), name: 13.0, letters: 30 };
    /// For files: names to the left, scores to the right.
    const WIDE: Self = Self { width: 960.0, bars: (190.0, 810.0), row: (23.0, 3.0, 16.0), name: 15.5, letters: 24 };

    /// Height of a document's bars and axis.
    fn height(&self, plot: &DocumentPlot<'_>) -> f64 {
        self.row.0 * (1 + plot.rows.len().min(MOST_ROWS)) as f64 + AXIS
    }
}

/// Draws one document as a figure of a page.
pub(crate) fn tiles(title: &str, plot: &DocumentPlot<'_>) -> Markup {
    let layout = Layout::NARROW;
    let beyond = plot.rows.len().saturating_sub(MOST_ROWS);
    let note =
        if beyond > 0 { format!("{} not shown.", format::plural(beyond, "more segmenter")) } else { String::new() };
    figure(title, &spoken(plot), &note, layout.height(plot), draw(plot, layout, 0.0))
}

/// Several documents below each other as an SVG file, up to [`MOST_DOCUMENTS`]; a note says how many are left out.
#[must_use]
pub fn tiles_svg(title: &str, plots: &[DocumentPlot<'_>]) -> String {
    const HEAD: f64 = 26.0;
    let layout = Layout::WIDE;
    let shown = plots.get(..MOST_DOCUMENTS).unwrap_or(plots);
    let mut notes = vec![
        "A tile has the colour of the true segment that it covers most of; dashed lines stand at the true boundaries."
            .to_owned(),
    ];
    if shown.len() < plots.len() {
        notes.push(format!("The first {} of {} are shown.", shown.len(), format::plural(plots.len(), "document")));
    }
    if shown.iter().any(|plot| plot.rows.len() > MOST_ROWS) {
        notes.push(format!("The first {MOST_ROWS} segmenters of each document are shown."));
    }
    let words: Vec<String> = shown.iter().map(spoken).collect();
    let (tops, end) = stacked(file::TOP, shown.iter().map(|plot| HEAD + layout.height(plot)));
    let drawn = html! {
        @for (plot, top) in shown.iter().zip(tops) {
            @let facts = format!("{} · {}", plot.document, facts(plot));
            (label("direct", 14.0, top + 16.0, &format::clipped(&facts, 110)))
            (draw(plot, layout, top + HEAD))
        }
        @for (i, note) in notes.iter().enumerate() { (label("small", 14.0, end + 14.0 + 18.0 * i as f64, note)) }
    };
    let height = end + 18.0 * notes.len() as f64 + 12.0;
    file::document(title, &format!("{} {}", notes.join(" "), words.join(" ")), (layout.width, height), &drawn)
}

fn facts(plot: &DocumentPlot<'_>) -> String {
    let segments = format::plural(plot.reference.len() + 1, "segment");
    format!("{}, {segments}", format::plural(plot.sentences, "sentence"))
}

fn draw(plot: &DocumentPlot<'_>, layout: Layout, top: f64) -> Markup {
    let n = plot.sentences.max(1);
    let x = Scale::new((0.0, n as f64), layout.bars);
    let rows = plot.rows.get(..MOST_ROWS).unwrap_or(&plot.rows);
    let (row, bar, tall) = layout.row;
    let truth: Vec<(usize, usize)> = segments(plot.reference, n).collect();
    let top_of = |i: usize| top + row * i as f64;
    let bottom = top_of(rows.len()) + bar + tall;
    let wide = (layout.bars.1 - layout.bars.0) / (plot.reference.len() + 1) as f64;
    html! {
        (named(layout, top, "truth", &format::plural(plot.reference.len() + 1, "segment")))
        (paths(truth.iter().enumerate().map(|(i, &(from, to))| (i, from, to)), &x, top + bar, tall))
        @for (i, one) in rows.iter().enumerate() {
            @let tiles = segments(one.hypothesis, n).map(|(from, to)| (covered(&truth, from, to), from, to));
            g {
                title { (sentence(one)) }
                (named(layout, top_of(i + 1), &one.name, &scores(one)))
                (paths(tiles, &x, top_of(i + 1) + bar, tall))
            }
        }
        @if wide >= LINES_FROM && !rows.is_empty() {
            path class="cut" d=(cuts(plot.reference, &x, (0..=rows.len()).map(|i| top_of(i) + bar), tall)) {}
        }
        (axis(&x, bottom + 5.0, n))
        "\n"
    }
}

/// Lines at the true boundaries, through the bars at these heights; those of the first begin at its edge.
fn cuts(reference: &[usize], x: &Scale, tops: impl Iterator<Item = f64>, tall: f64) -> String {
    let mut shape = String::new();
    for (i, top) in tops.enumerate() {
        let over = if i == 0 { 0.0 } else { 3.0 };
        for &after in reference {
            let line = format!("M{} {}v{}", at(x.at(after as f64)), at(top - over), at(tall + over + 1.0));
            shape.push_str(&line);
        }
    }
    shape
}

fn named(layout: Layout, top: f64, name: &str, right: &str) -> Markup {
    let y = top + layout.name;
    let beside = layout.bars.0 > 14.0;
    let (left, end) = if beside { (14.0, layout.width - 14.0) } else { layout.bars };
    html! {
        (label("", left, y, &format::clipped(name, layout.letters)))
        (label("tick end", end, y, right))
    }
}

fn axis(x: &Scale, y: f64, n: usize) -> Markup {
    let last = n as f64;
    let anchor = |tick: f64| match tick {
        _ if (last - tick) * 40.0 < last => "tick end",
        _ if tick == 0.0 => "tick",
        _ => "tick middle",
    };
    html! {
        (rule("axis", (x.at(0.0), y), (x.at(last), y)))
        @for tick in ticks(0.0, last, step(last, 6.0).max(1.0)) {
            (rule("axis", (x.at(tick), y), (x.at(tick), y + 4.0)))
            (label(anchor(tick), x.at(tick), y + 17.0, &tick.to_string()))
        }
        (label("small middle", x.at(last / 2.0), y + 30.0, "sentences"))
    }
}

/// Segments as half-open ranges of sentences; boundaries outside the document are passed over.
fn segments(after: &[usize], n: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
    let inside = after.iter().copied().filter(move |&b| b > 0 && b < n);
    let mut from = 0;
    inside.chain([n]).map(move |to| (std::mem::replace(&mut from, to), to)).filter(|(from, to)| from < to)
}

/// The true segment that shares most sentences with `from..to`; the first of several.
fn covered(truth: &[(usize, usize)], from: usize, to: usize) -> usize {
    let first = truth.partition_point(|&(_, end)| end <= from);
    let mut best = (first, 0);
    for (i, &(start, end)) in truth.iter().enumerate().skip(first).take_while(|(_, (start, _))| *start < to) {
        let shared = end.min(to).saturating_sub(start.max(from));
        if shared > best.1 {
            best = (i, shared);
        }
    }
    best.0
}

/// One path a colour, with a gap behind every tile.
fn paths(tiles: impl Iterator<Item = (usize, usize, usize)>, x: &Scale, y: f64, tall: f64) -> Markup {
    let mut shapes = vec![String::new(); COLOURS];
    for (colour, from, to) in tiles {
        let (left, right) = (x.at(from as f64), x.at(to as f64));
        let width = right - left - (0.3 * (right - left)).min(1.2);
        if let Some(shape) = shapes.get_mut(colour % COLOURS) {
            let (left, width) = (hundredths(left), hundredths(width));
            shape.push_str(&format!("M{left} {}h{width}v{}h-{width}z", at(y), at(tall)));
        }
    }
    html! {
        @for (i, shape) in shapes.iter().enumerate().filter(|(_, shape)| !shape.is_empty()) {
            path class=(class(i, "tile")) d=(shape) {}
        }
    }
}

/// A coordinate with two decimals: tiles may be narrower than a tenth.
fn hundredths(x: f64) -> String {
    if x.is_finite() { format!("{}", (x * 100.0).round() / 100.0) } else { "0".to_owned() }
}

fn scores(row: &TileRow<'_>) -> String {
    format!("Pk {} · F1 {}", format::decimal(100.0 * row.pk, 1), format::decimal(100.0 * row.f1, 1))
}

fn sentence(row: &TileRow<'_>) -> String {
    format!("{}: {}, {}", row.name, format::plural(row.hypothesis.len() + 1, "segment"), scores(row))
}

fn spoken(plot: &DocumentPlot<'_>) -> String {
    let rows: Vec<String> = plot.rows.iter().take(MOST_ROWS).map(sentence).collect();
    format!("{}: {}. {}.", plot.document, facts(plot), rows.join("; "))
}

#[cfg(test)]
mod tests {
    use super::{MOST_DOCUMENTS, covered, segments, tiles_svg};
    use crate::segmentation::plot::{DocumentPlot, TileRow};

    fn plot<'a>(document: &'a str, reference: &'a [usize], hypothesis: &'a [usize]) -> DocumentPlot<'a> {
        let row = TileRow { name: "x<y".into(), hypothesis, pk: 0.25, f1: 0.5 };
        DocumentPlot { set: "s", document, sentences: 12, reference, rows: vec![row] }
    }

    #[test]
    fn tiles_take_the_colour_of_what_they_cover() {
        let truth: Vec<(usize, usize)> = segments(&[4, 8], 12).collect();
        assert_eq!(truth, [(0, 4), (4, 8), (8, 12)]);
        let found: Vec<usize> = segments(&[2, 5, 99], 12).map(|(from, to)| covered(&truth, from, to)).collect();
        // 2..5 shares two sentences with the first; 5..12 shares three with the second and four with the third.
        assert_eq!(found, [0, 0, 2]);
    }

    #[test]
    fn a_file_for_one_document_or_many() {
        let one = tiles_svg("A title", &[plot("d", &[4, 8], &[4])]);
        assert!(one.starts_with("<svg ") && one.contains("x&lt;y") && one.contains("Pk 25.0 · F1 50.0"));
        assert!(one.contains("prefers-color-scheme: dark") && !one.contains("NaN"));
        let many: Vec<DocumentPlot<'_>> = (0..60).map(|_| plot("d", &[6], &[])).collect();
        let svg = tiles_svg("Many", &many);
        assert_eq!(svg.matches(">sentences</text>").count(), MOST_DOCUMENTS);
        assert!(svg.contains("The first 40 of 60"));
        assert!(tiles_svg("None", &[]).contains("</svg>"));
    }

    #[test]
    fn odd_documents_are_drawn() {
        for (n, reference, hypothesis) in [(0, &[][..], &[][..]), (1, &[], &[3]), (2, &[1], &[1])] {
            let one = DocumentPlot { sentences: n, ..plot("d", reference, hypothesis) };
            assert!(!tiles_svg("T", &[one]).contains("NaN"));
        }
    }
}
