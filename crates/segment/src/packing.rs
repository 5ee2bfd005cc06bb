//! Packs a document into pieces up to a limit, keeping code blocks and tables whole where they fit: what `fixed` and
//! `recursive` share.

use pericope_api::{Document, Format, Kind, Sentence, Span};

use crate::breaks::{self, Level};
use crate::chars::{next, skip_blank, trim_end};

/// A size limit, in whatever it is measured.
pub(crate) trait Measure {
    /// The furthest byte at which a piece that starts at byte `from` may end: a character boundary above `from`.
    fn reach(&self, from: usize) -> usize;

    /// True where the span, a whole block, fits the limit.
    fn fits(&self, span: Span) -> bool;

    /// The piece `start..end` (no blank ends) as it is, or a smaller byte offset to try instead of the reach where
    /// measuring the piece itself shows that it exceeds the limit.
    fn verify(&self, _start: usize, _end: usize) -> Result<(), usize> {
        Ok(())
    }
}

/// How to pack.
pub(crate) struct Packing<'a> {
    /// Places to cut, in order of preference; empty: exactly at the limit.
    pub levels: &'a [Level],
    /// Whether a heading stays with what follows it.
    pub keep_headings: bool,
}

/// True where a cut after sentence `i` would part a heading from its body: sentence `i` is a heading, and what follows
/// is no heading of the same or a higher rank.
#[must_use]
pub fn parts_heading(document: &Document, i: usize) -> bool {
    let kind = |i: usize| document.sentences.get(i).map(|s| s.kind);
    match (kind(i), kind(i + 1)) {
        (Some(Kind::Heading(above)), Some(Kind::Heading(below))) => below > above,
        (Some(Kind::Heading(_)), Some(_)) => true,
        _ => false,
    }
}

/// Markup between a lead-in and what it leads to: a tag, a template's statement.
const MOST_MARKUP: usize = 4;

/// Longest title, question or label that leads to the paragraph below it, in characters.
const LONGEST_LEAD_IN: usize = 80;

/// True where a cut after sentence `i` would part a lead-in from what it leads to, sentence `i + 1` being no heading: the last sentence
/// that a reader of the page sees ends with a colon, or is a short paragraph by itself that asks, or ends with no punctuation
/// at all, as titles, names and captions do. In plain text blank lines stand around such a paragraph: without them it is an item.
pub(crate) fn parts_lead_in(document: &Document, i: usize) -> bool {
    let Some((before, [next, ..])) = document.sentences.split_at_checked(i + 1) else { return false };
    if matches!(next.kind, Kind::Heading(_)) {
        return false;
    }
    let seen = before.iter().enumerate().rev().take(MOST_MARKUP + 1).find(|(_, s)| s.kind != Kind::Markup);
    let Some((at, last)) = seen.filter(|(_, s)| matches!(s.kind, Kind::Prose | Kind::ListItem)) else { return false };
    let raw = document.text(last.span);
    let apart = |a: &Sentence, b: &Sentence| {
        let between = Span::new(a.span.end, b.span.start).of(&document.source);
        a.paragraph != b.paragraph && (document.format != Format::Plain || between.matches('\n').nth(1).is_some())
    };
    let alone = last.kind == Kind::Prose
        && apart(last, next)
        && at.checked_sub(1).is_none_or(|above| apart(&before[above], last))
        && raw.chars().nth(2 * LONGEST_LEAD_IN).is_none();
    // Most sentences are neither short nor have a colon, and what they show need not be put together.
    if !alone && !raw.contains(COLONS) {
        return false;
    }
    let visible = document.visible(last.span);
    let text = visible.trim_end().trim_end_matches(['*', '_', '-', '=', '~']).trim_end();
    let is_title = || text.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '?' | '\u{ff1f}' | ')'));
    ends_with_colon(text) || (alone && text.chars().nth(LONGEST_LEAD_IN).is_none() && is_title())
}

const COLONS: [char; 2] = [':', '\u{ff1a}'];

/// True for what ends with a colon, but not for one that ends with a symbol's short name, `:tada:`.
fn ends_with_colon(text: &str) -> bool {
    let Some(rest) = text.strip_suffix(COLONS) else { return false };
    let word = rest.rsplit(char::is_whitespace).next().unwrap_or(rest);
    !word.starts_with(':') || word.ends_with(':')
}

/// True where a document has nothing that a kernel on bare text would not see.
pub(crate) fn is_plain(document: &Document) -> bool {
    !document.sentences.iter().any(|s| s.kind.is_atomic() || matches!(s.kind, Kind::Heading(_)))
}

