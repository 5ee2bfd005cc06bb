use pericope_api::{Boundaries, Document, KnownCount, SegmentError, Segmentation, Segmenter};

use super::cohesion::{self, Cohesion};
use super::words::Words;
use crate::Resources;
use crate::language::WORDS;
use crate::registry::args::SpecArgs;
use crate::registry::entry::{BuiltSegmenter, Needs, SegmenterEntry, SettingKey};
use crate::spec::SpecError;

pub(crate) const BAYESSEG: SegmenterEntry = SegmenterEntry {
    name: "bayesseg",
    summary: "Eisenstein and Barzilay's Bayesian segmenter: segments as Dirichlet compound multinomials",
    keys: &[
        SettingKey {
            name: "prior",
            default: "0.2",
            doc: "times that every word counts as seen in every segment beforehand",
        },
        SettingKey {
            name: "cost",
            default: "1.75",
            doc: "cost of a segment, in logarithms of the document's word count",
        },
        SettingKey { name: "max", default: "1000", doc: "most sentences a segment" },
    ],
    example: "bayesseg:prior=0.2,cost=2",
    needs: Needs::None,
    needs_of: None,
    has_scores: true,
    build,
};

fn build(args: &SpecArgs<'_>, _: &dyn Resources) -> Result<BuiltSegmenter, SpecError> {
    let default = BayesSeg::default();
    Ok(BuiltSegmenter::new(BayesSeg {
        prior: args.number("prior", default.prior, 1e-6..=1e6)?,
        cost: args.number("cost", default.cost, 0.0..=1e6)?,
        max: args.count("max", default.max, 1)?,
    }))
}

/// Bayesian segmentation by lexical cohesion (Eisenstein and Barzilay 2008, "Bayesian Unsupervised Topic Segmentation",
/// section 3; cue phrases are not read).
///
/// The words of a segment are drawn from a multinomial that is itself drawn from a symmetric Dirichlet distribution and
/// summed out: with W different words in the document and the prior t, a segment of n words in which word w occurs f(w)
/// times has the probability
///
/// ```text
/// G(W t) / G(W t + n)  *  product over words w of G(f(w) + t) / G(t),       G: the gamma function
/// ```
///
/// The segmentation of greatest probability is found by dynamic programming. Words are stems; function words and
/// numbers are left out. The prior stays as it is given (the authors' setting is 0.2); it is not estimated again on each
/// document. A document without words has no boundary.
///
/// The authors are told the number of segments. Where it is not known, a segment costs `cost` times ln(words of
/// the document) nats; with 1.75 the number of segments is right, in the mean, on Choi's (2000) artificial
/// documents. It has no effect where the number is known.
///
/// Scores are logistic in what the best segmentation without the boundary costs more than the best one with it, 5 nats
/// being one unit: above 0.5 at exactly the boundaries of the best segmentation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BayesSeg {
    /// Parameter of the symmetric Dirichlet distribution, above 0.
    pub prior: f64,
    /// Cost of a segment in units of ln(words of the document), at least 0.
    pub cost: f64,
    /// Most sentences a segment, at least 1; a known number of segments can raise it.
    pub max: usize,
}

impl Default for BayesSeg {
    fn default() -> Self {
        Self { prior: 0.2, cost: 1.75, max: 1000 }
    }
}

/// Ratios of gamma functions at whole distances are products, so that no gamma function is needed: G(x + 1) = x G(x).
impl Cohesion for BayesSeg {
    fn base(&self, words: &Words) -> Vec<f64> {
        let mass = self.prior * words.vocabulary() as f64;
        let mut cost = self.cost * (words.total().max(1) as f64).ln();
        let mut base = vec![cost];
        for n in 0..words.total() {
            cost += (mass + n as f64).ln();
            base.push(cost);
        }
        base
    }

    fn step(&self, words: &Words) -> Vec<f64> {
        (0..words.most()).map(|f| -(self.prior + f as f64).ln()).collect()
    }

    fn longest(&self) -> usize {
        self.max
    }
}

impl Segmenter for BayesSeg {
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

impl KnownCount for BayesSeg {
    fn segment_into(&self, document: &Document, segments: usize) -> Result<Boundaries, SegmentError> {
        cohesion::segment_into(self, document, segments)
    }
}

#[cfg(test)]
mod tests {
    use pericope_api::Document;

    use super::super::path::tests::cost;
    use super::super::samples::check;
    use super::super::words::Words;
    use super::BayesSeg;

    #[test]
    fn finds_where_the_words_change() {
        check(&BayesSeg::default());
        check(&BayesSeg { prior: 1.0, max: 40, ..BayesSeg::default() });
    }

    #[test]
    fn a_segment_is_as_probable_as_its_words_one_after_the_other() {
        let words = Words::read(&Document::from_sentences("d", &["Ships sail.", "Ships sink.", "Bread rises."]));
        let model = BayesSeg { prior: 0.5, cost: 0.0, max: 9 };
        let costs = super::cohesion::costs(&model, &words, 9);
        // Polya's urn with 5 words: each comes with probability (0.5 + times seen) / (2.5 + words seen).
        let first = (0.5 / 2.5) * (0.5 / 3.5) * (1.5 / 4.5) * (0.5 / 5.5);
        let second = (0.5 / 2.5) * (0.5_f64 / 3.5);
        assert!((cost(&costs, &[2]) + (first * second).ln()).abs() < 1e-12);
    }
}
