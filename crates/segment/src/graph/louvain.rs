use std::collections::VecDeque;

use super::network::Network;
use crate::random::SplitMix64;

/// Louvain community detection (Blondel et al. 2008): nodes move to the neighbouring community that raises modularity
/// most, until none does; then communities become nodes, and so on. Nodes are visited in an order that the seed
/// decides, again only when a neighbour has moved. Communities are numbered by their first node.
///
/// The same graph, resolution and seed give the same communities. Time grows about linearly with the number of edges. A
/// node without edges is a community of its own.
pub(super) fn louvain(network: &Network, resolution: f64, seed: u64) -> Vec<u32> {
    let mut random = SplitMix64::new(seed);
    let mut communities: Vec<u32> = (0..network.len()).map(|i| i as u32).collect();
    let mut level: Option<Network> = None;
    loop {
        let current = level.as_ref().unwrap_or(network);
        let (moved, count) = numbered(&local_moves(current, resolution, &mut random));
        if count == current.len() {
            return numbered(&communities).0;
        }
        communities.iter_mut().for_each(|c| *c = moved[*c as usize]);
        level = Some(current.merged(&moved, count));
    }
}

/// Communities by their first node, and how many there are.
fn numbered(communities: &[u32]) -> (Vec<u32>, usize) {
    let most = communities.iter().max().map_or(0, |&c| c as usize + 1);
    let mut names = vec![u32::MAX; most];
    let mut count = 0;
    let name = |&c: &u32| {
        let name = &mut names[c as usize];
        if *name == u32::MAX {
            *name = count;
            count += 1;
        }
        *name
    };
    (communities.iter().map(name).collect(), count as usize)
}

/// A move must raise modularity by more than this share of a node's degree, so that rounding cannot make nodes move in
/// circles.
const LEAST_GAIN: f64 = 1e-10;

