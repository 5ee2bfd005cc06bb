//! The size policy: from segmentations to pieces within a token limit.
//!
//! # What is optimised
//!
//! The document is a row of units u_1 .. u_n: its sentences (whole code blocks and tables among them), where a
//! segmenter cuts inside sentences the pieces of these, and where a unit exceeds `max_tokens` the pieces that
//! it is split into. Gap i lies after unit i and has a score s_i in [0, 1]. The policy chooses the set B of gaps that
//! maximises
//!
//! ```text
//! sum over i in B of [logit(s_i) - logit(threshold)]  -  sum over chunks c of [low(c) + off(c)],   logit(p) = ln(p / (1 - p))
//! low(c) = 6 * (1 - t/min_tokens) where t < min_tokens, else 0
//! off(c) = 8 * ln(t/target_tokens)^2
//! ```
//!
//! subject to t <= `max_tokens` for every chunk, t being its tokens with special tokens. The penalties are in logit
//! units: where chunks under the minimum cannot be helped, one of half the minimum costs 3, as much as a boundary of 95 % earns at a
//! threshold of 0.5; a chunk of half or twice the target costs 3.8. Scores are clipped to [1e-6, 1 - 1e-6]. The sum is computed in steps of 2^-20, so that it does
//! not depend on the order of addition.
//!
//! Among equal sums fewer cuts win, and then, where there is a maximum, the smaller sum of t^2: balanced
//! pieces rather than full ones and a tiny tail.
//!
//! # The minimum
//!
//! No score outweighs the minimum: where `min_tokens` is given, three counts come before the sum, in this order. The fewest cuts that
//! tear what belongs together (a heading from its body, the pieces of one unit); the fewest chunks under the minimum; the most
//! boundaries kept before headings of level 1, then of level 2, and so on, so that what is joined stays in its section. Segments
//! that fit `max_tokens` are joined whole: without a target, a gap inside one is not cut. So a chunk is under the minimum only where it
//! would exceed `max_tokens` together with the chunk before it, and with the one after it. (Where a segmenter cuts inside words, each
//! piece counts as a token at least, so such a chunk may be under the minimum by its own count.)
//!
//! With no limits this is thresholding: the gaps with s_i > threshold. A target without a maximum bounds chunks at 8 times the
//! target.
//!
//! # Scores of hard decisions
//!
//! If a segmenter decides instead of scoring, its boundaries have score 0.95, and the other gaps a prior that says
//! where to cut when the maximum forces a cut: before a heading 0.3, at a paragraph's end 0.1, at a sentence's end 0.01.
//! The threshold is then 0.5. In every case, a gap between the pieces of one unit has 1e-7, and a gap between a heading
//! and its body 1e-8; a score at such a gap counts for the gap before the heading instead. Where the gap after a lead-in
//! (words that end with a colon; a short paragraph that is a title or a question; no heading following) is no boundary by
//! its score, a cut there earns 2 less. (Segmenters that answer with spans mean their ends exactly; only further cuts follow
//! the prior. Chunks that somebody else finished are not touched: only one above `max_tokens` is cut, by the prior, and the
//! other limits do not apply.)
//!
//! # Cost
//!
//! Without a minimum and a target every gap above the threshold is taken, and the dynamic programme runs only inside segments that
//! exceed the maximum. It costs O(n * units in the largest allowed chunk); with a minimum alone,
//! O(n * units in a chunk of the minimum). A unit counts as one token at least.

mod overlap;
mod oversize;
mod program;
mod units;
mod weights;

use pericope_api::{Document, Kind, SegmentError, Segmentation, Span, TokenCounter};

use crate::packing::parts_heading;
use crate::token_meter::TokenMeter;
use program::{Mark, Problem};
use units::Units;

