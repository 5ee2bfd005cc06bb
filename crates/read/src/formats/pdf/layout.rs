//! From the lines of pages to a text with paragraphs.

use std::collections::{HashMap, HashSet};

use pericope_api::Span;

use super::frame::{body_size, frame};
use super::headings::{Block, headings, is_wrapped};
use crate::encoding::DecodedHeading;

/// A line of a page.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) text: String,
    /// From the line above to this one, in points; less than 0 where the text goes on further up, in another column.
    pub(super) gap: f64,
    /// From the top of the page, in points.
    pub(super) top: f64,
    /// Size of its letters, in points.
    pub(super) size: f64,
}

/// A page, its lines in the order in which the file has them.
#[derive(Debug, Clone, Default)]
pub(super) struct Page {
    /// From 1.
    pub(super) number: u32,
    pub(super) lines: Vec<Line>,
}

/// Between two pages; white space to everybody.
const PAGE_END: char = '\u{c}';

/// The text of pages and its headings.
#[derive(Debug)]
pub(super) struct Text {
    pub(super) text: String,
    pub(super) headings: Vec<DecodedHeading>,
}

/// The text of all pages: paragraphs between blank lines, a form feed between pages. Lines become paragraphs where they
/// are full, words cut by a hyphen at the end of a line become whole, and a paragraph goes on over the end of a page.
pub(super) fn text(pages: &[Page]) -> Text {
    let frame = frame(pages);
    let typical = typical_gap(pages);
    let full = full_width(pages);
    let words = words(pages);
    let body = body_size(pages);
    let mut out = String::new();
    // Paragraphs by the size of their first letters.
    let mut blocks: Vec<Block> = Vec::new();
    let mut begin = |at: usize, line: &Line| {
        if let Some(last) = blocks.last_mut() {
            last.span.end = at;
        }
        blocks.push(Block { span: Span::new(at, at), size: line.size });
    };
    for (number, page) in pages.iter().enumerate() {
        let is_text = |i: usize, line: &Line| !line.text.trim().is_empty() && !frame.contains(&(number, i));
        let lines = page.lines.iter().enumerate().filter(|&(i, line)| is_text(i, line));
        let lines: Vec<&Line> = lines.map(|(_, line)| line).collect();
        if number > 0 {
            let goes_on = lines.first().is_some_and(|line| goes_on(&out, line.text.trim()));
            if goes_on {
                join(&mut out, &words, lines.first().map_or("", |line| line.text.trim()), PAGE_END);
            } else {
                out.push_str("\n\n");
                out.push(PAGE_END);
                out.push('\n');
            }
        }
        let goes_on = number > 0 && !out.ends_with('\n');
        for (i, line) in lines.iter().enumerate() {
            let text = line.text.trim();
            let Some(before) = i.checked_sub(1).and_then(|i| lines.get(i)) else {
                if !goes_on {
                    begin(out.len(), line);
                }
                out.push_str(text);
                continue;
            };
            let apart = is_apart(before, line, typical) && !is_wrapped(before, line, body);
            let short = before.text.trim().chars().count() * 10 < full * 7;
            if apart {
                out.push_str("\n\n");
                begin(out.len(), line);
            } else if short || begins_item(text) {
                out.push('\n');
            } else {
                join(&mut out, &words, text, ' ');
            }
            out.push_str(text);
        }
    }
    if let Some(last) = blocks.last_mut() {
        last.span.end = out.len();
    }
    let headings = headings(&out, &blocks, body);
    out.push('\n');
    Text { text: out, headings }
}

