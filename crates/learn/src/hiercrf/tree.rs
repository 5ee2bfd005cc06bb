use pericope_api::SegmentTree;
use serde::Serialize;

/// A node of a [`Tree`]: a segment with segments or sentences in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct Node {
    /// The first sentence, from 0.
    pub start: usize,
    /// One past the last sentence.
    pub end: usize,
    /// The level of the heading above it, 1 the top; 0 where there is none or none is known.
    pub level: u8,
}

impl Node {
    /// The number of sentences.
    #[must_use]
    pub fn len(&self) -> usize {
        self.end - self.start
    }

    /// True for a node without a sentence; a [`Tree`] has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.end <= self.start
    }
}

/// An ordered tree whose leaves are the sentences of a document: its segments from coarse to fine (Nair et al. 2023,
/// section 3).
///
/// Nodes are kept in preorder, the whole document first. Each spans two sentences or more, and no two the same sentences:
/// a chain of nodes with one child each is one node, with the deepest heading level of them. Sentences that lie in a node
/// and in none of its children are its own leaves.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Tree {
    sentences: usize,
    nodes: Vec<Node>,
}

impl Tree {
    /// A tree over `sentences` sentences of these nodes, in any order. Nodes of fewer than two sentences are left out, and
    /// of nodes with the same sentences the one with the deepest level stays. The whole document is always a node.
    ///
    /// # Errors
    /// What is wrong: a node that reaches beyond the document, or two that cross.
    pub fn new(sentences: usize, nodes: impl IntoIterator<Item = Node>) -> Result<Self, String> {
        let root = Node { start: 0, end: sentences, level: 0 };
        let mut nodes: Vec<Node> = nodes.into_iter().filter(|node| node.end >= node.start + 2).chain([root]).collect();
        nodes.sort_by(|a, b| a.start.cmp(&b.start).then(b.end.cmp(&a.end)).then(b.level.cmp(&a.level)));
        nodes.dedup_by_key(|node| (node.start, node.end));
        let mut open: Vec<Node> = Vec::new();
        for node in &nodes {
            while open.last().is_some_and(|last| last.end <= node.start) {
                open.pop();
            }
            if let Some(last) = open.last().filter(|last| last.end < node.end) {
                let Node { start, end, .. } = last;
                return Err(format!("the nodes {start}..{end} and {}..{} cross", node.start, node.end));
            }
            if node.end > sentences {
                let Node { start, end, .. } = node;
                return Err(format!("the node {start}..{end} reaches beyond {sentences} sentences"));
            }
            open.push(*node);
        }
        Ok(Self { sentences, nodes })
    }

    /// A tree of the whole document alone.
    #[must_use]
    pub fn flat(sentences: usize) -> Self {
        Self { sentences, nodes: vec![Node { start: 0, end: sentences, level: 0 }] }
    }

