//! Splits units that exceed the maximum.

use pericope_api::{Document, Kind, SegmentError, Span};

use super::units::Units;
use super::weights;
use crate::breaks::{self, Level};
use crate::chars::{floor, next, skip_blank, trim_end};
use crate::packing::{parts_heading, parts_lead_in};
use crate::token_meter::TokenMeter;

/// Splits every unit of more than `budget` tokens (special tokens not counted) into the fewest pieces of about the same
/// size: code at lines, tables at rows, everything else at lines where they end near the middle of what is over, else at white space;
/// then words, grapheme clusters, characters. The first piece leaves room for the heading or the lead-in above it.
pub(super) fn split(
    document: &Document,
    units: Units,
    meter: &TokenMeter<'_>,
    budget: usize,
) -> Result<Units, SegmentError> {
    if units.spans.iter().all(|&span| meter.fits(span, budget)) {
        return Ok(units);
    }
    let mut out = Units { spans: Vec::new(), sentences: Vec::new(), gaps: Vec::new() };
    for (i, &span) in units.spans.iter().enumerate() {
        if let Some(before) = i.checked_sub(1) {
            out.gaps.push(units.gaps[before]);
        }
        let sentence = units.sentences[i];
        if meter.fits(span, budget) {
            out.spans.push(span);
            out.sentences.push(sentence);
            continue;
        }
        let kind = document.sentences.get(sentence).map_or(Kind::Prose, |s| s.kind);
        let splitter =
            Splitter { meter, levels: levels(kind, span.of(&document.source)), is_lined: is_lined(kind), budget };
        let mut start = span.start;
        let mut reserved = led_by(document, &units, i, meter, budget);
        while start < span.end {
            if start > span.start {
                out.gaps.push(weights::inside_unit());
            }
            let end = splitter.piece_end(start, span.end, std::mem::take(&mut reserved))?;
            out.spans.push(Span::new(start, end));
            out.sentences.push(sentence);
            start = skip_blank(meter.source, end).min(span.end);
        }
    }
    Ok(out)
}

/// Tokens of the headings and the lead-in that unit `i` is to stay with; 0 where they take more than half of the budget.
fn led_by(document: &Document, units: &Units, i: usize, meter: &TokenMeter<'_>, budget: usize) -> usize {
    let mut first = i;
    // The lead-in is looked for through the markup behind it, and headings stand above both.
    let mut only_markup = true;
    while let Some(before) = first.checked_sub(1).filter(|&before| units.gaps[before] <= 0) {
        let sentence = units.sentences[before];
        let leads = parts_heading(document, sentence) || (only_markup && parts_lead_in(document, sentence));
        if !leads || sentence == units.sentences[first] {
            break;
        }
        only_markup &= document.sentences.get(sentence).is_some_and(|s| s.kind == Kind::Markup);
        first = before;
    }
    let tokens = meter.estimate(Span::new(units.spans[first].start, units.spans[i].start));
    if tokens <= budget / 2 { tokens } else { 0 }
}

fn levels(kind: Kind, text: &str) -> &'static [Level] {
    const LINES: &[Level] = &[Level::Line, Level::Space, Level::Word, Level::Grapheme];
    const ROWS: &[Level] = &[Level::Row, Level::Line, Level::Space, Level::Word, Level::Grapheme];
    if kind == Kind::Table && text.starts_with('<') { ROWS } else { LINES }
}

/// True where every line end is a good place to cut, however uneven the pieces get; in prose it is one within half of a piece's share
/// around its end.
fn is_lined(kind: Kind) -> bool {
    matches!(kind, Kind::Code | Kind::Table | Kind::Markup)
}

struct Splitter<'a> {
    meter: &'a TokenMeter<'a>,
    levels: &'static [Level],
    is_lined: bool,
    budget: usize,
}

impl Splitter<'_> {
    /// The end of the piece that starts at `start`, at most `stop`; its own tokens are at most the budget less those that are
    /// `reserved`, unless a single character has more.
    fn piece_end(&self, start: usize, stop: usize, reserved: usize) -> Result<usize, SegmentError> {
        let source = self.meter.source;
        let budget = self.budget - reserved;
        let rest = self.meter.estimate(Span::new(start, stop));
        if rest <= budget && self.meter.exact(Span::new(start, stop)) <= budget {
            return Ok(stop);
        }
        // Equal shares. A share may be exceeded to reach the next line end or space, the budget may not.
        let pieces = (rest + reserved).div_ceil(self.budget).max(2);
        let mut share = (rest + reserved).div_ceil(pieces).saturating_sub(reserved);
        let mut room = budget;
        while room > 0 {
            let reach = self.meter.ahead(start, room).min(stop);
            let middle = self.meter.ahead(start, share.min(room)).min(reach);
            let end = trim_end(source, start, self.break_near(start, middle, reach).min(stop));
            let piece = Span::new(start, end);
            let real = self.meter.exact(piece);
            if end > start && real <= budget {
                return Ok(end);
            }
            let here = self.meter.estimate(piece).min(room);
            room = (here * budget / real.max(1)).min(here.saturating_sub(1));
            share = room;
        }
        let cluster = breaks::cluster_end(source, start).min(stop);
        for end in [cluster, next(source, start)] {
            if self.meter.exact(Span::new(start, end)) <= self.budget {
                return Ok(end);
            }
        }
        Err(SegmentError::Unsupported(format!(
            "the character {:?} alone has more than the {} tokens that max_tokens leaves room for",
            Span::new(start, next(source, start)).of(source),
            self.budget
        )))
    }

    /// The first break between `middle` and `reach`, or the last before `middle`, of the first level that has one.
    fn break_near(&self, start: usize, middle: usize, reach: usize) -> usize {
        let source = self.meter.source;
        for &level in self.levels {
            let (mut least, mut most) = (start, reach);
            if level == Level::Line && !self.is_lined {
                let half = (middle - start) / 2;
                (least, most) = (start + half, reach.min(middle + half));
            }
            let after = breaks::first(source, middle, most, level).filter(|&at| at > start);
            let before = || breaks::last_of(source, start, middle, level).filter(|&at| at >= least);
            if let Some(at) = after.or_else(before) {
                return at;
            }
        }
        floor(source, middle).max(next(source, start))
    }
}