/// The part of its neighbours' text that a chunk repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlap {
    /// Up to so many sentences of the chunk before, as many as fit `max_tokens`.
    Sentences(usize),
    /// About `tokens` tokens, from the beginning of a word, so that the chunk has at most `limit` tokens (special tokens
    /// not counted) and at most `max_tokens`: classic fixed windows.
    Tokens {
        /// Tokens to repeat.
        tokens: usize,
        /// Most tokens of a chunk with its overlap.
        limit: usize,
    },
    /// The first sentence of the chunk after it, where the chunk then still has at most `limit` tokens (special tokens
    /// counted) and at most `max_tokens`: "NSP with overlap" (Dong, Singh and Yeh). Only whole sentences are added, and
    /// only to the chunks' own text: a sentence that was added is not handed on.
    Next {
        /// Most tokens of a chunk with its overlap.
        limit: usize,
    },
}

impl Overlap {
    /// True where nothing is repeated.
    #[must_use]
    pub fn is_none(self) -> bool {
        matches!(self, Overlap::Sentences(0) | Overlap::Tokens { tokens: 0, .. })
    }
}

impl Default for Overlap {
    fn default() -> Self {
        Overlap::Sentences(0)
    }
}

/// Limits on chunk sizes in tokens, special tokens included; the [module](self) says what is optimised under them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SizePolicy {
    /// The most tokens of a chunk, never exceeded; `None`: no limit.
    pub max_tokens: Option<usize>,
    /// The fewest tokens of a chunk, where it can be joined with one beside it within the maximum; `None`: none.
    pub min_tokens: Option<usize>,
    /// The number of tokens that chunks are drawn to; `None`: none.
    pub target_tokens: Option<usize>,
    /// The text repeated from the chunk before or after; it never breaks the maximum.
    pub overlap: Overlap,
    /// The threshold on scores, in [0, 1], instead of the segmenter's own (`tau` in specs).
    pub threshold: Option<f64>,
}

impl SizePolicy {
    /// Cuts a document by a segmenter's answer within the limits. The returned spans have no blank ends, do not overlap, and
    /// cover every non-blank byte ([`SizePolicy::overlap`] is not applied).
    ///
    /// # Errors
    /// [`SegmentError::Unsupported`] where the answer does not fit the document, or a single character has more
    /// tokens than the maximum.
    pub fn spans(
        &self,
        document: &Document,
        segmentation: &Segmentation,
        counter: &dyn TokenCounter,
    ) -> Result<Vec<Span>, SegmentError> {
        self.own_spans(document, segmentation, &TokenMeter::new(&document.source, counter))
    }

    pub(crate) fn own_spans(
        &self,
        document: &Document,
        segmentation: &Segmentation,
        meter: &TokenMeter<'_>,
    ) -> Result<Vec<Span>, SegmentError> {
        match segmentation {
            Segmentation::Chunks(chunks) => self.finished(document, chunks, meter),
            _ => self.cut(document, Units::new(document, segmentation, self.threshold)?, meter),
        }
    }

    /// Finished chunks as they are, save those that are longer than the maximum: they are cut further, each by itself.
    fn finished(
        &self,
        document: &Document,
        chunks: &[Span],
        meter: &TokenMeter<'_>,
    ) -> Result<Vec<Span>, SegmentError> {
        let mut before = 0;
        for (k, chunk) in chunks.iter().enumerate() {
            let text = document.source.get(chunk.start..chunk.end);
            if chunk.start < before || text.is_none_or(|text| text.trim().is_empty()) {
                return Err(units::unfit(format!(
                    "chunk {k} ({}..{}) is none of the document",
                    chunk.start, chunk.end
                )));
            }
            before = chunk.start;
        }
        let Some(max) = self.max_tokens else { return Ok(chunks.to_vec()) };
        let only_max = Self { max_tokens: Some(max), ..Self::default() };
        let mut spans = Vec::with_capacity(chunks.len());
        for &chunk in chunks {
            match meter.exact(chunk).saturating_add(meter.special()) > max {
                true => spans.extend(only_max.cut(document, Units::inside(document, chunk), meter)?),
                false => spans.push(chunk),
            }
        }
        // Chunks that overlap may be cut to pieces that lie among those of the next one.
        spans.sort_by_key(|span| span.start);
        Ok(spans)
    }

