//! Late chunking (Günther et al. 2024): a document's tokens are read together, and their vectors pooled by chunk.

use std::borrow::Cow;
use std::ops::Range;

use pericope_api::{Embeddings, EncodeError, Span};
use rayon::prelude::*;

use super::lower::places_in;
use super::model::SentenceModel;
use super::pooling::{Pooling, normalise};
use crate::batches::Batches;
use crate::models::one_line;

/// Windows share at least one token in so many.
const SHARED: usize = 4;

/// One sequence for the model.
struct Window {
    ids: Vec<u32>,
    /// Numbers of spans, and the tokens of this sequence that belong to each.
    parts: Vec<(usize, Range<usize>)>,
}

/// The place of a window in a document: its first token, and the tokens whose vectors are taken from it.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    start: usize,
    taken: Range<usize>,
}

impl SentenceModel {
    /// One vector a span. The prompt of passages and the special tokens stand around every window. They belong to no span but
    /// one that holds all of a document in one window: that span has the vector of its text.
    pub(super) fn encode_late(&self, documents: &[(&str, &[Span])]) -> Result<Embeddings, EncodeError> {
        if self.pooling != Pooling::Mean {
            return Err(EncodeError::Model(format!(
                "{} cannot embed chunks late: a vector of it is no mean of its tokens' (its pooling is {})",
                self.name,
                self.pooling.name()
            )));
        }
        let mut spans_before = 0;
        let numbered: Vec<(usize, &str, &[Span])> = (documents.iter())
            .map(|&(text, spans)| {
                spans_before += spans.len();
                (spans_before - spans.len(), text, spans)
            })
            .collect();
        let windows: Vec<Window> =
            numbered.into_par_iter().flat_map_iter(|(first, text, spans)| self.windows(first, text, spans)).collect();
        let lengths: Vec<usize> = windows.iter().map(|window| window.ids.len()).collect();
        let batches = Batches::new(&lengths, self.model.batch_tokens());
        let sums = batches.run(self.model.parallel(), |members| {
            let members: Vec<&Window> = members.iter().filter_map(|&i| windows.get(i)).collect();
            self.sums(&members)
        });
        let sums = sums.map_err(|e| EncodeError::Run(one_line(&e.to_string()).into()))?;
        let mut totals = vec![0.0_f32; spans_before * self.hidden];
        for (span, sum) in sums.into_iter().flatten() {
            self.check_direction(&sum)?;
            let Some(total) = totals.get_mut(span * self.hidden..(span + 1) * self.hidden) else { continue };
            total.iter_mut().zip(sum).for_each(|(total, x)| *total += x);
        }
        let kept = totals.chunks_exact(self.hidden).flat_map(|row| row.get(..self.dimension).unwrap_or_default());
        let mut rows: Vec<f32> = kept.copied().collect();
        rows.chunks_exact_mut(self.dimension).for_each(normalise);
        Ok(Embeddings::new(self.dimension, rows))
    }

    /// The windows of one document that hold tokens of its spans, whose numbers begin with `first`.
    fn windows(&self, first: usize, text: &str, spans: &[Span]) -> Vec<Window> {
        let prompt = self.prompts.passage.as_str();
        // Together, since a tokenizer may write the blank between them into the first word of the text.
        let whole = if prompt.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(format!("{prompt}{text}")) };
        let located = match self.is_lower {
            true => {
                let mut located = self.tokens.located(&whole.to_lowercase());
                places_in(&whole, &mut located);
                located
            }
            false => self.tokens.located(&whole),
        };
        let of_prompt = match prompt {
            "" => 0,
            _ => located.partition_point(|(_, bytes)| bytes.end <= prompt.len()),
        };
        let (before, own) = located.split_at(of_prompt);
        let room = self.window.saturating_sub(self.tokens.around()).max(1);
        // A window reads some of the document, however long the prompt is.
        let before = before.get(..room / 2).unwrap_or(before);
        let room = room - before.len();
        let places = places(own.len(), room);
        let mut windows: Vec<Window> = (places.iter())
            .map(|place| {
                let read = own.iter().skip(place.start).take(room);
                let ids = self.tokens.framed(before.iter().chain(read).map(|(id, _)| *id));
                Window { ids, parts: Vec::new() }
            })
            .collect();
        // From a token of the document to its place in a window.
        let ahead = self.tokens.before() + before.len();
        for (number, span) in (first..).zip(spans) {
            let tokens = tokens_of(own, *span, text.len(), prompt.len());
            if let [window] = windows.as_mut_slice()
                && tokens == (0..own.len())
            {
                window.parts.push((number, 0..window.ids.len()));
                continue;
            }
            let from = places.partition_point(|place| place.taken.end <= tokens.start);
            for (place, window) in places.iter().zip(&mut windows).skip(from) {
                let (start, end) = (tokens.start.max(place.taken.start), tokens.end.min(place.taken.end));
                if start >= end {
                    break;
                }
                window.parts.push((number, ahead + start - place.start..ahead + end - place.start));
            }
        }
        windows.retain(|window| !window.parts.is_empty() && !window.ids.is_empty());
        windows
    }

    /// For every part of the windows the number of its span, and the sum of the vectors of its tokens.
    fn sums(&self, windows: &[&Window]) -> candle_core::Result<Vec<(usize, Vec<f32>)>> {
        let sequences: Vec<&[u32]> = windows.iter().map(|window| window.ids.as_slice()).collect();
        let rows = self.model.hidden(&sequences)?;
        let mut rest = rows.as_slice();
        let mut sums = Vec::new();
        for window in windows {
            let (own, others) = rest.split_at((window.ids.len() * self.hidden).min(rest.len()));
            rest = others;
            for (span, tokens) in &window.parts {
                let rows = own.get(tokens.start * self.hidden..tokens.end * self.hidden).unwrap_or_default();
                let mut sum = vec![0.0; self.hidden];
                Pooling::Mean.pool(rows, &mut sum);
                sums.push((*span, sum));
            }
        }
        Ok(sums)
    }
}

