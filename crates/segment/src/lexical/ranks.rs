//! Rank matrices (Choi 2000, section 3.2) and sums over blocks on their diagonals.

use super::words::Words;

/// The mask reaches so far from its middle: it is 11 by 11.
const REACH: usize = 5;

/// Ranks are rounded to multiples of this, so that sums of up to 2^22 of them (2048 sentences) are exact, and equal
/// blocks have equal sums wherever they lie.
const STEP: f64 = 1.0 / (1u64 << 30) as f64;

/// Sums of ranks over blocks of the rank matrix of some sentences.
pub(super) struct Ranks {
    sentences: usize,
    /// (n + 1)^2 sums of the ranks above and to the left, in steps of [`STEP`].
    sums: Vec<f64>,
}

impl Ranks {
    /// Of the sentences `first .. first + n`: the rank of a pair is the share of the other pairs under the mask around it
    /// (of those within the matrix) whose cosine is less than its own.
    ///
    /// Time O(n^2) masks; memory O(n^2), 12 bytes a pair.
    pub(super) fn new(words: &Words, first: usize, n: usize) -> Self {
        let likeness = likeness(words, first, n);
        let width = n + 1;
        let mut sums = vec![0.0; width * width];
        for i in 0..n {
            let rows = i.saturating_sub(REACH)..(i + REACH + 1).min(n);
            for j in i..n {
                let columns = j.saturating_sub(REACH)..(j + REACH + 1).min(n);
                let own = likeness[i * n + j];
                let less = |row: usize| {
                    likeness[row * n..][columns.clone()].iter().map(|&other| u32::from(other < own)).sum::<u32>()
                };
                let others = (rows.len() * columns.len() - 1).max(1);
                let rank = (f64::from(rows.clone().map(less).sum::<u32>()) / others as f64 / STEP).round() * STEP;
                sums[(i + 1) * width + j + 1] = rank;
                sums[(j + 1) * width + i + 1] = rank;
            }
        }
        for i in 1..=n {
            let mut row = 0.0;
            for j in 1..=n {
                row += sums[i * width + j];
                sums[i * width + j] = row + sums[(i - 1) * width + j];
            }
        }
        Self { sentences: n, sums }
    }

    /// Number of sentences.
    pub(super) fn sentences(&self) -> usize {
        self.sentences
    }

    /// Sum of the ranks of all pairs of the sentences `start .. end`, counted from the first of the matrix.
    pub(super) fn inside(&self, start: usize, end: usize) -> f64 {
        let at = |i: usize, j: usize| self.sums[i * (self.sentences + 1) + j];
        at(end, end) - 2.0 * at(start, end) + at(start, start)
    }
}

/// Squared cosines of the word counts of all pairs of sentences, 0 where one has no words.
///
/// Their order, which is all that ranks depend on, is that of the cosines; and as quotients of whole numbers equal ones
/// are equal to the last bit, which cosines are not.
fn likeness(words: &Words, first: usize, n: usize) -> Vec<f32> {
    let mut counts = vec![0u64; words.vocabulary()];
    let mut likeness = vec![0.0; n * n];
    let mut squares = vec![0; n];
    // Backwards, so that the squares of all later sentences are known.
    for i in (0..n).rev() {
        let own = words.of(first + i);
        own.iter().for_each(|&word| counts[word as usize] += 1);
        let product = |j: usize| words.of(first + j).iter().map(|&word| counts[word as usize]).sum::<u64>();
        squares[i] = product(i);
        for j in i..n {
            let product = product(j);
            if product > 0 {
                let square = (product * product) as f64 / (squares[i] * squares[j]) as f64;
                likeness[i * n + j] = square as f32;
                likeness[j * n + i] = square as f32;
            }
        }
        own.iter().for_each(|&word| counts[word as usize] = 0);
    }
    likeness
}

#[cfg(test)]
mod tests {
    use pericope_api::Document;

    use super::super::words::Words;
    use super::{Ranks, likeness};

    #[test]
    fn ranks_are_shares_of_smaller_neighbours() {
        let words = Words::read(&Document::from_sentences("d", &["Ants, bees.", "Bees!", "Cows."]));
        assert_eq!(likeness(&words, 0, 3), [1.0, 0.5, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0, 1.0]);
        // The mask covers the whole matrix: 1 exceeds 6 of the 8 others, 0.5 exceeds 4.
        let ranks = Ranks::new(&words, 0, 3);
        assert_eq!(ranks.inside(0, 1), 0.75);
        assert_eq!(ranks.inside(0, 2), 2.0 * 0.75 + 2.0 * 0.5);
        assert_eq!(ranks.inside(0, 3), 3.0 * 0.75 + 2.0 * 0.5);
        assert!((Ranks::new(&words, 1, 2).inside(1, 2) - 2.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn the_mask_is_eleven_wide() {
        let mut sentences = vec!["Zebras."; 12];
        sentences[0] = "Ants, bees.";
        let words = Words::read(&Document::from_sentences("d", &sentences));
        let ranks = Ranks::new(&words, 0, 12);
        // Around the first sentence's pair with itself lie the pairs of the first six: 10 others have that sentence in them.
        assert!((ranks.inside(0, 1) - 10.0 / 35.0).abs() < 1e-9);
        assert_eq!(ranks.inside(6, 7), 0.0);
        // The last that still sees it, in 10 pairs on either side of the diagonal.
        assert!((ranks.inside(5, 6) - 20.0 / 120.0).abs() < 1e-9);
    }

    #[test]
    fn equal_cosines_are_equal() {
        let words = Words::read(&Document::from_sentences(
            "d",
            &["Ants, bees, cows.", "Bees, ants, cows.", "Cows, ants, bees."],
        ));
        assert!(likeness(&words, 0, 3).iter().all(|&one| one == 1.0));
        assert_eq!(Ranks::new(&words, 0, 3).inside(0, 3), 0.0);
    }
}
