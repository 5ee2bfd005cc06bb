use std::collections::HashMap;
use std::sync::Arc;

use pericope_api::{Document, Format, Kind, Span};

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
    /// `-`, `*`, `+`, `•`.
    Bullet,
    /// `1.`, `12)`.
    Number,
    /// `(a)`, `b)`.
    Letter,
    /// `[14:32]`, `14:32`.
    Time,
    /// `Name: words`.
    Name,
}

/// Longest name of a speaker or a field, in bytes.
const LONGEST_NAME: usize = 40;

/// A block of lines, parted where lines begin that have a mark of which the block has several, or are rows of a table.
fn items(source: &str, block: Span) -> Vec<Span> {
    let lines: Vec<&str> = block.of(source).split_inclusive('\n').collect();
    if lines.len() < 2 {
        return vec![block];
    }
    let marks: Vec<Option<Mark>> = lines.iter().map(|line| mark(line.trim_start())).collect();
    let mut counts: HashMap<Mark, usize> = HashMap::new();
    for &mark in marks.iter().flatten() {
        *counts.entry(mark).or_default() += 1;
    }
    let are_rows = is_table(&lines);
    let begins = |mark: Option<Mark>| are_rows || mark.is_some_and(|mark| counts[&mark] > 1);
    let mut spans = Vec::new();
    let (mut start, mut at) = (block.start, block.start);
    for (line, &mark) in lines.iter().zip(&marks) {
        if at > start && begins(mark) {
            spans.push(Span::new(start, at).trimmed(source));
            start = at;
        }
        at += line.len();
    }
    spans.push(Span::new(start, at).trimmed(source));
    spans
}

fn mark(line: &str) -> Option<Mark> {
    let word = line.split_whitespace().next()?;
    let mut chars = word.chars();
    let (first, second) = (chars.next()?, chars.next());
    if second.is_none() && matches!(first, '-' | '*' | '+' | '\u{2022}') {
        return Some(Mark::Bullet);
    }
    let inner = word.trim_start_matches(['(', '[']).trim_end_matches([')', ']', '.']);
    let is_closed = word.ends_with(['.', ')', ']']) && inner.len() < word.len();
    let digits = !inner.is_empty() && inner.bytes().all(|b| b.is_ascii_digit());
    if is_closed && digits && inner.len() <= 3 {
        return Some(Mark::Number);
    }
    if word.ends_with(')') && inner.len() == 1 && inner.bytes().all(|b| b.is_ascii_lowercase()) {
        return Some(Mark::Letter);
    }
    let is_time = |text: &str| {
        let mut parts = text.split(':');
        let number = |part: Option<&str>| {
            part.is_some_and(|part| (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()))
        };
        number(parts.next()) && number(parts.next()) && parts.all(|part| number(Some(part)))
    };
    if is_time(inner) {
        return Some(Mark::Time);
    }
    let (name, words) = line.split_at_checked(line.bytes().take(LONGEST_NAME + 1).position(|b| b == b':')?)?;
    let is_name = first.is_uppercase() && !name.contains(['.', ',', ';', '?', '!']);
    (is_name && words[1..].starts_with([' ', '\t']) && !words[1..].trim().is_empty()).then_some(Mark::Name)
}

/// True for two or more lines with the same number of tabs or semicolons, two at least.
fn is_table(lines: &[&str]) -> bool {
    ['\t', ';'].iter().any(|&separator| {
        let count = |line: &str| line.trim().matches(separator).count();
        let first = count(lines[0]);
        first >= 2 && lines.iter().all(|line| count(line) == first)
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

    #[test]
    fn lines_of_lists_tables_and_conversations_are_not_run_together() {
        let parts = |source: &str| {
            let document = read_text("d", "txt", source, &ReadOptions::default()).unwrap();
            assert_eq!(document.check(), Ok(()), "{source:?}");
            (0..document.len()).map(|i| document.sentence(i).to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(
            parts("Take:\n- flour (#8)\n- water,\n  warm\nEnd"),
            ["Take:", "- flour (#8)", "- water,\n  warm\nEnd"]
        );
        assert_eq!(parts("1. one\n2) two"), ["1. one", "2) two"]);
        assert_eq!(parts("either\n(a) one; or\n(b) two"), ["either", "(a) one; or", "(b) two"]);
        assert_eq!(parts("[9:05] ann: yes\n[14:32] bob: no. never"), ["[9:05] ann: yes", "[14:32] bob: no. never"]);
        assert_eq!(parts("Ann Lee: yes\nBOB: no"), ["Ann Lee: yes", "BOB: no"]);
        assert_eq!(parts("a;b;c\nd;e;f."), ["a;b;c", "d;e;f."]);
        // A line that happens to begin so in running text is none of several.
        for one in ["He came in\n1999. and went", "It is so\n- or not", "We say:\nNo: never again", "é: x\n\u{2022}y"]
        {
            assert_eq!(parts(one), [one]);
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
