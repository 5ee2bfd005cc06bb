use std::collections::BTreeMap;

use serde::Serialize;

use super::resample::Clusters;
use super::{Figure, Label, mean};
use crate::stats::spearman;

/// Groups of answers by their length.
const GROUPS: usize = 3;
/// Positions that have a group of their own; the rest is one.
const POSITIONS: usize = 5;

/// Answers of about one length, or at one position.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// The least length or position.
    pub from: usize,
    /// The greatest.
    pub to: usize,
    /// Answers.
    pub labels: usize,
    /// Mean of people's scores.
    pub human: f64,
    /// Mean of the judge's.
    pub judge: f64,
    /// Judge less people.
    pub bias: Figure,
}

/// How a judge's bias, its score less the person's, grows with something that ought not to matter: the length of an answer, or its
/// position.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BiasTrend {
    /// Answers of which it is known.
    pub labels: usize,
    /// Spearman's correlation of the difference with it: above 0 the judge favours more of it.
    pub spearman: Figure,
    /// Points that a step of it adds to the difference (least squares): 100 words, or one position.
    pub slope: Figure,
    /// The same in groups.
    pub groups: Vec<Group>,
}

impl BiasTrend {
    pub(super) fn by_length(labels: &[Label], clusters: &[String], seed: u64) -> Option<Self> {
        let known = known(labels, clusters, |label| label.words);
        let mut order: Vec<usize> = known.iter().map(|one| one.value).collect();
        order.sort_unstable();
        // The group of a length: by how many answers are shorter.
        let group = |words: usize| order.partition_point(|&other| other < words) * GROUPS / order.len().max(1);
        Self::of(&known, 100.0, seed, group)
    }

    pub(super) fn by_position(labels: &[Label], clusters: &[String], seed: u64) -> Option<Self> {
        Self::of(&known(labels, clusters, |label| label.position), 1.0, seed, |position| position.min(POSITIONS + 1))
    }

    /// None where nothing is known or everything is the same.
    fn of(known: &[Known<'_>], step: f64, seed: u64, group: impl Fn(usize) -> usize) -> Option<Self> {
        let first = known.first()?.value;
        if known.iter().all(|one| one.value == first) {
            return None;
        }
        let all: Vec<usize> = (0..known.len()).collect();
        let clusters = Clusters::by(known.iter().map(|one| one.cluster));
        let pairs = |places: &[usize]| -> (Vec<f64>, Vec<f64>) {
            let at = places.iter().filter_map(|&i| known.get(i));
            at.map(|one| (one.value as f64, one.judge - one.human)).unzip()
        };
        let correlation = |places: &[usize]| {
            let (values, differences) = pairs(places);
            spearman(&values, &differences)
        };
        let slope = |places: &[usize]| {
            let (values, differences) = pairs(places);
            step * least_squares(&values, &differences)
        };
        let mut groups: BTreeMap<usize, Vec<&Known<'_>>> = BTreeMap::new();
        for one in known {
            groups.entry(group(one.value)).or_default().push(one);
        }
        Some(Self {
            labels: known.len(),
            spearman: Figure::of(&clusters, &all, seed, correlation),
            slope: Figure::of(&clusters, &all, seed, slope),
            groups: groups.into_values().map(|group| of_group(&group, seed)).collect(),
        })
    }
}

/// A label of which the thing is known.
struct Known<'a> {
    value: usize,
    human: f64,
    judge: f64,
    cluster: &'a str,
}

fn known<'a>(labels: &[Label], clusters: &'a [String], of: impl Fn(&Label) -> Option<usize>) -> Vec<Known<'a>> {
    (labels.iter().zip(clusters))
        .filter_map(|(label, cluster)| {
            Some(Known { value: of(label)?, human: label.human, judge: label.judge, cluster })
        })
        .collect()
}

fn of_group(group: &[&Known<'_>], seed: u64) -> Group {
    let values = group.iter().map(|one| one.value);
    let of = |score: fn(&Known<'_>) -> f64| mean(&group.iter().map(|one| score(one)).collect::<Vec<f64>>());
    let clusters = Clusters::by(group.iter().map(|one| one.cluster));
    let all: Vec<usize> = (0..group.len()).collect();
    let bias = |places: &[usize]| {
        let at = places.iter().filter_map(|&i| group.get(i));
        mean(&at.map(|one| one.judge - one.human).collect::<Vec<f64>>())
    };
    Group {
        from: values.clone().min().unwrap_or(0),
        to: values.max().unwrap_or(0),
        labels: group.len(),
        human: of(|one| one.human),
        judge: of(|one| one.judge),
        bias: Figure::of(&clusters, &all, seed, bias),
    }
}

/// The slope of the line of least squares; NaN where x does not vary.
fn least_squares(x: &[f64], y: &[f64]) -> f64 {
    let (center_x, center_y) = (mean(x), mean(y));
    let (mut both, mut square) = (0.0, 0.0);
    for (x, y) in x.iter().zip(y) {
        both += (x - center_x) * (y - center_y);
        square += (x - center_x).powi(2);
    }
    if square > 0.0 { both / square } else { f64::NAN }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn label(i: usize, words: usize, position: usize, bias: f64) -> Label {
        Label {
            question_id: i.to_string(),
            document: None,
            human: 5.0,
            judge: 5.0 + bias,
            words: Some(words),
            position: Some(position),
        }
    }

    #[test]
    fn a_judge_that_pays_for_length_is_found_out() {
        // A point more for every 100 words, whatever the position.
        let labels: Vec<Label> = (0..60).map(|i| label(i, 10 * i, i % 7 + 1, i as f64 / 10.0 - 3.0)).collect();
        let names: Vec<String> = labels.iter().map(|label| label.question_id.clone()).collect();
        let length = BiasTrend::by_length(&labels, &names, 7).unwrap();
        assert!((length.slope.value - 1.0).abs() < 1e-9 && length.spearman.value > 0.999);
        let bounds: Vec<(usize, usize, usize)> = length.groups.iter().map(|g| (g.from, g.to, g.labels)).collect();
        assert_eq!(bounds, [(0, 190, 20), (200, 390, 20), (400, 590, 20)]);
        assert!(length.groups[0].bias.value < -1.9 && length.groups[2].bias.value > 1.9);
        let position = BiasTrend::by_position(&labels, &names, 7).unwrap();
        let [low, high] = position.slope.interval.unwrap();
        assert!(low < 0.0 && 0.0 < high, "{position:?}");
        assert_eq!(position.groups.len(), 6);
        assert_eq!((position.groups[5].from, position.groups[5].to), (6, 7));
    }

    #[test]
    fn what_does_not_vary_leads_nowhere() {
        let labels: Vec<Label> = (0..4).map(|i| label(i, 30, 1, 0.0)).collect();
        let names: Vec<String> = labels.iter().map(|label| label.question_id.clone()).collect();
        assert!(BiasTrend::by_length(&labels, &names, 7).is_none());
        assert!(BiasTrend::by_position(&[], &[], 7).is_none());
    }
}
