use std::ops::Range;

use pericope_api::SegmentError;
use rayon::prelude::*;

use super::by_bits::ByBits;
use super::by_places::ByPlaces;
use super::indexed::{Block, Indexed, LONG};
use crate::graph::similarity::Similarity;

/// `difflib.SequenceMatcher(None, left, right).ratio()` of Python on characters (Ratcliff and Obershelp): 2M / T, where T
/// is the number of characters of both sentences and M that of the characters in matching blocks. A block is the
/// longest common run, the first in the earlier sentence and then in the later one; then the same on what lies before it
/// and behind it.
///
/// Python's heuristic against noise ("autojunk") is part of it: where the later sentence has at least 200 characters,
/// those that make up more than 1 % of it cannot start a block. So the order of the two sentences matters.
///
/// The time for a pair grows with the product of the lengths, so only the first 4096 bytes of a sentence are read.
#[derive(Debug, Clone, Copy, Default)]
pub struct SequenceMatcher;

impl Similarity for SequenceMatcher {
    type Prepared = Indexed;

    fn name(&self) -> &'static str {
        "sequence-matcher"
    }

    fn prepare(&self, texts: &[&str]) -> Result<Vec<Indexed>, SegmentError> {
        Ok(texts.par_iter().map(|text| Indexed::new(text)).collect())
    }

    fn compare(&self, left: &Indexed, right: &Indexed) -> f64 {
        let total = left.chars.len() + right.chars.len();
        if total == 0 { 1.0 } else { 2.0 * matched(left, right) as f64 / total as f64 }
    }

    fn most_bytes(&self) -> usize {
        4096
    }
}

/// Returns `difflib.SequenceMatcher(None, a, b).ratio()` of Python, 0..=1; 1 for two empty texts.
///
/// ```
/// use pericope_segment::graph::similarity::ratio;
///
/// assert_eq!(ratio("abcd", "bcde"), 0.75);
/// ```
#[must_use]
pub fn ratio(a: &str, b: &str) -> f64 {
    SequenceMatcher.compare(&Indexed::new(a), &Indexed::new(b))
}

/// Characters in matching blocks.
fn matched(a: &Indexed, b: &Indexed) -> usize {
    let (whole_a, whole_b) = (0..a.chars.len(), 0..b.chars.len());
    if b.chars.len() < LONG {
        let mut search = ByBits::new(a, b);
        sum_of_blocks(whole_a, whole_b, |a, b| search.longest(a, b))
    } else {
        let mut search = ByPlaces::new(a, b);
        sum_of_blocks(whole_a, whole_b, |a, b| search.longest(a, b))
    }
}

/// The lengths of the blocks that `longest` finds, first in the whole texts, then before and behind what it found.
fn sum_of_blocks(
    a: Range<usize>,
    b: Range<usize>,
    mut longest: impl FnMut(Range<usize>, Range<usize>) -> Block,
) -> usize {
    let mut open = vec![(a, b)];
    let mut sum = 0;
    while let Some((a, b)) = open.pop() {
        if a.is_empty() || b.is_empty() {
            continue;
        }
        let (i, j, size) = longest(a.clone(), b.clone());
        if size > 0 {
            sum += size;
            open.extend([(a.start..i, b.start..j), (i + size..a.end, j + size..b.end)]);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{ByBits, ByPlaces, Indexed, ratio, sum_of_blocks};

    #[test]
    fn examples_of_pythons_documentation() {
        assert_eq!(ratio("tide", "diet"), 0.25);
        assert_eq!(ratio("diet", "tide"), 0.5);
        assert_eq!(ratio("", ""), 1.0);
        assert_eq!(ratio("", "a"), 0.0);
    }

    #[test]
    fn popular_characters_start_no_block_in_long_texts() {
        let (short, long) = ("ab".repeat(99), "ab".repeat(100));
        assert_eq!(ratio("ab", &short), 4.0 / 200.0);
        // All characters are popular: only what stands at the very beginning matches.
        assert_eq!(ratio("b", &long), 0.0);
        assert_eq!(ratio("ab", &long), 4.0 / 202.0);
    }

    #[test]
    fn long_repetitive_texts_take_little_time() {
        let text: String = (0..4000u32).filter_map(|i| char::from_u32(0x4e00 + i * i % 97)).collect();
        assert!(ratio(&text[..3900], &text) > 0.4);
    }

    /// The definition, word for word, without an index.
    fn blocks(a: &[char], b: &[char]) -> usize {
        let (mut i, mut j, mut size) = (0, 0, 0);
        for x in 0..a.len() {
            for y in 0..b.len() {
                let run = a[x..].iter().zip(&b[y..]).take_while(|(p, q)| p == q).count();
                if run > size {
                    (i, j, size) = (x, y, run);
                }
            }
        }
        if size == 0 { 0 } else { size + blocks(&a[..i], &b[..j]) + blocks(&a[i + size..], &b[j + size..]) }
    }

    proptest! {
        #[test]
        fn short_texts_agree_with_the_definition(a in "[a-dé漢 ]{0,40}", b in "[a-dé漢 ]{0,40}") {
            let (x, y): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
            let total = x.len() + y.len();
            let expected = if total == 0 { 1.0 } else { 2.0 * blocks(&x, &y) as f64 / total as f64 };
            prop_assert_eq!(ratio(&a, &b), expected);
        }

        #[test]
        fn both_searches_find_the_same_blocks(a in "[a-c]{0,50}[a-dé漢 ]{0,200}", b in "[a-c]{0,50}[a-dé漢 ]{0,149}") {
            let (a, b) = (Indexed::new(&a), Indexed::new(&b));
            let (mut bits, mut places) = (ByBits::new(&a, &b), ByPlaces::new(&a, &b));
            sum_of_blocks(0..a.chars.len(), 0..b.chars.len(), |x, y| {
                let found = bits.longest(x.clone(), y.clone());
                assert_eq!(found, places.longest(x.clone(), y.clone()), "{x:?}, {y:?}");
                found
            });
        }
    }
}
