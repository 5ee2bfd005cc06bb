//! The settings of a segmenter that do best on validation documents.

use pericope_api::{Boundaries, Document, Segmentation};
use pericope_segment::Chunker;
use pericope_segment::metrics::BoundaryCounts;
use rayon::prelude::*;
use serde::Serialize;

use crate::read::{Segmented, Set};

/// A setting of a segmenter and how it does.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tried {
    /// The segmenter's spec, without a threshold.
    pub spec: String,
    /// The threshold that suits it best; of equals the first. None where it finds the number of segments by itself.
    pub tau: Option<f64>,
    /// F1 of exact boundaries over all documents at that threshold, 0 to 1.
    pub f1: f64,
    /// Share of the proposed boundaries that are true.
    pub precision: f64,
    /// Share of the true boundaries that are proposed.
    pub recall: f64,
    /// Boundaries proposed over true boundaries.
    pub proposed_over_true: f64,
}

/// The result of tuning.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tuning {
    /// Documents that were read.
    pub documents: usize,
    /// Every setting, in the order given.
    pub tried: Vec<Tried>,
    /// The one with the highest F1; of equals the first.
    pub best: Tried,
}

/// Why nothing can be chosen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TuneError {
    /// There is no document, no boundary or no setting to choose by.
    #[error("{0}")]
    Nothing(&'static str),
    /// A segmenter failed, or gives no scores.
    #[error("{spec} on document '{document}': {reason}")]
    Segmenter {
        /// Its spec.
        spec: String,
        /// Id of the document.
        document: String,
        /// What went wrong.
        reason: String,
    },
}

/// How the thresholds of a segmenter are tried.
pub enum Way {
    /// Its gaps are scored once, and a segment ends where the score is above the threshold.
    Scores(Chunker),
    /// It cuts anew for each threshold, which says more than where its scores are cut off; or finds the number by itself.
    Cuts(Vec<(Option<f64>, Chunker)>),
}

/// Tries every segmenter, by its spec, with every threshold on all documents. No size limit takes part. `done` is called as each
/// segmenter is finished.
///
/// # Errors
/// [`TuneError`].
pub fn tune(
    sets: &[Set],
    segmenters: &[(String, Way)],
    thresholds: &[f64],
    done: &dyn Fn(),
) -> Result<Tuning, TuneError> {
    let documents: Vec<&Segmented> = sets.iter().flat_map(|set| &set.documents).collect();
    if documents.is_empty() {
        return Err(TuneError::Nothing("there is no document to tune on"));
    }
    if documents.iter().all(|one| one.reference.after().is_empty()) {
        return Err(TuneError::Nothing("no document to tune on has a boundary: every F1 would be 0"));
    }
    let mut tried = Vec::with_capacity(segmenters.len());
    for (spec, way) in segmenters {
        let all: Vec<Tried> = match way {
            Way::Scores(chunker) => {
                let gaps = Gaps::of(spec, chunker, &documents)?;
                thresholds.iter().map(|&tau| gaps.at(spec, tau)).collect()
            }
            Way::Cuts(cuts) => {
                let each = cuts.iter().map(|(tau, chunker)| cut(spec, *tau, chunker, &documents));
                each.collect::<Result<_, _>>()?
            }
        };
        tried.extend(all.into_iter().reduce(better));
        done();
    }
    let best = tried.iter().cloned().reduce(better);
    let best = best.ok_or(TuneError::Nothing("there is nothing to tune: no segmenter or no threshold"))?;
    Ok(Tuning { documents: documents.len(), tried, best })
}

/// The one with the higher F1; of equals the first.
fn better(best: Tried, next: Tried) -> Tried {
    if next.f1 > best.f1 { next } else { best }
}

/// How a segmenter does by its own cuts.
fn cut(spec: &str, tau: Option<f64>, chunker: &Chunker, documents: &[&Segmented]) -> Result<Tried, TuneError> {
    let one = |one: &&Segmented| -> Result<BoundaryCounts, TuneError> {
        let found =
            chunker.segmenter().segment(&one.document).map_err(|e| failed(spec, &one.document, e.to_string()))?;
        let proposed = match found {
            Segmentation::Scores { scores, threshold } => Boundaries::above(&scores, threshold),
            Segmentation::Boundaries(boundaries) => boundaries,
            _ => return Err(failed(spec, &one.document, "it does not cut at the ends of sentences".into())),
        };
        BoundaryCounts::of(&one.reference, &proposed).map_err(|e| failed(spec, &one.document, e.to_string()))
    };
    let counts: Vec<BoundaryCounts> = documents.par_iter().map(one).collect::<Result<_, _>>()?;
    let mut all = BoundaryCounts::default();
    counts.into_iter().for_each(|one| all += one);
    Ok(tried(spec, tau, all))
}

fn failed(spec: &str, document: &Document, reason: String) -> TuneError {
    TuneError::Segmenter { spec: spec.to_owned(), document: document.id.clone(), reason }
}

fn tried(spec: &str, tau: Option<f64>, counts: BoundaryCounts) -> Tried {
    Tried {
        spec: spec.to_owned(),
        tau,
        f1: counts.f1(),
        precision: counts.precision(),
        recall: counts.recall(),
        proposed_over_true: counts.ratio().unwrap_or_default(),
    }
}

/// The scores of all gaps, highest first, and which of the gaps are boundaries.
struct Gaps {
    scores: Vec<(f64, bool)>,
    /// True boundaries.
    truth: usize,
    /// Of the first so many gaps, how many are boundaries.
    found: Vec<usize>,
}