    /// The number of sentences.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sentences
    }

    /// True for the tree of no sentence.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sentences == 0
    }

    /// The nodes in preorder, the whole document first.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// For each of the `len() - 1` gaps between sentences, the depth of the smallest node around it (0: the whole
    /// document); `None` between two sentences that are leaves of one and the same node, where no segment ends.
    #[must_use]
    pub fn gaps(&self) -> Vec<Option<usize>> {
        let mut nodes = self.nodes.iter().peekable();
        // Ends of the nodes around the sentence at hand, outermost first.
        let mut open: Vec<usize> = Vec::new();
        // How many nodes lie around each sentence.
        let mut around = Vec::with_capacity(self.sentences);
        let mut gaps = Vec::with_capacity(self.sentences.saturating_sub(1));
        for sentence in 0..self.sentences {
            while open.last().is_some_and(|&end| end <= sentence) {
                open.pop();
            }
            let common = open.len();
            while nodes.next_if(|node| node.start == sentence).map(|node| open.push(node.end)).is_some() {}
            if let Some(&before) = around.last() {
                gaps.push((before != common || open.len() != common).then(|| common.saturating_sub(1)));
            }
            around.push(open.len());
        }
        gaps
    }

    /// The linear segmentations, coarse to fine, from the second on: the first is the whole document in one. Each is the list of sentences
    /// (1-based) after which a segment ends, and holds all of the one before it.
    #[must_use]
    pub fn levels(&self) -> Vec<Vec<usize>> {
        let gaps = self.gaps();
        let deepest = gaps.iter().flatten().max().map_or(0, |depth| depth + 1);
        (1..=deepest).map(|level| cut(&gaps, level)).collect()
    }

    /// The segmentation at a level: 0 is the whole document in one segment, 1 cuts between its children, and so on. A level beyond
    /// the deepest is the deepest.
    #[must_use]
    pub fn level(&self, level: usize) -> Vec<usize> {
        cut(&self.gaps(), level)
    }

    /// The coarsest cut whose segments all pass: a node that does not is cut between its children. A run of sentences that does not
    /// pass stays, for there is nothing in it to cut at. Gives the sentences (1-based) after which a segment ends.
    #[must_use]
    pub fn cut(&self, mut passes: impl FnMut(&Node) -> bool) -> Vec<usize> {
        let children = self.children();
        let mut after = Vec::new();
        // End of the segment that was kept whole last.
        let mut whole = 0;
        for (node, own) in self.nodes.iter().zip(children) {
            if node.end <= whole {
                continue;
            }
            if passes(node) {
                whole = node.end;
            } else {
                after.extend(own.iter().map(|child| child.end));
            }
        }
        after.sort_unstable();
        after.dedup();
        after.retain(|&end| end < self.sentences);
        after
    }

    /// The children of each node: segments in order, nodes and runs of leaves alike. A run of leaves is a node with level 0.
    /// The place in the list is that of the node.
    #[must_use]
    pub fn children(&self) -> Vec<Vec<Node>> {
        let mut children: Vec<Vec<Node>> = vec![Vec::new(); self.nodes.len()];
        let mut open: Vec<usize> = Vec::new();
        for (at, node) in self.nodes.iter().enumerate() {
            while open.last().is_some_and(|&last| self.nodes[last].end <= node.start) {
                open.pop();
            }
            if let Some(&parent) = open.last() {
                children[parent].push(*node);
            }
            open.push(at);
        }
        for (node, own) in self.nodes.iter().zip(&mut children) {
            let (mut all, mut at) = (Vec::with_capacity(own.len()), node.start);
            let run = |from: usize, to: usize| (from < to).then_some(Node { start: from, end: to, level: 0 });
            for child in own.iter() {
                all.extend(run(at, child.start));
                all.push(*child);
                at = child.end;
            }
            all.extend(run(at, node.end));
            *own = all;
        }
        children
    }

    /// The tree of the sentences `start..end`: nodes that reach beyond are cut off there.
    #[must_use]
    pub fn slice(&self, start: usize, end: usize) -> Self {
        let (start, end) = (start.min(self.sentences), end.min(self.sentences).max(start.min(self.sentences)));
        let inside = self.nodes.iter().filter(|node| node.start < end && start < node.end);
        let inside = inside.map(|node| Node {
            start: node.start.max(start) - start,
            end: node.end.min(end) - start,
            level: node.level,
        });
        // Nodes that did not cross do not cross when they are cut off.
        Self::new(end - start, inside).unwrap_or_else(|_| Self::flat(end - start))
    }

    /// The segments within segments. `segment` says what a node, or a run of sentences without a node of its own, is without its
    /// children; a single child is none.
    #[must_use]
    pub fn nested(&self, segment: impl Fn(&Node) -> SegmentTree) -> SegmentTree {
        // From the last node to the first: children are made before their parents.
        let mut made: Vec<(Node, SegmentTree)> = Vec::new();
        for (node, own) in self.nodes.iter().zip(self.children()).rev() {
            let is = |other: &Node, child: &Node| (other.start, other.end) == (child.start, child.end);
            let part = |child: &Node| match made.pop_if(|(last, _)| is(last, child)) {
                Some((_, part)) => part,
                None => segment(child),
            };
            let mut children: Vec<SegmentTree> = own.iter().map(part).collect();
            if children.len() < 2 {
                children.clear();
            }
            made.push((*node, SegmentTree { children, ..segment(node) }));
        }
        made.pop().map_or_else(|| segment(&Node { start: 0, end: self.sentences, level: 0 }), |(_, root)| root)
    }
}

