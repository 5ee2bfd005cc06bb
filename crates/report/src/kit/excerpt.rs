//! A long text cut to what fits, with the gold answer inside it marked.

use std::ops::Range;

use maud::{Markup, html};
use pericope_api::Span;

use super::letters::bytes_in_html;

/// Where the gold lies in a chunk's text: byte ranges into `text`, in order, without overlap.
///
/// Nothing is marked where the text is not the document's bytes `start..end`, since offsets would mean something else.
pub(crate) fn gold_in(text: &str, start: usize, end: usize, gold: &[Span]) -> Vec<Range<usize>> {
    if end.checked_sub(start) != Some(text.len()) {
        return Vec::new();
    }
    let chunk = Span::new(start, end);
    let mut found: Vec<Range<usize>> = gold
        .iter()
        .filter_map(|span| span.intersection(&chunk))
        .map(|span| text.floor_char_boundary(span.start - start)..text.ceil_char_boundary(span.end - start))
        .collect();
    found.sort_by_key(|range| range.start);
    found.dedup_by(|next, last| {
        let overlap = next.start <= last.end;
        if overlap {
            last.end = last.end.max(next.end);
        }
        overlap
    });
    found
}

/// The part of a text to show: at most `budget` bytes of HTML, around the first mark where there is one.
fn window(text: &str, marks: &[Range<usize>], budget: usize) -> Range<usize> {
    // Some text before the mark shows where the chunk comes from; a quarter of the room is enough for it.
    let lead = marks.first().map_or(0, |mark| mark.start.saturating_sub(budget / 4));
    let whole_fits = cost(text, budget) <= budget;
    let start = if whole_fits { 0 } else { word_start(text, text.ceil_char_boundary(lead)) };
    let rest = text.get(start..).unwrap_or("");
    let mut spent = 0;
    let mut end = text.len();
    for (at, letter) in rest.char_indices() {
        spent += bytes_in_html(letter);
        if spent > budget {
            end = start + word_end(rest, at);
            break;
        }
    }
    start..end
}

/// Bytes that the text takes as HTML; counting stops once `enough` are seen.
fn cost(text: &str, enough: usize) -> usize {
    let mut spent = 0;
    for letter in text.chars() {
        spent += bytes_in_html(letter);
        if spent > enough {
            break;
        }
    }
    spent
}

/// The start of the next word at or after `at`, where one begins nearby.
fn word_start(text: &str, at: usize) -> usize {
    if at == 0 {
        return 0;
    }
    let near = text.floor_char_boundary((at + 40).min(text.len()));
    let tail = text.get(at..near).unwrap_or("");
    tail.find(char::is_whitespace)
        .map_or(at, |space| at + space + tail[space..].len() - tail[space..].trim_start().len())
}

/// The end of the last word before `at`, where one ends nearby.
fn word_end(text: &str, at: usize) -> usize {
    let near = text.floor_char_boundary(at.saturating_sub(40));
    let head = text.get(near..at).unwrap_or("");
    head.rfind(char::is_whitespace).map_or(at, |space| near + head[..space].trim_end().len())
}

/// Returns a text of at most `budget` bytes of HTML, with `<mark>` around the marked ranges and ellipses where it was cut.
pub(crate) fn excerpt(text: &str, marks: &[Range<usize>], budget: usize) -> Markup {
    let shown = window(text, marks, budget);
    let mut pieces = Vec::new();
    let mut at = shown.start;
    for mark in marks {
        let (from, to) = (mark.start.clamp(at, shown.end), mark.end.min(shown.end));
        if from < to {
            pieces.push((text.get(at..from).unwrap_or(""), text.get(from..to).unwrap_or("")));
            at = to;
        }
    }
    html! {
        (ellipsis(shown.start))
        @for (plain, marked) in pieces { (plain) mark { (marked) } }
        (text.get(at..shown.end).unwrap_or(""))
        (ellipsis(text.len() - shown.end))
    }
}

/// Stands for bytes that were left out; nothing where there are none.
fn ellipsis(bytes: usize) -> Markup {
    html! {
        @if bytes > 0 { span class="cut" title={ (pericope_eval::format::count(bytes)) " bytes left out" } { " … " } }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::single_range_in_vec_init)]
    use super::{excerpt, gold_in, window};
    use pericope_api::Span;

    fn html(text: &str, marks: &[std::ops::Range<usize>], budget: usize) -> String {
        excerpt(text, marks, budget).into_string()
    }

    #[test]
    fn gold_is_marked_where_it_meets_the_chunk() {
        // The chunk is bytes 10..20 of its document; the gold reaches in from the left and lies inside at 16..18.
        let marks = gold_in("abcdefghij", 10, 20, &[Span::new(16, 18), Span::new(2, 13), Span::new(30, 40)]);
        assert_eq!(marks, [0..3, 6..8]);
        assert_eq!(html("abcdefghij", &marks, 100), "<mark>abc</mark>def<mark>gh</mark>ij");
    }

    #[test]
    fn spans_that_touch_become_one_mark() {
        assert_eq!(gold_in("abcdefghij", 0, 10, &[Span::new(0, 4), Span::new(3, 5), Span::new(5, 6)]), [0..6]);
    }

    #[test]
    fn a_span_inside_a_character_marks_the_whole_character() {
        assert_eq!(gold_in("éé", 0, 4, &[Span::new(1, 3)]), [0..4]);
    }

    #[test]
    fn text_that_is_not_the_range_is_not_marked() {
        assert!(gold_in("abc", 0, 10, &[Span::new(0, 2)]).is_empty());
        assert!(gold_in("abc", 9, 4, &[Span::new(0, 2)]).is_empty());
    }

    #[test]
    fn a_long_text_is_cut_round_the_gold() {
        let text = format!("{}GOLD here {}", "lorem ".repeat(1_000), "ipsum ".repeat(1_000));
        let at = text.find("GOLD").unwrap_or(0);
        let out = html(&text, std::slice::from_ref(&(at..at + 9)), 400);
        assert!(out.contains("<mark>GOLD here</mark>"), "{out}");
        assert!(out.len() < 600, "{}", out.len());
        assert_eq!(out.matches('…').count(), 2);
        assert!(!out.contains("> lore<") && out.contains("lorem"), "{out}");
    }

    #[test]
    fn the_budget_counts_what_escaping_adds() {
        let text = "<".repeat(1_000);
        let shown = window(&text, &[], 400);
        assert_eq!(shown, 0..100);
        assert_eq!(window("short", &[], 400), 0..5);
    }

    #[test]
    fn marks_are_escaped_too() {
        assert_eq!(html("a<b>c", std::slice::from_ref(&(1..4)), 99), "a<mark>&lt;b&gt;</mark>c");
    }
}
