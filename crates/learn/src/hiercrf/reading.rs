use std::ops::Range;
use std::sync::Arc;

use candle_core::{Device, Tensor};
use pericope_api::{EncodeError, SegmentError};
use rayon::prelude::*;

use super::binary::{BinaryNode, Kind, recover};
use super::chart::{Triangle, best, inside, marginals};
use super::model::HierCrf;
use super::network::{Place, Read};
use super::tree::{Node, Tree};

/// The label of a segment and its probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TopicLabel {
    /// The first sentence, from 0.
    pub start: usize,
    /// One past the last sentence.
    pub end: usize,
    /// The place of the label among those of the model.
    pub topic: usize,
    /// Its probability.
    pub probability: f64,
}

/// The segments that a model finds in a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The tree.
    pub tree: Tree,
    /// For each gap between two sentences the probability, in `[0, 1]`, that a node of the tree begins behind it.
    pub scores: Vec<f64>,
    /// The label of every node and every run of sentences in the tree; nothing where the model has no labels.
    pub topics: Vec<TopicLabel>,
}

/// Windows that are read side by side: bounds memory, and fills the rows of a matrix product.
const TOGETHER: usize = 16;

/// A window that has been read.
struct Window {
    span: Range<usize>,
    scores: Triangle,
    read: Arc<Read>,
    /// Its place in the batch.
    document: usize,
}

/// A part of the document between two seams, parsed on its own.
struct Stretch {
    span: Range<usize>,
    /// Its nodes in sentences of the document, without its root.
    nodes: Vec<Node>,
    topics: Vec<TopicLabel>,
}

/// The windows of a document: each begins half a window after the one before.
fn windows(sentences: usize, window: usize) -> Vec<Range<usize>> {
    let stride = (window / 2).max(1);
    let more = sentences.saturating_sub(window).div_ceil(stride);
    (0..=more).map(|k| k * stride..(k * stride + window).min(sentences)).collect()
}

/// Boundary probabilities from windows that overlap: a mean that trusts a window most in its middle.
struct Scores {
    sums: Vec<f64>,
    weights: Vec<f64>,
}

impl Scores {
    fn add(&mut self, span: &Range<usize>, firsts: &[f64]) {
        let length = firsts.len();
        for (i, first) in firsts.iter().enumerate().skip(1) {
            let weight = i.min(length - i) as f64;
            let gap = span.start + i - 1;
            if let (Some(sum), Some(total)) = (self.sums.get_mut(gap), self.weights.get_mut(gap)) {
                *sum += weight * first;
                *total += weight;
            }
        }
    }

    fn at(&self, gap: usize) -> f64 {
        match (self.sums.get(gap), self.weights.get(gap)) {
            (Some(sum), Some(weight)) if *weight > 0.0 => (sum / weight).clamp(0.0, 1.0),
            _ => 0.0,
        }
    }
}

fn failed(error: candle_core::Error) -> SegmentError {
    EncodeError::Run(Box::new(error)).into()
}

impl HierCrf {
    /// Reads a document of so many sentences. `vectors` gives the vectors of a range of sentences, row by row, and is asked
    /// for each sentence once, in order.
    ///
    /// A document longer than the model's window is read in windows that overlap by half. Where two overlap, the likeliest
    /// boundary is the seam at which the tree of one goes over into that of the other. Time is in proportion to the number
    /// of sentences; memory holds some windows, and a few numbers a sentence.
    ///
    /// # Errors
    /// As `vectors`; [`SegmentError`] where it gives another number of vectors, and where the model fails.
    pub fn read(
        &self,
        sentences: usize,
        vectors: &mut dyn FnMut(Range<usize>) -> Result<Vec<f32>, SegmentError>,
    ) -> Result<Reading, SegmentError> {
        if sentences == 0 {
            return Ok(Reading { tree: Tree::flat(0), scores: Vec::new(), topics: Vec::new() });
        }
        let gaps = sentences - 1;
        let mut scores = Scores { sums: vec![0.0; gaps], weights: vec![0.0; gaps] };
        let mut stretches = Vec::new();
        let (mut pending, mut from): (Option<Window>, usize) = (None, 0);
        let width = self.settings().sizes.input;
        // The vectors of the sentences from `at` on.
        let (mut known, mut at) = (Vec::new(), 0);
        for group in windows(sentences, self.settings().window).chunks(TOGETHER) {
            let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
            known.drain(..((first.start - at) * width).min(known.len()));
            at = first.start;
            let have = at + known.len() / width;
            if have < last.end {
                known.extend(vectors(have..last.end)?);
            }
            if known.len() != (last.end - at) * width {
                let reason = format!("the encoder gave no vectors of {width} numbers for all sentences");
                return Err(SegmentError::Unsupported(reason));
            }
            for (window, firsts) in self.group(group, &known, at).map_err(failed)? {
                scores.add(&window.span, &firsts);
                if let Some(before) = pending.take() {
                    let seam = seam(&before.span, &window.span, &scores);
                    stretches.push(self.stretch(&before, from..seam).map_err(failed)?);
                    from = seam;
                }
                pending = Some(window);
            }
        }
        if let Some(last) = pending {
            stretches.push(self.stretch(&last, from..sentences).map_err(failed)?);
        }
        let scores: Vec<f64> = (0..gaps).map(|gap| scores.at(gap)).collect();
        let tree = joined(sentences, &stretches, |gap| scores.get(gap).is_some_and(|s| *s > self.settings().threshold));
        Ok(Reading { tree, scores, topics: stretches.into_iter().flat_map(|stretch| stretch.topics).collect() })
    }