fn cut(gaps: &[Option<usize>], level: usize) -> Vec<usize> {
    let ends = gaps.iter().enumerate().filter(|(_, depth)| depth.is_some_and(|depth| depth < level));
    ends.map(|(gap, _)| gap + 1).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use pericope_api::{SegmentTree, Span};

    use super::{Node, Tree};

    fn node(start: usize, end: usize) -> Node {
        Node { start, end, level: 0 }
    }

    /// Two sentences before the first section; a section of two sentences and two subsections; a section.
    fn tree() -> Tree {
        let level = |start, end, level| Node { start, end, level };
        Tree::new(12, [level(2, 9, 1), level(9, 12, 1), level(4, 6, 2), level(6, 9, 2)]).unwrap()
    }

    #[test]
    fn cuts_are_from_coarse_to_fine() {
        let tree = tree();
        assert_eq!(tree.levels(), [vec![2, 9], vec![2, 4, 6, 9]]);
        assert_eq!((tree.level(0), tree.level(1), tree.level(7)), (vec![], vec![2, 9], vec![2, 4, 6, 9]));
        let gaps = tree.gaps();
        assert_eq!(gaps.len(), 11);
        assert_eq!((gaps[0], gaps[1], gaps[3], gaps[8], gaps[9]), (None, Some(0), Some(1), Some(0), None));
        assert_eq!(Tree::flat(5).levels(), Vec::<Vec<usize>>::new());
        assert!(Tree::flat(0).gaps().is_empty() && Tree::flat(1).gaps().is_empty());
    }

    #[test]
    fn the_coarsest_cut_that_passes_opens_what_does_not() {
        let tree = tree();
        let at_most = |most: usize| tree.cut(|node| node.len() <= most);
        assert_eq!((at_most(12), at_most(7), at_most(3)), (vec![], vec![2, 9], vec![2, 4, 6, 9]));
        // Nothing to cut at in the runs of two sentences.
        assert_eq!(at_most(1), [2, 4, 6, 9]);
    }

    #[test]
    fn a_sentence_alone_between_sections_is_a_segment() {
        let tree = Tree::new(7, [node(0, 3), node(4, 7)]).unwrap();
        assert_eq!(tree.level(1), [3, 4]);
        assert_eq!(tree.children()[0], [node(0, 3), node(3, 4), node(4, 7)]);
    }

    #[test]
    fn chains_become_one_node_with_the_deepest_level() {
        let tree = Tree::new(4, [Node { start: 0, end: 4, level: 1 }, Node { start: 0, end: 4, level: 3 }, node(2, 3)]);
        assert_eq!(tree.unwrap().nodes(), [Node { start: 0, end: 4, level: 3 }]);
    }

    #[test]
    fn what_is_no_tree_is_refused() {
        assert!(Tree::new(9, [node(0, 4), node(2, 6)]).unwrap_err().contains("0..4 and 2..6 cross"));
        assert!(Tree::new(9, [node(4, 10)]).is_err());
    }

    #[test]
    fn a_slice_is_cut_off() {
        let slice = tree().slice(5, 11);
        assert_eq!(slice.len(), 6);
        let spans: Vec<(usize, usize)> = slice.nodes().iter().map(|n| (n.start, n.end)).collect();
        assert_eq!(spans, [(0, 6), (0, 4), (1, 4), (4, 6)]);
        assert_eq!(tree().slice(3, 99).len(), 9);
        assert_eq!(tree().slice(20, 10), Tree::flat(0));
    }

    #[test]
    fn segments_hold_segments() {
        let segment = |node: &Node| SegmentTree {
            span: Span::new(node.start, node.end),
            score: None,
            label: None,
            children: Vec::new(),
        };
        let text = serde_json::to_string(&tree().nested(segment)).unwrap();
        let expected = concat!(
            r#"{"start":0,"end":12,"children":[{"start":0,"end":2},"#,
            r#"{"start":2,"end":9,"children":[{"start":2,"end":4},"#,
            r#"{"start":4,"end":6},{"start":6,"end":9}]},"#,
            r#"{"start":9,"end":12}]}"#
        );
        assert_eq!(text, expected);
        assert_eq!(Tree::flat(0).nested(segment), segment(&Node { start: 0, end: 0, level: 0 }));
    }
}
