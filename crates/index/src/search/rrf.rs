//! Reciprocal rank fusion (Cormack, Clarke, Büttcher 2009): an item's score is the sum over the lists of
//! `1 / (k + rank)`, ranks from 1; a list without the item adds nothing.

use std::collections::BTreeMap;

/// The constant of the paper.
pub const K: f64 = 60.0;

/// Fuses ranked lists into one, best first; equal scores are ordered by the items themselves.
///
/// An item that a list names twice counts with its first rank.
///
/// ```
/// use pericope_index::rrf::fuse;
///
/// let fused = fuse(&[vec!["a", "b"], vec!["b", "c"]], 60.0);
/// assert_eq!(fused, [("b", 1.0 / 62.0 + 1.0 / 61.0), ("a", 1.0 / 61.0), ("c", 1.0 / 62.0)]);
/// ```
#[must_use]
pub fn fuse<T: Ord + Clone>(lists: &[Vec<T>], k: f64) -> Vec<(T, f64)> {
    let mut scores: BTreeMap<&T, (f64, usize)> = BTreeMap::new();
    for (list, items) in (1..).zip(lists) {
        for (rank, item) in (1u32..).zip(items) {
            // The second number is the last list that counted for the item.
            let (score, seen) = scores.entry(item).or_insert((0.0, 0));
            if *seen != list {
                *seen = list;
                *score += 1.0 / (k + f64::from(rank));
            }
        }
    }
    let mut fused: Vec<(T, f64)> = scores.into_iter().map(|(item, (score, _))| (item.clone(), score)).collect();
    // Stable, so that equal scores stay in the order of the map.
    fused.sort_by(|a, b| b.1.total_cmp(&a.1));
    fused
}

#[cfg(test)]
mod tests {
    use super::{K, fuse};

    #[test]
    fn by_hand() {
        let fused = fuse(&[vec![1, 2, 3], vec![3, 4]], K);
        let expected = [(3, 1.0 / 63.0 + 1.0 / 61.0), (1, 1.0 / 61.0), (2, 1.0 / 62.0), (4, 1.0 / 62.0)];
        assert_eq!(fused.len(), 4);
        for ((item, score), (wanted, wanted_score)) in fused.iter().zip(expected) {
            assert_eq!(*item, wanted);
            assert!((score - wanted_score).abs() < 1e-15);
        }
    }

    #[test]
    fn ties_are_ordered_by_the_items() {
        let items: Vec<_> = fuse(&[vec!["z", "a"], vec!["a", "z"]], K).into_iter().map(|(item, _)| item).collect();
        assert_eq!(items, ["a", "z"]);
    }

    #[test]
    fn repetitions_and_empty_lists_add_nothing() {
        assert_eq!(fuse(&[vec!["a", "a"], vec![]], K), [("a", 1.0 / 61.0)]);
        assert!(fuse::<u8>(&[], K).is_empty());
    }
}
