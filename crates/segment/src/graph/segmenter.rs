use pericope_api::{Boundaries, Document, KnownCount, SegmentError, Segmentation, Segmenter};
use rayon::prelude::*;

use super::compaction::compact;
use super::evidence::Evidence;
use super::louvain::louvain;
use super::network::Network;
use super::similarity::PairWeights;
use crate::language::{sentences, spread};

/// Graph tiling (Costacurta, "Text Tiling Done Right"): each sentence is linked with its `k` next ones by their
/// similarity times exp(-l/2), l being their distance; Louvain's communities in this graph, made
/// contiguous with the fewest moves, are the segments.
///
/// With several `similarities` each has its own graph; with several `runs` Louvain visits the nodes in several orders.
/// The scores say what share of these segmentations ends a segment at a gap, and how deep the valley is there in the
/// row of mean similarities across gaps. Above 0.5 are as many gaps as a segmentation has boundaries on average: with one
/// similarity and one run, those of the article's method.
///
/// Where the number of segments is given, the resolution is sought that gives it, for each similarity, and the gaps
/// with most evidence are taken.
///
/// Similarities below 0 count as 0. Headings, prose and list items are nodes; a code block or table belongs to the
/// sentence before it. Time: n * `k` comparisons and about `runs` * n * `k` steps for n sentences.
pub struct GraphTiling {
    /// The similarities of pairs of sentences, at least one.
    pub similarities: Vec<Box<dyn PairWeights>>,
    /// Next sentences that each sentence is compared with, at least 1.
    pub k: usize,
    /// Louvain's resolution, above 0: the greater, the more segments. 1 is plain modularity, for which the number of
    /// segments grows about with the square root of the number of sentences.
    pub resolution: f64,
    /// Louvain runs a similarity, at least 1.
    pub runs: usize,
    /// Seed of the first run; each has the next one.
    pub seed: u64,
    /// Whether weights fall with distance.
    pub decay: bool,
}

/// Greatest and least resolution that is tried for a given number of segments, as powers of e.
const RESOLUTIONS: f64 = 8.0;
/// Halvings of that range: at the last, one step is 0.4 % of the resolution.
const HALVINGS: usize = 12;

impl GraphTiling {
    /// The default settings with the given similarities.
    #[must_use]
    pub fn new(similarities: Vec<Box<dyn PairWeights>>) -> Self {
        Self { similarities, k: K, resolution: RESOLUTION, runs: RUNS, seed: 0, decay: true }
    }

    /// The evidence at the gaps between `read` sentences; `segments`: their number, if it is given.
    fn evidence(&self, document: &Document, read: &[usize], segments: Option<usize>) -> Result<Evidence, SegmentError> {
        let n = read.len();
        let decay: Vec<f64> =
            (1..=self.k.min(n)).map(|l| if self.decay { (-(l as f64) / 2.0).exp() } else { 1.0 }).collect();
        let mut evidence = Evidence::new(n.saturating_sub(1));
        let weight = 1.0 / (self.similarities.len().max(1) * self.runs.max(1)) as f64;
        for similarity in &self.similarities {
            let similarities = similarity.similarities(document, read, self.k.max(1))?;
            let edges = similarities.pairs().map(|(i, j, value)| (i, j, value.max(0.0) * decay[j - i - 1]));
            let network = Network::new(n, edges);
            let resolution = segments.map_or(self.resolution, |segments| self.resolution_for(&network, segments));
            let tile = |run: usize| compact(&louvain(&network, resolution, self.seed.wrapping_add(run as u64)));
            let found: Vec<Boundaries> = (0..self.runs.max(1)).into_par_iter().map(tile).collect();
            evidence.add(&similarities, &decay, found.iter().map(Boundaries::after), weight);
        }
        Ok(evidence)
    }

    /// The least resolution, of those tried, that gives at least so many segments; the greatest where none does.
    fn resolution_for(&self, network: &Network, segments: usize) -> f64 {
        let (mut low, mut high) = (-RESOLUTIONS, RESOLUTIONS);
        for _ in 0..HALVINGS {
            let middle: f64 = f64::midpoint(low, high);
            let found = compact(&louvain(network, middle.exp(), self.seed)).segments();
            if found < segments {
                low = middle;
            } else {
                high = middle;
            }
        }
        high.exp()
    }
}

pub(super) const K: usize = 5;
pub(super) const RESOLUTION: f64 = 1.0;
pub(super) const RUNS: usize = 10;

impl Segmenter for GraphTiling {
    fn fingerprint(&self) -> String {
        let all = self.similarities.iter().map(|similarity| similarity.fingerprint());
        all.filter(|one| !one.is_empty()).collect::<Vec<_>>().join(" ")
    }

    fn segment(&self, document: &Document) -> Result<Segmentation, SegmentError> {
        let read = sentences(document);
        let scores = if read.len() < 2 { Vec::new() } else { self.evidence(document, &read, None)?.scores() };
        Ok(Segmentation::Scores { scores: spread(&scores, &read, document.len()), threshold: 0.5 })
    }

