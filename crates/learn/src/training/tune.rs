use serde::Serialize;

use super::data::LabelledDocument;
use super::options::TrainError;
use crate::nsp::Threshold;
use crate::sentences::Sentences;
use crate::weswin::{Curve, Logits, Means, Partition, Settings, WeSWin, Weighting, Window};

/// The settings that are tried on validation documents (Abbasi 2024, tuning).
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// Partitions; the logits of each are worked out once.
    pub partitions: Vec<Partition>,
    /// Weightings, all tried on the same logits. One alone is tried where a partition does not overlap.
    pub weightings: Vec<Weighting>,
    /// Thresholds in `[0, 1]`.
    pub thresholds: Vec<f64>,
}

impl Default for Grid {
    /// cr-1, ss-6, ss-4, ss-2; uniform, and lin, poly and lob with k = 5, 8, 10, 12, e = 0.1 and p = 2; thresholds from
    /// 0.05 to 0.8 by 0.01.
    fn default() -> Self {
        let mut weightings = vec![Weighting::Uniform];
        for k in [5, 8, 10, 12] {
            weightings.push(Weighting::Linear { k, e: 0.1 });
            weightings.push(Weighting::Polynomial { k, p: 2, e: 0.1 });
            weightings.push(Weighting::Observed { k, e: 0.1 });
        }
        Self {
            partitions: vec![Partition::Right(1), Partition::Stride(6), Partition::Stride(4), Partition::Stride(2)],
            weightings,
            thresholds: (5..=80).map(|t| f64::from(t) / 100.0).collect(),
        }
    }
}

/// A setting and how it does.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tried {
    /// `ss-4`.
    pub partition: String,
    /// `mean:lin_k5_e0.1`.
    pub weights: String,
    /// The threshold that suits it best.
    #[serde(rename = "tau")]
    pub threshold: f64,
    /// F1 of exact boundaries over all documents, 0 to 1.
    pub f1: f64,
    /// Tokens read, special tokens included.
    pub tokens: u64,
}

/// The result of tuning.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuning {
    /// Every partition with every weighting, in the grid's order.
    pub tried: Vec<Tried>,
    /// The one with the highest F1; of equals the first.
    pub best: Tried,
    /// The quality of predictions by their place in a sequence, measured with ss-4.
    pub curve: Curve,
}

impl Tuning {
    /// Settings with what was found best.
    #[must_use]
    pub fn applied(&self, settings: Settings) -> Settings {
        let Tried { partition, weights, threshold, .. } = self.best.clone();
        Settings { partition, weights, threshold, curve: self.curve.clone(), ..settings }
    }
}

/// Tries partitions, weightings and thresholds on documents; the encoder reads each partition's sequences once.
///
/// # Errors
/// [`TrainError::Options`] where there is no document, none with a boundary, or nothing to try; where the model fails.
pub fn tune(model: &WeSWin, documents: &[LabelledDocument], grid: &Grid) -> Result<Tuning, TrainError> {
    let wrong = |reason: &str| Err(TrainError::Options(reason.into()));
    if documents.is_empty() {
        return wrong("there is no document to tune on");
    }
    if !documents.iter().any(LabelledDocument::has_boundary) {
        return wrong("no document to tune on has a boundary: every F1 would be 0");
    }
    if grid.partitions.is_empty() || grid.weightings.is_empty() || grid.thresholds.is_empty() {
        return wrong("there is nothing to tune: no partition, no weighting or no threshold");
    }
    let read = |partition: Partition| -> Result<(Vec<(usize, Logits)>, u64), TrainError> {
        let before = model.tokens_read();
        let logits = logits(model, documents, partition)?;
        Ok((logits, model.tokens_read() - before))
    };
    let stride = Partition::Stride(4);
    let observed = read(stride)?;
    let curve = curve(documents, &observed.0);
    let mut tried = Vec::new();
    for &partition in &grid.partitions {
        let (logits, tokens) = if partition == stride { observed.clone() } else { read(partition)? };
        for (i, &weighting) in grid.weightings.iter().enumerate() {
            if i > 0 && !partition.overlaps() {
                break;
            }
            let probabilities = average(documents, &logits, weighting, &curve);
            let (f1, threshold) = best(documents, &probabilities, &grid.thresholds);
            let (partition, weights) = (partition.to_string(), weighting.to_string());
            tried.push(Tried { partition, weights, threshold, f1, tokens });
        }
    }
    let best = tried.iter().cloned().reduce(|best, next| if next.f1 > best.f1 { next } else { best });
    let best = best.ok_or_else(|| TrainError::Options("there is nothing to tune".into()))?;
    Ok(Tuning { tried, best, curve })
}

