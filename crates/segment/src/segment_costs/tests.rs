#![allow(clippy::unwrap_used)]

use pericope_api::Boundaries;
use proptest::prelude::*;

use super::{SegmentCosts, scores};

fn band(n: usize, longest: usize, table: &[f64]) -> SegmentCosts {
    SegmentCosts::new(
        n,
        longest,
        || (),
        |(), first, costs| {
            for (i, cost) in costs.iter_mut().enumerate() {
                *cost = table[(first * 31 + i * 7) % table.len()];
            }
        },
    )
}

/// Every segmentation of `n` sentences.
fn all(n: usize) -> impl Iterator<Item = Boundaries> {
    (0..1u32 << (n - 1))
        .map(move |bits| Boundaries::new(n, (1..n).filter(|gap| bits >> (gap - 1) & 1 == 1).collect()).unwrap())
}

/// The cost of one segment; infinite beyond the table, unless it is endless.
fn cost(costs: &SegmentCosts, first: usize, end: usize) -> f64 {
    let held = costs.longest().min(end - first);
    let more = (first + held + 1..=end).map(|end| match costs.is_endless() {
        true => {
            costs.row(end - costs.longest())[held - 1] - if held > 1 { costs.row(end - held)[held - 2] } else { 0.0 }
        }
        false => f64::INFINITY,
    });
    costs.row(first)[held - 1] + more.sum::<f64>()
}

proptest! {
    #[test]
    fn as_by_trying_everything(
        n in 1_usize..9,
        longest in 1_usize..9,
        endless in any::<bool>(),
        table in prop::collection::vec(-2.0..3.0_f64, 40),
        price in -1.0..2.0_f64,
    ) {
        let band = band(n, longest, &table);
        let band = if endless { band.endless() } else { band };
        prop_assert_eq!(band.is_endless(), endless && n > longest);
        let total = |b: &Boundaries| b.ranges().map(|range| cost(&band, range.start, range.end)).sum::<f64>();
        let priced = |b: &Boundaries| total(b) + price * b.segments() as f64;
        let least = all(n).map(|b| priced(&b)).fold(f64::INFINITY, f64::min);
        prop_assert!((priced(&band.cheapest(price).unwrap()) - least).abs() < 1e-9);
        for (i, cost) in band.costs_by_count(n, n).into_iter().enumerate() {
            let least = all(n).filter(|b| b.segments() == i + 1).map(|b| total(&b)).fold(f64::INFINITY, f64::min);
            match band.counted(i + 1).unwrap() {
                Some(boundaries) => {
                    prop_assert_eq!(boundaries.segments(), i + 1);
                    prop_assert!((cost - least).abs() < 1e-9 && (total(&boundaries) - least).abs() < 1e-9);
                }
                None => prop_assert!(least.is_infinite() && cost.is_infinite()),
            }
        }
        let temperature = 0.7;
        let mass: Vec<(f64, Boundaries)> = all(n).map(|b| ((-priced(&b) / temperature).exp(), b)).collect();
        let whole: f64 = mass.iter().map(|(p, _)| p).sum();
        for (i, found) in band.marginals(price, temperature).into_iter().enumerate() {
            let here: f64 = mass.iter().filter(|(_, b)| b.after().contains(&(i + 1))).map(|(p, _)| p).sum();
            prop_assert!((found - here / whole).abs() < 1e-9);
        }
    }
}

#[test]
fn scores_say_what_was_chosen() {
    let chosen = Boundaries::new(4, vec![2]).unwrap();
    for threshold in [0.0, 0.5, 0.95] {
        let scores = scores(vec![0.9, 0.4, 0.2], &chosen, threshold);
        assert_eq!(Boundaries::above(&scores, threshold), chosen);
    }
    assert_eq!(scores(vec![0.9, 0.4, 0.2], &chosen, 0.5)[2], 0.2);
}
