use std::collections::VecDeque;

use pericope_api::{Span, TokenCounter, TokenMap};

use super::places::{CUT, Place, places};
use crate::breaks::{self, Level};
use crate::chars::{is_clean, next, skip_blank, trim_end};

/// Cuts a text into blocks of at most `limit` tokens (0 counts as 1; special tokens are not counted): in order, without blank
/// ends, covering every byte that is not blank. The sum of what the cuts cost is the least there is.
///
/// Time is in proportion to the text. Tokens are counted once for the whole text, which is exact at white space; a block that is cut
/// inside a run without white space, where a tokenizer may count more, is counted by itself, and cut again where it is too long.
///
/// ```
/// use pericope_segment::{blocks::blocks, counters::WordCounter};
///
/// let text = "One two. Three four five, six seven.\nEight nine.";
/// let texts: Vec<&str> = blocks(text, &WordCounter, 8).into_iter().map(|span| span.of(text)).collect();
/// assert_eq!(texts, ["One two. Three four five,", "six seven.\nEight nine."]);
/// ```
#[must_use]
pub fn blocks(text: &str, counter: &dyn TokenCounter, limit: usize) -> Vec<Span> {
    let limit = limit.max(1);
    around(text, &TokenMap::new(text, counter), counter, limit, &[])
}

/// [`blocks`] that are never cut inside one of `whole`, which are in order and have at most `limit` tokens each. `tokens` are the
/// text's.
pub(super) fn around(
    text: &str,
    tokens: &TokenMap,
    counter: &dyn TokenCounter,
    limit: usize,
    whole: &[Span],
) -> Vec<Span> {
    let places = places(text, tokens, limit, whole);
    let mut found = Vec::new();
    let mut start = skip_blank(text, 0);
    for end in ends(&places, limit) {
        let span = Span::new(start, end);
        // Between words the count of the whole text is that of the block.
        if is_clean(text, start) && is_clean(text, end) && tokens.count(span) <= limit {
            found.push(span);
        } else {
            shorten(text, span, counter, limit, &mut found);
        }
        start = skip_blank(text, end);
    }
    found
}

/// The ends of the blocks for which the sum of the costs is least, in bytes. Of equal sums the one with the longer blocks at the end.
///
/// A place within `limit` tokens after the place before it can always be reached; one that is farther is reached from that
/// place alone.
fn ends(places: &[Place], limit: usize) -> Vec<usize> {
    // For each place: the least cost of all blocks up to it, and the place where its last block begins (0: the text's start).
    let mut best: Vec<(u64, usize)> = Vec::with_capacity(places.len() + 1);
    best.push((0, 0));
    let tokens_at = |i: usize| i.checked_sub(1).and_then(|i| places.get(i)).map_or(0, |place| place.tokens);
    // Places that a block may begin at, their costs rising: the first is the best.
    let mut open: VecDeque<usize> = VecDeque::from([0]);
    for (i, place) in (1..).zip(places) {
        while open.len() > 1 && open.front().is_some_and(|&from| place.tokens - tokens_at(from) > limit) {
            open.pop_front();
        }
        let from = open.front().copied().unwrap_or(i - 1);
        let last = i == places.len();
        let cost = best[from].0 + if last { 0 } else { CUT + place.cost };
        best.push((cost, from));
        while open.back().is_some_and(|&other| best[other].0 > cost) {
            open.pop_back();
        }
        open.push_back(i);
    }
    let mut found = Vec::new();
    let mut at = places.len();
    while at > 0 {
        found.extend(places.get(at - 1).map(|place| place.at));
        at = best[at].1;
    }
    found.reverse();
    found
}

/// Adds a block, in as many pieces as its own count of tokens asks for.
fn shorten(text: &str, block: Span, counter: &dyn TokenCounter, limit: usize, found: &mut Vec<Span>) {
    let mut start = block.start;
    while start < block.end {
        let mut end = block.end;
        loop {
            let count = counter.count(&text[start..end]);
            let least = next(text, start);
            if count <= limit || end <= least {
                break;
            }
            // Shorter by the share that was too much.
            let reach = start + (end - start) * limit / count;
            let at = breaks::best(text, start, reach.max(least), &[Level::Space, Level::Word, Level::Grapheme]);
            end = if at < end { trim_end(text, start, at).max(least) } else { least };
        }
        found.push(Span::new(start, end));
        start = skip_blank(text, end).min(block.end);
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