    /// Reads some windows, whose vectors begin with that of sentence `at`.
    fn group(&self, group: &[Range<usize>], known: &[f32], at: usize) -> candle_core::Result<Vec<(Window, Vec<f64>)>> {
        let width = self.settings().sizes.input;
        let lengths: Vec<usize> = group.iter().map(Range::len).collect();
        let time = lengths.iter().copied().max().unwrap_or(0);
        let mut x = vec![0f32; group.len() * time * width];
        for (window, x) in group.iter().zip(x.chunks_exact_mut((time * width).max(1))) {
            let own = &known[(window.start - at) * width..(window.end - at) * width];
            x[..own.len()].copy_from_slice(own);
        }
        let x = Tensor::from_vec(x, (group.len(), time, width), &Device::Cpu)?.to_device(self.device())?;
        let read = Arc::new(self.network().read(&x, &lengths, &mut Ok)?);
        let scores = self.network().spans(&read)?.flatten_all()?.to_vec1::<f32>()?;
        self.count(lengths.iter().map(|n| (n * (n + 1) / 2) as u64).sum());
        let one = |(document, span): (usize, &Range<usize>)| {
            let own = &scores[document * time * time..];
            let scores = Triangle::of(span.len(), |start, end| f64::from(own[start * time + end - 1]));
            let firsts = marginals(&scores, &inside(&scores)).firsts;
            (Window { span: span.clone(), scores, read: Arc::clone(&read), document }, firsts)
        };
        Ok(group.par_iter().enumerate().map(one).collect())
    }

    /// Parses the sentences `span` of the document, which lie in a window.
    fn stretch(&self, window: &Window, span: Range<usize>) -> candle_core::Result<Stretch> {
        let (offset, length) = (span.start - window.span.start, span.len());
        let scores = Triangle::of(length, |start, end| window.scores.at(start + offset, end + offset));
        let spans = best(&scores);
        let place = |&(start, end): &(usize, usize)| -> Place { (window.document, (start + offset, end + offset)) };
        let kinds = if spans.is_empty() {
            Vec::new()
        } else {
            let places: Vec<Place> = spans.iter().map(place).collect();
            self.network().kinds(&window.read, &places)?.to_vec2::<f32>()?
        };
        let nodes = spans.iter().zip(&kinds).map(|(&(start, end), scores)| {
            let irreducible = matches!(scores.as_slice(), [reducible, irreducible] if irreducible > reducible);
            let kind = if irreducible { Kind::Irreducible } else { Kind::Reducible };
            BinaryNode { start, end, kind, level: 0 }
        });
        // Spans of a binary tree do not cross.
        let tree = recover(length, &nodes.collect::<Vec<_>>()).unwrap_or_else(|_| Tree::flat(length));
        let mut segments: Vec<(usize, usize)> = tree.nodes().iter().map(|node| (node.start, node.end)).collect();
        segments.extend(tree.children().iter().flatten().map(|node| (node.start, node.end)));
        segments.sort_unstable();
        segments.dedup();
        let topics = self.topics(window, &segments, place, span.start)?;
        let moved = |node: &Node| Node { start: node.start + span.start, end: node.end + span.start, level: 0 };
        let nodes = tree.nodes().iter().skip(1).map(moved).collect();
        Ok(Stretch { span, nodes, topics })
    }

    fn topics(
        &self,
        window: &Window,
        segments: &[(usize, usize)],
        place: impl Fn(&(usize, usize)) -> Place,
        first: usize,
    ) -> candle_core::Result<Vec<TopicLabel>> {
        let places: Vec<Place> = segments.iter().map(place).collect();
        let Some(scores) = self.network().topics(&window.read, &places)? else { return Ok(Vec::new()) };
        let label = |(&(start, end), scores): (&(usize, usize), Vec<f32>)| {
            let highest = scores.iter().copied().enumerate().reduce(|a, b| if b.1 > a.1 { b } else { a })?;
            let total: f64 = scores.iter().map(|score| f64::from(score - highest.1).exp()).sum();
            Some(TopicLabel { start: start + first, end: end + first, topic: highest.0, probability: 1.0 / total })
        };
        Ok(segments.iter().zip(scores.to_vec2::<f32>()?).filter_map(label).collect())
    }
}