/// The windows of a document: the fewest of `room` tokens each of which neighbours share a quarter, at even distances. A token is
/// taken from the window that has more of the document on both sides of it: what two share is halved.
fn places(tokens: usize, room: usize) -> Vec<Place> {
    let count = match tokens <= room {
        true => 1,
        false => (tokens - room / SHARED).div_ceil(room - room / SHARED),
    };
    let start = |i: usize| (i * tokens.saturating_sub(room)).checked_div(count - 1).unwrap_or(0);
    // The middle of what windows `i` and `i + 1` share.
    let middle = |i: usize| usize::midpoint(start(i + 1), start(i) + room);
    (0..count)
        .map(|i| {
            let from = if i == 0 { 0 } else { middle(i - 1) };
            let to = if i + 1 == count { tokens } else { middle(i) };
            Place { start: start(i), taken: from..to }
        })
        .collect()
}

/// The tokens of a span of a text of so many bytes: those that have bytes in common with it. `own` are those of the text, at places
/// that lie `offset` bytes further on. A token without bytes belongs to the character before it, at the beginning to the first.
fn tokens_of(own: &[(u32, Range<usize>)], span: Span, length: usize, offset: usize) -> Range<usize> {
    let (start, end) = (span.start.saturating_add(offset), span.end.saturating_add(offset));
    let from = match span.start {
        0 => 0,
        _ => own.partition_point(|(_, bytes)| bytes.end <= start),
    };
    let to = match span.end >= length {
        true => own.len(),
        false => own.partition_point(|(_, bytes)| bytes.start < end || (bytes.is_empty() && bytes.start == end)),
    };
    from..to.max(from)
}

#[cfg(test)]
mod tests {
    use pericope_api::Span;

    use super::{Place, places, tokens_of};

    #[test]
    fn every_token_is_taken_once_from_where_it_has_most_around_it() {
        assert_eq!(places(0, 8), [Place { start: 0, taken: 0..0 }]);
        assert_eq!(places(8, 8), [Place { start: 0, taken: 0..8 }]);
        assert_eq!(places(9, 8), [Place { start: 0, taken: 0..4 }, Place { start: 1, taken: 4..9 }]);
        assert_eq!(places(14, 8), [Place { start: 0, taken: 0..7 }, Place { start: 6, taken: 7..14 }]);
        assert_eq!(places(15, 8).len(), 3);
        for room in 1..20 {
            for tokens in 0..150 {
                let found = places(tokens, room);
                let mut next = 0;
                for (i, place) in found.iter().enumerate() {
                    let Place { start, taken } = place;
                    assert_eq!(taken.start, next, "{tokens} tokens in {room}");
                    next = taken.end;
                    assert!(*start <= taken.start && taken.end <= start + room, "{tokens} tokens in {room}: {found:?}");
                    // An eighth of the window stands on both sides, but for the ends of the document.
                    let least = room / 4 / 2;
                    assert!(i == 0 || taken.start - start >= least, "{tokens} tokens in {room}: {found:?}");
                    assert!(i + 1 == found.len() || start + room - taken.end >= least);
                }
                assert_eq!(next, tokens, "{tokens} tokens in {room}");
            }
        }
    }

    #[test]
    fn tokens_belong_to_the_spans_that_they_meet() {
        // "ab cd" behind a prompt of two bytes, the second token with its blank, and a token without bytes.
        let own = [(7, 2..4), (8, 4..6), (9, 6..6), (10, 6..7)];
        let of = |start, end| tokens_of(&own, Span::new(start, end), 5, 2);
        assert_eq!(of(0, 5), 0..4);
        assert_eq!(of(0, 2), 0..1);
        assert_eq!(of(3, 4), 1..3);
        assert_eq!(of(4, 5), 3..4);
        assert_eq!(of(2, usize::MAX), 1..4);
        assert_eq!(of(2, 2), 1..1);
    }
}
