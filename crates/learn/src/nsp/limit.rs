//! No segment above a number of tokens.

use super::threshold::THRESHOLD;

/// The row of a document's sentences, code and tables among them.
pub(super) struct Row<'a> {
    /// Tokens of each, without special tokens.
    pub(super) tokens: &'a [usize],
    /// True for the gaps that part a heading from its body; one number less than sentences.
    pub(super) glued: &'a [bool],
}

/// Adds to scores the boundaries where the next sentence would take a segment over `limit` tokens, going from left to
/// right; `special` tokens come on top of every segment's own. A gap that the limit asks for has score 1, so that no
/// threshold leaves it out; a minimum of the size policy joins across it. Headings go with their bodies: what speaks for a gap between them counts for the one before
/// (as the size policy has it). A single sentence above the limit stays whole.
pub(super) fn keep(scores: &mut [f64], row: &Row<'_>, limit: usize, special: usize) {
    for i in (0..scores.len()).rev().filter(|&i| row.glued[i]) {
        if let Some(before) = i.checked_sub(1) {
            scores[before] = scores[before].max(scores[i]);
        }
        scores[i] = 0.0;
    }
    let (mut start, mut segment) = (0, special);
    while start < row.tokens.len() {
        // A heading and what it is kept with come or go together.
        let glued = row.glued[start.min(row.glued.len())..].iter().take_while(|&&glued| glued).count();
        let end = (start + glued + 1).min(row.tokens.len());
        let block: usize = row.tokens[start..end].iter().sum();
        if let Some(gap) = start.checked_sub(1) {
            if segment + block > limit {
                scores[gap] = 1.0;
            }
            if scores[gap] > THRESHOLD {
                segment = special;
            }
        }
        segment += block;
        start = end;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Row, keep};
    use crate::nsp::THRESHOLD;

    fn segments(scores: &[f64], tokens: &[usize]) -> Vec<(usize, usize)> {
        let mut found = vec![(0, 0)];
        for (i, tokens) in tokens.iter().enumerate() {
            if i > 0 && scores[i - 1] > THRESHOLD {
                found.push((0, 0));
            }
            let last = found.len() - 1;
            found[last].0 += 1;
            found[last].1 += tokens;
        }
        found
    }

    #[test]
    fn segments_by_hand() {
        let mut scores = [0.1, 0.1, 0.6, 0.1, 0.2];
        let tokens = [4, 4, 4, 4, 99, 1];
        keep(&mut scores, &Row { tokens: &tokens, glued: &[false; 5] }, 12, 2);
        assert_eq!(scores, [0.1, 1.0, 0.6, 1.0, 1.0]);
        // A heading goes with its body.
        let mut scores = [0.1, 0.1, 0.7, 0.1];
        keep(&mut scores, &Row { tokens: &[4, 2, 6, 3, 3], glued: &[false, true, false, true] }, 12, 0);
        assert_eq!(scores, [0.1, 0.0, 1.0, 0.0]);
        keep(&mut [], &Row { tokens: &[9], glued: &[] }, 5, 2);
        keep(&mut [], &Row { tokens: &[], glued: &[] }, 5, 2);
    }

    proptest! {
        #[test]
        fn no_segment_of_several_blocks_is_above_the_limit_and_no_cut_is_without_reason(
            row in proptest::collection::vec((0usize..9, 0.0f64..1.0, any::<bool>()), 1..30), limit in 4usize..20,
        ) {
            let tokens: Vec<usize> = row.iter().map(|r| r.0).collect();
            let before: Vec<f64> = row[1..].iter().map(|r| r.1).collect();
            let mut scores = before.clone();
            keep(&mut scores, &Row { tokens: &tokens, glued: &vec![false; before.len()] }, limit, 2);
            let found = segments(&scores, &tokens);
            prop_assert!(found.iter().all(|&(count, sum)| count == 1 || sum + 2 <= limit));
            // Every gap above threshold was so before, or the next sentence did not fit.
            let (mut at, mut own) = (0, &found[..]);
            while let [segment, next, ..] = own {
                at += segment.0;
                let _ = next;
                prop_assert!(before[at - 1] > THRESHOLD || segment.1 + tokens[at] + 2 > limit);
                own = &own[1..];
            }
            prop_assert!(before.iter().zip(&scores).all(|(b, s)| b == s || *s == 1.0));
            // A second time changes nothing.
            let again = scores.clone();
            keep(&mut scores, &Row { tokens: &tokens, glued: &vec![false; before.len()] }, limit, 2);
            prop_assert_eq!(again, scores);
            // With headings nothing is cut between them and their bodies.
            let glued: Vec<bool> = row[1..].iter().map(|r| r.2).collect();
            let mut scores = before;
            keep(&mut scores, &Row { tokens: &tokens, glued: &glued }, limit, 2);
            prop_assert!(scores.iter().zip(&glued).all(|(s, &glued)| !glued || *s <= THRESHOLD));
        }
    }
}
