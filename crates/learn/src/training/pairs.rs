use pericope_segment::random::SplitMix64;

use super::data::LabelledDocument;

/// Two sentences, each by its document's and its own index, and whether the second follows the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// The first sentence.
    pub first: (usize, usize),
    /// The second one.
    pub second: (usize, usize),
    /// True for neighbours in a document.
    pub next: bool,
}

/// The pairs to learn from: every two neighbours of a document, each followed by a pair of the same first sentence with
/// one from another place, drawn by `seed`: from another document, all their sentences being as likely; from elsewhere in
/// the document where there is only one. Sentences without tokens are passed over.
///
/// Boundaries are not looked at: neighbours across one count as neighbours, as in BERT's training.
#[must_use]
pub fn pairs(documents: &[LabelledDocument], seed: u64) -> Vec<Pair> {
    let mut all = Vec::new();
    let mut ranges = Vec::with_capacity(documents.len());
    for (d, document) in documents.iter().enumerate() {
        let start = all.len();
        let sentences = &document.sentences;
        all.extend((0..sentences.len()).filter(|&i| !sentences.of(i).is_empty()).map(|i| (d, i)));
        ranges.push(start..all.len());
    }
    // Another series of numbers than the order of batches has.
    let mut random = SplitMix64::new(!seed);
    let mut pairs = Vec::new();
    for range in ranges {
        let others = all.len() - range.len();
        for k in range.clone().skip(1) {
            let (first, second) = (all[k - 1], all[k]);
            if first.1 + 1 != second.1 {
                continue;
            }
            let drawn = match (others, all.len()) {
                (0, 0..=2) => continue,
                // Neither the first sentence nor the second.
                (0, count) => Some(random.below(count - 2)).map(|i| if i + 1 < k { i } else { i + 2 }),
                (others, _) => Some(random.below(others)).map(|i| if i < range.start { i } else { i + range.len() }),
            };
            pairs.push(Pair { first, second, next: true });
            pairs.extend(drawn.and_then(|i| all.get(i)).map(|&second| Pair { first, second, next: false }));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::pairs;
    use crate::Sentences;
    use crate::training::LabelledDocument;

    fn document(lengths: &[usize]) -> LabelledDocument {
        let ids: Vec<Vec<u32>> = lengths.iter().map(|&n| vec![7; n]).collect();
        let sentences = Sentences::new(ids.iter().map(Vec::as_slice), 100);
        LabelledDocument { id: String::new(), ends: vec![false; sentences.len()], sentences }
    }

    #[test]
    fn neighbours_and_strangers_are_as_many() {
        let documents: Vec<LabelledDocument> = (0..20).map(|d| document(&vec![2; d])).collect();
        let found = pairs(&documents, 5);
        assert_eq!(found.len(), 2 * (0..20usize).map(|d| d.saturating_sub(1)).sum::<usize>());
        for two in found.chunks(2) {
            assert!(two[0].next && two[0].first.0 == two[0].second.0 && two[0].first.1 + 1 == two[0].second.1);
            assert!(!two[1].next && two[1].first == two[0].first && two[1].second.0 != two[1].first.0);
        }
        assert_eq!(found, pairs(&documents, 5));
        assert_ne!(found, pairs(&documents, 6));
        // Every sentence of the others is drawn at some time.
        let many = pairs(&[document(&[1; 500]), document(&[1; 9])], 1);
        let mut drawn: Vec<usize> = many.iter().filter(|p| !p.next && p.first.0 == 0).map(|p| p.second.1).collect();
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn, (0..9).collect::<Vec<_>>());
    }

    #[test]
    fn one_document_and_sentences_without_tokens() {
        let found = pairs(&[document(&[3, 3, 3, 3])], 2);
        assert_eq!(found.len(), 6);
        assert!(found.iter().all(|p| p.next || (p.second.1 != p.first.1 && p.second.1 != p.first.1 + 1)));
        // Two sentences have nothing that they could be told apart from.
        assert_eq!(pairs(&[document(&[3, 3])], 2), []);
        assert_eq!(pairs(&[], 2), []);
        assert_eq!(pairs(&[document(&[3, 0, 3, 0]), document(&[2])], 2), []);
    }
}
