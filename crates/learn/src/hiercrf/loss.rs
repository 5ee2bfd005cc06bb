use candle_core::{CpuStorage, CustomOp1, Device, Layout, Result, Shape, Tensor};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::sync::Mutex;

use super::chart::{Marginals, Triangle, inside, marginals};

/// The negative log-likelihood of known trees: the logarithm of the total weight of all binary trees less the score of the
/// known one, for each document of a batch (Nair et al. 2023, section 5.3).
///
/// Its argument are the scores `[documents, time, time]` in single precision on the CPU: the entry `[d, i, j]` is that of
/// the span of document `d` from sentence `i` to sentence `j`, both with it, and `[d, i, i]` that of a sentence which is the first of
/// the two parts of a node. Only those inside a document's length are looked at. The gradient of a score is the probability of
/// what it is of, less 1 where the known tree has it.
/// Documents are worked out side by side, each on one thread: the bits do not depend on the number of threads.
pub(crate) struct TreeLoss {
    /// The spans of each known tree: `start..end` of two sentences or more.
    gold: Vec<Vec<(usize, usize)>>,
    /// The documents' lengths, in sentences.
    lengths: Vec<usize>,
    kept: Mutex<Option<Vec<Marginals>>>,
}

impl TreeLoss {
    pub(crate) fn new(gold: Vec<Vec<(usize, usize)>>, lengths: Vec<usize>) -> Self {
        Self { gold, lengths, kept: Mutex::new(None) }
    }

    /// The loss and the probabilities of each document.
    fn documents(&self, scores: &[f32], time: usize) -> Vec<(f64, Marginals)> {
        let one = |(d, &length): (usize, &usize)| {
            let own = scores.get(d * time * time..).unwrap_or_default();
            let score = |start: usize, end: usize| own.get(start * time + end - 1).copied().map_or(0.0, f64::from);
            let scores = Triangle::of(length, score);
            let sums = inside(&scores);
            let gold = self.gold.get(d).map_or(&[][..], Vec::as_slice);
            let spans: f64 = gold.iter().map(|&(start, end)| scores.at(start, end)).sum();
            let leaves: f64 = firsts(gold).into_iter().map(|first| scores.at(first, first + 1)).sum();
            let total = if length == 0 { 0.0 } else { sums.at(0, length) };
            (total - spans - leaves, marginals(&scores, &sums))
        };
        self.lengths.par_iter().enumerate().map(|(d, length)| one((d, length))).collect()
    }
}

/// The sentences that begin a span of a binary tree: each is the first of the two parts of one node.
fn firsts(gold: &[(usize, usize)]) -> BTreeSet<usize> {
    gold.iter().map(|&(start, _)| start).collect()
}

