use candle_core::Result;

use super::judge::Judge;
use super::sequence::{Sequence, query_room, sequence};
use super::texts::Texts;

/// Blocks that compete together: bounds memory.
const GROUP: usize = 256;

/// The blocks that each step keeps, as published.
const STRIDES: [usize; 2] = [3, 5];

/// MemRecall (Ding et al. 2020, section 3.2): the key blocks of texts of any length.
///
/// A step is a retrieval competition, in which every block is read by itself beside the query and what is kept, and the best are
/// inserted while the sequence has room; and rehearsal and decay, in which those are read together and the best are kept. Blocks that
/// were kept before may be lost. Time is in proportion to the blocks; what is kept of each is two numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemRecall {
    strides: Vec<usize>,
    rehearsal: bool,
}

impl Default for MemRecall {
    /// Two steps that keep 3 blocks and then 5.
    fn default() -> Self {
        Self { strides: STRIDES.to_vec(), rehearsal: true }
    }
}

/// What a recall found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Recalled {
    /// The key blocks, in the order of the text.
    pub kept: Vec<usize>,
    /// The last score of every block, 0 to 1: of the key blocks the one that they were kept for.
    pub scores: Vec<f32>,
    /// The number of tokens of every block.
    pub tokens: Vec<usize>,
}

impl MemRecall {
    /// In so many steps, at least 1: each keeps 5 blocks, and where there are several the first keeps 3. Without `rehearsal` blocks are
    /// kept for their scores in the competition, and none that is kept is lost but for a better one (the ablations of table 2).
    #[must_use]
    pub fn new(steps: usize, rehearsal: bool) -> Self {
        let [first, others] = STRIDES;
        let mut strides = vec![others; steps.max(1)];
        if let [one, _, ..] = strides.as_mut_slice() {
            *one = first;
        }
        Self { strides, rehearsal }
    }

    /// Names the settings: `steps=2,rehearsal=true`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("steps={},rehearsal={}", self.strides.len(), self.rehearsal)
    }

    /// Finds the key blocks of texts for a query's tokens.
    ///
    /// # Errors
    /// As [`Judge::scores`].
    pub fn recall(&self, judge: &Judge, query: &[u32], texts: &Texts<'_>) -> Result<Recalled> {
        let settings = judge.settings();
        let limits = Limits { tokens: settings.tokens, block: settings.block };
        self.over(&Reading { judge, query, texts }, query_room(query), limits)
    }

    fn over(&self, reads: &impl Reads, room: usize, limits: Limits) -> Result<Recalled> {
        let n = reads.blocks();
        let mut found = Recalled { kept: Vec::new(), scores: vec![0.0; n], tokens: vec![0; n] };
        for &stride in &self.strides {
            compete(reads, &mut found)?;
            let mut order: Vec<usize> = (0..n).filter(|i| !found.kept.contains(i)).collect();
            // No more fit than there are pairs of tokens.
            let most = limits.tokens / 2;
            let by_score = |a: &usize, b: &usize| found.scores[*b].total_cmp(&found.scores[*a]).then(a.cmp(b));
            if most > 0 && order.len() > most {
                order.select_nth_unstable_by(most - 1, by_score);
                order.truncate(most);
            }
            order.sort_unstable_by(by_score);
            let mut taken = found.kept.clone();
            let mut length = room + taken.iter().map(|&i| found.tokens[i] + 1).sum::<usize>();
            for i in order {
                length += found.tokens[i] + 1;
                if length > limits.tokens {
                    break;
                }
                taken.push(i);
            }
            taken.sort_unstable();
            if self.rehearsal {
                for (&i, score) in taken.iter().zip(reads.together(&taken)?) {
                    found.scores[i] = score;
                }
            }
            taken.sort_by(|a, b| found.scores[*b].total_cmp(&found.scores[*a]).then(a.cmp(b)));
            // The next step's competition needs room for one more.
            let mut length = room + limits.block + 1;
            found.kept = Vec::with_capacity(stride);
            for i in taken.into_iter().take(stride) {
                length += found.tokens[i] + 1;
                if length > limits.tokens {
                    break;
                }
                found.kept.push(i);
            }
            found.kept.sort_unstable();
        }
        Ok(found)
    }
}

/// Scores every block that is not kept beside those that are.
fn compete(reads: &impl Reads, found: &mut Recalled) -> Result<()> {
    let open: Vec<usize> = (0..reads.blocks()).filter(|i| !found.kept.contains(i)).collect();
    for group in open.chunks(GROUP) {
        for (&i, (score, tokens)) in group.iter().zip(reads.alone(&found.kept, group)?) {
            found.scores[i] = score;
            found.tokens[i] = tokens;
        }
    }
    Ok(())
}

/// L and B.
#[derive(Clone, Copy)]
struct Limits {
    tokens: usize,
    block: usize,
}

/// Blocks that can be scored.
trait Reads {
    /// How many there are.
    fn blocks(&self) -> usize;

    /// The score of each of `blocks` by itself behind `kept`, and the number of its tokens.
    fn alone(&self, kept: &[usize], blocks: &[usize]) -> Result<Vec<(f32, usize)>>;

    /// The scores of blocks that are read together.
    fn together(&self, blocks: &[usize]) -> Result<Vec<f32>>;
}

/// Blocks of texts, read by a judge.
struct Reading<'a> {
    judge: &'a Judge,
    query: &'a [u32],
    texts: &'a Texts<'a>,
}

impl Reads for Reading<'_> {
    fn blocks(&self) -> usize {
        self.texts.len()
    }

    fn alone(&self, kept: &[usize], blocks: &[usize]) -> Result<Vec<(f32, usize)>> {
        use rayon::prelude::*;
        let kept: Vec<Vec<u32>> = kept.iter().map(|&i| self.texts.ids(i)).collect();
        let one = |&i: &usize| -> Sequence {
            let own = self.texts.ids(i);
            let all = kept.iter().map(Vec::as_slice).chain([own.as_slice()]);
            sequence(self.query, all, self.judge.special())
        };
        let sequences: Vec<Sequence> = blocks.par_iter().map(one).collect();
        let last = kept.len();
        let scores = self.judge.scores(&sequences, |_| last..last + 1)?;
        let read = sequences.iter().zip(scores).map(|(sequence, scores)| {
            (scores.first().copied().unwrap_or(0.0), sequence.blocks.last().map_or(0, |range| range.len()))
        });
        Ok(read.collect())
    }

    fn together(&self, blocks: &[usize]) -> Result<Vec<f32>> {
        let ids: Vec<Vec<u32>> = blocks.iter().map(|&i| self.texts.ids(i)).collect();
        let made = sequence(self.query, ids.iter().map(Vec::as_slice), self.judge.special());
        Ok(self.judge.scores(&[made], |_| 0..blocks.len())?.pop().unwrap_or_default())
    }
}

#[cfg(test)]
#[path = "recall_tests.rs"]
mod tests;