    /// Chooses the cuts between units.
    fn cut(&self, document: &Document, units: Units, meter: &TokenMeter<'_>) -> Result<Vec<Span>, SegmentError> {
        let limited = self.max_tokens.is_some() || self.min_tokens.is_some() || self.target_tokens.is_some();
        if !limited {
            let taken = units.gaps.iter().enumerate().filter(|&(_, &w)| w > 0).map(|(i, _)| i + 1);
            return Ok(units.join(taken));
        }
        let budget = self.max_tokens.map(|max| max.saturating_sub(meter.special()));
        let units = match budget {
            Some(0) => {
                let reason = format!("max_tokens must exceed the {} special tokens of every chunk", meter.special());
                return Err(SegmentError::Unsupported(reason));
            }
            Some(budget) => oversize::split(document, units, meter, budget)?,
            None => units,
        };
        let problem = Problem {
            first: units.spans.iter().map(|s| meter.index(s.start)).collect(),
            last: units.spans.iter().map(|s| meter.index(s.end)).collect(),
            gaps: &units.gaps,
            marks: if self.min_tokens.is_some() { marks(document, &units) } else { Vec::new() },
            special: meter.special(),
            max: self.max_tokens,
            min: self.min_tokens,
            target: self.target_tokens,
        };
        let Some(budget) = budget else { return Ok(units.join(problem.solve())) };
        let mut ends = Vec::new();
        let mut start = 0;
        for end in problem.solve().into_iter().chain([units.spans.len()]) {
            settle(&problem, &units, meter, budget, start..end, &mut ends);
            start = end;
        }
        ends.pop();
        Ok(units.join(ends))
    }

    /// The spans with what each repeats of its neighbours.
    pub(crate) fn overlapped(&self, document: &Document, own: &[Span], meter: &TokenMeter<'_>) -> Vec<Span> {
        overlap::extend(self.overlap, self.max_tokens, document, own, meter)
    }
}

/// What a cut at each gap is.
fn marks(document: &Document, units: &Units) -> Vec<Mark> {
    let pairs = units.sentences.iter().zip(units.sentences.iter().skip(1));
    let mark = |((&this, &next), &gap): ((&usize, &usize), &i64)| {
        let kind = document.sentences.get(next).map(|sentence| sentence.kind);
        match kind {
            Some(Kind::Heading(level)) if gap > 0 && this != next => Mark::Section(level),
            _ if gap <= 0 && (this == next || parts_heading(document, this)) => Mark::Tears,
            _ => Mark::Plain,
        }
    };
    pairs.zip(&units.gaps).map(mark).collect()
}

/// Adds the ends of the chunks that units `range` become: one, save where the chunk's own tokens, counted where it cuts
/// words, are more than the whole document's tokenisation let expect. Then it is cut further, with less room. Single
/// units fit (they were measured when they were made), so this ends.
fn settle(
    problem: &Problem<'_>,
    units: &Units,
    meter: &TokenMeter<'_>,
    budget: usize,
    range: std::ops::Range<usize>,
    ends: &mut Vec<usize>,
) {
    if range.is_empty() {
        return;
    }
    let span = units.hull(range.clone());
    let real = meter.exact(span);
    if range.len() == 1 || real <= budget {
        ends.push(range.end);
        return;
    }
    let here = problem.tokens(range.start, range.end);
    let room = here.saturating_sub((real - budget).max(1));
    let mut start = range.start;
    for end in problem.path(range.clone(), Some(room), &[]).into_iter().chain([range.end]) {
        settle(problem, units, meter, budget, start..end, ends);
        start = end;
    }
}

#[cfg(test)]
mod tests;
