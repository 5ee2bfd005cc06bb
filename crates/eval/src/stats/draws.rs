//! The random numbers: which documents a resample holds, and whose signs it flips.
//!
//! Each resample has a random stream of its own, so the same seed gives the same bits for every number of threads. The
//! draws of a set of documents are made once and serve all systems, metrics and cutoffs: a difference of two systems in a
//! resample is then the difference of their means in it.

use rand::RngCore;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rayon::prelude::*;

/// Bootstrap resamples, and permutations where no family asks for more.
pub const RESAMPLES: usize = 10_000;

/// Up to this many documents with a difference, all sign patterns are gone through instead of sampled.
pub const EXACT_UP_TO: usize = 13;

/// Bytes of draws that are kept at most; where there would be more, they are made again each time.
const KEPT: usize = 256 << 20;

/// The random numbers of one resample. Permutation and bootstrap draw from streams apart.
fn stream(seed: u64, resample: usize, purpose: u64) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(2 * resample as u64 + purpose);
    random
}

/// [`RESAMPLES`] draws of as many documents as there are, with replacement.
#[derive(Debug)]
pub struct Draws {
    documents: usize,
    seed: u64,
    /// How often each document is in each resample; empty where it is too much to keep.
    kept: Vec<u8>,
}

impl Draws {
    /// Draws for so many documents.
    #[must_use]
    pub fn new(documents: usize, seed: u64) -> Self {
        let bytes = documents.saturating_mul(RESAMPLES);
        let mut kept = vec![0; if bytes <= KEPT { bytes } else { 0 }];
        if !kept.is_empty() {
            kept.par_chunks_mut(documents).enumerate().for_each(|(resample, weights)| draw(seed, resample, weights));
        }
        Self { documents, seed, kept }
    }

    /// Returns the number of documents.
    #[must_use]
    pub fn documents(&self) -> usize {
        self.documents
    }

    /// How often each document is in a resample.
    pub(super) fn weights<'a>(&'a self, resample: usize, buffer: &'a mut Vec<u8>) -> &'a [u8] {
        if let Some(weights) = self.kept.get(resample * self.documents..(resample + 1) * self.documents)
            && !self.kept.is_empty()
        {
            return weights;
        }
        buffer.clear();
        buffer.resize(self.documents, 0);
        draw(self.seed, resample, buffer);
        buffer
    }
}

/// Draws a number below `n`: the high half of a 64 x 64 bit product is uniform to one part in 2^64 / n.
pub(crate) fn below(random: &mut ChaCha8Rng, n: usize) -> usize {
    ((u128::from(random.next_u64()) * n as u128) >> 64) as usize
}

fn draw(seed: u64, resample: usize, weights: &mut [u8]) {
    let mut random = stream(seed, resample, 0);
    for _ in 0..weights.len() {
        if let Some(weight) = weights.get_mut(below(&mut random, weights.len())) {
            // More than 255 of one document has a probability below 1 / 255!.
            *weight = weight.saturating_add(1);
        }
    }
}

/// Sign patterns of documents: all there are up to [`EXACT_UP_TO`] documents, else [`RESAMPLES`] random ones.
#[derive(Debug)]
pub struct Flips {
    documents: usize,
    seed: u64,
    patterns: usize,
    exact: bool,
}

impl Flips {
    /// Patterns for so many documents.
    #[must_use]
    pub fn new(documents: usize, seed: u64) -> Self {
        let exact = documents <= EXACT_UP_TO;
        Self { documents, seed, patterns: if exact { 1 << documents } else { RESAMPLES }, exact }
    }

    /// Returns the number of patterns.
    pub(super) fn patterns(&self) -> usize {
        self.patterns
    }

    /// Returns the number of documents.
    pub(super) fn documents(&self) -> usize {
        self.documents
    }

    /// Writes the pattern's bits, 64 documents a word.
    pub(super) fn pattern(&self, at: usize, words: &mut Vec<u64>) {
        words.clear();
        if self.exact {
            words.push(at as u64);
        } else {
            signs(self.seed, at, self.documents, words);
        }
    }

    /// The p-value where so many of the patterns are at least as extreme as what was seen. A sampled one counts the
    /// pattern that was seen (Phipson and Smyth 2010): it is never 0.
    pub(super) fn p(&self, extreme: usize) -> f64 {
        if self.exact {
            extreme as f64 / self.patterns as f64
        } else {
            (extreme + 1) as f64 / (self.patterns + 1) as f64
        }
    }
}

/// The random sign pattern of a resample: appends words of 64 bits.
pub(super) fn signs(seed: u64, resample: usize, documents: usize, words: &mut Vec<u64>) {
    let mut random = stream(seed, resample, 1);
    words.extend((0..documents.div_ceil(64)).map(|_| random.next_u64()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_that_are_not_kept_are_the_same() {
        let kept = Draws::new(70, 5);
        let again = Draws { kept: Vec::new(), documents: 70, seed: 5 };
        let (mut one, mut two) = (Vec::new(), Vec::new());
        for resample in [0, 1, 17, RESAMPLES - 1] {
            let weights = kept.weights(resample, &mut one);
            assert_eq!(weights, again.weights(resample, &mut two));
            assert_eq!(weights.iter().map(|w| usize::from(*w)).sum::<usize>(), 70);
        }
        assert_ne!(kept.kept, Draws::new(70, 6).kept, "the seed is used");
        assert!(Draws::new(0, 1).weights(3, &mut one).is_empty());
    }

    #[test]
    fn few_documents_have_all_patterns() {
        let flips = Flips::new(3, 1);
        let mut words = Vec::new();
        let mut seen: Vec<u64> = Vec::new();
        for at in 0..flips.patterns() {
            flips.pattern(at, &mut words);
            seen.extend(&words);
        }
        assert_eq!(seen, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!((flips.p(2), Flips::new(14, 1).p(0)), (0.25, 1.0 / 10_001.0));
    }
}
