/// A weighted undirected graph of nodes 0..n.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Network {
    /// Node i's neighbours are `neighbours[starts[i]..starts[i + 1]]`; every edge is there from both its ends.
    starts: Vec<usize>,
    neighbours: Vec<(u32, f64)>,
    /// Weight of each node's edges to itself.
    loops: Vec<f64>,
    degrees: Vec<f64>,
    total: f64,
}

impl Network {
    /// A graph of `n` nodes (fewer than 2^32) with the given edges (node, node, weight). Edges whose weight is not a
    /// finite number above 0 are left out, and so are those to nodes that there are not; several edges between two nodes
    /// count as their sum.
    pub(super) fn new(n: usize, edges: impl IntoIterator<Item = (usize, usize, f64)>) -> Self {
        let fair = |&(i, j, w): &(usize, usize, f64)| i < n && j < n && w > 0.0 && w.is_finite();
        let edges: Vec<(usize, usize, f64)> = edges.into_iter().filter(fair).collect();
        let mut loops = vec![0.0; n];
        let mut starts = vec![0; n + 1];
        for &(i, j, weight) in &edges {
            if i == j {
                loops[i] += weight;
            } else {
                starts[i + 1] += 1;
                starts[j + 1] += 1;
            }
        }
        for i in 0..n {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut neighbours = vec![(0, 0.0); starts[n]];
        for &(i, j, weight) in edges.iter().filter(|(i, j, _)| i != j) {
            neighbours[next[i]] = (j as u32, weight);
            neighbours[next[j]] = (i as u32, weight);
            next[i] += 1;
            next[j] += 1;
        }
        Self::from_parts(starts, neighbours, loops)
    }

    fn from_parts(starts: Vec<usize>, neighbours: Vec<(u32, f64)>, loops: Vec<f64>) -> Self {
        let sum = |i: usize| neighbours[starts[i]..starts[i + 1]].iter().map(|(_, w)| w).sum::<f64>();
        let degrees: Vec<f64> = loops.iter().enumerate().map(|(i, own)| sum(i) + 2.0 * own).collect();
        let total = degrees.iter().sum::<f64>() / 2.0;
        Self { starts, neighbours, loops, degrees, total }
    }

    /// Number of nodes.
    pub(super) fn len(&self) -> usize {
        self.loops.len()
    }

    /// Sum of the weights of a node's edges; an edge to itself counts twice.
    pub(super) fn degree(&self, node: usize) -> f64 {
        self.degrees[node]
    }

    /// Weight of all edges.
    pub(super) fn total(&self) -> f64 {
        self.total
    }

    /// Weight of a node's edges to itself.
    #[cfg(test)]
    pub(super) fn loop_weight(&self, node: usize) -> f64 {
        self.loops[node]
    }

    pub(super) fn neighbours(&self, node: usize) -> &[(u32, f64)] {
        &self.neighbours[self.starts[node]..self.starts[node + 1]]
    }

    /// The graph whose nodes are `count` communities of this one's. Linear time.
    pub(super) fn merged(&self, communities: &[u32], count: usize) -> Self {
        let mut ends = vec![0; count + 1];
        communities.iter().for_each(|&c| ends[c as usize + 1] += 1);
        for c in 0..count {
            ends[c + 1] += ends[c];
        }
        let mut members = vec![0; communities.len()];
        let mut next = ends.clone();
        for (node, &c) in communities.iter().enumerate() {
            members[next[c as usize]] = node;
            next[c as usize] += 1;
        }
        let (mut starts, mut neighbours, mut loops) = (vec![0], Vec::new(), Vec::with_capacity(count));
        let mut weights = vec![0.0; count];
        let mut near: Vec<u32> = Vec::new();
        for c in 0..count {
            let mut inside = 0.0;
            for &node in &members[ends[c]..ends[c + 1]] {
                inside += self.loops[node];
                for &(other, weight) in self.neighbours(node) {
                    let community = communities[other as usize];
                    if community as usize == c {
                        inside += weight / 2.0;
                        continue;
                    }
                    if weights[community as usize] == 0.0 {
                        near.push(community);
                    }
                    weights[community as usize] += weight;
                }
            }
            loops.push(inside);
            neighbours.extend(near.drain(..).map(|other| (other, std::mem::take(&mut weights[other as usize]))));
            starts.push(neighbours.len());
        }
        Self::from_parts(starts, neighbours, loops)
    }
}

#[cfg(test)]
mod tests {
    use super::Network;

    #[test]
    fn loops_and_repeated_edges() {
        let network = Network::new(3, [(0, 1, 1.0), (1, 0, 2.0), (2, 2, 4.0), (0, 2, -1.0), (0, 7, 1.0)]);
        assert_eq!((network.degree(0), network.degree(1), network.degree(2)), (3.0, 3.0, 8.0));
        assert_eq!((network.len(), network.total()), (3, 7.0));
        let merged = network.merged(&[0, 0, 1], 2);
        assert_eq!(merged, Network::new(2, [(0, 0, 3.0), (1, 1, 4.0)]));
        assert_eq!(network.merged(&[0, 1, 1], 2), Network::new(2, [(0, 1, 3.0), (1, 1, 4.0)]));
    }
}
