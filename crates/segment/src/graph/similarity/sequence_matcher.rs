use std::ops::Range;

use pericope_api::SegmentError;
use rayon::prelude::*;

use super::Similarity;

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
        if total == 0 { 1.0 } else { 2.0 * Matching::new(left, right).count() as f64 / total as f64 }
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

/// From this length on, frequent characters of the later text start no block.
const LONG: usize = 200;

/// A text's characters, and where each occurs.
#[derive(Debug, Clone)]
pub struct Indexed {
    chars: Vec<char>,
    /// The characters there are, in order.
    alphabet: Vec<char>,
    /// For each of `chars` its place in `alphabet`.
    codes: Vec<u32>,
    /// The places of character c of the alphabet are `places[starts[c]..starts[c + 1]]`: none for popular ones.
    starts: Vec<u32>,
    places: Vec<u32>,
}

impl Indexed {
    fn new(text: &str) -> Self {
        let chars: Vec<char> = text.chars().collect();
        let mut alphabet = chars.clone();
        alphabet.sort_unstable();
        alphabet.dedup();
        let codes: Vec<u32> = chars.iter().map(|c| alphabet.partition_point(|other| other < c) as u32).collect();
        let mut counts = vec![0u32; alphabet.len()];
        codes.iter().for_each(|&code| counts[code as usize] += 1);
        if chars.len() >= LONG {
            let most = (chars.len() / 100 + 1) as u32;
            counts.iter_mut().filter(|count| **count > most).for_each(|count| *count = 0);
        }
        let mut starts = Vec::with_capacity(counts.len() + 1);
        let mut total = 0;
        starts.push(0);
        for &count in &counts {
            total += count;
            starts.push(total);
        }
        let mut places = vec![0; total as usize];
        // From the back, so that each character's places increase.
        for (place, &code) in codes.iter().enumerate().rev() {
            let (code, count) = (code as usize, &mut counts[code as usize]);
            if *count > 0 {
                *count -= 1;
                places[(starts[code] + *count) as usize] = place as u32;
            }
        }
        Self { chars, alphabet, codes, starts, places }
    }

    fn places(&self, code: usize) -> &[u32] {
        &self.places[self.starts[code] as usize..self.starts[code + 1] as usize]
    }
}

/// The search for the matching blocks of two texts.
struct Matching<'a> {
    a: &'a Indexed,
    b: &'a Indexed,
    /// For each character of a's alphabet, its places in b.
    places: Vec<&'a [u32]>,
    /// Entry j + 1: the row of `a` in which a common run was last seen to end at place j of b, and its length there.
    runs: Vec<(u32, u32)>,
    /// Rows so far, over all calls of `longest`: an entry of `runs` counts only if it is of the row before.
    rows: u32,
}

impl<'a> Matching<'a> {
    fn new(a: &'a Indexed, b: &'a Indexed) -> Self {
        let mut at = 0;
        let places = a.alphabet.iter().map(|c| {
            while b.alphabet.get(at).is_some_and(|other| other < c) {
                at += 1;
            }
            if b.alphabet.get(at) == Some(c) { b.places(at) } else { &[] }
        });
        Self { a, b, places: places.collect(), runs: vec![(0, 0); b.chars.len() + 1], rows: 1 }
    }

    /// Characters in matching blocks.
    fn count(mut self) -> usize {
        let mut open = vec![(0..self.a.chars.len(), 0..self.b.chars.len())];
        let mut count = 0;
        while let Some((a, b)) = open.pop() {
            let (i, j, size) = self.longest(a.clone(), b.clone());
            if size == 0 {
                continue;
            }
            count += size;
            let parts = [(a.start..i, b.start..j), (i + size..a.end, j + size..b.end)];
            open.extend(parts.into_iter().filter(|(a, b)| !a.is_empty() && !b.is_empty()));
        }
        count
    }

    /// The longest block within the two ranges, the first in `a` and then in `b`: its places and its length.
    fn longest(&mut self, a: Range<usize>, b: Range<usize>) -> (usize, usize, usize) {
        let (mut i, mut j, mut size) = (a.start, b.start, 0);
        // One row is left out, so that no run goes on from an earlier call.
        self.rows += 1;
        for row in a.clone() {
            self.rows += 1;
            let places = self.places[self.a.codes[row] as usize];
            let from = places.partition_point(|&place| (place as usize) < b.start);
            // The entry that this row overwrote last, as it was: the next place may need it.
            let mut before = (usize::MAX, 0);
            for place in places[from..].iter().map(|&place| place as usize).take_while(|&place| place < b.end) {
                let run = if before.0 == place { before.1 } else { self.run(place) };
                before = (place + 1, self.run(place + 1));
                let run = run + 1;
                self.runs[place + 1] = (self.rows, run);
                if run as usize > size {
                    size = run as usize;
                    (i, j) = (row + 1 - size, place + 1 - size);
                }
            }
        }
        // Popular characters start no block, but belong to one that they stand next to.
        while i > a.start && j > b.start && self.a.chars[i - 1] == self.b.chars[j - 1] {
            (i, j, size) = (i - 1, j - 1, size + 1);
        }
        while i + size < a.end && j + size < b.end && self.a.chars[i + size] == self.b.chars[j + size] {
            size += 1;
        }
        (i, j, size)
    }

    /// Length of the common run that ended in the row before and before place `end` of b.
    fn run(&self, end: usize) -> u32 {
        match self.runs[end] {
            (row, length) if row + 1 == self.rows => length,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::ratio;

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
    }
}
