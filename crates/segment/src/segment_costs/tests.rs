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
    if held < end - first && !costs.is_endless() {
        return f64::INFINITY;
    }
    let more = (first + held + 1..=end).map(|end| {
        costs.row(end - costs.longest())[held - 1] - if held > 1 { costs.row(end - held)[held - 2] } else { 0.0 }
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

/// Probabilities of boundaries by sums of logarithms, one segment after the other.
fn plainly(costs: &SegmentCosts, n: usize, price: f64, temperature: f64) -> Vec<f64> {
    let weight = |first: usize, end: usize| -(cost(costs, first, end) + price) / temperature;
    let sum = |terms: &[f64]| {
        let greatest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        greatest + terms.iter().map(|term| (term - greatest).exp()).sum::<f64>().ln()
    };
    let (mut forward, mut backward) = (vec![0.0; n + 1], vec![0.0; n + 1]);
    for end in 1..=n {
        forward[end] = sum(&(0..end).map(|first| forward[first] + weight(first, end)).collect::<Vec<_>>());
    }
    for first in (0..n).rev() {
        backward[first] = sum(&(first + 1..=n).map(|end| weight(first, end) + backward[end]).collect::<Vec<_>>());
    }
    (1..n).map(|gap| (forward[gap] + backward[gap] - forward[n]).exp()).collect()
}

#[test]
fn probabilities_of_long_documents() {
    // More ways than a number can count; costs of thousands; one segment that may be all.
    for (n, longest, unit, endless) in [
        (1500, 20, 0.01, false),
        (300, 40, 900.0, false),
        (300, 40, 900.0, true),
        (200, 7, 0.3, true),
        (257, 257, 5.0, false),
    ] {
        let table: Vec<f64> = (0..997).map(|i| unit * ((f64::from(i) * 1.7).sin() + 1.2)).collect();
        let band = band(n, longest, &table);
        let band = if endless { band.endless() } else { band };
        for (price, temperature) in [(0.5, 1.0), (-3.0, 0.2), (40.0, 24.0)] {
            let (found, expected) = (band.marginals(price, temperature), plainly(&band, n, price, temperature));
            for (gap, (found, expected)) in found.iter().zip(&expected).enumerate() {
                assert!((found - expected).abs() < 1e-8, "{n} {longest} {endless} {price}, {gap}: {found}, {expected}");
            }
        }
    }
}

#[test]
fn probabilities_where_sums_of_ways_leave_the_range_of_numbers() {
    // One segment may be all: of 2^1499 ways half have a boundary at each gap.
    let found = band(1500, 1500, &[0.0]).marginals(0.0, 1.0);
    assert!(found.iter().all(|p| (p - 0.5).abs() < 1e-8), "{found:?}");
    // One way leads to the end, by the odd gaps; to the even ones beside them there are as many as no number can count.
    let fill = |(): &mut (), first: usize, costs: &mut [f64]| {
        for (i, cost) in costs.iter_mut().enumerate() {
            let may_be = match i + 1 {
                1 => first == 0,
                2 => true,
                4 => first.is_multiple_of(2),
                _ => false,
            };
            *cost = if may_be { 0.0 } else { f64::INFINITY };
        }
    };
    let found = SegmentCosts::new(4001, 5, || (), fill).marginals(0.0, 1.0);
    for (i, found) in found.into_iter().enumerate() {
        let expected = if i.is_multiple_of(2) { 1.0 } else { 0.0 };
        assert!((found - expected).abs() < 1e-8, "{}: {found}", i + 1);
    }
}

#[test]
fn nothing_is_probable_where_nothing_is_allowed() {
    let forbidden = band(3, 3, &[f64::INFINITY]);
    assert_eq!(forbidden.cheapest(1.0).unwrap().after(), [] as [usize; 0]);
    assert_eq!(band(3, 2, &[f64::INFINITY]).marginals(1.0, 1.0), [0.0, 0.0]);
    assert!(band(0, 1, &[1.0]).marginals(1.0, 1.0).is_empty());
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