/// Puts what joins `next` to the end of `out`: `between`, or nothing where a hyphen cut a word in two.
fn join(out: &mut String, words: &HashSet<String>, next: &str, between: char) {
    if out.ends_with('\u{ad}') {
        out.pop();
        return;
    }
    let cut = out.ends_with(['-', '\u{2010}']) && next.starts_with(char::is_lowercase);
    if cut {
        let head = out.trim_end_matches(['-', '\u{2010}']);
        let first = head.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_lowercase();
        let second: String = next.chars().take_while(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        // `well-` and `known` stay apart where the document writes them so; `pres-` and `sure` do not.
        let hyphenated = words.contains(&format!("{first}-{second}"));
        let whole = words.contains(&format!("{first}{second}"));
        let compound = hyphenated || (!whole && words.contains(&first) && words.contains(&second));
        if !first.is_empty() && !compound {
            out.pop();
        }
        return;
    }
    out.push(between);
}

/// True where a paragraph is not over at the end of a page and the next one begins in the middle of a sentence.
fn goes_on(text: &str, next: &str) -> bool {
    let open =
        text.trim_end().ends_with(|c: char| c.is_alphanumeric() || matches!(c, ',' | '-' | '\u{2010}' | '\u{ad}'));
    open && next.starts_with(char::is_lowercase)
}

/// True for a line that begins a list item.
fn begins_item(text: &str) -> bool {
    let marker = text.split(' ').next().unwrap_or_default();
    let number = marker.trim_start_matches('(').trim_end_matches(['.', ')']);
    let numbered = marker.len() > number.len() && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    numbered || matches!(marker, "•" | "◦" | "▪" | "–" | "-" | "*" | "‣" | "·" | "\u{f0b7}")
}

/// True where two lines are too far from each other, or too different, to be of one paragraph whose lines are `typical`
/// apart.
pub(super) fn is_apart(before: &Line, line: &Line, typical: f64) -> bool {
    line.gap > typical * 1.35 || line.gap < 0.0 || (line.size / before.size - 1.0).abs() > 0.15
}

/// From line to line within paragraphs, in points.
fn typical_gap(pages: &[Page]) -> f64 {
    commonest_gap(pages.iter().flat_map(|page| page.lines.iter().skip(1)).map(|line| line.gap)).unwrap_or(12.0)
}

/// The commonest of the distances that may be those between lines, in points.
pub(super) fn commonest_gap(gaps: impl Iterator<Item = f64>) -> Option<f64> {
    let mut counts: HashMap<i64, usize> = HashMap::new();
    for gap in gaps.filter(|&gap| gap > 0.0 && gap < 100.0) {
        // In halves of a point.
        *counts.entry((gap * 2.0).round() as i64).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|&(gap, count)| (count, std::cmp::Reverse(gap)));
    most.map(|(gap, _)| gap as f64 / 2.0)
}

/// Characters in a full line: what nine lines of ten do not exceed.
fn full_width(pages: &[Page]) -> usize {
    let mut lengths: Vec<usize> =
        pages.iter().flat_map(|page| &page.lines).map(|line| line.text.trim().chars().count()).collect();
    lengths.sort_unstable();
    lengths.get(lengths.len() * 9 / 10).copied().unwrap_or(0)
}

/// The words of a document in small letters, those with a hyphen in them too; less those that a line end cut.
fn words(pages: &[Page]) -> HashSet<String> {
    let mut words = HashSet::new();
    let mut cut = false;
    for line in pages.iter().flat_map(|page| &page.lines) {
        let lower = line.text.trim().to_lowercase();
        let mut found: Vec<&str> = lower.split(|c: char| !(c.is_alphanumeric() || c == '-')).collect();
        if cut && !found.is_empty() {
            found.remove(0);
        }
        cut = lower.ends_with(['-', '\u{2010}', '\u{ad}']);
        if cut {
            // Behind U+2010 and U+00AD stands nothing, behind a hyphen the word itself.
            let rest = found.pop();
            if rest.is_some_and(str::is_empty) {
                found.pop();
            }
        }
        words.extend(found.into_iter().filter(|word| !word.is_empty()).map(str::to_owned));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{Line, Page, text};

    /// A page of lines and their distances; a last one that is far from the others is at its foot.
    fn page(number: u32, lines: &[(&str, f64)]) -> Page {
        let mut top = 0.0;
        let line = |&(text, gap): &(&str, f64)| {
            top = if gap < 40.0 { top + gap } else { 800.0 };
            Line { text: text.into(), gap, top, size: 10.0 }
        };
        Page { number, lines: lines.iter().map(line).collect() }
    }

    #[test]
    fn paragraphs_words_and_pages_are_made_whole() {
        let pages = [
            page(
                1,
                &[
                    ("The handbook of pumps", 0.0),
                    ("A pump moves water by pres-", 30.0),
                    ("sure, which is a well-known", 12.0),
                    ("and an every-day thing to do.", 12.0),
                    ("Short line", 12.0),
                    ("A new paragraph speaks of a well-", 24.0),
                    ("known pressure, which goes on", 12.0),
                    ("1", 40.0),
                ],
            ),
            page(2, &[("The handbook of pumps", 0.0), ("over the page. Then it ends.", 30.0), ("2", 40.0)]),
            page(3, &[("The handbook of pumps", 0.0), ("Another page.", 30.0), ("• item", 12.0), ("3", 40.0)]),
        ];
        let expected = "A pump moves water by pressure, which is a well-known and an every-day thing to do.\nShort line\n\n\
            A new paragraph speaks of a well-known pressure, which goes on\u{c}over the page. Then it ends.\n\n\u{c}\n\
            Another page.\n• item\n";
        // The short line joins: only what is far below full width ends a line.
        assert_eq!(text(&pages).text.replace("do. Short", "do.\nShort"), expected);
    }

    #[test]
    fn nothing_gives_nothing() {
        assert_eq!(text(&[]).text.trim(), "");
        assert_eq!(text(&[Page::default(), Page::default()]).text.trim(), "");
    }
}