/// The best F1 with one pass of cr-1, and its threshold.
pub(super) fn best_threshold(model: &WeSWin, documents: &[LabelledDocument]) -> Result<(f64, f64), TrainError> {
    let logits = logits(model, documents, Partition::Right(1))?;
    let probabilities = average(documents, &logits, Weighting::Uniform, &Curve::default());
    let thresholds: Vec<f64> = (5..=80).map(|t| f64::from(t) / 100.0).collect();
    Ok(best(documents, &probabilities, &thresholds))
}

fn logits(
    model: &WeSWin,
    documents: &[LabelledDocument],
    partition: Partition,
) -> Result<Vec<(usize, Logits)>, TrainError> {
    let sentences: Vec<&Sentences> = documents.iter().map(|d| &d.sentences).collect();
    let windows: Vec<(usize, Window)> = (sentences.iter().enumerate())
        .flat_map(|(d, document)| model.windows(document, partition).into_iter().map(move |w| (d, w)))
        .collect();
    let owners: Vec<usize> = windows.iter().map(|(d, _)| *d).collect();
    Ok(owners.into_iter().zip(model.read(&sentences, windows)?).collect())
}

/// Places at each edge of a sequence that are told apart.
const EDGE: usize = 12;

/// Mean losses by place: from the first sentence and from the last, where the other edge is as far away or further, and
/// elsewhere. The sentence amid a short sequence is near both edges and counts at both.
fn curve(documents: &[LabelledDocument], logits: &[(usize, Logits)]) -> Curve {
    let (mut left, mut right, mut middle) = ([(0.0, 0u32); EDGE], [(0.0, 0u32); EDGE], (0.0, 0u32));
    for (d, Logits { window, odds }) in logits {
        let ends = &documents[*d].ends;
        let last = ends.len().saturating_sub(1);
        for (i, &odds) in window.active.clone().zip(odds).filter(|&(i, _)| i < last) {
            let towards = if ends[i] { -f64::from(odds) } else { f64::from(odds) };
            let loss = towards.max(0.0) + (-towards.abs()).exp().ln_1p();
            let (from_left, from_right) = (i - window.read.start, window.read.end - 1 - i);
            let add = |place: &mut (f64, u32)| *place = (place.0 + loss, place.1 + 1);
            if from_left.min(from_right) >= EDGE {
                add(&mut middle);
                continue;
            }
            if from_left <= from_right {
                add(&mut left[from_left]);
            }
            if from_right <= from_left {
                add(&mut right[from_right]);
            }
        }
    }
    let everywhere = left.iter().chain(&right).chain(std::iter::once(&middle));
    let (sum, count) = everywhere.fold((0.0, 0), |(sum, count), place| (sum + place.0, count + place.1));
    let overall = sum / f64::from(count.max(1));
    let mean = |&(sum, count): &(f64, u32)| if count > 0 { sum / f64::from(count) } else { overall };
    let means = |places: &[(f64, u32)]| places.iter().map(mean).collect::<Vec<f64>>();
    Curve::from_losses(&means(&left), &means(&right), mean(&middle))
}

fn average(
    documents: &[LabelledDocument],
    logits: &[(usize, Logits)],
    weighting: Weighting,
    curve: &Curve,
) -> Vec<Vec<f64>> {
    let mut means: Vec<Means> = documents.iter().map(|d| Means::new(d.sentences.len())).collect();
    for (d, Logits { window, odds }) in logits {
        means[*d].add(window, odds, &weighting.weights(window.read.len(), curve));
    }
    means.iter().map(Means::all).collect()
}

