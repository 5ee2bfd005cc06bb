/// Documents of a block at most: enough for the matrix product of a step to use each weight several times.
pub(super) const ROWS: usize = 16;

/// Some documents of a batch, read side by side. Step `s` reads the `s`-th sentence of each (from the end, for the backward
/// direction) that has so many. Longer documents come first, so that the documents of a step are always the first rows.
#[derive(Debug)]
pub(super) struct Block {
    /// Indices of the documents in the batch, and their lengths, longest first.
    pub(super) documents: Vec<(usize, usize)>,
    /// Rows of each step; falls.
    pub(super) active: Vec<usize>,
    /// Rows of all steps before each.
    pub(super) offsets: Vec<usize>,
    /// Rows of all steps.
    pub(super) total: usize,
}

impl Block {
    fn new(documents: Vec<(usize, usize)>) -> Self {
        let steps = documents.first().map_or(0, |&(_, length)| length);
        let active: Vec<usize> = (0..steps).map(|s| documents.partition_point(|&(_, length)| length > s)).collect();
        let mut total = 0;
        let offsets = active.iter().map(|rows| {
            let before = total;
            total += rows;
            before
        });
        let offsets = offsets.collect();
        Self { documents, active, offsets, total }
    }
}

/// Divides a batch into blocks of documents of like length. It depends on the lengths alone.
pub(super) fn blocks(lengths: &[usize]) -> Vec<Block> {
    let mut order: Vec<(usize, usize)> =
        lengths.iter().copied().enumerate().filter(|&(_, length)| length > 0).collect();
    order.sort_by_key(|&(_, length)| std::cmp::Reverse(length));
    order.chunks(ROWS).map(|some| Block::new(some.to_vec())).collect()
}

#[cfg(test)]
mod tests {
    use super::{ROWS, blocks};

    #[test]
    fn a_block_counts_its_rows() {
        let found = blocks(&[2, 0, 3, 1, 3]);
        assert_eq!(found.len(), 1);
        let block = &found[0];
        assert_eq!(block.documents, [(2, 3), (4, 3), (0, 2), (3, 1)]);
        assert_eq!((&block.active[..], &block.offsets[..], block.total), (&[4, 3, 2][..], &[0, 4, 7][..], 9));
        assert!(blocks(&[0, 0]).is_empty());
    }

    #[test]
    fn long_documents_do_not_wait_for_short_ones() {
        let lengths: Vec<usize> = (0..40).collect();
        let found = blocks(&lengths);
        assert_eq!(found.iter().map(|b| b.documents.len()).collect::<Vec<_>>(), [ROWS, ROWS, 7]);
        assert_eq!(found.iter().map(|b| b.total).sum::<usize>(), lengths.iter().sum::<usize>());
    }
}
