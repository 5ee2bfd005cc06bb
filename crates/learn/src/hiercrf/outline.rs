use super::tree::{Node, Tree};
use crate::corpus::SequenceDocument;

/// An element of a document in reading order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Element {
    /// A heading of a level, 1 the top.
    Heading(u8),
    /// A sentence.
    Sentence,
}

/// The priority of an element: that of a sentence is below every heading's. The root is above all.
fn rank(element: Element) -> u16 {
    match element {
        Element::Heading(level) => u16::from(level.max(1)),
        Element::Sentence => u16::MAX,
    }
}

/// The tree of a document's elements, headings and sentences alike (Nair et al. 2023, algorithm 1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    elements: Vec<Element>,
    /// The children of the root, then those of each element.
    children: Vec<Vec<usize>>,
}

impl Outline {
    /// Builds the tree: each element becomes the last child of the element before it, or of the nearest one above that which
    /// outranks it.
    #[must_use]
    pub fn new(elements: &[Element]) -> Self {
        let mut children = vec![Vec::new(); elements.len() + 1];
        // The element added last and those above it; the root (0) is never closed.
        let mut open = vec![0usize];
        for (at, &element) in elements.iter().enumerate() {
            while let Some(last) = open.last().and_then(|&last| elements.get(last.checked_sub(1)?)) {
                if rank(*last) < rank(element) {
                    break;
                }
                open.pop();
            }
            if let Some(own) = open.last().and_then(|&last| children.get_mut(last)) {
                own.push(at);
            }
            open.push(at + 1);
        }
        Self { elements: elements.to_vec(), children }
    }

    /// The elements of a document whose segments are known, its headings in front of their segments. Segments without a known
    /// depth are all of level 1, and so is the first.
    #[must_use]
    pub fn of(document: &SequenceDocument) -> Self {
        let mut elements = Vec::with_capacity(document.len() + document.segments());
        for (segment, range) in document.segment_ranges().enumerate() {
            let level = segment.checked_sub(1).and_then(|before| document.levels.get(before));
            elements.push(Element::Heading(level.copied().unwrap_or(1)));
            elements.extend(range.map(|_| Element::Sentence));
        }
        Self::new(&elements)
    }

    /// The elements by a walk through the tree in preorder: those that it was built from.
    #[cfg(test)]
    fn preorder(&self) -> Vec<Element> {
        let mut found = Vec::with_capacity(self.elements.len());
        let mut next: Vec<usize> = self.children.first().into_iter().flatten().rev().copied().collect();
        while let Some(at) = next.pop() {
            found.extend(self.elements.get(at));
            next.extend(self.children.get(at + 1).into_iter().flatten().rev());
        }
        found
    }

