//! Headings of plain text, which nothing but their form tells from the text around them.
//!
//! A line is one where signs or a line of signs mark it (`== History ==`), a word and a number begin it (`Chapter 3`), it is
//! numbered as others are (`2.1 Animals`), or stands in capital letters between others that do not. Short lines that nothing marks
//! are text, as captions are. `# Title` is Markdown, and in plain text a comment.

mod line;
mod outline;
mod words;

use pericope_api::Span;

use self::line::{Form, form, is_title, is_untitled, may_be_title};
use super::items::{ends_a_sentence, mark};
use crate::encoding::DecodedHeading;
use crate::formats::lines::{Line, adornment, lines};

/// A heading of plain text.
#[derive(Debug)]
pub(super) struct PlainHeading {
    /// The block that it begins or is.
    pub(super) block: usize,
    /// Its lines.
    pub(super) extent: Span,
    /// What of them its section is called.
    pub(super) text: Span,
    /// From 1.
    pub(super) level: u8,
}

/// A line that may be a heading by its form.
#[derive(Debug)]
struct Candidate {
    block: usize,
    extent: Span,
    text: Span,
    form: Form,
    /// No line of text follows in its block.
    is_alone: bool,
}

/// The headings among `blocks`, which are runs of lines without blank ones, those `given` among them; and whether the first one is the
/// title of the document.
pub(super) fn headings(source: &str, blocks: &[Span], given: &[DecodedHeading]) -> (Vec<PlainHeading>, bool) {
    let mut given = given.iter().peekable();
    let mut found = Vec::new();
    for (block, &extent) in blocks.iter().enumerate() {
        while given.next_if(|heading| heading.span.start < extent.start).is_some() {}
        let form = given.next_if(|heading| heading.span == extent).map(|heading| Form::Given(heading.level));
        let whole = form.map(|form| Candidate { block, extent, text: extent, form, is_alone: true });
        found.extend(whole.or_else(|| candidate(source, blocks, block)));
    }
    outline::outline(source, blocks, found)
}

/// True for a line that is a heading wherever it stands: `== History ==`.
pub(super) fn is_marked(line: &str) -> bool {
    line.starts_with('=') && matches!(form(line), Some((Form::Marked(_), _)))
}

fn candidate(source: &str, blocks: &[Span], block: usize) -> Option<Candidate> {
    let span = blocks[block];
    let next = blocks.get(block + 1).map(|next| next.of(source));
    let before = &blocks[..block];
    let text = span.of(source);
    // Most blocks are running text: one long line, or several.
    let first = text.lines().next()?.trim_end();
    if let Some((extent, title, sign)) = underlined(source, span) {
        let is_alone = extent.end == span.end;
        let heading = Candidate { block, extent, text: title, form: Form::Underlined(sign), is_alone };
        return (!is_alone || next.is_some()).then_some(heading);
    }
    let (form, shown) = form(first)?;
    let rest = text[first.len()..].trim_start();
    if next.is_some() && is_untitled(first) && !rest.contains('\n') && may_be_title(rest) {
        return Some(Candidate { block, extent: span, text: span, form, is_alone: true });
    }
    let is_alone = rest.is_empty();
    let after = if is_alone { next? } else { rest };
    let is_heading = match form {
        Form::Marked(_) => true,
        // Not in a text that has nothing but capitals.
        Form::Capitals if !after.contains(char::is_lowercase) => {
            begins_with_another(after) || (is_alone && is_over_heading(blocks, block, source))
        }
        Form::Capitals if is_listed(before, source) => false,
        _ => is_alone || is_above(&form, &lines(&source[..span.end], span.start - indent(source, span)), source),
    };
    let at = |byte: usize| span.start + byte;
    let (extent, text) = (Span::new(span.start, at(first.len())), Span::new(at(shown.0), at(shown.1)));
    is_heading.then_some(Candidate { block, extent, text, form, is_alone })
}

