//! The statistics on samples whose truth is known: how often a run without any difference claims one, how often an interval
//! holds the true difference, how often a true difference of 3 points is found, and how often the set of those that may be
//! the best holds them.
//!
//! A sample is 60 documents of 1 to 20 questions, 12 chunkers and 8 settings. A chunker's score on a question is a level, an
//! effect of chunker and document, and noise; the effect has 0.3 of the variance of both (intraclass correlation 0.3).
//! Every rate is compared with a bound that a correct procedure misses with a probability below 1 in 1,000 (binomial,
//! normal approximation: rate + 3.1 * sqrt(rate * (1 - rate) / samples)); the samples are the same on every run.

use pericope_eval::stats::{
    ALPHA, Clustered, Draws, Flips, Interval, Table, confidence_set, holm, permutation_p, resamples_for,
};
use rand::RngCore;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rayon::prelude::*;

const CHUNKERS: usize = 12;
const SETTINGS: usize = 8;
const DOCUMENTS: usize = 60;
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

/// By question its document, and by setting, chunker and question a score. `shift` is what the last chunker has above the
/// others.
fn sample(number: usize, documents: usize, settings: usize, shift: f64) -> (Vec<usize>, Vec<Vec<Vec<f64>>>) {
    let mut random = Random::new(number);
    let of: Vec<usize> = (0..documents).flat_map(|d| vec![d; 1 + (random.unit() * 20.0) as usize]).collect();
    let level: Vec<f64> = of.iter().map(|_| 0.3 + 0.4 * random.unit()).collect();
    // Of one chunker: the difference of two has twice the variance.
    let (common, own) = ((CORRELATION / 2.0).sqrt() * SPREAD, ((1.0 - CORRELATION) / 2.0).sqrt() * SPREAD);
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

fn differences(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(x, y)| x - y).collect()
}

/// The p-values of the family after correction, as a run works them out: every chunker against the first.
fn corrected(documents: &[usize], scores: &[Vec<f64>], seed: u64) -> Vec<f64> {
    let most = resamples_for(CHUNKERS - 1, ALPHA);
    let p = scores[1..].iter().map(|of| {
        let clustered = Clustered::new(&differences(of, &scores[0]), documents).unwrap();
        permutation_p(clustered.sums(), most, seed)
    });
    holm(&p.collect::<Vec<f64>>())
}

