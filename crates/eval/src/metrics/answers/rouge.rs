//! ROUGE-L (Lin 2004, section 3.1) as Google's `rouge-score` computes it without stemming.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

/// ROUGE-L of an answer, 0..=1 each; all 0 where one of the texts has no token.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Rouge {
    /// Longest common subsequence over the answer's tokens.
    pub precision: f64,
    /// Longest common subsequence over the gold answer's tokens.
    pub recall: f64,
    /// Harmonic mean of the two.
    pub f: f64,
}

/// The tokens that ROUGE reads: maximal runs of a-z and 0-9 in the lower-cased text.
#[must_use]
pub fn rouge_tokens(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let runs = lower.split(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit());
    runs.filter(|token| !token.is_empty()).map(str::to_owned).collect()
}

/// ROUGE-L: precision, recall and F of the longest common subsequence of tokens.
///
/// Time: tokens of the one times tokens of the other, over 64.
#[must_use]
pub fn rouge_l(answer: &str, gold: &str) -> Rouge {
    let (answer, gold) = (rouge_tokens(answer), rouge_tokens(gold));
    let common = longest_common_subsequence(&answer, &gold) as f64;
    if common == 0.0 {
        return Rouge::default();
    }
    let (answered, wanted) = (answer.len() as f64, gold.len() as f64);
    Rouge { precision: common / answered, recall: common / wanted, f: 2.0 * common / (answered + wanted) }
}

/// Length of the longest common subsequence, 64 columns of the table at a time (Hyyrö 2004, "Bit-parallel LCS-length
/// computation revisited": a zero bit is a column in which the length grows).
fn longest_common_subsequence(a: &[String], b: &[String]) -> usize {
    let blocks = a.len().div_ceil(64);
    let mut places: HashMap<&str, Vec<u64>> = HashMap::new();
    for (at, token) in a.iter().enumerate() {
        places.entry(token).or_insert_with(|| vec![0; blocks])[at / 64] |= 1 << (at % 64);
    }
    let mut row = vec![u64::MAX; blocks];
    for places in b.iter().filter_map(|token| places.get(token.as_str())) {
        let mut carry = false;
        for (word, &places) in row.iter_mut().zip(places) {
            let matched = *word & places;
            let (sum, over) = word.overflowing_add(matched);
            let (sum, over_again) = sum.overflowing_add(u64::from(carry));
            carry = over || over_again;
            *word = sum | (*word & !places);
        }
    }
    // The bits beyond the last token never match and so stay set.
    row.iter().map(|word| word.count_zeros() as usize).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Rouge, longest_common_subsequence, rouge_l, rouge_tokens};

    #[test]
    fn tokens_are_ascii_runs() {
        assert_eq!(rouge_tokens("Don't STOP\u{2014}naïve_x 42%"), ["don", "t", "stop", "na", "ve", "x", "42"]);
    }

    #[test]
    fn the_order_counts() {
        assert_eq!(rouge_l("c b a", "a b c").f, 1.0 / 3.0);
        assert_eq!(rouge_l("the cat sat", "the cat sat on it"), Rouge { precision: 1.0, recall: 0.6, f: 0.75 });
        assert_eq!(rouge_l("", "a"), Rouge::default());
        assert_eq!(rouge_l("答え", "答え"), Rouge::default());
    }

    /// The textbook table.
    fn by_table(a: &[String], b: &[String]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for x in a {
            let mut diagonal = 0;
            for (j, y) in b.iter().enumerate() {
                let above = row[j + 1];
                row[j + 1] = if x == y { diagonal + 1 } else { above.max(row[j]) };
                diagonal = above;
            }
        }
        row[b.len()]
    }

    proptest! {
        #[test]
        fn bits_equal_the_table(
            a in prop::collection::vec("[a-d]", 0..200),
            b in prop::collection::vec("[a-e]", 0..200),
        ) {
            prop_assert_eq!(longest_common_subsequence(&a, &b), by_table(&a, &b));
        }
    }
}
