//! How close an answer is to the gold answer.
//!
//! All are shares in 0..=1 but [`lexical_judge`], which is 0..=10. Texts in any script are taken; exact match and token
//! F1 cut at white space, so for scripts that do not put spaces between words, a whole clause is one token, and ROUGE-L
//! knows ASCII letters and digits only (as published): [`lexical_judge`] leaves it out where it has nothing to read.

mod judge;
mod rouge;
mod squad;

use pericope_api::Span;
use serde::{Deserialize, Serialize};

pub use judge::{AnswerScores, lexical_judge};
pub use pericope_util::cosine;
pub use rouge::{Rouge, rouge_l, rouge_tokens};
pub use squad::{exact_match, normalise, token_f1};

/// A span in a document: what an extractive answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place<D> {
    /// The document.
    pub document: D,
    /// Byte range in it.
    pub span: Span,
}

/// NLQuAD's position-sensitive IoU (Soleimani, Monz and Worring 2021): bytes in both spans over bytes in
/// either. The same words elsewhere do not count. 0 in different documents, and where both spans are empty.
#[must_use]
pub fn answer_iou<D: PartialEq>(answer: &Place<D>, gold: &Place<D>) -> f64 {
    if answer.document != gold.document {
        return 0.0;
    }
    let both = answer.span.intersection(&gold.span).map_or(0, |span| span.len());
    let either = answer.span.len() + gold.span.len() - both;
    if either == 0 { 0.0 } else { both as f64 / either as f64 }
}

#[cfg(test)]
mod tests {
    use pericope_api::Span;

    use super::{Place, answer_iou};

    #[test]
    fn iou_is_of_positions() {
        let gold = Place { document: "a", span: Span::new(10, 30) };
        let at = |document, start, end| Place { document, span: Span::new(start, end) };
        assert_eq!(answer_iou(&at("a", 20, 40), &gold), 1.0 / 3.0);
        assert_eq!(answer_iou(&gold, &gold), 1.0);
        assert_eq!(answer_iou(&at("b", 10, 30), &gold), 0.0);
        assert_eq!(answer_iou(&at("a", 30, 40), &gold), 0.0);
        assert_eq!(answer_iou(&at("a", 5, 5), &at("a", 5, 5)), 0.0);
    }
}