/// The rule of earlier versions with a tail that nothing cuts off: every pair in every setting, by question, Holm over all.
fn by_question(scores: &[Vec<Vec<f64>>]) -> Vec<(usize, usize, f64)> {
    let mut found = Vec::new();
    for of_setting in scores {
        for a in 1..CHUNKERS {
            for b in 0..a {
                let d = differences(&of_setting[a], &of_setting[b]);
                let n = d.len() as f64;
                let mean = d.iter().sum::<f64>() / n;
                let sd = (d.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
                found.push((a, b, two_sided(mean / sd * n.sqrt())));
            }
        }
    }
    let p = holm(&found.iter().map(|(_, _, p)| *p).collect::<Vec<f64>>());
    found.into_iter().zip(p).map(|((a, b, _), p)| (a, b, p)).collect()
}

/// Two-sided p of a normal number (Abramowitz and Stegun 26.2.17: an error below 1e-7, which is far below 0.05 / 528).
fn two_sided(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let series =
        ((((1.330_274_429 * t - 1.821_255_978) * t + 1.781_477_937) * t - 0.356_563_782) * t + 0.319_381_530) * t;
    2.0 * series * (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt()
}

/// The highest rate that a procedure whose true rate is this has in all but one of 1,000 sets of samples.
fn at_most(rate: f64, samples: usize) -> f64 {
    rate + 3.1 * (rate * (1.0 - rate) / samples as f64).sqrt()
}

fn rate(samples: usize, happens: impl Fn(usize) -> bool + Sync) -> f64 {
    (0..samples).into_par_iter().filter(|at| happens(*at)).count() as f64 / samples as f64
}

#[test]
fn a_run_without_a_difference_claims_one_in_at_most_5_of_100() {
    const SAMPLES: usize = 1_000;
    let wrong = |at: usize| {
        let (documents, scores) = sample(at, DOCUMENTS, 1, 0.0);
        corrected(&documents, &scores[0], at as u64).iter().any(|p| *p < ALPHA)
    };
    let found = rate(SAMPLES, wrong);
    // By question, whatever the tail: the questions of a document are taken for independent.
    let before =
        rate(100, |at| by_question(&sample(at, DOCUMENTS, SETTINGS, 0.0).1).iter().any(|(_, _, p)| *p < ALPHA));
    println!("family-wise error: {found} by document, {before} by question over all pairs and settings");
    assert!(found <= at_most(0.05, SAMPLES), "{found}");
    assert!(before > 0.5, "{before}: what the unit is about");
}

#[test]
fn intervals_hold_the_truth_in_93_to_97_of_100() {
    const SAMPLES: usize = 1_600;
    // Percentile above 40 documents, BCa below.
    for documents in [DOCUMENTS, 25] {
        let draws = Draws::new(documents, 11);
        let holds = |at: usize| {
            let (of, scores) = sample(at + 10_000, documents, 1, 0.03);
            let pair = [scores[0][CHUNKERS - 1].clone(), scores[0][0].clone()];
            let mut replicates = Table::new(&pair, &of).unwrap().resampled(&draws).difference(0, 1);
            let clustered = Clustered::new(&differences(&pair[0], &pair[1]), &of).unwrap();
            let (low, high) = Interval::of(&clustered, &mut replicates).ends(ALPHA);
            low < 0.03 && 0.03 < high
        };
        let found = rate(SAMPLES, holds);
        println!("coverage with {documents} documents: {found}");
        assert!((0.93..=0.97).contains(&found), "{found} with {documents} documents");
    }
}

#[test]
fn a_true_difference_of_3_points_is_found_where_the_old_rule_could_not() {
    const SAMPLES: usize = 300;
    let found = |at: usize| {
        let (documents, scores) = sample(at + 50_000, DOCUMENTS, 1, 0.03);
        corrected(&documents, &scores[0], at as u64)[CHUNKERS - 2] < ALPHA
    };
    let now = rate(SAMPLES, found);
    // Before, p could not be below 1 in 10,001: of 528 comparisons none could ever hold.
    let comparisons = CHUNKERS * (CHUNKERS - 1) / 2 * SETTINGS;
    let smallest = holm(&vec![1.0 / 10_001.0; comparisons])[0];
    println!("power at 3 points: {now}; the old rule's smallest p after correction: {smallest}, so its power was 0");
    assert!(comparisons == 528 && smallest > ALPHA);
    assert!(now > 0.6, "{now}");
}

#[test]
fn the_set_of_those_that_may_be_the_best_holds_them() {
    const SAMPLES: usize = 200;
    let set = |at: usize, shift: f64| {
        let (documents, scores) = sample(at + 90_000, DOCUMENTS, 1, shift);
        let table = Table::new(&scores[0], &documents).unwrap();
        confidence_set(&table, &Flips::new(DOCUMENTS, at as u64))
    };
    // All are the best: each must stay, in 90 of 100.
    let lost = rate(SAMPLES, |at| set(at, 0.0).iter().any(|p| *p < 0.1));
    // One is the best by 3 points: it stays, and most of the others go.
    let without = rate(SAMPLES / 2, |at| set(at, 0.03)[CHUNKERS - 1] < 0.1);
    let left: usize = (0..20).map(|at| set(at, 0.03).iter().filter(|p| **p >= 0.1).count()).sum();
    println!(
        "the set leaves out one of the best in {lost}, the only best in {without}; it holds {} on average",
        left / 20
    );
    assert!(lost <= at_most(0.1, SAMPLES) && without <= at_most(0.1, SAMPLES / 2), "{lost} {without}");
    assert!(left < 20 * 6, "{left}");
}
