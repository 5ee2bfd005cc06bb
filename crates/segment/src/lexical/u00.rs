use pericope_api::{Boundaries, Document, KnownCount, SegmentError, Segmentation, Segmenter};

use super::cohesion::{self, Cohesion};
use super::words::Words;
use crate::Resources;
use crate::language::WORDS;
use crate::registry::args::SpecArgs;
use crate::registry::entry::{BuiltSegmenter, Needs, SegmenterEntry, SettingKey};
use crate::spec::SpecError;

pub(crate) const U00_ENTRY: SegmenterEntry = SegmenterEntry {
    name: "u00",
    summary: "Utiyama and Isahara's minimum-cost path: every segment has word frequencies of its own",
    keys: &[SettingKey { name: "max", default: "1000", doc: "most sentences a segment" }],
    example: "u00:max=1000",
    needs: Needs::None,
    needs_of: None,
    has_scores: true,
    build,
};

fn build(args: &SpecArgs<'_>, _: &dyn Resources) -> Result<BuiltSegmenter, SpecError> {
    Ok(BuiltSegmenter::new(U00 { max: args.count("max", U00::default().max, 1)? }))
}

/// The minimum-cost path of Utiyama and Isahara (2001, "A Statistical Model for Domain-Independent Text Segmentation",
/// sections 2 and 3).
///
/// The words of a segment are drawn from word frequencies of its own, with Laplace's smoothing: a segment of n_i
/// words, in which word w occurs f(w) times, costs the sum over its words of -ln((f(w) + 1) / (n_i + k)), k being the
/// number of different words of the document, and ln(n) for being a segment, n being the number of words of the
/// document. The segmentation of least cost wins, so the model finds the number of segments itself.
///
/// Words are stems; function words and numbers are left out. Ours is the limit on a segment's length: without it the time
/// grows with the square of the document's length. A document without words has no boundary.
///
/// Scores are logistic in what the best segmentation without the boundary costs more than the best one with it, 5 nats
/// being one unit: above 0.5 at exactly the boundaries of the best segmentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct U00 {
    /// Most sentences a segment, at least 1; a known number of segments can raise it.
    pub max: usize,
}

impl Default for U00 {
    fn default() -> Self {
        Self { max: 1000 }
    }
}

impl Cohesion for U00 {
    fn base(&self, words: &Words) -> Vec<f64> {
        let prior = (words.total().max(1) as f64).ln();
        let smoothed = |n: usize| ((n + words.vocabulary()).max(1) as f64).ln();
        (0..=words.total()).map(|n| prior + n as f64 * smoothed(n)).collect()
    }

    fn step(&self, words: &Words) -> Vec<f64> {
        let together = |f: usize| -(f as f64) * ((f + 1) as f64).ln();
        (0..words.most()).map(|f| together(f + 1) - together(f)).collect()
    }

    fn longest(&self) -> usize {
        self.max
    }
}

impl Segmenter for U00 {
    fn fingerprint(&self) -> String {
        WORDS.to_owned()
    }

    fn segment(&self, document: &Document) -> Result<Segmentation, SegmentError> {
        Ok(cohesion::segment(self, document))
    }

    fn known_count(&self) -> Option<&dyn KnownCount> {
        Some(self)
    }
}

impl KnownCount for U00 {
    fn segment_into(&self, document: &Document, segments: usize) -> Result<Boundaries, SegmentError> {
        cohesion::segment_into(self, document, segments)
    }
}

#[cfg(test)]
mod tests {
    use pericope_api::Document;

    use super::super::cohesion::Cohesion;
    use super::super::path::tests::cost;
    use super::super::samples::check;
    use super::super::words::Words;
    use super::U00;

    #[test]
    fn finds_where_the_words_change() {
        check(&U00::default());
        check(&U00 { max: 1 << 40 });
    }

    #[test]
    fn a_segment_costs_what_the_paper_says() {
        let words = Words::read(&Document::from_sentences("d", &["Ships sail.", "Ships sink.", "Bread rises."]));
        let model = U00::default();
        let costs = super::cohesion::costs(&model, &words, model.longest());
        // 6 words, 5 different ones; ship twice, sail and sink once in the first segment of 4 words.
        let expected = [6.0_f64, 6.0, 9.0 / 3.0, 9.0 / 3.0, 9.0 / 2.0, 9.0 / 2.0, 7.0 / 2.0, 7.0 / 2.0];
        assert!((cost(&costs, &[2]) - expected.iter().map(|x| x.ln()).sum::<f64>()).abs() < 1e-12);
        assert_eq!(model.step(&words).len(), 2);
    }
}
