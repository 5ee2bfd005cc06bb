//! The answer in what the reasoner says of tokens.

use std::ops::Range;

/// The runs of blocks that follow each other without a gap: `follows(i)` says that block `i + 1` of the sequence comes straight behind
/// block `i`.
pub(crate) fn runs(blocks: usize, follows: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for i in 0..blocks {
        match found.last_mut() {
            Some(run) if i > 0 && follows(i - 1) => run.end = i + 1,
            _ => found.push(i..i + 1),
        }
    }
    found
}

/// An answer among the tokens of blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Best {
    /// The first token: its block, and its place in it.
    pub(crate) first: (usize, usize),
    /// The last token.
    pub(crate) last: (usize, usize),
    /// The sum of their logits.
    pub(crate) score: f32,
}

/// The answer with the greatest sum of logits of which the first token is not behind the last and both lie in one run. `blocks` are
/// the places of the blocks' tokens. Of equal sums the first; `None` where no block has a token.
pub(crate) fn best_span(logits: &[[f32; 2]], blocks: &[Range<usize>], runs: &[Range<usize>]) -> Option<Best> {
    let mut best: Option<Best> = None;
    for run in runs {
        let mut start: Option<((usize, usize), f32)> = None;
        for block in run.clone() {
            let Some(places) = blocks.get(block) else { continue };
            for (token, [first, last]) in logits.get(places.clone()).unwrap_or_default().iter().enumerate() {
                if start.is_none_or(|(_, before)| *first > before) {
                    start = Some(((block, token), *first));
                }
                if let Some((from, logit)) = start
                    && best.is_none_or(|before| logit + last > before.score)
                {
                    best = Some(Best { first: from, last: (block, token), score: logit + last });
                }
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::{Best, best_span, runs};

    #[test]
    fn an_answer_lies_in_one_run_and_does_not_go_back() {
        // Three blocks of two tokens; the third does not follow the second.
        let runs = runs(3, |i| i == 0);
        assert_eq!(runs, [0..2, 2..3]);
        let blocks = [4..6, 7..9, 10..12];
        let mut logits = vec![[9.0, 9.0]; 13];
        for (place, first, last) in
            [(4, 0.0, 7.0), (5, 3.0, 0.0), (7, 1.0, 0.0), (8, 0.0, 2.0), (10, 0.0, 4.5), (11, 0.0, 0.0)]
        {
            logits[place] = [first, last];
        }
        // The best end of the first block is before its best start; the best end of all is in another run.
        assert_eq!(best_span(&logits, &blocks, &runs[..1]), Some(Best { first: (0, 0), last: (0, 0), score: 7.0 }));
        logits[4] = [0.0, 1.0];
        assert_eq!(best_span(&logits, &blocks, &runs), Some(Best { first: (0, 1), last: (1, 1), score: 5.0 }));
        assert_eq!(best_span(&logits, &[], &[]), None);
        assert_eq!(best_span(&logits, std::slice::from_ref(&(4..4)), &runs[..1]), None);
    }
}