/// Every node starts alone; the community that each is in when no move raises modularity any more.
fn local_moves(network: &Network, resolution: f64, random: &mut SplitMix64) -> Vec<u32> {
    let n = network.len();
    let mut communities: Vec<u32> = (0..n).map(|i| i as u32).collect();
    let mut degrees: Vec<f64> = (0..n).map(|i| network.degree(i)).collect();
    let mut order: Vec<u32> = communities.clone();
    random.shuffle(&mut order);
    let mut waiting: VecDeque<u32> = order.into();
    let mut waits = vec![true; n];
    // Weight from the node at hand to each community, and the communities for which it is not 0.
    let mut weights = vec![0.0; n];
    let mut near: Vec<u32> = Vec::new();
    let scale = resolution / (2.0 * network.total());
    while let Some(node) = waiting.pop_front() {
        let i = node as usize;
        waits[i] = false;
        let (own, degree) = (communities[i], network.degree(i));
        for &(other, weight) in network.neighbours(i) {
            let community = communities[other as usize];
            if weights[community as usize] == 0.0 {
                near.push(community);
            }
            weights[community as usize] += weight;
        }
        degrees[own as usize] -= degree;
        let gain = |c: u32| weights[c as usize] - scale * degree * degrees[c as usize];
        let (mut best, mut most) = (own, gain(own) + LEAST_GAIN * degree);
        for &community in &near {
            if gain(community) > most {
                (best, most) = (community, gain(community));
            }
        }
        degrees[best as usize] += degree;
        near.drain(..).for_each(|community| weights[community as usize] = 0.0);
        if best == own {
            continue;
        }
        communities[i] = best;
        for &(other, _) in network.neighbours(i) {
            if communities[other as usize] != best && !std::mem::replace(&mut waits[other as usize], true) {
                waiting.push_back(other);
            }
        }
    }
    communities
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{local_moves, louvain, numbered};
    use crate::graph::network::Network;
    use crate::random::SplitMix64;

    /// Modularity of a partition: the sum over communities of L/m - r (d/2m)^2, where L is the weight inside the community, d
    /// the sum of its nodes' degrees, m the weight of all edges and r the resolution (Reichardt and Bornholdt 2006).
    /// `communities[i]` is the community of node i; 0 for a graph without weight. Linear time.
    fn modularity(network: &Network, communities: &[u32], resolution: f64) -> f64 {
        let total = network.total();
        if total <= 0.0 {
            return 0.0;
        }
        let most = communities.iter().max().map_or(0, |&c| c as usize + 1);
        let (mut inside, mut degrees) = (vec![0.0; most], vec![0.0; most]);
        for (node, &community) in communities.iter().enumerate().take(network.len()) {
            let c = community as usize;
            degrees[c] += network.degree(node);
            inside[c] += 2.0 * network.loop_weight(node);
            let within = network.neighbours(node).iter().filter(|(other, _)| communities[*other as usize] == community);
            inside[c] += within.map(|(_, weight)| weight).sum::<f64>();
        }
        let double = 2.0 * total;
        inside.iter().zip(&degrees).map(|(l, d)| l / double - resolution * (d / double).powi(2)).sum()
    }

    fn clique(first: usize, size: usize) -> impl Iterator<Item = (usize, usize, f64)> {
        (first..first + size).flat_map(move |i| (i + 1..first + size).map(move |j| (i, j, 1.0)))
    }

    #[test]
    fn two_cliques_joined_by_an_edge() {
        let network = Network::new(10, clique(0, 5).chain(clique(5, 5)).chain([(4, 5, 1.0)]));
        for seed in 0..20 {
            let found = louvain(&network, 1.0, seed);
            assert_eq!(found, [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
            // 10 of 21 edges in each half, whose degrees sum to 21 of 42.
            assert!((modularity(&network, &found, 1.0) - (20.0 / 21.0 - 0.5)).abs() < 1e-12);
        }
        assert!(louvain(&network, 0.0, 1).iter().all(|&c| c == 0), "no price on size: one community");
        assert_eq!(numbered(&louvain(&network, 50.0, 1)).1, 10);
    }

    #[test]
    fn nodes_without_edges_stay_alone() {
        assert_eq!(louvain(&Network::new(3, []), 1.0, 0), [0, 1, 2]);
        assert_eq!(louvain(&Network::new(0, []), 1.0, 0), [0; 0]);
        assert_eq!(louvain(&Network::new(4, [(0, 2, 1.0), (1, 3, 0.0), (0, 1, f64::NAN)]), 1.0, 0), [0, 1, 0, 2]);
        assert_eq!(modularity(&Network::new(3, []), &[0, 1, 2], 1.0), 0.0);
    }

    #[test]
    fn long_chains_take_little_time() {
        let n = 100_000;
        let mut random = SplitMix64::new(5);
        let pairs = (0..n).flat_map(|i| (i + 1..n.min(i + 6)).map(move |j| (i, j)));
        let edges: Vec<_> = pairs.map(|(i, j)| (i, j, random.below(1000) as f64 / 1000.0)).collect();
        let network = Network::new(n, edges);
        let found = louvain(&network, 1.0, 1);
        assert!(modularity(&network, &found, 1.0) > 0.97);
        assert_eq!(found, louvain(&network, 1.0, 1));
    }

    fn network() -> impl Strategy<Value = Network> {
        (1usize..14).prop_flat_map(|n| {
            let edge = (0..n, 0..n, 0u32..9).prop_map(|(i, j, w)| (i, j, f64::from(w) / 4.0));
            prop::collection::vec(edge, 0..40).prop_map(move |edges| Network::new(n, edges))
        })
    }

    proptest! {
        #[test]
        fn each_level_raises_modularity(start in network(), seed in 0u64..5, resolution in 0.2f64..3.0) {
            let mut random = SplitMix64::new(seed);
            let mut network = start;
            let mut before = modularity(&network, &(0..network.len() as u32).collect::<Vec<_>>(), resolution);
            loop {
                let (moved, count) = numbered(&local_moves(&network, resolution, &mut random));
                let after = modularity(&network, &moved, resolution);
                prop_assert!(after >= before - 1e-12, "{before} to {after}");
                let merged = network.merged(&moved, count);
                let alone: Vec<u32> = (0..count as u32).collect();
                prop_assert!((modularity(&merged, &alone, resolution) - after).abs() < 1e-12);
                if count == network.len() {
                    break;
                }
                (network, before) = (merged, after);
            }
        }

        #[test]
        fn modularity_agrees_with_its_definition_by_pairs(
            n in 2usize..9,
            edges in prop::collection::vec((0usize..9, 0usize..9, 1u32..5), 1..20),
            labels in prop::collection::vec(0u32..4, 9),
            resolution in 0.2f64..3.0,
        ) {
            let mut matrix = vec![vec![0.0; n]; n];
            let edges: Vec<_> = edges.into_iter().map(|(i, j, w)| (i % n, j % n, f64::from(w))).collect();
            for &(i, j, w) in &edges {
                // A loop is seen from both its ends.
                matrix[i][j] += w;
                matrix[j][i] += w;
            }
            let degrees: Vec<f64> = matrix.iter().map(|row| row.iter().sum()).collect();
            let double: f64 = degrees.iter().sum();
            let mut expected = 0.0;
            for i in 0..n {
                for j in 0..n {
                    if labels[i] == labels[j] {
                        expected += (matrix[i][j] - resolution * degrees[i] * degrees[j] / double) / double;
                    }
                }
            }
            let found = modularity(&Network::new(n, edges), &labels[..n], resolution);
            prop_assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
        }
    }
}
