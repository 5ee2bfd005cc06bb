#![allow(clippy::unwrap_used)]

use pericope_api::{Boundaries, Document};
use pericope_segment::fusion::WordCosts;
use proptest::prelude::*;

use super::{Amount, Evidence, Objective, between, table};
use crate::topic::sections::expected_segments;
use crate::topic::{Lengths, Weights, best_count};

const SENTENCES: [&str; 9] = [
    "Ships sail the sea.",
    "Ships and sails.",
    "The sea is deep.",
    "Bread of rye.",
    "Rye dough rises.",
    "Dough and bread.",
    "Snow on ridges.",
    "Ice and snow.",
    "Ridges of ice.",
];

/// The evidence without a price for segments.
fn unpriced(odds: &[f64], words: Option<(&WordCosts, f64)>, lengths: Option<(&Lengths, f64)>) -> Evidence {
    Evidence::at(0.0, table(odds, words, lengths), odds.len() + 1)
}

/// Every segmentation of `n` sentences.
fn all(n: usize) -> impl Iterator<Item = Boundaries> {
    (0..1u32 << (n - 1))
        .map(move |bits| Boundaries::new(n, (1..n).filter(|gap| bits >> (gap - 1) & 1 == 1).collect()).unwrap())
}

/// The evidence for a segmentation, by its definition.
fn gain(found: &Boundaries, odds: &[f64], words: Option<(&WordCosts, f64)>, lengths: Option<(&Lengths, f64)>) -> f64 {
    let cost = |first: usize, end: usize| {
        words.map_or(0.0, |(words, weight)| {
            let mut row = vec![0.0; end - first];
            words.row(first, &mut words.counts(), &mut row);
            weight * row[end - first - 1]
        })
    };
    let odds_len = odds.len();
    let odds: f64 = found.after().iter().map(|after| odds[after - 1]).sum();
    let ranges = found.ranges();
    odds + ranges
        .map(|r| lengths.map_or(0.0, |(l, w)| w * l.evidence(r.len(), odds_len + 1)) - cost(r.start, r.end))
        .sum::<f64>()
}

proptest! {
    #[test]
    fn as_by_trying_everything(
        odds in prop::collection::vec(-4.0..3.0_f64, 1..9),
        (w_words, prior) in (prop::option::of(0.0..0.5_f64), prop::option::of(0.0..3.0_f64)),
        threshold in 0.05..0.95_f64,
        own_price in -3.0..3.0_f64,
    ) {
        let n = odds.len() + 1;
        let read = WordCosts::of(&Document::from_sentences("d", &SENTENCES[..n]));
        let fitted = Lengths { median: 3.0, deviation: 0.5, growth: 0.2 };
        let (words, lengths) = (w_words.map(|weight| (&read, weight)), prior.map(|weight| (&fitted, weight)));
        let gain = |found: &Boundaries| gain(found, &odds, words, lengths);
        let evidence = unpriced(&odds, words, lengths);

        let mass: Vec<(f64, Boundaries)> = all(n).map(|found| (gain(&found).exp(), found)).collect();
        let whole: f64 = mass.iter().map(|(weight, _)| weight).sum();
        for (gap, found) in evidence.probabilities.iter().enumerate() {
            let here: f64 = mass.iter().filter(|(_, found)| found.after().contains(&(gap + 1))).map(|(weight, _)| weight).sum();
            prop_assert!((found - here / whole).abs() < 1e-9);
            if words.is_none() && lengths.is_none() {
                prop_assert!((found - 1.0 / (1.0 + (-odds[gap]).exp())).abs() < 1e-9);
            }
        }

        // A price of segments counts like log-odds that are less by it.
        let priced = Evidence::at(own_price, table(&odds, words, lengths), n);
        let less: Vec<f64> = odds.iter().map(|odds| odds - own_price).collect();
        let as_well = unpriced(&less, words, lengths);
        for (found, expected) in priced.probabilities.iter().zip(&as_well.probabilities) {
            prop_assert!((found - expected).abs() < 1e-9);
        }
        for amount in [Amount::Above(threshold), Amount::Best(Objective::F1), Amount::Best(Objective::WindowDiff)] {
            prop_assert_eq!(priced.cut(amount).unwrap(), as_well.cut(amount).unwrap());
        }

        let price = (threshold / (1.0 - threshold)).ln();
        let worth = |found: &Boundaries| gain(found) - price * found.after().len() as f64;
        let most = all(n).map(|found| worth(&found)).fold(f64::NEG_INFINITY, f64::max);
        let above = evidence.cut(Amount::Above(threshold)).unwrap();
        prop_assert!((worth(&above) - most).abs() < 1e-9);

        for segments in 1..=n {
            let most = all(n).filter(|found| found.segments() == segments).map(|found| gain(&found)).fold(f64::NEG_INFINITY, f64::max);
            let found = evidence.segments(segments).unwrap();
            prop_assert_eq!(found.segments(), segments);
            prop_assert!((gain(&found) - most).abs() < 1e-9, "{} segments: {} {}", segments, gain(&found), most);
        }
        prop_assert_eq!(evidence.segments(n + 5).unwrap().segments(), n);
        let best = evidence.cut(Amount::Best(Objective::F1)).unwrap();
        prop_assert_eq!(best.after().len(), best_count(&evidence.probabilities));

        for amount in [Amount::Above(threshold), Amount::Per100(40.0), Amount::Best(Objective::F1), Amount::Best(Objective::WindowDiff), Amount::Best(Objective::Balanced)] {
            let evidence = unpriced(&odds, words, lengths);
            let chosen = evidence.cut(amount).unwrap();
            let (scores, threshold) = evidence.scores(&chosen, amount);
            prop_assert!((0.0..1.0).contains(&threshold) && scores.iter().all(|score| (0.0..=1.0).contains(score)));
            prop_assert_eq!(Boundaries::above(&scores, threshold), chosen);
        }
    }
}

