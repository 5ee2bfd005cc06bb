//! Which documents are taken where not all are.

use super::{Options, Segmented, Set};
use pericope_segment::random::fnv1a;

/// Orders documents for sampling: a hash of the id and the seed (FNV-1a, mixed once more for its weak high bits).
pub(super) fn rank(id: &str, seed: u64) -> u64 {
    let hash = fnv1a(0, seed.to_le_bytes().into_iter().chain(id.bytes()));
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// Sorts out what can be used and keeps as many documents as are wanted, in their order.
pub(super) fn take(found: Vec<Result<Segmented, String>>, options: &Options<'_>) -> Set {
    let mut set = Set::default();
    for one in found {
        match one {
            Ok(one) if options.wants(&one.document.id) => set.documents.push(one),
            Ok(_) => {}
            Err(problem) => set.skipped.push(problem),
        }
    }
    if options.documents > 0 && options.documents < set.documents.len() {
        let mut order: Vec<(u64, usize)> =
            set.documents.iter().enumerate().map(|(i, one)| (rank(&one.document.id, options.seed), i)).collect();
        order.sort_unstable();
        let mut keep = vec![false; set.documents.len()];
        for (_, i) in order.into_iter().take(options.documents) {
            if let Some(kept) = keep.get_mut(i) {
                *kept = true;
            }
        }
        let mut keep = keep.into_iter();
        set.documents.retain(|_| keep.next().unwrap_or(false));
    }
    set
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{rank, take};
    use crate::read::{Options, from_segments};

    #[test]
    fn samples_nest_and_keep_the_order() {
        let ids = |documents: usize, seed: u64| -> Vec<String> {
            let found = (0..50).map(|i| from_segments(&format!("d{i:02}"), &[vec!["x"]])).collect();
            let options = Options { documents, seed, ..Options::new(&|_| Vec::new()) };
            take(found, &options).documents.into_iter().map(|one| one.document.id).collect()
        };
        let (five, twenty) = (ids(5, 7), ids(20, 7));
        assert_eq!((five.len(), twenty.len(), ids(0, 7).len(), ids(99, 7).len()), (5, 20, 50, 50));
        assert!(five.iter().all(|id| twenty.contains(id)) && twenty.is_sorted());
        assert_ne!(five, ids(5, 8));
    }

    #[test]
    fn ranks_are_fixed() {
        assert_eq!(rank("a", 7), rank("a", 7));
        assert_ne!(rank("a", 7), rank("a", 8));
        assert_ne!(rank("a", 7), rank("b", 7));
    }
}
