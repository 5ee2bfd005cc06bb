/// Symbols of the trie: the ASCII letters, small, and digits.
const SYMBOLS: usize = 36;

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

/// Where a walk begins.
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

/// Pieces below a node that is yet to be laid out, sorted.
type Pending<'a> = (usize, Vec<(&'a [u8], u32)>);

impl Trie {
    /// Lays out the pieces of `vocabulary` (text and id) that are plain small ASCII; `prefix` marks those inside words.
    pub fn new<'a>(vocabulary: impl Iterator<Item = (&'a str, u32)>, prefix: &str) -> Self {
        let mut pieces: [Vec<(&[u8], u32)>; 2] = [Vec::new(), Vec::new()];
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
        let mut nodes = vec![Node::default(); 2];
        let mut pending: Vec<Pending<'_>> = pieces.into_iter().enumerate().collect();
        while let Some((at, below)) = pending.pop() {
            let mut children: [Vec<(&[u8], u32)>; SYMBOLS] = std::array::from_fn(|_| Vec::new());
            let mut node = Node { present: 0, first: nodes.len() as u32, token: 0 };
            for (piece, id) in below {
                match piece.split_first() {
                    None => node.token = id + 1,
                    Some((&byte, rest)) => {
                        let Some(s) = symbol(byte) else { continue };
                        node.present |= 1 << s;
                        children[s as usize].push((rest, id));
                    }
                }
            }
            for below in children.into_iter().filter(|below| !below.is_empty()) {
                pending.push((nodes.len(), below));
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