/// Odds that repeat: many segmentations are equally good, and prices leave numbers out.
#[test]
fn any_number_is_given_also_where_no_price_gives_it() {
    for n in [2, 7, 60, 300] {
        let odds: Vec<f64> = (1..n).map(|i| if i % 3 == 0 { 1.5 } else { -2.0 }).collect();
        let lengths = Lengths { median: 8.0, deviation: 0.2, growth: 0.0 };
        let evidence = unpriced(&odds, None, Some((&lengths, 2.0)));
        for segments in (1..=n).step_by(1 + n / 40) {
            assert_eq!(evidence.segments(segments).unwrap().segments(), segments, "of {n}");
        }
        for sections in [0.01, 1.0, 7.0, 33.3, 100.0] {
            let found = evidence.cut(Amount::Per100(sections)).unwrap();
            let wanted = (sections * n as f64 / 100.0).round() as usize;
            assert_eq!(found.segments(), wanted.max(1));
        }
    }
}

#[test]
fn thresholds_at_the_ends_cut_nothing_and_everything() {
    let evidence = unpriced(&[20.0, -30.0, 0.5], None, None);
    assert_eq!(evidence.cut(Amount::Above(1.0)).unwrap().after(), [0; 0]);
    assert_eq!(evidence.cut(Amount::Above(0.0)).unwrap().after(), [1, 2, 3]);
    assert_eq!(evidence.cut(Amount::Above(0.5)).unwrap().after(), [1, 3]);
    assert_eq!(between(&[1.0, 1.0, 1.0], 2), 1.0_f64.next_down());
    assert_eq!((between(&[0.5, 0.1], 1), between(&[0.5], 0), between(&[0.5], 1)), (0.3, 0.75, 0.25));
}

/// Words say where boundaries lie, and not how many there are.
#[test]
fn as_many_are_expected_as_the_odds_promise() {
    let sentences: Vec<String> =
        (0..240).map(|i| format!("topic{} has word{} and {}", i / 17, i % 11, i % 7)).collect();
    let words = WordCosts::of(&Document::from_sentences("d", &sentences));
    let odds: Vec<f64> = (1..240).map(|i| if i % 12 == 0 { 0.5 } else { -4.0 }).collect();
    let expected = expected_segments(&odds);
    for weight in [0.0, 0.01, 0.3] {
        let weights = Weights { words: weight, ..Weights::default() };
        let evidence = Evidence::weighted(&odds, Some(&words), None, &weights);
        let found = 1.0 + evidence.probabilities.iter().sum::<f64>();
        assert!((found / expected).ln().abs() < 0.01, "{weight}: {found} is not {expected}");
        for amount in [Amount::Above(0.5), Amount::Best(Objective::F1)] {
            let found = evidence.cut(amount).unwrap().segments() as f64;
            assert!((0.5..2.0).contains(&(found / expected)), "{weight} {amount:?}: {found}, {expected}");
        }
    }
    let lengths = Lengths { median: 3.0, deviation: 0.4, growth: 0.0 };
    let weights = Weights { words: 0.0, prior: 2.0, ..Weights::default() };
    let found = 1.0 + Evidence::weighted(&odds, None, Some(&lengths), &weights).probabilities.iter().sum::<f64>();
    assert!((found / expected).ln().abs() < 0.01, "{found} is not {expected}");
    // Without a price words change it.
    let alone = 1.0 + unpriced(&odds, Some((&words, 0.3)), None).probabilities.iter().sum::<f64>();
    assert!((alone / expected).ln().abs() > 0.1, "{alone} {expected}");
}

/// A section may have any length: nothing forces a boundary where there is none.
#[test]
fn long_sections_stay_whole() {
    let mut odds = vec![-6.0; 5_000];
    odds[2_499] = 4.0;
    let lengths = Lengths { median: 9.0, deviation: 1.0, growth: 0.0 };
    for weighed in [None, Some((&lengths, 0.5))] {
        let evidence = unpriced(&odds, None, weighed);
        for amount in [Amount::Above(0.5), Amount::Best(Objective::WindowDiff), Amount::Best(Objective::F1)] {
            assert_eq!(evidence.cut(amount).unwrap().after(), [2_500], "{amount:?} {weighed:?}");
        }
    }
}

#[test]
fn uncertain_boundaries_are_right_for_f1_and_wrong_for_window_diff() {
    let odds: Vec<f64> = (1..200).map(|i| if i % 10 == 0 { -0.7 } else { -5.0 }).collect();
    let evidence = unpriced(&odds, None, None);
    let f1 = evidence.cut(Amount::Best(Objective::F1)).unwrap();
    let window_diff = evidence.cut(Amount::Best(Objective::WindowDiff)).unwrap();
    let balanced = evidence.cut(Amount::Best(Objective::Balanced)).unwrap().segments();
    assert_eq!(balanced, ((f1.segments() * window_diff.segments()) as f64).sqrt().round() as usize);
    assert!(window_diff.segments() < balanced && balanced < f1.segments(), "{balanced}");
    assert_eq!((f1.after().len(), window_diff.after().len()), (19, 0));
}
