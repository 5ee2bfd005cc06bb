use std::ops::Range;

use pericope_api::Span;

use super::kind::{Expand, Expansion};
use super::merge::merged;
use super::page::{Page, common};
use super::part::{Found, Part, Run};
use super::segment::{best, values};

/// Returns what is given back in place of the hits in one document, in the order of their ranks.
///
/// A hit that is in the run of a better one has none of its own. Runs have no byte in common. Each has at most
/// `expansion.tokens`, or is a single chunk. Hits further down change nothing of the runs before theirs, but as evidence.
#[must_use]
pub fn runs(parts: &[Part], found: &[Found], expansion: Expansion) -> Vec<Run> {
    let page = Page::new(parts, found, expansion.tokens);
    let mut given = Given { is_taken: vec![false; page.parts.len()], runs: Vec::new() };
    let merged = if expansion.expand == Expand::Merge { merged(&page) } else { Vec::new() };
    let values = if expansion.expand == Expand::Segment { values(&page) } else { Vec::new() };
    let mut runs = Vec::with_capacity(page.found.len());
    for one in &page.found {
        let at = one.part;
        let alone = at..at + 1;
        // It is read already, as a chunk or as a part of others.
        if given.is_taken[at] || given.left(&page, &alone).is_empty() {
            continue;
        }
        let free = page.around(at, |other| !given.is_taken[other]);
        let range = match expansion.expand {
            Expand::None => alone,
            Expand::Neighbours(reach) => {
                let window = at.saturating_sub(reach)..at.saturating_add(reach).saturating_add(1);
                page.grown(at, &common(&window, &free))
            }
            Expand::Parent => match page.sections(at).find(|section| page.fits(section)) {
                Some(section) => common(&section, &free),
                None => page.grown(at, &common(&page.innermost(at), &free)),
            },
            Expand::Merge => {
                merged.iter().find(|range| range.contains(&at)).map_or(alone, |range| common(range, &free))
            }
            Expand::Segment => best(&page, &values, at, &free),
        };
        let span = given.left(&page, &range);
        let (mut parts, mut tokens) = (Vec::with_capacity(range.len()), 0);
        for place in range.clone() {
            if page.parts[place].span.intersection(&span).is_some_and(|common| !common.is_empty()) {
                parts.push(page.order[place]);
                tokens += page.parts[place].tokens;
            }
        }
        given.is_taken[range.clone()].fill(true);
        given.runs.push((range, span));
        runs.push(Run { rank: one.rank, parts, span, tokens });
    }
    runs
}

/// What better hits were given.
struct Given {
    is_taken: Vec<bool>,
    runs: Vec<(Range<usize>, Span)>,
}

impl Given {
    /// The bytes of a run that no other has: chunks may overlap.
    fn left(&self, page: &Page<'_>, range: &Range<usize>) -> Span {
        let mut span = page.span(range);
        for (other, taken) in &self.runs {
            match other.end <= range.start {
                true => span.start = span.start.max(taken.end),
                false => span.end = span.end.min(taken.start),
            }
        }
        span.end = span.end.max(span.start);
        span
    }
}