impl Gaps {
    fn of(spec: &str, chunker: &Chunker, documents: &[&Segmented]) -> Result<Self, TuneError> {
        let one = |one: &&Segmented| -> Result<Vec<(f64, bool)>, TuneError> {
            if one.document.len() < 2 {
                return Ok(Vec::new());
            }
            match chunker.segmenter().segment(&one.document) {
                Ok(Segmentation::Scores { scores, .. }) => {
                    let is_true = |gap: usize| one.reference.after().binary_search(&gap).is_ok();
                    Ok(scores.iter().enumerate().map(|(i, &score)| (score, is_true(i + 1))).collect())
                }
                Ok(_) => {
                    Err(failed(spec, &one.document, "it gives no scores, so there is no threshold to choose".into()))
                }
                Err(e) => Err(failed(spec, &one.document, e.to_string())),
            }
        };
        let all: Vec<Vec<(f64, bool)>> = documents.par_iter().map(one).collect::<Result<_, _>>()?;
        let mut scores: Vec<(f64, bool)> = all.into_iter().flatten().collect();
        scores.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut found = vec![0];
        for (_, is_true) in &scores {
            found.push(found.last().copied().unwrap_or(0) + usize::from(*is_true));
        }
        Ok(Self { truth: found.last().copied().unwrap_or(0), scores, found })
    }

    fn at(&self, spec: &str, tau: f64) -> Tried {
        let proposed = self.scores.partition_point(|(score, _)| *score > tau);
        let found = self.found.get(proposed).copied().unwrap_or(0);
        tried(spec, Some(tau), BoundaryCounts { proposed, reference: self.truth, matched: found })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use pericope_segment::registry::build;
    use pericope_segment::spec::Spec;
    use pericope_segment::{Limits, Standalone};

    use super::*;

    fn built(spec: &str) -> Chunker {
        build(&Spec::parse(spec).unwrap(), &Standalone { defaults: Limits::NONE }).unwrap()
    }

    fn chunker(spec: &str) -> (String, Way) {
        (spec.to_owned(), Way::Scores(built(spec)))
    }

    #[test]
    fn the_best_threshold_is_that_of_all_gaps() {
        let sentences: Vec<String> = (0..40).map(|i| format!("Sentence number {i} is here.")).collect();
        let document = Document::from_sentences("d", &sentences);
        let random = chunker("random:seed=3");
        // What the segmenter itself scores highest is the truth: some threshold finds exactly that.
        let Ok(Segmentation::Scores { scores, .. }) = built("random:seed=3").segmenter().segment(&document) else {
            unreachable!()
        };
        let reference = Boundaries::top(&scores, 6);
        let set = Set { documents: vec![Segmented { document, reference, labels: Vec::new() }], ..Set::default() };
        let thresholds: Vec<f64> = (0..100_000).map(|i| f64::from(i) / 1e5).collect();
        let sets = [set];
        let found = tune(&sets, &[chunker("random:seed=4"), random], &thresholds, &|| ()).unwrap();
        assert_eq!((found.tried.len(), found.documents), (2, 1));
        assert_eq!((found.best.spec.as_str(), found.best.f1), ("random:seed=3", 1.0));
        assert_eq!(Boundaries::above(&scores, found.best.tau.unwrap()).after(), sets[0].documents[0].reference.after());
        let other = &found.tried[0];
        assert!(
            other.f1 < 1.0
                && (other.f1 - 2.0 * other.precision * other.recall / (other.precision + other.recall)).abs() < 1e-12
        );
        // By its own cuts, with thresholds and without: what its scores give at the threshold that it proposes.
        let at = |mean: usize| built(&format!("random:seed=3,mean={mean}"));
        let own = |mean: usize| {
            let Ok(Segmentation::Scores { scores, threshold }) =
                at(mean).segmenter().segment(&sets[0].documents[0].document)
            else {
                unreachable!()
            };
            let (found, truth) = (Boundaries::above(&scores, threshold), &sets[0].documents[0].reference);
            let hits = found.after().iter().filter(|gap| truth.after().contains(gap)).count();
            2.0 * hits as f64 / (found.after().len() + truth.after().len()) as f64
        };
        let cuts = Way::Cuts(vec![(Some(0.1), at(30)), (Some(0.2), at(6)), (Some(0.3), at(2))]);
        let alone = Way::Cuts(vec![(None, built("texttiling"))]);
        let by_cuts = tune(&sets, &[("random".into(), cuts), ("texttiling".into(), alone)], &[], &|| ()).unwrap();
        let most = [30, 6, 2].map(own).into_iter().fold(0.0, f64::max);
        assert!(most > 0.0 && (by_cuts.tried[0].f1 - most).abs() < 1e-12, "{by_cuts:?}");
        assert!(by_cuts.tried[0].tau.is_some() && by_cuts.tried[1].tau.is_none(), "{by_cuts:?}");
        let spans = Way::Cuts(vec![(None, built("fixed:words=9"))]);
        assert!(tune(&sets, &[("fixed".into(), spans)], &[], &|| ()).is_err());
        // A segmenter without scores has no threshold.
        let error = tune(&sets, &[chunker("fixed:words=9")], &thresholds, &|| ()).unwrap_err().to_string();
        assert!(error.contains("no scores") && error.contains("fixed"), "{error}");
        assert!(tune(&[], &[], &thresholds, &|| ()).is_err());
        assert!(tune(&sets, &[], &thresholds, &|| ()).is_err());
    }
}
