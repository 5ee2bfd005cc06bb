use std::collections::BTreeMap;

use pericope_api::Boundaries;

/// Turns clusters of sentences into contiguous tiles (Costacurta, "Graph-based Clustering for Text Segmentation"): for
/// two clusters whose ranges overlap, the fewest sentences that remove the overlap move from one to the other.
/// `clusters[i]` names the cluster of sentence i.
///
/// The sentences of the two clusters, in order, are parted at one place: one cluster keeps or gets all before it, the
/// other all after it (either may come first, and either may end up empty). The place is that for which the fewest
/// sentences change their cluster. Of several, the one for which the left cluster, which has the first sentence of the
/// two, comes first and gets most sentences. Clusters are taken in order of their first sentence, and each is freed from
/// its leftmost overlap until it has none.
///
/// Each step lessens the sum of the clusters' ranges, so there is an end, and it is a segmentation. A step takes time
/// linear in the sizes of the two clusters. Where each sentence is linked with the K next ones only, about 2 K clusters
/// reach across a place, and the whole takes O(n K + n log n) for n sentences; clusters scattered at random over the
/// document take up to O(n C), C being their number.
pub(super) fn compact(clusters: &[u32]) -> Boundaries {
    // Tiles that do not overlap, by their first sentence.
    let mut tiles: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut open = members(clusters);
    // The last is taken first.
    open.reverse();
    while let Some(cluster) = open.pop() {
        let (Some(&first), Some(&last)) = (cluster.first(), cluster.last()) else { continue };
        let before = tiles.range(..first).next_back();
        let left = before.filter(|(_, tile)| tile.last() > Some(&first)).map(|(&start, _)| start);
        let overlap = left.or_else(|| tiles.range(first..last).next().map(|(&start, _)| start));
        match overlap.and_then(|start| tiles.remove(&start)) {
            Some(tile) => {
                let (left, right) = if tile[0] < first { parted(&tile, &cluster) } else { parted(&cluster, &tile) };
                open.extend([right, left]);
            }
            None => {
                tiles.insert(first, cluster);
            }
        }
    }
    let after = tiles.into_keys().skip(1).collect();
    Boundaries::new(clusters.len(), after).unwrap_or_else(|_| Boundaries::none(clusters.len()))
}

/// The sentences of each cluster, in order of the clusters' first sentences.
fn members(clusters: &[u32]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..clusters.len()).collect();
    order.sort_by_key(|&i| clusters[i]);
    let mut found: Vec<Vec<usize>> =
        order.chunk_by(|&i, &j| clusters[i] == clusters[j]).map(<[usize]>::to_vec).collect();
    found.sort_unstable_by_key(|cluster| cluster[0]);
    found
}

/// Parts the sentences of two clusters, `a` having the first of them, into those before and after the cheapest place.
fn parted(a: &[usize], b: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let mut all = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    // Moves that it takes to have all before the place in a and all after it in b.
    let mut moves = a.len();
    let (mut least, mut place) = (moves, 0);
    // The same with b first; the moves of the two sum to the number of sentences.
    let (mut most, mut other) = (moves, 0);
    while let Some(&next) = match (a.get(i), b.get(j)) {
        (Some(x), Some(y)) => Some(x.min(y)),
        (x, y) => x.or(y),
    } {
        all.push(next);
        if a.get(i) == Some(&next) {
            i += 1;
            moves -= 1;
        } else {
            j += 1;
            moves += 1;
        }
        if moves <= least {
            (least, place) = (moves, all.len());
        }
        if moves > most {
            (most, other) = (moves, all.len());
        }
    }
    if all.len() - most < least {
        place = other;
    }
    let right = all.split_off(place);
    (all, right)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{compact, parted};
    use crate::random::SplitMix64;

    fn after(clusters: &str) -> Vec<usize> {
        compact(&clusters.chars().map(u32::from).collect::<Vec<_>>()).after().to_vec()
    }

    #[test]
    fn the_cheaper_side_moves() {
        assert_eq!(after("aaabbaaabbb"), [8], "the article's example");
        assert_eq!(after("aaabbbabbb"), [3], "the other way round");
        assert_eq!(after("aabaabbabb"), [5], "one from each");
        assert_eq!(after("aabbcc"), [2, 4]);
    }

    #[test]
    fn ties_go_to_the_left_cluster() {
        assert_eq!(after("aababb"), [4]);
        assert_eq!(after("abab"), [3]);
        assert_eq!(after("ba"), [1], "names carry no order");
    }

    #[test]
    fn a_cluster_inside_another_joins_it_or_splits_off() {
        assert_eq!(after("aabaa"), [0; 0]);
        assert_eq!(after("abbbaaaa"), [4], "the first sentence is the fewest");
        assert_eq!(after("aaaabbba"), [4]);
        assert_eq!(after("abbba"), [1], "a tie: the left cluster keeps its first sentence");
    }

    #[test]
    fn nothing_to_do() {
        assert_eq!(after(""), [0; 0]);
        assert_eq!(after("a"), [0; 0]);
        assert_eq!(after("abc"), [1, 2]);
    }

    #[test]
    fn clusters_of_a_band_take_little_time() {
        let n = 300_000;
        let mut random = SplitMix64::new(2);
        let clusters: Vec<u32> = (0..n).map(|i| ((i + random.below(12)) / 10) as u32).collect();
        let found = compact(&clusters);
        assert!((n / 20..n / 9).contains(&found.segments()), "{}", found.segments());
        assert_eq!(found, compact(&clusters));
    }

    /// Fewest sentences that change their cluster, tried at every place both ways round.
    fn fewest(a: &[usize], b: &[usize]) -> usize {
        let count = |side: &[usize], place: usize| side.iter().filter(|&&s| s < place).count();
        let moves = |place| count(b, place) + a.len() - count(a, place);
        (0..40).flat_map(|place| [moves(place), a.len() + b.len() - moves(place)]).min().unwrap_or(0)
    }

    proptest! {
        #[test]
        fn any_clustering_becomes_a_segmentation(clusters in prop::collection::vec(0u32..9, 0..60)) {
            let found = compact(&clusters);
            prop_assert_eq!(found.sentences(), clusters.len());
            prop_assert!(found.after().windows(2).all(|pair| pair[0] < pair[1]));
            let mut names = clusters.clone();
            names.sort_unstable();
            names.dedup();
            prop_assert!(found.segments() <= names.len(), "clusters can only be lost");
        }

        #[test]
        fn segmentations_stay_as_they_are(lengths in prop::collection::vec(1usize..6, 0..12)) {
            let names = lengths.iter().enumerate().flat_map(|(i, &length)| std::iter::repeat_n(40 - i as u32, length));
            let found = compact(&names.collect::<Vec<_>>());
            prop_assert_eq!(found.masses().collect::<Vec<_>>(), lengths);
        }

        #[test]
        fn two_clusters_part_at_least_cost(labels in prop::collection::vec(any::<bool>(), 1..40)) {
            let side = |of: bool| (0..labels.len()).filter(|&i| labels[i] == of).collect::<Vec<_>>();
            let (a, b) = (side(labels[0]), side(!labels[0]));
            let (left, right) = parted(&a, &b);
            prop_assert!(left.iter().chain(&right).copied().eq(0..labels.len()));
            let place = left.len();
            let moves = |a: &[usize], b: &[usize]| {
                b.iter().filter(|&&s| s < place).count() + a.iter().filter(|&&s| s >= place).count()
            };
            prop_assert_eq!(moves(&a, &b).min(moves(&b, &a)), fewest(&a, &b));
        }
    }
}
