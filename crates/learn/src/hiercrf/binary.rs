use super::tree::{Node, Tree};

/// The type of a node in a binarised tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A node that binarisation added.
    Reducible,
    /// A node of the tree itself.
    Irreducible,
}

/// A node of a binarised tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BinaryNode {
    /// The first sentence, from 0.
    pub start: usize,
    /// One past the last sentence.
    pub end: usize,
    /// Its type.
    pub kind: Kind,
    /// The heading level of an irreducible node; 0 where none is known.
    pub level: u8,
}

/// The binarised form of a tree (Nair et al. 2023, algorithm 2), in preorder: `len() - 1` nodes for `len()` sentences, each
/// of two parts. The children `x_1 .. x_m` of a node, `m > 2`, become a chain to the left: `x_1 .. x_(m-1)` under a reducible
/// node, `x_m` to its right, and so on below it.
#[must_use]
pub fn binarise(tree: &Tree) -> Vec<BinaryNode> {
    let mut found = Vec::with_capacity(tree.len());
    for (node, children) in tree.nodes().iter().zip(tree.children()) {
        if node.len() < 2 {
            continue;
        }
        found.push(BinaryNode { start: node.start, end: node.end, kind: Kind::Irreducible, level: node.level });
        // Ends of the children, the sentences of a run each on its own.
        let mut ends = Vec::new();
        let inner = |child: &Node| tree.nodes().binary_search_by(|n| order(n, child)).is_ok();
        for child in &children {
            // The only child of a node is the run of its own sentences.
            if children.len() > 1 && inner(child) {
                ends.push(child.end);
            } else {
                ends.extend(child.start + 1..=child.end);
            }
        }
        let between = ends.get(1..ends.len().saturating_sub(1)).unwrap_or_default();
        let reducible = |&end: &usize| BinaryNode { start: node.start, end, kind: Kind::Reducible, level: 0 };
        found.extend(between.iter().rev().map(reducible));
    }
    found.sort_by(|a, b| a.start.cmp(&b.start).then(b.end.cmp(&a.end)));
    found
}

fn order(a: &Node, b: &Node) -> std::cmp::Ordering {
    a.start.cmp(&b.start).then(b.end.cmp(&a.end))
}

/// Gives the tree of a binarised form back: the children of every reducible node go to its parent, in order. The whole document
/// counts as irreducible.
///
/// # Errors
/// As [`Tree::new`].
pub fn recover(sentences: usize, nodes: &[BinaryNode]) -> Result<Tree, String> {
    let kept = nodes.iter().filter(|node| node.kind == Kind::Irreducible);
    Tree::new(sentences, kept.map(|node| Node { start: node.start, end: node.end, level: node.level }))
}

#[cfg(test)]
pub(super) mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::{BinaryNode, Kind, binarise, recover};
    use crate::hiercrf::tree::{Node, Tree};

    /// An ordered tree as anyone would write it.
    #[derive(Debug, Clone)]
    enum Ordered {
        Leaf,
        Inner(u8, Vec<Ordered>),
    }

    fn ordered() -> impl Strategy<Value = Ordered> {
        Just(Ordered::Leaf).prop_recursive(6, 60, 7, |inner| {
            (0u8..=6, prop::collection::vec(inner, 1..7)).prop_map(|(level, children)| Ordered::Inner(level, children))
        })
    }

    /// Its nodes with their levels, chains and single leaves too; gives the number of leaves.
    fn spans(tree: &Ordered, start: usize, found: &mut Vec<Node>) -> usize {
        match tree {
            Ordered::Leaf => 1,
            Ordered::Inner(level, children) => {
                let at = found.len();
                found.push(Node { start, end: start, level: *level });
                let mut end = start;
                for child in children {
                    end += spans(child, end, found);
                }
                found[at].end = end;
                end - start
            }
        }
    }

    pub(in crate::hiercrf) fn trees() -> impl Strategy<Value = Tree> {
        ordered().prop_map(|ordered| {
            let mut nodes = Vec::new();
            let leaves = spans(&ordered, 0, &mut nodes);
            Tree::new(leaves, nodes).unwrap()
        })
    }

    /// Every node has two parts, each a node or a sentence.
    pub(in crate::hiercrf) fn is_binary(sentences: usize, nodes: &[(usize, usize)]) -> bool {
        let here = |start: usize, end: usize| end == start + 1 || nodes.contains(&(start, end));
        let halves = |&(start, end): &(usize, usize)| {
            (start + 1..end).filter(|&middle| here(start, middle) && here(middle, end)).count() == 1
        };
        nodes.len() == sentences.saturating_sub(1) && nodes.iter().all(halves)
    }

    proptest! {
        #[test]
        fn recovery_gives_any_tree_back(tree in trees()) {
            let binary = binarise(&tree);
            let nodes: Vec<(usize, usize)> = binary.iter().map(|n| (n.start, n.end)).collect();
            prop_assert!(is_binary(tree.len(), &nodes), "{:?} of {:?}", nodes, tree);
            prop_assert_eq!(recover(tree.len(), &binary).unwrap(), tree);
        }
    }

    #[test]
    fn children_become_a_chain_to_the_left() {
        let node = |start, end| Node { start, end, level: 1 };
        let tree = Tree::new(7, [node(1, 4), node(4, 7)]).unwrap();
        let found: Vec<_> = binarise(&tree).iter().map(|n| (n.start, n.end, n.kind, n.level)).collect();
        let (r, i) = (Kind::Reducible, Kind::Irreducible);
        assert_eq!(found, [(0, 7, i, 0), (0, 4, r, 0), (1, 4, i, 1), (1, 3, r, 0), (4, 7, i, 1), (4, 6, r, 0)]);
        assert!(binarise(&Tree::flat(1)).is_empty() && binarise(&Tree::flat(0)).is_empty());
    }

    #[test]
    fn the_whole_document_is_a_node_whatever_its_type() {
        let only = BinaryNode { start: 0, end: 2, kind: Kind::Reducible, level: 0 };
        assert_eq!(recover(2, &[only]).unwrap(), Tree::flat(2));
    }
}
