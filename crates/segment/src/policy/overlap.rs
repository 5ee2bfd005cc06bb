//! Adds to chunks what they repeat of the chunk before or after.

use pericope_api::{Document, Span};

use super::Overlap;
use crate::breaks::{self, Level};
use crate::chars::{floor, is_clean, skip_blank};
use crate::token_meter::TokenMeter;

pub(super) fn extend(
    overlap: Overlap,
    max: Option<usize>,
    document: &Document,
    own: &[Span],
    meter: &TokenMeter<'_>,
) -> Vec<Span> {
    if overlap.is_none() {
        return own.to_vec();
    }
    let budget = max.map_or(usize::MAX, |max| max.saturating_sub(meter.special()));
    if let Overlap::Next { limit } = overlap {
        let budget = budget.min(limit.saturating_sub(meter.special()));
        let next = own.iter().skip(1).map(Some).chain([None]);
        return own.iter().zip(next).map(|(&span, next)| with_next(document, span, next, budget, meter)).collect();
    }
    let mut spans = Vec::with_capacity(own.len());
    for (k, &span) in own.iter().enumerate() {
        let start = match (k.checked_sub(1).map(|before| own[before]), overlap) {
            (None, _) => span.start,
            (Some(before), Overlap::Sentences(most)) => sentences(document, before, span, most, budget, meter),
            (Some(_), Overlap::Tokens { tokens, limit }) => {
                let low = spans.last().map_or(0, |before: &Span| before.start);
                self::tokens(span, low, tokens, limit.min(budget), meter)
            }
            (Some(_), Overlap::Next { .. }) => span.start,
        };
        spans.push(Span::new(start, span.end));
    }
    spans
}

/// The span with the first sentence of the chunk after it, where it fits. A sentence that the chunk after holds only the
/// first piece of is added as that piece.
fn with_next(document: &Document, span: Span, next: Option<&Span>, budget: usize, meter: &TokenMeter<'_>) -> Span {
    let Some(next) = next else { return span };
    let first = document.sentences.get(document.sentence_at(next.start)).map_or(next.end, |s| s.span.end);
    let with = Span::new(span.start, first.min(next.end).max(span.end));
    if meter.fits(with, budget) { with } else { span }
}

/// The earliest of the last `most` sentence starts in the chunk before from which the chunk still fits.
fn sentences(
    document: &Document,
    before: Span,
    span: Span,
    most: usize,
    budget: usize,
    meter: &TokenMeter<'_>,
) -> usize {
    let until = document.sentences.partition_point(|s| s.span.start < span.start);
    let starts = document.sentences[..until].iter().rev().map(|s| s.span.start);
    let mut start = span.start;
    for candidate in starts.take(most).take_while(|&start| start >= before.start) {
        if !meter.fits(Span::new(candidate, span.end), budget) {
            break;
        }
        start = candidate;
    }
    start
}

/// The beginning of a word about `tokens` tokens before the chunk, so that all of it is within `limit`; not before `low`.
fn tokens(span: Span, low: usize, tokens: usize, limit: usize, meter: &TokenMeter<'_>) -> usize {
    let own = meter.estimate(span);
    let mut room = tokens.min(limit.saturating_sub(own));
    while room > 0 {
        let mut start = skip_blank(meter.source, floor(meter.source, meter.back(span.start, room))).min(span.start);
        if !is_clean(meter.source, start)
            && let Some(space) = breaks::first(meter.source, start, span.start, Level::Space)
        {
            start = skip_blank(meter.source, space).min(span.start);
        }
        start = start.max(low);
        let real = meter.exact(Span::new(start, span.end));
        if real <= limit {
            return start;
        }
        room = room.saturating_sub((real - limit).max(1));
    }
    span.start
}
