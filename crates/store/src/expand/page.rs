use std::ops::Range;

use pericope_api::Span;

use super::part::{Found, Part};

/// The chunks of a document in the order of their beginnings, and which of them were found.
pub(super) struct Page<'a> {
    /// Where each stands in the caller's list.
    pub order: Vec<usize>,
    pub parts: Vec<&'a Part>,
    /// The hits in the order of their ranks, by their places here; a chunk that is named twice counts once.
    pub found: Vec<Found>,
    /// The tokens of a run, at most.
    pub budget: usize,
    /// The tokens before each chunk, and those of all.
    before: Vec<usize>,
}

impl<'a> Page<'a> {
    pub fn new(parts: &'a [Part], found: &[Found], budget: usize) -> Self {
        let mut order: Vec<usize> = (0..parts.len()).collect();
        order.sort_by_key(|&at| parts.get(at).map(|part| (part.span.start, part.span.end)));
        let mut places = vec![0; parts.len()];
        for (here, &there) in order.iter().enumerate() {
            places[there] = here;
        }
        let parts: Vec<&Part> = order.iter().filter_map(|&at| parts.get(at)).collect();
        let mut before = vec![0; parts.len() + 1];
        for (at, part) in parts.iter().enumerate() {
            before[at + 1] = before[at] + part.tokens;
        }
        let here = |one: &Found| Some(Found { part: *places.get(one.part)?, ..*one });
        let mut found: Vec<Found> = found.iter().filter_map(here).collect();
        found.sort_by_key(|one| one.rank);
        let mut seen = vec![false; parts.len()];
        found.retain(|one| !std::mem::replace(&mut seen[one.part], true));
        Self { order, parts, found, budget, before }
    }

    pub fn tokens(&self, range: &Range<usize>) -> usize {
        self.before[range.end] - self.before[range.start]
    }

    pub fn fits(&self, range: &Range<usize>) -> bool {
        self.tokens(range) <= self.budget
    }

    /// The byte range of a run that is not empty.
    pub fn span(&self, range: &Range<usize>) -> Span {
        let spans = self.parts[range.clone()].iter().map(|part| part.span);
        spans.reduce(|all, span| all.hull(&span)).unwrap_or(Span::new(0, 0))
    }

    /// The run of chunks around one that have its first `level` headings.
    pub fn section(&self, at: usize, level: usize) -> Range<usize> {
        let path = &self.parts[at].heading_path[..level];
        self.around(at, |other| self.parts[other].heading_path.starts_with(path))
    }

    /// The sections of a chunk from the whole document to the one of its innermost heading.
    pub fn sections(&self, at: usize) -> impl Iterator<Item = Range<usize>> {
        (0..=self.parts[at].heading_path.len()).map(move |level| self.section(at, level))
    }

    pub fn innermost(&self, at: usize) -> Range<usize> {
        self.section(at, self.parts[at].heading_path.len())
    }

    /// The longest run of chunks around one that pass.
    pub fn around(&self, at: usize, passes: impl Fn(usize) -> bool) -> Range<usize> {
        let first = (0..at).rev().take_while(|&other| passes(other)).last().unwrap_or(at);
        let last = (at + 1..self.parts.len()).take_while(|&other| passes(other)).last().unwrap_or(at);
        first..last + 1
    }

    /// As many chunks around one as fit, within bounds: one at a time, where there are fewer tokens, after it first.
    pub fn grown(&self, at: usize, within: &Range<usize>) -> Range<usize> {
        let mut grown = at..at + 1;
        loop {
            let (before, after) = (self.tokens(&(grown.start..at)), self.tokens(&(at + 1..grown.end)));
            let earlier = (grown.start > within.start).then(|| grown.start - 1..grown.end);
            let later = (grown.end < within.end).then(|| grown.start..grown.end + 1);
            let next = if before < after { [earlier, later] } else { [later, earlier] };
            match next.into_iter().flatten().find(|wider| self.fits(wider)) {
                Some(wider) => grown = wider,
                None => return grown,
            }
        }
    }
}

/// The part of a run that lies within bounds; both hold one chunk at least in common.
pub(super) fn common(range: &Range<usize>, bounds: &Range<usize>) -> Range<usize> {
    range.start.max(bounds.start)..range.end.min(bounds.end)
}
