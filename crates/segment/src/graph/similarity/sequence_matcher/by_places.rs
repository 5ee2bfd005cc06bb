use std::ops::Range;

use super::indexed::{Block, Indexed};

/// The search for blocks place by place: for long texts, where no character that starts a block has many places.
pub(super) struct ByPlaces<'a> {
    a: &'a Indexed,
    b: &'a Indexed,
    /// For each character of a's alphabet, its places in b.
    places: Vec<&'a [u32]>,
    /// Entry j + 1: the row of `a` in which a common run was last seen to end at place j of b, and its length there.
    runs: Vec<(u32, u32)>,
    /// Rows so far, over all calls of `longest`: an entry of `runs` counts only if it is of the row before.
    rows: u32,
}

impl<'a> ByPlaces<'a> {
    pub(super) fn new(a: &'a Indexed, b: &'a Indexed) -> Self {
        let places = a.places_in(b, |places| places);
        Self { a, b, places, runs: vec![(0, 0); b.chars.len() + 1], rows: 1 }
    }

    /// The longest block within the two ranges, the first in `a` and then in `b`: its places and its length.
    pub(super) fn longest(&mut self, a: Range<usize>, b: Range<usize>) -> Block {
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