    fn known_count(&self) -> Option<&dyn KnownCount> {
        Some(self)
    }
}

impl KnownCount for GraphTiling {
    fn segment_into(&self, document: &Document, segments: usize) -> Result<Boundaries, SegmentError> {
        let read = sentences(document);
        if document.len() < 2 || segments < 2 {
            return Ok(Boundaries::none(document.len()));
        }
        let mut values =
            if read.len() < 2 { Vec::new() } else { self.evidence(document, &read, Some(segments))?.values() };
        // Where there are not enough gaps with evidence, others between sentences still go before those around code.
        values.iter_mut().for_each(|value| *value = value.max(f64::MIN_POSITIVE));
        Ok(Boundaries::top(&spread(&values, &read, document.len()), segments - 1))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use pericope_api::{Boundaries, Document, Kind, KnownCount, Segmentation, Segmenter};

    use super::GraphTiling;
    use crate::graph::similarity::{Jaccard, PairWeights, SequenceMatcher};

    fn tiling(similarities: Vec<Box<dyn PairWeights>>) -> GraphTiling {
        GraphTiling::new(similarities)
    }

    /// Eight sentences on each of three topics.
    fn three_topics() -> Document {
        let topics = [
            "bread flour oven dough yeast crust",
            "ship sail mast rope keel harbour",
            "planet orbit moon comet star dust",
        ];
        let word = |topic: usize, i: usize| topics[topic].split(' ').nth(i % 6).unwrap();
        let sentence = |i: usize| (0..4).map(|j| word(i / 8, i + j)).collect::<Vec<_>>().join(" ");
        Document::from_sentences("d", &(0..24).map(sentence).collect::<Vec<_>>())
    }

    fn above(cuts: &Segmentation) -> Vec<usize> {
        let Segmentation::Scores { scores, threshold } = cuts else { unreachable!() };
        assert!(scores.iter().all(|s| (0.0..=1.0).contains(s)), "{scores:?}");
        Boundaries::above(scores, *threshold).after().to_vec()
    }

    #[test]
    fn finds_where_the_words_change() {
        for similarities in
            [vec![Box::new(Jaccard) as Box<dyn PairWeights>], vec![Box::new(Jaccard), Box::new(SequenceMatcher)]]
        {
            let tiling = GraphTiling { resolution: 0.6, ..tiling(similarities) };
            assert_eq!(above(&tiling.segment(&three_topics()).unwrap()), [8, 16]);
            assert_eq!(tiling.segment_into(&three_topics(), 3).unwrap().after(), [8, 16]);
            for segments in 0..30 {
                let found = tiling.segment_into(&three_topics(), segments).unwrap();
                assert_eq!(found.segments(), segments.clamp(1, 24));
            }
        }
    }

    #[test]
    fn one_run_is_the_articles_method() {
        use super::{Network, compact, louvain};

        let document = three_topics();
        let read: Vec<usize> = (0..24).collect();
        let similarities = Jaccard.similarities(&document, &read, 4).unwrap();
        for seed in 0..10 {
            let edges = similarities.pairs().map(|(i, j, w)| (i, j, w * (-((j - i) as f64) / 2.0).exp()));
            let expected = compact(&louvain(&Network::new(24, edges), 2.0, seed));
            let tiling = GraphTiling { k: 4, resolution: 2.0, runs: 1, seed, ..tiling(vec![Box::new(Jaccard)]) };
            assert_eq!(above(&tiling.segment(&document).unwrap()), expected.after());
        }
    }

    #[test]
    fn code_belongs_to_what_stands_before_it() {
        let mut document = three_topics();
        document.sentences[8].kind = Kind::Code;
        document.sentences[9].kind = Kind::Table;
        let tiling = GraphTiling { resolution: 0.6, ..tiling(vec![Box::new(Jaccard)]) };
        assert_eq!(above(&tiling.segment(&document).unwrap()), [10, 16]);
        assert_eq!(tiling.segment_into(&document, 3).unwrap().after(), [10, 16]);
        assert_eq!(tiling.segment_into(&document, 24).unwrap().segments(), 24);
    }

    #[test]
    fn short_documents_have_no_boundary() {
        let tiling = tiling(vec![Box::new(Jaccard)]);
        for n in 0..3 {
            let document = Document::from_sentences("d", &["same words", "same words"][..n.min(2)]);
            assert_eq!(above(&tiling.segment(&document).unwrap()), [0; 0]);
            assert_eq!(tiling.segment_into(&document, 1).unwrap().segments(), document.len().min(1));
        }
        let mut code = three_topics();
        code.sentences.iter_mut().for_each(|s| s.kind = Kind::Code);
        assert_eq!(above(&tiling.segment(&code).unwrap()), [0; 0]);
        assert_eq!(tiling.segment_into(&code, 4).unwrap().segments(), 4);
    }
}
