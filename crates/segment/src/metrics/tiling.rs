use pericope_api::Boundaries;
use serde::{Deserialize, Serialize};

use super::{LengthMismatch, sentences};

/// The number that the tiling score divides the summed distances by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TilingNormaliser {
    /// Index of the last sentence times the number of true boundaries: the score lies in 0..=1. Ours, and the default.
    #[default]
    PerBoundary,
    /// Index of the last sentence alone, as in the article's example; the score falls below 0 where the distances sum
    /// to more than the document's length.
    Document,
}

/// The tiling score (Costacurta): 1 - (sum over the true boundaries of the distance to the closest proposed one) / the
/// normaliser. It leans towards 1 and does not see surplus boundaries: show it beside the other metrics only.
///
/// Where there are fewer proposed than true boundaries, the true ones that are left over (the farthest from any
/// proposed one) have no partner, and each counts as the document's length, `n - 1`. 1 where there is no true boundary.
/// Linear time.
///
/// # Errors
/// [`LengthMismatch`] where the two do not have the same number of sentences.
///
/// ```
/// use pericope_api::Boundaries;
/// use pericope_segment::metrics::{TilingNormaliser, tiling_score};
///
/// // The article's example: distances 2, 0 and 2 in a document whose last sentence has index 163.
/// let truth = Boundaries::new(164, vec![56, 74, 118])?;
/// let output = Boundaries::new(164, vec![26, 54, 67, 74, 90, 112, 120, 130])?;
/// let score = tiling_score(&truth, &output, TilingNormaliser::Document)?;
/// assert_eq!(format!("{score:.4}"), "0.9755");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn tiling_score(
    reference: &Boundaries,
    hypothesis: &Boundaries,
    normaliser: TilingNormaliser,
) -> Result<f64, LengthMismatch> {
    let length = sentences(reference, hypothesis)?.saturating_sub(1);
    let count = reference.after().len();
    if count == 0 {
        return Ok(1.0);
    }
    let mut distances = nearest(reference.after(), hypothesis.after());
    let partnered = count.min(hypothesis.after().len());
    if partnered < distances.len() {
        // The farthest lose their partner; which of several equally far ones makes no difference to the sum.
        distances.select_nth_unstable(partnered);
        distances.truncate(partnered);
    }
    let sum: usize = distances.iter().sum::<usize>() + (count - partnered) * length;
    let whole = match normaliser {
        TilingNormaliser::PerBoundary => length * count,
        TilingNormaliser::Document => length,
    };
    Ok(1.0 - sum as f64 / whole as f64)
}

/// The tiling score with a penalty for surplus boundaries (ours; the article names one without saying which): the score
/// times true over proposed boundaries, where more are proposed than true. 0 where none is true and some are proposed; never
/// above the plain score.
///
/// # Errors
/// [`LengthMismatch`] where the two do not have the same number of sentences.
pub fn penalised_tiling_score(
    reference: &Boundaries,
    hypothesis: &Boundaries,
    normaliser: TilingNormaliser,
) -> Result<f64, LengthMismatch> {
    let score = tiling_score(reference, hypothesis, normaliser)?;
    let (truth, proposed) = (reference.after().len(), hypothesis.after().len());
    // A score below 0 (by the document's length alone) would come nearer to 0.
    Ok(if proposed > truth { score.min(score * truth as f64 / proposed as f64) } else { score })
}

/// Distance from each of `truth` to the closest of `proposed` (`usize::MAX` where there is none); both increase.
fn nearest(truth: &[usize], proposed: &[usize]) -> Vec<usize> {
    let mut at = 0;
    let distance = |boundary: usize, at: usize| proposed.get(at).map_or(usize::MAX, |&p| p.abs_diff(boundary));
    truth
        .iter()
        .map(|&boundary| {
            while distance(boundary, at + 1) <= distance(boundary, at) && at + 1 < proposed.len() {
                at += 1;
            }
            distance(boundary, at)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use pericope_api::Boundaries;

    use super::{TilingNormaliser, nearest, penalised_tiling_score, tiling_score};

    fn score(n: usize, truth: &[usize], output: &[usize], normaliser: TilingNormaliser) -> f64 {
        let truth = Boundaries::new(n, truth.to_vec()).unwrap();
        tiling_score(&truth, &Boundaries::new(n, output.to_vec()).unwrap(), normaliser).unwrap()
    }

    #[test]
    fn both_normalisers_on_the_articles_example() {
        let (truth, output) = (&[56, 74, 118], &[26, 54, 67, 74, 90, 112, 120, 130]);
        let whole = score(164, truth, output, TilingNormaliser::Document);
        assert!((whole - (1.0 - 4.0 / 163.0)).abs() < 1e-15);
        let each = score(164, truth, output, TilingNormaliser::PerBoundary);
        assert!((each - (1.0 - 4.0 / (3.0 * 163.0))).abs() < 1e-15);
    }

    #[test]
    fn too_few_boundaries_cost_the_document() {
        assert_eq!(score(11, &[3, 5], &[], TilingNormaliser::PerBoundary), 0.0);
        assert_eq!(score(11, &[3, 5], &[], TilingNormaliser::Document), -1.0);
        // 4 is one from 5 and from 3; only one of them may have it, the other counts 10.
        assert!((score(11, &[3, 5], &[4], TilingNormaliser::PerBoundary) - (1.0 - 11.0 / 20.0)).abs() < 1e-15);
        assert_eq!(score(11, &[], &[4], TilingNormaliser::PerBoundary), 1.0);
    }

    #[test]
    fn surplus_boundaries_cost_their_share() {
        let of = |truth: &[usize], output: &[usize]| {
            let [truth, output] = [truth, output].map(|after| Boundaries::new(164, after.to_vec()).unwrap());
            penalised_tiling_score(&truth, &output, TilingNormaliser::PerBoundary).unwrap()
        };
        let found = of(&[56, 74, 118], &[26, 54, 67, 74, 90, 112, 120, 130]);
        assert!((found - (1.0 - 4.0 / 489.0) * 3.0 / 8.0).abs() < 1e-15);
        assert!((of(&[3, 5], &[4]) - (1.0 - (1.0 + 163.0) / 326.0)).abs() < 1e-15, "too few are not punished twice");
        assert_eq!((of(&[], &[4]), of(&[], &[])), (0.0, 1.0));
        // Distances 6, 5 and 4 in a document of length 10: a score below 0 is not made better.
        let [truth, output] = [vec![1, 2, 3], vec![7, 8, 9, 10]].map(|after| Boundaries::new(11, after).unwrap());
        assert_eq!(penalised_tiling_score(&truth, &output, TilingNormaliser::Document).unwrap(), -0.5);
    }

    #[test]
    fn nearest_equals_brute_force() {
        let (truth, proposed) = ([1, 2, 8, 9, 30, 31, 50], [3, 4, 9, 10, 28, 33]);
        let brute: Vec<usize> =
            truth.iter().map(|&t: &usize| proposed.iter().map(|&p: &usize| p.abs_diff(t)).min().unwrap()).collect();
        assert_eq!(nearest(&truth, &proposed), brute);
    }
}
