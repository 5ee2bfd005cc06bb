use std::collections::HashMap;
use std::sync::Arc;

use pericope_api::{Document, Format, Kind, Span};

use super::lines::lines;
use super::reader::Reader;
use crate::builder::Builder;
use crate::error::ReadError;
use crate::inline::Inline;
use crate::options::ReadOptions;

/// Plain text: paragraphs end at blank lines, and where the lines of a list, a table or a conversation begin.
pub(super) struct Plain;

impl Reader for Plain {
    fn name(&self) -> &'static str {
        "plain"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["txt", "text"]
    }

    fn read(
        &self,
        id: &str,
        source: Arc<str>,
        options: &ReadOptions,
        sink: &mut dyn FnMut(Result<Document, ReadError>),
    ) {
        let mut builder = Builder::new(&source, options.splitter.as_ref());
        let from = builder.skip_byte_order_mark();
        for span in paragraphs(&source, from).flat_map(|block| items(&source, block)) {
            let mut inline = Inline::default();
            inline.plain(&source, span);
            builder.text(span, &inline, Kind::Prose);
        }
        let document = builder.finish(id, Format::Plain, source.clone());
        sink(Ok(document));
    }
}

/// Runs of non-blank lines, trimmed.
fn paragraphs(source: &str, from: usize) -> impl Iterator<Item = Span> + '_ {
    let mut at = from;
    std::iter::from_fn(move || {
        at += source[at..].len() - source[at..].trim_start().len();
        let start = at;
        for line in source[start..].split_inclusive('\n') {
            if line.trim().is_empty() {
                break;
            }
            at += line.len();
        }
        (at > start).then(|| Span::new(start, at).trimmed(source))
    })
}

/// What a line begins with that is one of several: items of a list, messages, speeches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Mark {
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
fn items(source: &str, block: Span) -> Vec<Span> {
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
fn ends_a_sentence(line: &str) -> bool {
    let text = line.trim_end_matches(['"', '\'', ')', ']', '\u{201d}', '\u{2019}', '\u{bb}', '\u{300d}']);
    text.ends_with(['.', '!', '?', ':', ';', '\u{3002}', '\u{ff01}', '\u{ff1f}', '\u{ff1a}'])
}

fn mark(line: &str) -> Option<Mark> {
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use crate::{ReadOptions, read_text};

    #[test]
    fn paragraphs_end_at_blank_lines_whatever_ends_the_lines() {
        let source = "\u{feff}First one. Second\r\none.\r\n \t\r\n\r\nThird one.  \r\n";
        let document = read_text("d", "txt", source, &ReadOptions::default()).unwrap();
        assert_eq!(document.check(), Ok(()));
        let texts: Vec<_> = (0..document.len()).map(|i| document.sentence(i)).collect();
        assert_eq!(texts, ["\u{feff}First one.", "Second\r\none.", "Third one."]);
        assert_eq!(document.visible(document.sentences[0].span), "First one.");
        let paragraphs: Vec<_> = document.sentences.iter().map(|s| s.paragraph).collect();
        assert_eq!(paragraphs, [0, 0, 1]);
    }

    fn parts(source: &str) -> Vec<String> {
        let document = read_text("d", "txt", source, &ReadOptions::default()).unwrap();
        assert_eq!(document.check(), Ok(()), "{source:?}");
        (0..document.len()).map(|i| document.sentence(i).to_owned()).collect()
    }

    #[test]
    fn lines_of_lists_tables_and_conversations_are_not_run_together() {
        assert_eq!(
            parts("Take:\n- flour (#8)\n- water,\n  warm\nEnd"),
            ["Take:", "- flour (#8)", "- water,\n  warm\nEnd"]
        );
        assert_eq!(parts("1. one\n2) two"), ["1. one", "2) two"]);
        assert_eq!(parts("either\n(a) one; or\n(b) two"), ["either", "(a) one; or", "(b) two"]);
        assert_eq!(parts("[9:05] ann: yes\n[14:32] bob: no. never"), ["[9:05] ann: yes", "[14:32] bob: no. never"]);
        assert_eq!(parts("Ann Lee: yes\nBOB: no"), ["Ann Lee: yes", "BOB: no"]);
        assert_eq!(parts("a;b;c\nd;e;f."), ["a;b;c", "d;e;f."]);
        assert_eq!(parts("a\tb\tc\nd\te\t\n\tf\tg"), ["a\tb\tc", "d\te", "f\tg"]);
        assert_eq!(
            parts("2024-01-01 10:00:01 b. Bad\n2024-01-02 c"),
            ["2024-01-01 10:00:01 b.", "Bad", "2024-01-02 c"]
        );
        assert_eq!(
            parts("\u{7530}\u{4e2d}\u{ff1a}a\n\u{68ee}\u{ff1a}b"),
            ["\u{7530}\u{4e2d}\u{ff1a}a", "\u{68ee}\u{ff1a}b"]
        );
        assert_eq!(parts("- a\n  wrapped\n- b\n  - c\n- d"), ["- a\n  wrapped", "- b", "- c", "- d"]);
    }

    #[test]
    fn lines_of_running_text_that_happen_to_begin_like_items_are_not_parted() {
        for text in [
            "He came in\n1999. and went",
            "It is so\n- or not",
            "We say:\nNo: never again",
            "\u{e9}: x\n\u{2022}y",
            // Several in one block of wrapped lines.
            "the principle of\nContradiction says: B and the\nother one of\nIdentity says: C",
            "as table\n2. shows and also\nwhat is in table\n3. of the same book",
            "he went; he came\nand so; they met; again\nthere; it was; all over",
        ] {
            assert_eq!(parts(text), [text]);
        }
    }

    #[test]
    fn nothing_gives_nothing() {
        for source in ["", " \n\t\n", "\u{2003}"] {
            let document = read_text("d", "plain", source, &ReadOptions::default()).unwrap();
            assert!(document.is_empty() && document.check() == Ok(()));
        }
        let mark = read_text("d", "plain", "\u{feff}\n", &ReadOptions::default()).unwrap();
        assert_eq!((mark.len(), mark.check()), (1, Ok(())));
    }
}