/// The highest micro F1 over thresholds, and the first threshold that has it.
fn best(documents: &[LabelledDocument], probabilities: &[Vec<f64>], thresholds: &[f64]) -> (f64, f64) {
    let mut found = (-1.0, 0.5);
    for &threshold in thresholds {
        let (mut hits, mut proposed, mut true_ones) = (0u64, 0u64, 0u64);
        for (document, p) in documents.iter().zip(probabilities) {
            let gaps = p.len().saturating_sub(1);
            for (&p, &end) in p[..gaps].iter().zip(&document.ends) {
                hits += u64::from(p > threshold && end);
                proposed += u64::from(p > threshold);
                true_ones += u64::from(end);
            }
        }
        let f1 = 2.0 * hits as f64 / (proposed + true_ones).max(1) as f64;
        if f1 > found.0 {
            found = (f1, threshold);
        }
    }
    found
}

/// The threshold with the highest F1 on gaps (log-odds of "is next", and whether a segment ends there): halfway between
/// the highest log-odds that it cuts and the next; of equals the lowest. `None` where no segment ends.
pub(super) fn best_odds(mut gaps: Vec<(f64, bool)>) -> Option<(f64, Threshold)> {
    gaps.sort_by(|a, b| a.0.total_cmp(&b.0));
    let ends = gaps.iter().filter(|(_, end)| *end).count();
    let (mut hits, mut best) = (0, None);
    for (i, &(odds, end)) in gaps.iter().enumerate() {
        hits += usize::from(end);
        let next = gaps.get(i + 1).map_or(odds, |next| next.0);
        // Gaps of equal log-odds are cut together.
        if next <= odds && i + 1 < gaps.len() {
            continue;
        }
        let f1 = 2.0 * hits as f64 / (i + 1 + ends) as f64;
        if ends > 0 && best.is_none_or(|(before, _)| f1 > before) {
            best = Some((f1, Threshold::of_odds(f64::midpoint(odds, next))));
        }
    }
    best
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{best_odds, curve};
    use crate::Sentences;
    use crate::training::LabelledDocument;
    use crate::weswin::{Logits, Window};

    #[test]
    fn the_sentence_amid_a_short_sequence_is_near_both_edges() {
        let document = |n: usize| LabelledDocument {
            id: String::new(),
            sentences: Sentences::new(vec![&[7u32][..]; n], 9),
            ends: vec![false; n],
        };
        let read = |n: usize, odds: &[f32]| Logits { window: Window { read: 0..n, active: 0..n }, odds: odds.into() };
        // Three sentences, the middle one mistaken; thirty, none of which is, nor the fourth behind them.
        let mut long = vec![-9.0; 30];
        long[0] = -1.0;
        let documents = [document(4), document(31)];
        let found = curve(&documents, &[(0, read(3, &[-9.0, 9.0, -9.0])), (1, read(30, &long))]);
        // The worst place is the second from either edge; the middle of long sequences is as good as any.
        assert!(found.left[1] < 0.01 + found.left[0] && found.left[1] < 0.6 && found.right[1] < 0.6, "{found:?}");
        assert!(found.middle > 0.99 && found.left[2] > 0.99 && found.right[0] > 0.99, "{found:?}");
    }

    #[test]
    fn the_best_odds_by_hand() {
        assert_eq!(best_odds(vec![]), None);
        assert_eq!(best_odds(vec![(1.0, false)]), None);
        // Cut are the two lowest: both true ones, and one more proposed.
        let (f1, threshold) = best_odds(vec![(3.0, false), (-1.0, false), (0.0, true), (8.0, false)]).unwrap();
        assert!((f1 - 2.0 / 3.0).abs() < 1e-12 && (threshold.odds() - 1.5).abs() < 1e-12);
        // Equal log-odds are cut together or not at all.
        let (f1, threshold) = best_odds(vec![(2.0, true), (2.0, false), (2.0, true)]).unwrap();
        assert!((f1 - 0.8).abs() < 1e-12 && (threshold.odds() - 2.0).abs() < 1e-12);
    }
}