/// The sentence at which the tree of a window goes over into that of the next: the likeliest boundary in the middle half of what
/// both read; of equals the first.
fn seam(before: &Range<usize>, after: &Range<usize>, scores: &Scores) -> usize {
    let shared = before.end.saturating_sub(after.start);
    let (low, high) = (after.start + shared.div_ceil(4).max(1), before.end - shared / 4);
    let likeliest = (low..high).map(|sentence| (scores.at(sentence - 1), sentence));
    likeliest.reduce(|a, b| if b.0 > a.0 { b } else { a }).map_or(low, |(_, sentence)| sentence)
}

/// The tree of the whole document: the nodes of all stretches under one root. Stretches without a boundary between them are one
/// part; a part that has no node inside is itself a node.
fn joined(sentences: usize, stretches: &[Stretch], is_boundary: impl Fn(usize) -> bool) -> Tree {
    let mut nodes: Vec<Node> = stretches.iter().flat_map(|stretch| stretch.nodes.iter().copied()).collect();
    let mut part = 0..0;
    let mut inner = 0;
    for stretch in stretches {
        inner += stretch.nodes.len();
        part.end = stretch.span.end;
        if stretch.span.end == sentences || is_boundary(stretch.span.end - 1) {
            if inner == 0 {
                nodes.push(Node { start: part.start, end: part.end, level: 0 });
            }
            (part.start, inner) = (part.end, 0);
        }
    }
    Tree::new(sentences, nodes).unwrap_or_else(|_| Tree::flat(sentences))
}

#[cfg(test)]
mod tests {
    use super::{Scores, Stretch, joined, seam, windows};
    use crate::hiercrf::tree::Node;

    #[test]
    fn windows_overlap_by_half_and_cover_all() {
        for whole in [7, 8] {
            assert_eq!(windows(whole, 8), std::slice::from_ref(&(0..whole)));
        }
        assert_eq!(windows(9, 8), [0..8, 4..9]);
        assert_eq!(windows(20, 8), [0..8, 4..12, 8..16, 12..20]);
        for n in 1..100 {
            let all = windows(n, 10);
            assert!(all.last().is_some_and(|last| last.end == n) && all.windows(2).all(|w| w[0].end - w[1].start == 5));
        }
    }

    #[test]
    fn a_seam_is_the_likeliest_boundary_that_both_windows_know() {
        let mut scores = Scores { sums: vec![0.0; 30], weights: vec![1.0; 30] };
        // Gap 11 lies at the overlap's edge, gap 14 in its middle half.
        (scores.sums[10], scores.sums[13], scores.sums[15]) = (0.9, 0.6, 0.6);
        assert_eq!(seam(&(0..20), &(10..30), &scores), 14);
        assert_eq!(seam(&(0..20), &(10..30), &Scores { sums: vec![0.0; 30], weights: vec![1.0; 30] }), 13);
    }

    #[test]
    fn stretches_become_one_tree() {
        let node = |start, end| Node { start, end, level: 0 };
        let stretch = |start: usize, end: usize, nodes: &[(usize, usize)]| Stretch {
            span: start..end,
            nodes: nodes.iter().map(|&(start, end)| node(start, end)).collect(),
            topics: Vec::new(),
        };
        let stretches =
            [stretch(0, 6, &[(0, 3), (3, 6)]), stretch(6, 10, &[]), stretch(10, 14, &[]), stretch(14, 20, &[])];
        let spans = |boundaries: &[usize]| -> Vec<(usize, usize)> {
            let tree = joined(20, &stretches, |gap| boundaries.contains(&(gap + 1)));
            tree.nodes().iter().map(|n| (n.start, n.end)).collect()
        };
        assert_eq!(spans(&[6, 14]), [(0, 20), (0, 3), (3, 6), (6, 14), (14, 20)]);
        assert_eq!(spans(&[]), [(0, 20), (0, 3), (3, 6)]);
    }

    #[test]
    fn windows_are_trusted_in_their_middle() {
        let mut scores = Scores { sums: vec![0.0; 5], weights: vec![0.0; 5] };
        scores.add(&(0..4), &[1.0, 0.2, 0.4, 0.6]);
        scores.add(&(2..6), &[1.0, 0.3, 0.5, 0.0]);
        let close =
            |gap: usize, expected: f64| assert!((scores.at(gap) - expected).abs() < 1e-12, "{}", scores.at(gap));
        close(0, 0.2);
        close(1, 0.4);
        // One sentence from the edge of both.
        close(2, (0.6 + 0.3) / 2.0);
        close(3, 0.5);
        assert_eq!(scores.at(99), 0.0);
    }
}
