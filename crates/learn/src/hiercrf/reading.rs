use std::ops::Range;
use std::sync::Arc;

use candle_core::{Device, Tensor};
use pericope_api::{Document, EncodeError, SegmentError};
use pericope_segment::language;
use rayon::prelude::*;

use super::binary::{BinaryNode, Kind, recover};
use super::chart::{Triangle, best, inside, marginals};
use super::checkpoint::Reads;
use super::model::HierCrf;
use super::network::{Place, Read};
use super::tree::{Node, Tree};
use super::window_rows::WindowRows;
use super::windows::{Scores, seam, windows};
use crate::probability::probability;
use crate::rows::Facts;
use crate::topic::VectorsOf;

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
    /// For each gap between two sentences the probability, in `[0, 1]`, that a node of the tree begins behind it; mixed with what the
    /// head of gaps says by the model's `gap_share`.
    pub scores: Vec<f64>,
    /// For each gap the probability by the head of gaps alone; empty where the model has none.
    pub gaps: Vec<f64>,
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

/// A window with two probabilities of each of its sentences: that it begins a node, and that by the head of gaps alone.
type Chances = (Window, Vec<f64>, Vec<f64>);

/// A part of the document between two seams, parsed on its own.
struct Stretch {
    span: Range<usize>,
    /// Its nodes in sentences of the document, without its root.
    nodes: Vec<Node>,
    topics: Vec<TopicLabel>,
}

/// Probabilities by trees, and by the head of gaps in a share of the sum; by trees alone where there is no head.
pub(crate) fn mixed(trees: &[f64], heads: &[f64], share: f64) -> Vec<f64> {
    if heads.is_empty() || share <= 0.0 {
        return trees.to_vec();
    }
    trees.iter().zip(heads).map(|(tree, head)| tree + share * (head - tree)).collect()
}

fn failed(error: candle_core::Error) -> SegmentError {
    EncodeError::Run(Box::new(error)).into()
}

impl HierCrf {
    /// Reads the sentences of a document that are language ([`language::sentences`]). `vectors` gives the vectors of sentences, by
    /// their index in the document, row by row, and is asked for each of those sentences once, in order.
    ///
    /// A document longer than the model's window is read in windows that overlap by half. Where two overlap, the likeliest
    /// boundary is the seam at which the tree of one goes over into that of the other. Time is in proportion to the number
    /// of sentences; memory holds some windows, and a few numbers a sentence.
    ///
    /// # Errors
    /// As `vectors`; [`SegmentError`] where it gives another number of vectors, and where the model fails.
    pub fn read_document(&self, document: &Document, vectors: VectorsOf<'_>) -> Result<Reading, SegmentError> {
        let facts = (self.settings().reads == Reads::Rows).then(|| Facts::of(document));
        let read = language::sentences(document);
        let mut own = |range: Range<usize>| vectors(read.get(range).unwrap_or_default());
        self.parsed(read.len(), facts.as_ref(), &mut own)
    }

    /// Reads a document of so many sentences, of which nothing but the vectors is known. `vectors` gives those of a range of
    /// sentences. All else is as in [`read_document`](Self::read_document).
    ///
    /// # Errors
    /// As [`read_document`](Self::read_document), and for a model that reads rows.
    pub fn read(
        &self,
        sentences: usize,
        vectors: &mut dyn FnMut(Range<usize>) -> Result<Vec<f32>, SegmentError>,
    ) -> Result<Reading, SegmentError> {
        match self.settings().reads {
            Reads::Vectors => self.parsed(sentences, None, vectors),
            Reads::Rows => {
                let reason = "the model reads rows: it has to see the document, and not its vectors alone";
                Err(SegmentError::Unsupported(reason.into()))
            }
        }
    }

    /// Reads so many sentences, of which `facts` are known beside the vectors.
    fn parsed(
        &self,
        sentences: usize,
        facts: Option<&Facts>,
        vectors: &mut dyn FnMut(Range<usize>) -> Result<Vec<f32>, SegmentError>,
    ) -> Result<Reading, SegmentError> {
        if sentences == 0 {
            return Ok(Reading { tree: Tree::flat(0), scores: Vec::new(), gaps: Vec::new(), topics: Vec::new() });
        }
        let gaps = sentences - 1;
        let (mut scores, mut heads) = (Scores::of(gaps), Scores::of(gaps));
        let mut stretches = Vec::new();
        let (mut pending, mut from): (Option<Window>, usize) = (None, 0);
        let mut rows = WindowRows::new(facts, self.settings().sizes.input);
        for group in windows(sentences, self.settings().window).chunks(TOGETHER) {
            let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
            let known = rows.of(first.start..last.end, vectors)?;
            let at = first.start;
            for (window, firsts, own) in self.group(group, &known, at).map_err(failed)? {
                scores.add(&window.span, &firsts);
                heads.add(&window.span, &own);
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
        let heads: Vec<f64> = match self.network().has_gaps() {
            true => (0..gaps).map(|gap| heads.at(gap)).collect(),
            false => Vec::new(),
        };
        let scores: Vec<f64> = (0..gaps).map(|gap| scores.at(gap)).collect();
        let scores = mixed(&scores, &heads, self.settings().gap_share);
        let tree = joined(sentences, &stretches, |gap| scores.get(gap).is_some_and(|s| *s > self.settings().threshold));
        Ok(Reading {
            tree,
            scores,
            gaps: heads,
            topics: stretches.into_iter().flat_map(|stretch| stretch.topics).collect(),
        })
    }

    /// Reads some windows. What is `known` of sentences begins with sentence `at`. Of each sentence of a window the probability that it
    /// begins a node is given, and that by the head of gaps alone, where there is one.
    fn group(&self, group: &[Range<usize>], known: &[f32], at: usize) -> candle_core::Result<Vec<Chances>> {
        let width = self.settings().width();
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
        let odds = read.gaps().map(Tensor::to_vec2::<f32>).transpose()?.unwrap_or_default();
        let one = |(document, span): (usize, &Range<usize>)| {
            let own = &scores[document * time * time..];
            let scores = Triangle::of(span.len(), |start, end| f64::from(own[start * time + end - 1]));
            let firsts = marginals(&scores, &inside(&scores)).firsts;
            let odds = odds.get(document).map(Vec::as_slice).unwrap_or_default();
            // The gap in front of a sentence is that behind the one before it.
            let before = std::iter::once(&0.0).chain(odds).take(span.len());
            let own = before.map(|&odds| probability(f64::from(odds))).collect();
            (Window { span: span.clone(), scores, read: Arc::clone(&read), document }, firsts, own)
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
    use super::{Stretch, joined};
    use crate::hiercrf::tree::Node;

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
}
