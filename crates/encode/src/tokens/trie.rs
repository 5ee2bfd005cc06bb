use std::cmp::Ordering;

/// The pieces of a vocabulary that are written with ASCII letters and digits, as a trie in which the longest piece at
/// a place is found in one walk. Words in these characters are most of what there is to read in most languages' source
/// code and in English.
#[derive(Debug)]
pub struct Trie {
    nodes: Vec<Node>,
}

/// Children lie side by side from `first`, in the order of their symbols; `present` has a bit for each.
#[derive(Debug, Clone, Copy, Default)]
struct Node {
    present: u64,
    first: u32,
    /// Token id plus one; 0 where no piece ends here.
    token: u32,
}

/// A piece's text and its token id.
type Piece<'a> = (&'a [u8], u32);

/// A piece in the order of its symbols: letters before digits.
#[derive(PartialEq, Eq)]
struct Symbols<'a>(&'a [u8]);

impl Ord for Symbols<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.iter().map(|&b| symbol(b)).cmp(other.0.iter().map(|&b| symbol(b)))
    }
}

impl PartialOrd for Symbols<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The start of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    /// At the start of a word.
    Start = 0,
    /// Inside a word (pieces that are written `##...`).
    Inside = 1,
}

/// The symbol of an ASCII letter (either case) or digit.
fn symbol(byte: u8) -> Option<u32> {
    match byte {
        b'a'..=b'z' => Some(u32::from(byte - b'a')),
        b'A'..=b'Z' => Some(u32::from(byte - b'A')),
        b'0'..=b'9' => Some(u32::from(byte - b'0') + 26),
        _ => None,
    }
}

impl Trie {
    /// Lays out the pieces of `vocabulary` (text and id) that are plain small ASCII; `prefix` marks those inside words.
    pub fn new<'a>(vocabulary: impl Iterator<Item = (&'a str, u32)>, prefix: &str) -> Self {
        let mut pieces: [Vec<Piece<'_>>; 2] = [Vec::new(), Vec::new()];
        for (text, id) in vocabulary {
            let (root, piece) = match text.strip_prefix(prefix) {
                Some(rest) if !rest.is_empty() => (Root::Inside, rest),
                _ => (Root::Start, text),
            };
            let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
            if !piece.is_empty() && piece.bytes().all(plain) {
                pieces[root as usize].push((piece.as_bytes(), id));
            }
        }
        // By symbols: what lies below a node is then one stretch, and its children stretches of that in their order.
        pieces.iter_mut().for_each(|pieces| pieces.sort_unstable_by_key(|(piece, _)| Symbols(piece)));
        let mut nodes = vec![Node::default(); 2];
        let mut pending: Vec<(usize, usize, &[Piece<'_>])> =
            pieces.iter().enumerate().map(|(root, pieces)| (root, 0, pieces.as_slice())).collect();
        while let Some((at, depth, mut below)) = pending.pop() {
            let mut node = Node { present: 0, first: nodes.len() as u32, token: 0 };
            // The piece that ends here comes before those that it begins.
            if let Some(((piece, id), rest)) = below.split_first()
                && piece.len() == depth
            {
                (node.token, below) = (id + 1, rest);
            }
            for child in below.chunk_by(|(a, _), (b, _)| a.get(depth) == b.get(depth)) {
                let Some(s) = child.first().and_then(|(piece, _)| symbol(*piece.get(depth)?)) else { continue };
                node.present |= 1 << s;
                pending.push((nodes.len(), depth + 1, child));
                nodes.push(Node::default());
            }
            nodes[at] = node;
        }
        Self { nodes }
    }

    /// The longest piece at the start of `word` (ASCII letters of either case and digits): its id and length.
    pub fn longest(&self, root: Root, word: &[u8]) -> Option<(u32, usize)> {
        let mut node = self.nodes[root as usize];
        let mut found = None;
        for (i, &byte) in word.iter().enumerate() {
            let bit = 1u64 << symbol(byte)?;
            if node.present & bit == 0 {
                break;
            }
            let child = node.first as usize + (node.present & (bit - 1)).count_ones() as usize;
            node = self.nodes[child];
            if node.token > 0 {
                found = Some((node.token - 1, i + 1));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::{Root, Trie};

    #[test]
    fn finds_the_longest_piece() {
        let words = ["a", "ab", "abcd", "##c", "##cd9", "B", "é", "##", "#", "[UNK]"];
        let trie = Trie::new(words.into_iter().zip(0..), "##");
        assert_eq!(trie.longest(Root::Start, b"ABC"), Some((1, 2)));
        assert_eq!(trie.longest(Root::Start, b"abcde"), Some((2, 4)));
        assert_eq!(trie.longest(Root::Inside, b"cd8"), Some((3, 1)));
        assert_eq!(trie.longest(Root::Inside, b"cD9"), Some((4, 3)));
        assert_eq!(trie.longest(Root::Start, b"c"), None);
        // A capital is looked up as its small letter, and the vocabulary has no small b.
        assert_eq!(trie.longest(Root::Start, b"b"), None);
    }
}
