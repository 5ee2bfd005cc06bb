use std::collections::VecDeque;

use pericope_segment::random::SplitMix64;

/// Batches without end, epoch after epoch: all sequences in an order drawn by `seed` plus the epoch's number, sorted by
/// length within every 16 batches so that a batch needs little padding, the batches then in an order drawn anew.
#[derive(Debug, Clone)]
pub struct Feed {
    lengths: Vec<usize>,
    batch: usize,
    seed: u64,
    epoch: u64,
    waiting: VecDeque<Vec<usize>>,
}

impl Feed {
    /// For sequences of these lengths, `batch` of them at a time (the last batch of an epoch may hold fewer).
    #[must_use]
    pub fn new(lengths: Vec<usize>, batch: usize, seed: u64) -> Self {
        Self { lengths, batch: batch.max(1), seed, epoch: 0, waiting: VecDeque::new() }
    }

    /// Batches of an epoch.
    #[must_use]
    pub fn batches(&self) -> usize {
        let group = 16 * self.batch;
        let (whole, rest) = (self.lengths.len() / group, self.lengths.len() % group);
        whole * 16 + rest.div_ceil(self.batch)
    }

    /// Goes on from after `batches` batches, as if they had been taken.
    pub fn skip_to(&mut self, batches: usize) {
        let each = self.batches().max(1);
        self.epoch = (batches / each) as u64;
        self.waiting.clear();
        for _ in 0..batches % each {
            self.next();
        }
    }

    fn draw(&mut self) {
        let mut random = SplitMix64::new(self.seed.wrapping_add(self.epoch));
        self.epoch += 1;
        let mut order: Vec<usize> = (0..self.lengths.len()).collect();
        random.shuffle(&mut order);
        let mut batches = Vec::with_capacity(self.batches());
        for group in order.chunks_mut(16 * self.batch) {
            group.sort_by_key(|&i| (std::cmp::Reverse(self.lengths[i]), i));
            batches.extend(group.chunks(self.batch).map(<[usize]>::to_vec));
        }
        random.shuffle(&mut batches);
        self.waiting.extend(batches);
    }
}

impl Iterator for Feed {
    type Item = Vec<usize>;

    /// The indices of the next batch; `None` only where there is no sequence at all.
    fn next(&mut self) -> Option<Vec<usize>> {
        if self.waiting.is_empty() {
            self.draw();
        }
        self.waiting.pop_front()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::Feed;

    #[test]
    fn every_epoch_has_every_sequence_once_in_another_order() {
        let lengths: Vec<usize> = (0..75).map(|i| i * 37 % 50).collect();
        let mut feed = Feed::new(lengths.clone(), 4, 7);
        assert_eq!(feed.batches(), 19);
        let mut epochs = Vec::new();
        for _ in 0..2 {
            let batches: Vec<Vec<usize>> = feed.by_ref().take(19).collect();
            let mut all = batches.concat();
            all.sort_unstable();
            assert_eq!(all, (0..75).collect::<Vec<_>>());
            assert!(batches.iter().all(|b| b.is_sorted_by_key(|&i| std::cmp::Reverse(lengths[i]))));
            epochs.push(batches);
        }
        assert_ne!(epochs[0], epochs[1]);
        let mut later = Feed::new(lengths, 4, 7);
        later.skip_to(23);
        assert_eq!(later.next().unwrap(), epochs[1][4]);
        assert_eq!(Feed::new(vec![], 4, 7).next(), None);
    }
}
