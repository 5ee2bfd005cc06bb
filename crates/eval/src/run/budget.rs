//! What the reader gets of a ranking: so many chunks, or so many tokens.

use pericope_api::{Document, TokenCounter};

use super::cut::Cut;
use super::found::{Given, Hit};
use crate::cell::Cutoff;
use crate::config::BudgetRule;

/// Hits that are asked for at most, to fill a budget.
const MOST_HITS: usize = 10_000;
/// Places at which a cut is tried before the chunk is left out.
const MOST_TRIES: usize = 16;

/// How a ranking is cut off: by what is counted, and in what.
pub(super) struct Cutter<'a> {
    pub(super) documents: &'a [Document],
    pub(super) counter: &'a dyn TokenCounter,
    pub(super) rule: BudgetRule,
}

impl Cutter<'_> {
    /// What a cutoff gives to the reader, best first: the first k hits, or the first that fit the budget together.
    ///
    /// A budget takes the ranking as it is and ends at the first chunk that does not fit. Filled, it takes the beginning of
    /// that chunk too; it is never filled up with smaller chunks from further down.
    pub(super) fn pick(&self, hits: &[Hit], cut: &Cut, cutoff: Cutoff) -> Vec<Given> {
        // The reader gets text: the special tokens that an encoder adds to each chunk are none of it.
        let special = self.counter.special_tokens();
        let whole = |hit: &Hit| {
            let chunk = cut.chunk(hit);
            let own = (chunk.span, chunk.tokens.saturating_sub(special));
            let (span, tokens) = hit.run.map_or(own, |run| (run.span, run.tokens));
            Given { hit: *hit, span, tokens }
        };
        let mut left = match cutoff {
            Cutoff::K(k) => return hits.iter().take(k).map(whole).collect(),
            Cutoff::Tokens(budget) => budget,
        };
        let mut given = Vec::new();
        for hit in hits {
            let all = whole(hit);
            if all.tokens <= left {
                left -= all.tokens;
                given.push(all);
                continue;
            }
            if self.rule == BudgetRule::Fill {
                given.extend(self.beginning(all, cut, left));
            }
            break;
        }
        given
    }

    /// The part of a chunk that fits into `left` tokens.
    fn beginning(&self, mut all: Given, cut: &Cut, left: usize) -> Option<Given> {
        let text = cut.document(self.documents, &all.hit)?.text(all.span);
        let (bytes, tokens) = beginning(text, self.counter, left)?;
        all.span.end = all.span.start + bytes;
        all.tokens = tokens;
        Some(all)
    }
}

/// The longest beginning of a text that has at most `most` tokens, special ones not counted: its bytes and its tokens. It ends
/// where a token ends and never within a character; none where not even one token fits.
fn beginning(text: &str, counter: &dyn TokenCounter, most: usize) -> Option<(usize, usize)> {
    let mut ends = Vec::new();
    counter.token_ends(text, &mut ends);
    let mut wanted = most.min(ends.len());
    for _ in 0..MOST_TRIES {
        let mut end = *ends.get(wanted.checked_sub(1)?)?;
        if ends.get(wanted) == Some(&end) {
            // Several tokens end here: all of them fit, or none.
            wanted = ends.partition_point(|&other| other < end);
            end = *ends.get(wanted.checked_sub(1)?)?;
        }
        let end = text.floor_char_boundary(end);
        let tokens = counter.count(text.get(..end)?);
        if tokens <= most {
            return (tokens > 0).then_some((end, tokens));
        }
        // A word that is cut may have more tokens alone than it had in the whole.
        wanted = wanted.saturating_sub(tokens - most);
    }
    None
}