/// Cuts a document into pieces within the measure's limit, in order, covering every non-blank byte.
pub(crate) fn pack(document: &Document, measure: &dyn Measure, packing: &Packing<'_>) -> Vec<Span> {
    let source: &str = &document.source;
    let blocks = (document.sentences.iter())
        .filter(|s| s.kind.is_atomic())
        .map(|s| Block { span: s.span, whole: measure.fits(s.span) })
        .collect();
    let mut packer = Packer { document, packing, blocks, passed: 0 };
    let mut spans = Vec::new();
    let mut start = skip_blank(source, 0);
    while start < source.len() {
        packer.pass(start);
        let mut reach = packer.extended(start, measure.reach(start).max(next(source, start)));
        let end = loop {
            let end = trim_end(source, start, packer.cut(start, reach));
            match measure.verify(start, end) {
                Err(shorter) if shorter > start && shorter < reach => reach = shorter,
                _ => break end,
            }
        };
        spans.push(Span::new(start, end));
        start = skip_blank(source, end);
    }
    spans
}

/// A code block or table.
#[derive(Clone, Copy)]
struct Block {
    span: Span,
    /// True where it fits the limit, so that it is never cut inside.
    whole: bool,
}

struct Packer<'a> {
    document: &'a Document,
    packing: &'a Packing<'a>,
    blocks: Vec<Block>,
    /// Blocks that end at or before the current piece's start.
    passed: usize,
}

impl Packer<'_> {
    fn pass(&mut self, start: usize) {
        while self.blocks.get(self.passed).is_some_and(|b| b.span.end <= start) {
            self.passed += 1;
        }
    }

    /// `reach`, or the end of the whole block that starts the piece where that lies further (an overlap shortens the
    /// reach of pieces, but a block that fits the limit fits without overlap).
    fn extended(&self, start: usize, reach: usize) -> usize {
        match self.blocks.get(self.passed) {
            Some(block) if block.whole && block.span.start == start => reach.max(block.span.end),
            _ => reach,
        }
    }

    /// Where to cut the piece that starts at `start` and may reach to `reach`; above `start`.
    fn cut(&self, start: usize, reach: usize) -> usize {
        let source: &str = &self.document.source;
        if skip_blank(source, reach) >= source.len() {
            return source.len();
        }
        let cut = self.cut_above(start, start, reach);
        if !self.packing.keep_headings {
            return cut;
        }
        let sentences = &self.document.sentences;
        let body = self.document.sentence_at(skip_blank(source, cut));
        let Some(next) = sentences.get(body).filter(|s| cut <= s.span.start) else { return cut };
        let Some(mut heading) = body.checked_sub(1).filter(|&h| parts_heading(self.document, h)) else { return cut };
        while heading > 0 && parts_heading(self.document, heading - 1) {
            heading -= 1;
        }
        if sentences[heading].span.start > start {
            return sentences[heading].span.start;
        }
        let whole = self.blocks.iter().skip(self.passed).any(|b| b.whole && b.span == next.span && b.span.end > reach);
        if whole || reach <= next.span.start {
            return cut; // nothing of the body fits beside the heading
        }
        self.cut_above(start, next.span.start, reach)
    }

    /// The same, with every place to cut above `floor`, where something that is not blank begins.
    fn cut_above(&self, start: usize, floor: usize, reach: usize) -> usize {
        let source: &str = &self.document.source;
        let levels = self.packing.levels;
        let ahead = &self.blocks[self.passed.min(self.blocks.len())..];
        let ahead = &ahead[..ahead.partition_point(|b| b.span.start < reach)];
        if let Some(last) = ahead.last().filter(|b| b.span.end > reach) {
            let block = last.span.start;
            if last.whole && block > start {
                return block;
            }
            if !last.whole && levels.first() != Some(&Level::Paragraph) {
                // Larger than the limit: its lines, the first of them beside what stands before it.
                let otherwise = if block > start { block } else { reach };
                return breaks::last_of(source, floor.max(block), reach, Level::Line).unwrap_or(otherwise);
            }
        }
        let Some(coarsest) = levels.first() else { return reach };
        // Behind the last whole block: a break of the coarsest level, else that block's own end.
        let whole = ahead.iter().rev().find(|b| b.whole && b.span.end <= reach && b.span.end > floor);
        let Some(behind) = whole.map(|b| b.span.end) else { return breaks::best(source, floor, reach, levels) };
        let text = skip_blank(source, behind);
        let further = if text < reach { breaks::last_of(source, text, reach, *coarsest) } else { None };
        further.unwrap_or(behind)
    }
}