/// True where a line in capitals is one of several, or what the text before speaks of.
fn is_listed(before: &[Span], source: &str) -> bool {
    let is_capitals = |block: &Span| matches!(form(block.of(source)), Some((Form::Capitals, _)));
    let is_announced = before.last().is_some_and(|last| last.of(source).ends_with([':', '\u{ff1a}']));
    is_announced || matches!(before, [.., a, b] if is_capitals(a) && is_capitals(b))
}

/// True where the text after a line in capitals begins with a heading of another form.
fn begins_with_another(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default().trim_end();
    form(first).is_some_and(|(form, _)| form != Form::Capitals)
}

/// True for a title: the first line of all, over another one in capitals that has text.
fn is_over_heading(blocks: &[Span], block: usize, source: &str) -> bool {
    let [_, next, text, ..] = blocks else { return false };
    let is_capitals = matches!(form(next.of(source)), Some((Form::Capitals, _)));
    block == 0 && is_capitals && text.of(source).contains(char::is_lowercase)
}

/// The bytes of blanks before the first line of a block.
fn indent(source: &str, block: Span) -> usize {
    let before = &source[..block.start];
    before.len() - before.trim_end_matches([' ', '\t']).len()
}

/// True where the first of several lines ends before it is full, and the others are text.
fn is_above(form: &Form, lines: &[Line], source: &str) -> bool {
    let [first, second, ..] = lines else { return false };
    let (title, text) = (first.of(source), second.of(source));
    let width = |line: &Line| line.indent + line.of(source).chars().count();
    let widest = lines[1..].iter().map(width).max().unwrap_or(0);
    // Chinese and Japanese lines are broken anywhere.
    let is_unspaced = text.starts_with(|c| c >= '\u{2e80}');
    let word = if is_unspaced { 1 } else { text.split_whitespace().next().map_or(0, |word| word.chars().count()) };
    let is_counted = matches!(form, Form::Number(_) | Form::Roman(_) | Form::Letter(_) | Form::Han(_));
    // The items of lists are indented below their first line, and lines are not all broken as late as they could be.
    let is_broken = if is_counted {
        3 * width(first) <= 2 * widest
    } else {
        second.indent > first.indent || width(first) + 1 + word <= widest
    };
    let is_item = |line: &Line| {
        let (this, line) = (mark(title), line.of(source));
        (this.is_some() && mark(line) == this) || self::form(line).is_some_and(|(other, _)| other.is_like(form))
    };
    let is_list = lines[1..].iter().any(is_item);
    // As in the manuals of commands: `NAME` over `ls - list files`.
    let is_inside = *form == Form::Capitals && lines[1..].iter().all(|line| line.indent > first.indent);
    let is_text = is_inside || lines.last().is_some_and(|last| ends_a_sentence(last.of(source)));
    is_broken && is_text && !is_list
}

/// The title at the beginning of a block over a line of signs, or between two: its lines, its text, and the sign.
fn underlined(source: &str, block: Span) -> Option<(Span, Span, u8)> {
    const SIGNS: &[u8] = b"=-~*^_+#\"";
    let text = block.of(source);
    let mut ends = text.split_inclusive('\n').scan(block.start, |at, line| {
        let span = Span::new(*at, *at + line.len()).trimmed(source);
        *at += line.len();
        Some(span)
    });
    let rule =
        |line: Span| adornment(line.of(source)).filter(|sign| SIGNS.contains(sign) && line.end - line.start >= 3);
    let first = ends.next()?;
    let second = ends.next()?;
    let over = rule(first);
    let (title, under) = if over.is_some() { (second, ends.next()?) } else { (first, second) };
    let sign = rule(under).filter(|sign| over.is_none_or(|over| over == *sign))?;
    let (long, wide) = (title.of(source).chars().count(), under.end - under.start);
    // `Best regards,`
    let ends = !title.of(source).ends_with([',', ';']);
    let fits = rule(title).is_none() && is_title(title.of(source)) && ends && long <= 100 && 2 * wide >= long;
    fits.then(|| (Span::new(first.start, under.end), title, sign))
}