/// The number of hits that exceed a budget together whichever they are, or all chunks where these do not. A chunk has `special`
/// tokens that do not count.
pub(super) fn hits_to_fill(cut: &Cut, special: usize, budget: usize) -> usize {
    let mut sizes: Vec<usize> = cut.chunks.iter().flatten().map(|chunk| chunk.tokens.saturating_sub(special)).collect();
    sizes.sort_unstable();
    let mut sum = 0_usize;
    let within = sizes.iter().take_while(|&&size| {
        sum = sum.saturating_add(size);
        sum <= budget
    });
    (within.count() + 1).min(sizes.len()).min(MOST_HITS)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use pericope_api::{Chunk, Span};
    use proptest::prelude::*;

    use super::*;

    /// Words of up to four letters are one token, longer ones a token for every four letters; each text has two more.
    struct Pieces;

    impl TokenCounter for Pieces {
        fn name(&self) -> &str {
            "pieces"
        }

        fn token_ends(&self, text: &str, ends: &mut Vec<usize>) {
            let mut letters = 0;
            for (at, c) in text.char_indices() {
                if c.is_whitespace() {
                    letters = 0;
                    continue;
                }
                let end = at + c.len_utf8();
                match ends.last_mut().filter(|_| letters % 4 != 0) {
                    Some(last) => *last = end,
                    None => ends.push(end),
                }
                letters += 1;
            }
        }

        fn special_tokens(&self) -> usize {
            2
        }
    }

    const TEXT: &str = "one two three four fünf sechs";

    fn given(budget: usize, rule: BudgetRule) -> Vec<(String, usize)> {
        let documents = [Document::from_sentences("d", &[TEXT, "seven"])];
        let chunk = |start: usize, end: usize, ordinal| Chunk {
            document: "d".into(),
            ordinal,
            span: Span::new(start, end),
            tokens: Pieces.count(documents[0].text(Span::new(start, end))) + 2,
            heading_path: Vec::new(),
            hash: 0,
            context: None,
        };
        // "one two three" (4 tokens), "four fünf sechs" (4), "seven" (2), and two special ones each, which do not count.
        let (first, second) = (TEXT.find(" four").unwrap(), TEXT.len());
        let chunks = vec![vec![
            chunk(0, first, 0),
            chunk(first + 1, second, 1),
            chunk(second + 1, documents[0].source.len(), 2),
        ]];
        let cut = Cut::of_chunks("c", Arc::new(chunks));
        let hits = [1, 0, 2].map(|ordinal| Hit { document: 0, ordinal, score: 1.0, run: None });
        let cutter = Cutter { documents: &documents, counter: &Pieces, rule };
        let picked = cutter.pick(&hits, &cut, Cutoff::Tokens(budget));
        assert_eq!(hits_to_fill(&cut, 2, 5), 2);
        assert_eq!((hits_to_fill(&cut, 2, 1), hits_to_fill(&cut, 2, 99)), (1, 3));
        picked.iter().map(|given| (documents[0].text(given.span).to_owned(), given.tokens)).collect()
    }

    #[test]
    fn a_budget_is_filled_to_the_token() {
        let fill = |budget| given(budget, BudgetRule::Fill);
        let all = ["four fünf sechs", "one two three", "seven"];
        let texts = |found: &[(String, usize)]| found.iter().map(|(text, _)| text.clone()).collect::<Vec<_>>();
        // 4 + 4 + 2 tokens in all.
        assert_eq!(texts(&fill(10)), all);
        assert_eq!(texts(&fill(99)), all);
        // "seven" is "seve" and "n": its first token.
        assert_eq!(fill(9).last().unwrap(), &("seve".to_owned(), 1));
        assert_eq!(fill(8).len(), 2);
        assert_eq!(fill(7).last().unwrap(), &("one two thre".to_owned(), 3));
        assert_eq!(fill(6).last().unwrap(), &("one two".to_owned(), 2));
        assert_eq!(fill(5).last().unwrap(), &("one".to_owned(), 1));
        // The cut is between characters, whatever their bytes.
        assert_eq!(fill(2), [("four fünf".to_owned(), 2)]);
        assert_eq!(fill(0), []);
        for budget in 0..10 {
            let tokens: usize = fill(budget).iter().map(|(_, tokens)| tokens).sum();
            assert_eq!(tokens, budget, "small chunks pay nothing for being many");
        }
    }

    #[test]
    fn whole_chunks_only_where_that_is_the_rule() {
        let whole = |budget| given(budget, BudgetRule::Whole).len();
        assert_eq!([3, 4, 7, 8, 9, 10].map(whole), [0, 1, 1, 2, 2, 3]);
    }

    proptest! {
        /// What comes out fits, ends between characters, and with one token more it would not fit.
        #[test]
        fn beginnings_are_as_long_as_fits(text in "([a-zß漢]{1,9}[ \\n]{1,2}){0,8}", most in 0_usize..30) {
            let all = Pieces.count(&text);
            match beginning(&text, &Pieces, most) {
                None => prop_assert!(most == 0 || all == 0),
                Some((end, tokens)) => {
                    prop_assert!(text.is_char_boundary(end));
                    prop_assert_eq!(tokens, Pieces.count(&text[..end]));
                    prop_assert_eq!(tokens, most.min(all));
                }
            }
        }
    }
}
