//! Samples whose truth is known, for simulations here and in `src/run/compare`.
//!
//! A sample is 60 documents of 1 to 20 questions, 12 chunkers and 8 settings. A chunker's score on a question is a level, an
//! effect of chunker and document, and noise; the effect has 0.3 of the variance of both (intraclass correlation 0.3).
#![allow(dead_code)]

use rand::RngCore;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rayon::prelude::*;

/// Chunkers of a sample; the first is the baseline.
pub const CHUNKERS: usize = 12;
/// Cutoffs.
pub const SETTINGS: usize = 8;
/// Documents of a sample.
pub const DOCUMENTS: usize = 60;
/// Share of the variance that questions of one document have in common.
const CORRELATION: f64 = 0.3;
/// Standard deviation of the difference of two chunkers on a question: of scores in shares, most of which are alike.
const SPREAD: f64 = 0.1;

struct Random(ChaCha8Rng);

impl Random {
    fn new(sample: usize) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(2026);
        random.set_stream(sample as u64);
        Self(random)
    }

    fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A normal number (Box and Muller 1958).
    fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.unit()).ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }
}

/// By question its document, and by setting, chunker and question a score.
pub type Sample = (Vec<usize>, Vec<Vec<Vec<f64>>>);

/// `shift` is what the last chunker has above the others.
pub fn sample(number: usize, documents: usize, settings: usize, shift: f64) -> Sample {
    sample_of(SPREAD, number, documents, settings, shift)
}

/// A sample of another spread.
pub fn sample_of(spread: f64, number: usize, documents: usize, settings: usize, shift: f64) -> Sample {
    let mut random = Random::new(number);
    let of: Vec<usize> = (0..documents).flat_map(|d| vec![d; 1 + (random.unit() * 20.0) as usize]).collect();
    let level: Vec<f64> = of.iter().map(|_| 0.3 + 0.4 * random.unit()).collect();
    // Of one chunker: the difference of two has twice the variance.
    let (common, own) = ((CORRELATION / 2.0).sqrt() * spread, ((1.0 - CORRELATION) / 2.0).sqrt() * spread);
    let mut scores = vec![Vec::new(); settings];
    for chunker in 0..CHUNKERS {
        let effect: Vec<f64> = (0..documents).map(|_| common * random.normal()).collect();
        let above = if chunker + 1 == CHUNKERS { shift } else { 0.0 };
        let noise: Vec<f64> = of.iter().map(|_| own * random.normal()).collect();
        for (setting, scores) in scores.iter_mut().enumerate() {
            let score = |q: usize| level[q] + 0.02 * setting as f64 + above + effect[of[q]] + noise[q];
            scores.push((0..of.len()).map(score).collect());
        }
    }
    (of, scores)
}

/// Differences of two chunkers by question.
pub fn differences(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(x, y)| x - y).collect()
}

/// The highest rate that a procedure whose true rate is this has in all but one of 1,000 sets of samples.
pub fn at_most(rate: f64, samples: usize) -> f64 {
    rate + 3.1 * (rate * (1.0 - rate) / samples as f64).sqrt()
}

/// The share of samples in which something happens.
pub fn rate(samples: usize, happens: impl Fn(usize) -> bool + Sync) -> f64 {
    (0..samples).into_par_iter().filter(|at| happens(*at)).count() as f64 / samples as f64
}