impl CustomOp1 for TreeLoss {
    fn name(&self) -> &'static str {
        "tree-loss"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let (documents, time, other) = layout.shape().dims3()?;
        let fits = self.lengths.len() == documents && time == other && self.lengths.iter().all(|&n| n <= time);
        let (CpuStorage::F32(numbers), Some((start, end)), true) = (storage, layout.contiguous_offsets(), fits) else {
            candle_core::bail!("tree-loss: its argument is square, contiguous and in single precision");
        };
        let found = self.documents(&numbers[start..end], time);
        let (losses, chances): (Vec<f64>, Vec<Marginals>) = found.into_iter().unzip();
        if let Ok(mut kept) = self.kept.lock() {
            *kept = Some(chances);
        }
        Ok((CpuStorage::F32(losses.into_iter().map(|loss| loss as f32).collect()), Shape::from(documents)))
    }

    fn bwd(&self, scores: &Tensor, _: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        let time = scores.dim(1)?;
        let kept = self.kept.lock().ok().and_then(|mut kept| kept.take());
        let chances = match kept {
            Some(chances) => chances,
            None => {
                let found = self.documents(&scores.flatten_all()?.to_vec1::<f32>()?, time);
                found.into_iter().map(|(_, chances)| chances).collect()
            }
        };
        let mut out = vec![0f32; scores.elem_count()];
        let all = out.chunks_mut((time * time).max(1)).zip(&chances).zip(gradient.to_vec1::<f32>()?).zip(&self.gold);
        for (((out, Marginals { spans, firsts: chances }), weight), gold) in all {
            let n = spans.sentences();
            for (start, chance) in chances.iter().enumerate() {
                out[start * time + start] = weight * *chance as f32;
                for end in start + 2..=n {
                    out[start * time + end - 1] = weight * spans.at(start, end) as f32;
                }
            }
            for &(start, end) in gold {
                // The difference in double precision: near 1 both are nearly equal.
                out[start * time + end - 1] = weight * (spans.at(start, end) - 1.0) as f32;
            }
            for first in firsts(gold) {
                out[first * time + first] = weight * (chances.get(first).copied().unwrap_or(0.0) - 1.0) as f32;
            }
        }
        Ok(Some(Tensor::from_vec(out, scores.shape(), &Device::Cpu)?))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use candle_core::{Device, Tensor, Var};
    use pericope_segment::random::SplitMix64;

    use super::TreeLoss;
    use crate::hiercrf::chart::{Triangle, best};

    const LENGTHS: [usize; 4] = [7, 1, 2, 0];

    fn scores() -> Vec<f32> {
        let mut random = SplitMix64::new(5);
        (0..4 * 8 * 8).map(|_| (random.next() >> 40) as f32 / (1 << 23) as f32 - 1.0).collect()
    }

    fn gold() -> Vec<Vec<(usize, usize)>> {
        let tree = |n: usize| best(&Triangle::of(n, |i, j| (i * j % 5) as f64));
        LENGTHS.iter().map(|&n| tree(n)).collect()
    }

    fn losses(scores: &Tensor) -> Tensor {
        scores.apply_op1(TreeLoss::new(gold(), LENGTHS.to_vec())).unwrap()
    }

    #[test]
    fn the_gradient_is_that_of_differences() {
        let shape = (4, 8, 8);
        let variable = Var::from_vec(scores(), shape, &Device::Cpu).unwrap();
        let weights = Tensor::new(&[1.0f32, 2.0, -0.5, 3.0], &Device::Cpu).unwrap();
        let loss = |tensor: &Tensor| (losses(tensor) * &weights).unwrap().sum_all().unwrap();
        let total = loss(&variable);
        let gradients = total.backward().unwrap();
        let gradient = gradients.get(&variable).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
        assert_eq!(gradient, {
            let again = total.backward().unwrap();
            again.get(&variable).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap()
        });
        for at in 0..gradient.len() {
            let moved = |step: f32| {
                let mut numbers = scores();
                numbers[at] += step;
                loss(&Tensor::from_vec(numbers, shape, &Device::Cpu).unwrap()).to_scalar::<f32>().unwrap()
            };
            let slope = (moved(0.05) - moved(-0.05)) / 0.1;
            assert!((gradient[at] - slope).abs() < 2e-3, "{at}: {} {slope}", gradient[at]);
        }
    }

    #[test]
    fn a_certain_tree_costs_nothing() {
        let found = losses(&Tensor::zeros((4, 8, 8), candle_core::DType::F32, &Device::Cpu).unwrap());
        let found = found.to_vec1::<f32>().unwrap();
        // All 132 trees of seven sentences are equal; a single one cannot be wrong.
        assert!((found[0] - 132f32.ln()).abs() < 1e-6 && found[1..] == [0.0, 0.0, 0.0]);
        let mut sure = vec![0f32; 4 * 8 * 8];
        gold()[0].iter().for_each(|&(start, end)| sure[start * 8 + end - 1] = 40.0);
        let found = losses(&Tensor::from_vec(sure, (4, 8, 8), &Device::Cpu).unwrap()).to_vec1::<f32>().unwrap();
        assert!(found[0].abs() < 1e-6);
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        let tensor = Tensor::from_vec(scores(), (4, 8, 8), &Device::Cpu).unwrap();
        let alone = losses(&tensor).to_vec1::<f32>().unwrap();
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert_eq!(alone, pool.install(|| losses(&tensor).to_vec1::<f32>().unwrap()));
        }
    }
}
