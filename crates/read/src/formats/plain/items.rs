//! The items of a block of lines: lists, rows of tables, conversations.

use std::collections::HashMap;

use pericope_api::Span;

use crate::formats::lines::lines;

/// What a line begins with that is one of several: items of a list, messages, speeches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Mark {
    /// `-`, `*`, `+`, `•`, a dash.
    Bullet,
    /// `1.`, `12)`, `[3]`.
    Number,
    /// `(a)`, `b)`.
    Letter,
    /// `[14:32]`, `14:32:05`, `2024-01-31`.
    Time,
    /// `Name: words`.
    Name,
}

/// Longest name of a speaker or a field, in bytes and in words.
const LONGEST_NAME: (usize, usize) = (40, 4);

/// A block of lines, parted where its rows or its marked lines begin, two at least of a kind.
///
/// Lines of running text begin with a number or a dash by accident. One counts where the line before ends a sentence, or that or the
/// next one has the same mark, or all lines since the last one with that mark are indented under it.
pub(super) fn items(source: &str, block: Span) -> Vec<Span> {
    let lines = lines(&source[..block.end], block.start);
    if lines.len() < 2 {
        return vec![block];
    }
    let marks: Vec<Option<Mark>> = lines.iter().map(|line| mark(line.of(source))).collect();
    // The last line with each mark, as long as what follows is indented under it.
    let mut open: HashMap<Mark, usize> = HashMap::new();
    let mut begins = vec![None; lines.len()];
    let mut counts: HashMap<Mark, usize> = HashMap::new();
    for (i, line) in lines.iter().enumerate() {
        if let Some(mark) = marks[i] {
            let beside = |j: Option<usize>| j.and_then(|j| marks.get(j)) == Some(&Some(mark));
            let is_item = i == 0
                || ends_a_sentence(lines[i - 1].of(source))
                || beside(i.checked_sub(1))
                || beside(i.checked_add(1))
                || open.get(&mark) == Some(&line.indent);
            if is_item {
                begins[i] = Some(mark);
                *counts.entry(mark).or_default() += 1;
            }
        }
        open.retain(|_, indent| *indent < line.indent);
        if let Some(mark) = begins[i] {
            open.insert(mark, line.indent);
        }
    }
    let are_rows = is_table(block.of(source));
    let mut spans = Vec::new();
    let mut start = block.start;
    for (line, begun) in lines.iter().zip(begins).skip(1) {
        if are_rows || begun.is_some_and(|mark| counts[&mark] > 1) {
            spans.push(Span::new(start, line.start).trimmed(source));
            start = line.start;
        }
    }
    spans.push(Span::new(start, block.end));
    spans
}

/// True for a line, without the blanks at its end, that a sentence or a clause ends with.
pub(super) fn ends_a_sentence(line: &str) -> bool {
    let text = line.trim_end_matches(['"', '\'', ')', ']', '\u{201d}', '\u{2019}', '\u{bb}', '\u{300d}']);
    text.ends_with(['.', '!', '?', ':', ';', '\u{3002}', '\u{ff01}', '\u{ff1f}', '\u{ff1a}'])
}

pub(super) fn mark(line: &str) -> Option<Mark> {
    const BULLETS: [char; 8] = ['-', '*', '+', '\u{2022}', '\u{b7}', '\u{30fb}', '\u{2013}', '\u{2014}'];
    let word = line.split_whitespace().next()?;
    let mut chars = word.chars();
    let (first, second) = (chars.next()?, chars.next());
    if second.is_none() && BULLETS.contains(&first) {
        return Some(Mark::Bullet);
    }
    let inner = word.trim_start_matches(['(', '[']).trim_end_matches([')', ']', '.']);
    let is_closed = word.ends_with(['.', ')', ']']) && inner.len() < word.len();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if is_closed && inner.len() <= 3 && is_number(inner) {
        return Some(Mark::Number);
    }
    if word.ends_with(')') && inner.len() == 1 && inner.bytes().all(|b| b.is_ascii_lowercase()) {
        return Some(Mark::Letter);
    }
    let all = |text: &str, separator, parts, longest| {
        text.split(separator).count() >= parts && text.split(separator).all(|p| p.len() <= longest && is_number(p))
    };
    let clock = inner.split([',', '.']).next().unwrap_or(inner);
    let date = inner.get(..10).filter(|_| inner.as_bytes().get(10).is_none_or(|b| !b.is_ascii_digit()));
    if all(clock, ':', 2, 2) || date.is_some_and(|date| all(date, '-', 3, 4)) {
        return Some(Mark::Time);
    }
    let (at, colon) =
        line.char_indices().take_while(|&(at, _)| at <= LONGEST_NAME.0).find(|(_, c)| ":\u{ff1a}".contains(*c))?;
    let (name, words) = (&line[..at], &line[at + colon.len_utf8()..]);
    let is_name = first.is_alphabetic()
        && !first.is_lowercase()
        && !name.contains(['.', ',', ';', '?', '!', '('])
        && name.split_whitespace().count() <= LONGEST_NAME.1;
    let spaced = colon != ':' || words.starts_with([' ', '\t']);
    (is_name && spaced && !words.trim().is_empty()).then_some(Mark::Name)
}

/// True where all lines have the same number of tabs, or of semicolons that no blank follows: two at least.
fn is_table(block: &str) -> bool {
    ['\t', ';'].iter().any(|&separator| {
        let mut counts = block.lines().map(|line| line.matches(separator).count());
        let first = counts.next().unwrap_or(0);
        first >= 2 && counts.all(|count| count == first) && !block.contains("; ")
    })
}
