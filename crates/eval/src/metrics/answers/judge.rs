use serde::{Deserialize, Serialize};

use super::{exact_match, rouge_l, rouge_tokens, token_f1};

/// What can be measured of an answer without a language model. A part that cannot be had is `None`, never 0.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct AnswerScores {
    /// 1 where the texts are the same after SQuAD's normalisation.
    pub exact_match: f64,
    /// F1 of the bags of words: is the content there?
    pub token_f1: f64,
    /// ROUGE-L's F: is it there in this order? `None` where the gold answer has no token that ROUGE reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rouge_l: Option<f64>,
    /// IoU of the places: is it this passage? `None` where the answer or the gold answer has no place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_iou: Option<f64>,
    /// Cosine of the embeddings, -1..=1: does it mean the same? `None` without an encoder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cosine: Option<f64>,
}

impl AnswerScores {
    /// Measures an answer against the gold answer; `answer_iou` and `cosine` come from where spans and vectors are.
    #[must_use]
    pub fn of(answer: &str, gold: &str, answer_iou: Option<f64>, cosine: Option<f64>) -> Self {
        let readable = !rouge_tokens(gold).is_empty();
        Self {
            exact_match: exact_match(answer, gold),
            token_f1: token_f1(answer, gold),
            rouge_l: readable.then(|| rouge_l(answer, gold).f),
            answer_iou,
            cosine,
        }
    }

    /// [`lexical_judge`] of these scores.
    #[must_use]
    pub fn judge(&self) -> f64 {
        lexical_judge(self)
    }
}

/// Weights of token F1, ROUGE-L, answer IoU and cosine.
const WEIGHTS: [f64; 4] = [3.0, 2.0, 3.0, 2.0];

/// Below this cosine, two texts are as close as any two texts of one language: it counts as no likeness at all.
const COSINE_FLOOR: f64 = 0.2;

/// A score in 0..=10 that is a fixed formula over words, places and vectors: not an opinion, and not to be compared with
/// a language model's scores.
///
/// It is ten times the weighted mean of the parts that exist: token F1 (weight 3), ROUGE-L (2), answer IoU (3), and the
/// cosine (2), rescaled from 0.2..1 to 0..1.
///
/// Why these. Each part is blind where another sees: token F1 credits the content in any order, but two unrelated English
/// passages of 150 words share a quarter of their words ("of", "is", "to"); ROUGE-L wants the words in order, which
/// chance rarely gives; IoU credits only the passage that the gold answer is, so words alone cannot earn it, but neither
/// can a right answer from elsewhere; the cosine credits a paraphrase, which the other three miss. Words and place, which
/// are exact, weigh 8 of 10; the cosine, which depends on the encoder, 2. No part is multiplied, so an answer is never 0
/// for one reason alone. Compare only scores that were made of the same parts: the harness holds them equal within a run.
///
/// Fixed points: the gold answer itself scores 10; an answer that shares no word, place or meaning scores 0.
///
/// ```
/// use pericope_eval::metrics::answers::{AnswerScores, lexical_judge};
///
/// let half = AnswerScores::of("cut at headings", "cut at blank lines", None, None);
/// assert!((lexical_judge(&half) - 10.0 * (4.0 / 7.0)).abs() < 1e-12);
/// ```
#[must_use]
pub fn lexical_judge(scores: &AnswerScores) -> f64 {
    let meaning = scores.cosine.map(|cosine| (cosine - COSINE_FLOOR) / (1.0 - COSINE_FLOOR));
    let parts = [Some(scores.token_f1), scores.rouge_l, scores.answer_iou, meaning];
    let (mut sum, mut weights) = (0.0, 0.0);
    for (part, weight) in parts.into_iter().zip(WEIGHTS) {
        if let Some(part) = part.filter(|part| part.is_finite()) {
            sum += weight * part.clamp(0.0, 1.0);
            weights += weight;
        }
    }
    if weights > 0.0 { 10.0 * sum / weights } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{AnswerScores, lexical_judge};

    #[test]
    fn gold_is_ten_and_nothing_is_zero() {
        for (gold, iou, cosine) in [
            ("Cut at headings.", Some(1.0), Some(1.0)),
            ("Cut at headings.", None, None),
            ("見出しで切る", None, Some(1.0)),
            ("", None, None),
        ] {
            let score = AnswerScores::of(gold, gold, iou, cosine).judge();
            assert!((score - 10.0).abs() < 1e-12, "{gold}: {score}");
        }
        assert_eq!(AnswerScores::of("apples", "cut at headings", Some(0.0), Some(0.1)).judge(), 0.0);
        assert_eq!(AnswerScores::of("", "cut at headings", None, None).judge(), 0.0);
    }

    #[test]
    fn missing_parts_are_not_zeros() {
        let known = AnswerScores { token_f1: 0.5, rouge_l: Some(0.5), ..AnswerScores::default() };
        assert_eq!(lexical_judge(&known), 5.0);
        assert_eq!(lexical_judge(&AnswerScores { answer_iou: Some(0.0), ..known }), 3.125);
        assert_eq!(lexical_judge(&AnswerScores { cosine: Some(f64::NAN), ..known }), 5.0);
        assert_eq!(lexical_judge(&AnswerScores { token_f1: f64::NAN, ..AnswerScores::default() }), 0.0);
    }

    proptest! {
        #[test]
        fn a_better_part_never_lowers_the_score(parts in prop::array::uniform4(0.0..=1.0_f64), which in 0_usize..4) {
            let score = |p: [f64; 4]| lexical_judge(&AnswerScores {
                exact_match: 0.0,
                token_f1: p[0],
                rouge_l: Some(p[1]),
                answer_iou: Some(p[2]),
                cosine: Some(p[3]),
            });
            let mut better = parts;
            better[which] = 1.0;
            prop_assert!((0.0..=10.0).contains(&score(parts)));
            prop_assert!(score(better) >= score(parts) - 1e-12);
        }
    }
}
