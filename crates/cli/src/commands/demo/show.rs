//! What was measured and cut, for people: as wide as the terminal.

use std::io;

use pericope_eval::format::{self, clipped, count, decimal, signed};
use pericope_report::text::{grid, paragraph, plain};

use super::cut::{PageCut, Piece};
use super::measure::Measured;
use crate::terminal::{Line, Style, counted, name};

/// From so many columns on, the table says how sure its differences are.
const WIDE: usize = 90;
/// Lines of a chunk's text that are shown, the last one included.
const LINES: usize = 4;
/// Blocks that a score of 1 takes.
const BAR: usize = 10;

/// The table, what it means, and what it comes to.
pub fn table(measured: &Measured, width: usize) -> io::Result<()> {
    let about = format!(
        "{} pages cut in five ways, {} questions about them, found by words alone (BM25).",
        measured.documents, measured.questions
    );
    wrapped(Style::Bold, &about, width)?;
    say!("");
    let is_wide = width >= WIDE;
    let mut head = vec!["cut by", "found %", "chunks", "tokens", "seconds"];
    head.extend(is_wide.then_some(["against fixed", "95 % interval"]).into_iter().flatten());
    let head: Vec<String> = head.into_iter().map(str::to_owned).collect();
    let points = |x: f64| signed(100.0 * x, 1);
    let rows = measured.rows.iter().map(|row| {
        let mut cells = vec![
            // Its reference is a row, and named below.
            row.spec.split(":reference").next().unwrap_or_default().to_owned(),
            decimal(100.0 * row.span_recall, 1),
            count(row.chunks),
            format::mean(row.mean_tokens),
            decimal(row.seconds, 2),
        ];
        if is_wide {
            cells.extend(match row.difference {
                Some([difference, low, high]) => [points(difference), format!("{} to {}", points(low), points(high))],
                None => [format::ABSENT.to_owned(), format::ABSENT.to_owned()],
            });
        }
        cells
    });
    let mut out = String::new();
    grid(&mut out, &head, &rows.collect::<Vec<_>>(), width);
    for (i, line) in plain(&out).trim_end().lines().enumerate() {
        if i == 0 { Line::styled(Style::Bold, line) } else { Line::text(line) }.say()?;
    }
    say!("");
    let found = format!(
        "Found: the share of the answers' text in the first {} tokens that a search hands out. Chunks: all of them, their mean \
         tokens, and the seconds to cut and index. A token is a word here: no model is loaded. The pages that are searched \
         have no headings, since those ask the questions. same-size cuts blindly into pieces as large as those of structure: \
         what it finds too is found by size alone.",
        count(measured.token_budget)
    );
    wrapped(Style::Soft, &found, width)?;
    say!("");
    wrapped(Style::Bold, &plain(&measured.sentence), width)
}

/// A page with the borders of its chunks, and the scores of all gaps.
pub fn page(cut: &PageCut<'_>, width: usize) -> io::Result<()> {
    let about = format!("{} as {} cuts it, where the vocabulary changes:", cut.document, cut.segmenter);
    say!("");
    wrapped(Style::Bold, &about, width)?;
    say!("");
    for (i, piece) in cut.chunks.iter().enumerate() {
        let style = if i % 2 == 0 { Style::Even } else { Style::Odd };
        chunk(i + 1, piece, style, width)?;
        if i + 1 < cut.chunks.len() {
            border(piece.score, width)?;
        }
    }
    say!("");
    wrapped(Style::Soft, "The score of every gap between two sentences, and where it was cut:", width)?;
    gaps(cut, width)
}

/// A chunk: its figures, and its text from the beginning and to the end.
fn chunk(number: usize, piece: &Piece<'_>, style: Style, width: usize) -> io::Result<()> {
    let inside = width - 2;
    let path = piece.heading_path.join(" › ");
    let figures = format!("{number} · {} · {path}", counted(piece.tokens as u64, "token"));
    Line::styled(style, "▌ ").and_styled(Style::Soft, name(&clipped(&figures, inside))).say()?;
    let mut text = String::new();
    let lines = piece.text.lines().filter(|line| !line.trim().is_empty());
    lines.for_each(|line| paragraph(&mut text, "", line, inside));
    let lines: Vec<String> = text.lines().map(|line| clipped(line, inside)).collect();
    let Some((last, first)) = lines.split_last() else { return Ok(()) };
    let kept = if lines.len() > LINES { LINES - 2 } else { LINES };
    for line in first.iter().take(kept) {
        Line::styled(style, format_args!("▌ {line}")).say()?;
    }
    if lines.len() > LINES {
        Line::styled(style, "▌ …").say()?;
    }
    Line::styled(style, format_args!("▌ {last}")).say()
}

/// The line between two chunks.
fn border(score: Option<f64>, width: usize) -> io::Result<()> {
    let label = match score {
        Some(score) => {
            let full = (score.clamp(0.0, 1.0) * BAR as f64).round() as usize;
            format!(" score {} {}{} ", decimal(score, 2), "█".repeat(full), "░".repeat(BAR - full))
        }
        None => " by size ".to_owned(),
    };
    let rest = width.saturating_sub(2 + label.chars().count());
    Line::styled(Style::Mark, format_args!("──{label}{}", "─".repeat(rest))).say()
}

/// A column a gap, as high as its score; marked where a chunk ends.
fn gaps(cut: &PageCut<'_>, width: usize) -> io::Result<()> {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let column = |score: f64| {
        let height = (score.clamp(0.0, 1.0) * (HEIGHTS.len() - 1) as f64).round() as usize;
        HEIGHTS.get(height).copied().unwrap_or('▁')
    };
    let ends: Vec<usize> = cut.chunks.iter().filter_map(|piece| piece.gap).collect();
    for (part, scores) in cut.scores.chunks(width).enumerate() {
        let (mut columns, mut marks) = (Line::default(), String::new());
        for (i, &score) in scores.iter().enumerate() {
            let is_cut = ends.contains(&(part * width + i));
            columns = columns.and_styled(if is_cut { Style::Mark } else { Style::Soft }, column(score));
            marks.push(if is_cut { '^' } else { ' ' });
        }
        columns.say()?;
        Line::styled(Style::Mark, marks.trim_end()).say()?;
    }
    Ok(())
}

/// Text in lines of that width, each in that style.
pub fn wrapped(style: Style, text: &str, width: usize) -> io::Result<()> {
    let mut out = String::new();
    paragraph(&mut out, "", text, width);
    out.lines().try_for_each(|line| Line::styled(style, line).say())
}
