//! The weights of predictions by their places in their sequences.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The quality of predictions at the edges of a sequence and inside it: c in `[0, 1]`, 1 being the best, the normalised
/// complement of the mean validation loss.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Curve {
    /// By distance from the sequence's first sentence, 0 first.
    pub left: Vec<f64>,
    /// By distance from its last sentence.
    pub right: Vec<f64>,
    /// Everywhere else.
    pub middle: f64,
}

impl Curve {
    /// From mean losses at the same places.
    #[must_use]
    pub fn from_losses(left: &[f64], right: &[f64], middle: f64) -> Self {
        let all = || left.iter().chain(right).chain(std::iter::once(&middle)).copied();
        let (least, most) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
        let good = |loss: f64| if most > least { (most - loss) / (most - least) } else { 1.0 };
        Self {
            left: left.iter().map(|&l| good(l)).collect(),
            right: right.iter().map(|&l| good(l)).collect(),
            middle: good(middle),
        }
    }

    /// True where nothing was measured.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.left.is_empty() && self.right.is_empty()
    }

    /// c(i, m) of the i-th of m sentences, 1-based; the lower where both edges are near.
    fn at(&self, i: usize, m: usize) -> f64 {
        match (self.left.get(i - 1), self.right.get(m - i)) {
            (Some(&left), Some(&right)) => left.min(right),
            (Some(&one), None) | (None, Some(&one)) => one,
            (None, None) => self.middle,
        }
    }
}

/// The weight of a prediction for sentence i of a sequence of m (1-based), d = min(i - 1, m - i) sentences from its
/// nearer edge (Abbasi 2024, aggregation).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Weighting {
    /// `mean:uniform`: 1.
    Uniform,
    /// `mean:lin_kK_eE`: E + (1 - E) min(d, K) / K.
    Linear {
        /// Distance from which on the weight is 1.
        k: usize,
        /// Weight at the edge.
        e: f64,
    },
    /// `mean:poly_kK_pP_eE`: E + (1 - E) (1 - (1 - min(d, K) / K)^P), P even.
    Polynomial {
        /// Distance from which on the weight is 1.
        k: usize,
        /// The power.
        p: u32,
        /// Weight at the edge.
        e: f64,
    },
    /// `mean:lob_kK_eE`: E + (1 - E) times how good predictions were there on validation documents, made monotone over
    /// the K places at each edge and one number between.
    Observed {
        /// Places at each edge, at most half a sequence.
        k: usize,
        /// Weight where predictions were worst.
        e: f64,
    },
}

impl Weighting {
    /// The weights of the m sentences of a sequence. Positive.
    #[must_use]
    pub fn weights(self, m: usize, curve: &Curve) -> Vec<f64> {
        let edge = |i: usize| (i - 1).min(m - i);
        let part = |i: usize, k: usize| if k == 0 { 1.0 } else { edge(i).min(k) as f64 / k as f64 };
        // So that a place that no sequence labels better still counts.
        let floor = |w: f64| w.max(1e-6);
        match self {
            Weighting::Uniform => vec![1.0; m],
            Weighting::Linear { k, e } => (1..=m).map(|i| floor(e + (1.0 - e) * part(i, k))).collect(),
            Weighting::Polynomial { k, p, e } => {
                let rise = |i: usize| 1.0 - (1.0 - part(i, k)).powi(i32::try_from(p).unwrap_or(i32::MAX));
                (1..=m).map(|i| floor(e + (1.0 - e) * rise(i))).collect()
            }
            Weighting::Observed { k, e } => {
                let k = k.min(m.div_ceil(2));
                let c: Vec<f64> = (1..=m).map(|i| curve.at(i, m)).collect();
                let most = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
                let between = most(c.get(k..m.saturating_sub(k)).unwrap_or(&[]));
                let value = |i: usize| match i {
                    i if i <= k => most(&c[..i]),
                    i if i > m - k => most(&c[i - 1..]),
                    _ => between,
                };
                (1..=m).map(|i| floor(e + (1.0 - e) * value(i))).collect()
            }
        }
    }
}