    /// The tree of its sentences, and which sentences these are: sections of fewer than `least` sentences are left out, subsections
    /// counted with them, and so are sections that become so short thereby.
    #[must_use]
    pub fn tree(&self, least: usize) -> (Tree, Vec<usize>) {
        // Sentences kept in each element with all below it: children come after their parents.
        let mut sizes = vec![0usize; self.children.len()];
        for (at, own) in self.children.iter().enumerate().rev() {
            let element = at.checked_sub(1).and_then(|at| self.elements.get(at));
            let size = match element {
                Some(Element::Sentence) => 1,
                _ => own.iter().filter_map(|&child| sizes.get(child + 1)).sum(),
            };
            let short = matches!(element, Some(Element::Heading(_))) && size < least;
            if let Some(entry) = sizes.get_mut(at) {
                *entry = if short { 0 } else { size };
            }
        }
        let (mut nodes, mut kept, mut sentence) = (Vec::new(), Vec::new(), 0);
        // Elements end where their section was left out: everything below it is skipped with it.
        let mut hidden = vec![false; self.children.len()];
        for (at, &element) in self.elements.iter().enumerate() {
            let size = sizes.get(at + 1).copied().unwrap_or(0);
            let gone = hidden.get(at + 1).copied().unwrap_or(false) || size == 0;
            if gone {
                for &child in self.children.get(at + 1).into_iter().flatten() {
                    if let Some(entry) = hidden.get_mut(child + 1) {
                        *entry = true;
                    }
                }
            }
            match element {
                Element::Sentence => {
                    if !gone {
                        kept.push(sentence);
                    }
                    sentence += 1;
                }
                Element::Heading(level) if !gone => {
                    nodes.push(Node { start: kept.len(), end: kept.len() + size, level });
                }
                Element::Heading(_) => {}
            }
        }
        // Sections of a tree do not cross.
        let tree = Tree::new(kept.len(), nodes).unwrap_or_else(|_| Tree::flat(kept.len()));
        (tree, kept)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::{Element, Outline};
    use crate::corpus::{Headings, Record, SequenceDocument};

    use Element::{Heading as H, Sentence as S};

    fn spans(elements: &[Element], least: usize) -> (Vec<(usize, usize, u8)>, Vec<usize>) {
        let (tree, kept) = Outline::new(elements).tree(least);
        (tree.nodes().iter().map(|n| (n.start, n.end, n.level)).collect(), kept)
    }

    #[test]
    fn sections_hold_what_follows_their_headings() {
        let elements = [S, H(1), S, S, H(3), S, S, H(2), S, S, H(1), S, S];
        let (found, kept) = spans(&elements, 0);
        assert_eq!(found, [(0, 9, 0), (1, 7, 1), (3, 5, 3), (5, 7, 2), (7, 9, 1)]);
        assert_eq!(kept, (0..9).collect::<Vec<_>>());
    }

    #[test]
    fn chains_keep_the_deepest_level() {
        assert_eq!(spans(&[H(1), H(2), S, S, H(2), H(4), S, S, S], 0).0, [(0, 5, 1), (0, 2, 2), (2, 5, 4)]);
    }

    #[test]
    fn short_sections_are_left_out_with_those_that_become_short() {
        let elements = [S, H(1), S, S, H(2), S, H(1), S, S, S, H(2), S, S, H(2)];
        // The subsection of one sentence makes its section one of two.
        let (found, kept) = spans(&elements, 3);
        assert_eq!(found, [(0, 4, 0), (1, 4, 1)]);
        assert_eq!(kept, [0, 4, 5, 6]);
        assert_eq!(spans(&[H(1), S, H(1), S], 3), (vec![(0, 0, 0)], vec![]));
    }

    #[test]
    fn records_become_outlines() {
        let line = br#"{"id":"d","sentences":["a","b","c","d","e","f"],"boundaries":[2,4],"levels":[2,1],
            "headings":["A","B","C"]}"#;
        let record = Record::parse(line).unwrap();
        let outline = Outline::of(&SequenceDocument::new(&record, Headings::Dropped));
        assert_eq!(outline.preorder(), [H(1), S, S, H(2), S, S, H(1), S, S]);
        let kept = Outline::of(&SequenceDocument::new(&record, Headings::Kept)).tree(0).0;
        let spans: Vec<_> = kept.nodes().iter().map(|n| (n.start, n.end, n.level)).collect();
        assert_eq!(spans, [(0, 9, 0), (0, 6, 1), (3, 6, 2), (6, 9, 1)]);
    }

    proptest! {
        /// Algorithm 1 promises it.
        #[test]
        fn preorder_gives_the_elements_back(levels in prop::collection::vec(0u8..=6, 0..60)) {
            let elements: Vec<Element> = levels.iter().map(|&l| if l == 0 { S } else { H(l) }).collect();
            let outline = Outline::new(&elements);
            prop_assert_eq!(outline.preorder(), elements.clone());
            let (tree, kept) = outline.tree(0);
            prop_assert_eq!(tree.len(), elements.iter().filter(|&&e| e == S).count());
            prop_assert_eq!(kept.len(), tree.len());
            // Nothing short stays.
            let (tree, kept) = outline.tree(3);
            prop_assert!(tree.nodes().iter().skip(1).all(|node| node.len() >= 3));
            prop_assert!(kept.is_sorted_by(|a, b| a < b) && kept.len() == tree.len());
        }
    }
}
