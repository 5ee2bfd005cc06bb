use std::ops::Range;

use super::indexed::{Block, Indexed, LONG};

/// Bits of a word.
const BITS: usize = u64::BITS as usize;
/// Words of a set of places.
const WORDS: usize = LONG.div_ceil(BITS);

/// The search for blocks by sets of places, a bit a place: for short later texts, of which each character has many places.
pub(super) struct ByBits<'a> {
    a: &'a Indexed,
    /// For each character of a's alphabet, its places in b.
    places: Vec<[u64; WORDS]>,
    /// Entry l: the places of b at which a common run of more than l characters ends that ends in the row of `a` at hand.
    ends: Vec<[u64; WORDS]>,
}

impl<'a> ByBits<'a> {
    /// For a text `b` below [`LONG`] characters.
    pub(super) fn new(a: &'a Indexed, b: &Indexed) -> Self {
        let places = a.places_in(b, |places| {
            let mut set = [0; WORDS];
            places.iter().for_each(|&place| set[place as usize / BITS] |= 1 << (place as usize % BITS));
            set
        });
        let longest = a.chars.len().min(b.chars.len());
        Self { a, places, ends: vec![[0; WORDS]; longest] }
    }

    /// The longest block within two ranges that are not empty, the first in `a` and then in `b`.
    pub(super) fn longest(&mut self, a: Range<usize>, b: Range<usize>) -> Block {
        // Most ranges lie within few words.
        match (b.end - 1) / BITS - b.start / BITS {
            0 => self.within::<1>(a, b),
            1 => self.within::<2>(a, b),
            _ => self.within::<WORDS>(a, b),
        }
    }

    /// As [`longest`](Self::longest), for a range of b in at most `N` words.
    fn within<const N: usize>(&mut self, a: Range<usize>, b: Range<usize>) -> Block {
        let word = (b.start / BITS).min(WORDS - N);
        let mut range = [0u64; N];
        for (i, bits) in range.iter_mut().enumerate() {
            let first = (word + i) * BITS;
            let below = |place: usize| match place.saturating_sub(first) {
                n if n >= BITS => u64::MAX,
                n => (1 << n) - 1,
            };
            *bits = below(b.end) & !below(b.start);
        }
        let (mut i, mut j, mut size) = (a.start, b.start, 0);
        // Entries of `ends` that are not empty.
        let mut lengths = 0;
        let most = a.len().min(b.len());
        for row in a {
            let places = &self.places[self.a.codes[row] as usize][word..word + N];
            let mut here = range;
            here.iter_mut().zip(places).for_each(|(here, places)| *here &= places);
            // Runs of more than l characters end where those of the row before of more than l - 1 do, one place on.
            let mut next = here;
            let mut length = 0;
            while next.iter().any(|&bits| bits != 0) {
                let ends = &mut self.ends[length][..N];
                let mut carry = 0;
                for ((end, next), here) in ends.iter_mut().zip(&mut next).zip(&here) {
                    let before = std::mem::replace(end, *next);
                    *next = if length < lengths { (before << 1 | carry) & here } else { 0 };
                    carry = before >> (BITS - 1);
                }
                length += 1;
            }
            lengths = length;
            if lengths > size {
                size = lengths;
                let ends = &self.ends[size - 1][..N];
                let end = ends.iter().position(|&bits| bits != 0).unwrap_or(0);
                let end = (word + end) * BITS + ends[end].trailing_zeros() as usize;
                (i, j) = (row + 1 - size, end + 1 - size);
                if size == most {
                    break;
                }
            }
        }
        (i, j, size)
    }
}