impl FromStr for Weighting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "{text:?} is no weighting: known are mean:uniform, mean:lin_k5_e0.1, mean:poly_k8_p2_e0.1 and mean:lob_k12_e0.1"
            )
        };
        let mut parts = text.strip_prefix("mean:").unwrap_or(text).split('_');
        let kind = parts.next().unwrap_or_default();
        let (mut k, mut e, mut p) = (5usize, 0.1f64, 2u32);
        for part in parts {
            let mut letters = part.chars();
            let (name, number) = (letters.next(), letters.as_str());
            match name {
                Some('k') if kind != "uniform" => k = number.parse().ok().filter(|&k| k > 0).ok_or_else(wrong)?,
                Some('e') if kind != "uniform" => {
                    e = number.parse().ok().filter(|e| (0.0..=1.0).contains(e)).ok_or_else(wrong)?;
                }
                Some('p') if kind == "poly" => {
                    p = number.parse().ok().filter(|&p| p > 0 && p % 2 == 0).ok_or_else(wrong)?;
                }
                _ => return Err(wrong()),
            }
        }
        match kind {
            "uniform" => Ok(Weighting::Uniform),
            "lin" => Ok(Weighting::Linear { k, e }),
            "poly" => Ok(Weighting::Polynomial { k, p, e }),
            "lob" => Ok(Weighting::Observed { k, e }),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Weighting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Weighting::Uniform => write!(f, "mean:uniform"),
            Weighting::Linear { k, e } => write!(f, "mean:lin_k{k}_e{e}"),
            Weighting::Polynomial { k, p, e } => write!(f, "mean:poly_k{k}_p{p}_e{e}"),
            Weighting::Observed { k, e } => write!(f, "mean:lob_k{k}_e{e}"),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::{Curve, Weighting};

    fn close(a: &[f64], b: &[f64]) {
        assert!(a.len() == b.len() && a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-12), "{a:?} {b:?}");
    }

    #[test]
    fn weights_by_hand() {
        let weights = |name: &str| name.parse::<Weighting>().unwrap().weights(6, &Curve::default());
        close(&weights("mean:uniform"), &[1.0; 6]);
        close(&weights("mean:lin_k2_e0.1"), &[0.1, 0.55, 1.0, 1.0, 0.55, 0.1]);
        // 1 - (1 - 1/2)^2 = 3/4.
        close(&weights("mean:poly_k2_p2_e0.2"), &[0.2, 0.8, 1.0, 1.0, 0.8, 0.2]);
    }

    #[test]
    fn observed_weights_rise_from_the_edges() {
        let curve = Curve::from_losses(&[0.9, 0.5, 0.6], &[0.7, 0.3, 0.4], 0.1);
        close(&curve.left, &[0.0, 0.5, 0.375]);
        let weights = Weighting::Observed { k: 3, e: 0.0 }.weights(8, &curve);
        // Running maxima from both edges, and the highest in between.
        close(&weights, &[1e-6, 0.5, 0.5, 1.0, 1.0, 0.75, 0.75, 0.25]);
        // A sequence of two sentences: each is at both edges.
        close(&Weighting::Observed { k: 12, e: 0.5 }.weights(2, &curve), &[0.5, 0.625]);
        close(&Curve::from_losses(&[1.0], &[1.0], 1.0).left, &[1.0]);
    }

    #[test]
    fn names_are_read_and_written() {
        for name in ["mean:uniform", "mean:lin_k5_e0.1", "mean:poly_k8_p2_e0.1", "mean:lob_k12_e0.1"] {
            assert_eq!(name.parse::<Weighting>().unwrap().to_string(), name);
        }
        for name in ["", "mean", "mean:lin_k0", "mean:poly_p3", "mean:lin_e2", "mean:uniform_k3", "mean:lin_x4"] {
            assert!(name.parse::<Weighting>().unwrap_err().contains("mean:uniform"), "{name}");
        }
    }

    proptest! {
        #[test]
        fn weights_are_positive_at_most_one_and_never_fall_towards_the_middle(
            m in 1usize..40, k in 1usize..20, e in 0.0f64..1.0, kind in 0usize..3,
        ) {
            let curve = Curve::from_losses(&[0.8, 0.4, 0.5], &[0.9, 0.6, 0.2], 0.3);
            let weighting = match kind {
                0 => Weighting::Linear { k, e },
                1 => Weighting::Polynomial { k, p: 2, e },
                _ => Weighting::Observed { k: 3, e },
            };
            let weights = weighting.weights(m, &curve);
            prop_assert_eq!(weights.len(), m);
            prop_assert!(weights.iter().all(|w| *w > 0.0 && *w <= 1.0 + 1e-12));
            if kind < 2 {
                prop_assert!(weights[..m.div_ceil(2)].is_sorted());
                prop_assert!(weights[m / 2..].iter().rev().is_sorted());
            }
        }
    }
}
