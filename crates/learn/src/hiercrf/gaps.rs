use candle_core::{Device, Result, Tensor};
use pericope_encode::ModelError;
use pericope_encode::encoders::Tensors;

use crate::sequence::{GapHead, Init, Parameter};

/// What is known of the gaps between sentences: the scores of sentences that begin a node.
///
/// The head is not in the paper. It reads a gap's numbers beside the states, so that what paragraphs and words say need not find
/// its way through the products of the biaffine scores.
///
/// In the binarised form of a tree a node of many sentences is a chain of spans that all begin where it does. Were the log-odds of a gap
/// a part of the scores of spans, they would count as often as the node behind it is long. A sentence that begins a node is
/// the first of the two parts of a node once, and no other sentence is: so each gap counts once, and what a tree's likelihood
/// asks of its log-odds is what a logistic regression would, given all other gaps.
pub(super) struct Gaps {
    head: GapHead,
}

impl Gaps {
    /// The parameters of a head that reads `input` numbers a sentence with `hidden` units. Its log-odds begin at 0.
    pub(super) fn parameters(input: usize, hidden: usize) -> Vec<Parameter> {
        let mut list = GapHead::parameters("gaps", input, hidden);
        for parameter in list.iter_mut().filter(|parameter| parameter.name.starts_with("gaps.output.")) {
            parameter.init = Init::Constant(0.0);
        }
        list
    }

    pub(super) fn new(
        from: &dyn Tensors,
        input: usize,
        hidden: usize,
        device: &Device,
    ) -> std::result::Result<Self, ModelError> {
        Ok(Self { head: GapHead::new(from, "gaps", input, hidden, device)? })
    }

    /// The log-odds of a boundary behind each sentence: `[documents, time, input]` becomes `[documents, time]`; 0 behind the
    /// last sentence of a document, and beyond its length.
    pub(super) fn odds(&self, x: &Tensor, lengths: &[usize]) -> Result<Tensor> {
        let odds = self.head.forward(x)?;
        let (documents, time) = odds.dims2()?;
        let is_gap = lengths.iter().flat_map(|&n| (1..=time).map(move |after| if after < n { 1f32 } else { 0.0 }));
        let is_gap = Tensor::from_vec(is_gap.collect(), (documents, time), odds.device())?;
        odds * is_gap
    }
}

/// The scores of spans, `[documents, time, time]`, with those of sentences that begin a node on the diagonal: the log-odds
/// `[documents, time]` of the gap in front of each. Without log-odds, and for the first sentence, they are 0: that one begins a node in
/// every tree.
pub(super) fn on_diagonal(spans: &Tensor, odds: Option<&Tensor>) -> Result<Tensor> {
    let (documents, time, _) = spans.dims3()?;
    let diagonal = Tensor::eye(time, spans.dtype(), spans.device())?;
    let spans = spans.broadcast_mul(&(1.0 - &diagonal)?)?;
    let Some(odds) = odds.filter(|_| time > 1) else { return Ok(spans) };
    let none = Tensor::zeros((documents, 1), odds.dtype(), odds.device())?;
    let before = Tensor::cat(&[none, odds.narrow(1, 0, time - 1)?], 1)?;
    spans + diagonal.broadcast_mul(&before.unsqueeze(2)?)?
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use candle_core::{Device, Tensor, Var};
    use pericope_segment::random::SplitMix64;

    use super::{Gaps, on_diagonal};
    use crate::hiercrf::TreeLoss;
    use crate::hiercrf::chart::{Triangle, best};
    use crate::sequence::{Init, Parameters};

    const LENGTHS: [usize; 3] = [6, 2, 1];

    fn numbers(seed: u64, count: usize) -> Vec<f32> {
        let mut random = SplitMix64::new(seed);
        (0..count).map(|_| (random.next() >> 40) as f32 / (1 << 23) as f32 - 1.0).collect()
    }

    fn scores(odds: &Tensor) -> Tensor {
        let spans = Tensor::from_vec(numbers(1, 3 * 36), (3, 6, 6), &Device::Cpu).unwrap();
        on_diagonal(&spans, Some(odds)).unwrap()
    }

    #[test]
    fn a_sentence_has_the_gap_before_it_and_spans_are_as_they_were() {
        let odds = [[0.1f32, 0.2, 0.3, 0.4, 0.5, 0.0], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0; 6]];
        let found = scores(&Tensor::new(&odds, &Device::Cpu).unwrap()).flatten_all().unwrap().to_vec1::<f32>().unwrap();
        let plain = numbers(1, 3 * 36);
        for (at, (found, plain)) in found.iter().zip(&plain).enumerate() {
            let (document, first, last) = (at / 36, at / 6 % 6, at % 6);
            let expected = match first == last {
                true => first.checked_sub(1).map_or(0.0, |gap| odds[document][gap]),
                false => *plain,
            };
            assert_eq!(*found, expected, "{document} {first} {last}");
        }
        // Without a head single sentences have no score, as they have none in the paper.
        let spans = Tensor::from_vec(plain.clone(), (3, 6, 6), &Device::Cpu).unwrap();
        let found = on_diagonal(&spans, None).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
        for (at, (found, plain)) in found.iter().zip(plain).enumerate() {
            assert_eq!(*found, if at / 6 % 6 == at % 6 { 0.0 } else { plain });
        }
    }

    #[test]
    fn the_gradient_is_that_of_differences() {
        let gold: Vec<Vec<(usize, usize)>> =
            LENGTHS.iter().map(|&n| best(&Triangle::of(n, |i, j| (i * j % 5) as f64))).collect();
        let loss = |odds: &Tensor| {
            let trees = TreeLoss::new(gold.clone(), LENGTHS.to_vec());
            scores(odds).contiguous().unwrap().apply_op1(trees).unwrap().sum_all().unwrap()
        };
        let start = numbers(2, 18);
        let odds = Var::from_tensor(&tensor(&start, &[3, 6])).unwrap();
        let gradients = loss(&odds).backward().unwrap();
        let gradient = gradients.get(&odds).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
        for (at, found) in gradient.iter().enumerate() {
            let moved = |step: f32| {
                let mut moved = start.clone();
                moved[at] += step;
                loss(&tensor(&moved, &[3, 6])).to_scalar::<f32>().unwrap()
            };
            let slope = (moved(0.02) - moved(-0.02)) / 0.04;
            assert!((found - slope).abs() < 5e-3, "{at}: {found} {slope}");
            // The probability of a boundary less 1 where there is one: at most 1 for each gap, however long sections are.
            assert!(found.abs() <= 1.0, "{at}: {found}");
        }
    }

    fn tensor(numbers: &[f32], shape: &[usize]) -> Tensor {
        Tensor::from_vec(numbers.to_vec(), shape, &Device::Cpu).unwrap()
    }

    #[test]
    fn it_begins_without_a_say() {
        let list = Gaps::parameters(4, 3);
        let parameters = Parameters::new(&list, 7, &Device::Cpu).unwrap();
        let gaps = Gaps::new(&parameters, 4, 3, &Device::Cpu).unwrap();
        let odds = gaps.odds(&tensor(&numbers(3, 72), &[3, 6, 4]), &LENGTHS).unwrap();
        assert!(odds.flatten_all().unwrap().to_vec1::<f32>().unwrap().iter().all(|&odds| odds == 0.0));
        assert!(list.iter().any(|parameter| matches!(parameter.init, Init::Uniform(_))));
        // Behind the last sentence of a document there is no gap.
        let told: Vec<_> =
            list.into_iter().map(|one| crate::sequence::Parameter { init: Init::Constant(0.5), ..one }).collect();
        let parameters = Parameters::new(&told, 7, &Device::Cpu).unwrap();
        let gaps = Gaps::new(&parameters, 4, 3, &Device::Cpu).unwrap();
        let odds =
            gaps.odds(&Tensor::ones((3, 6, 4), candle_core::DType::F32, &Device::Cpu).unwrap(), &LENGTHS).unwrap();
        let told: Vec<usize> =
            odds.to_vec2::<f32>().unwrap().iter().map(|row| row.iter().filter(|&&odds| odds != 0.0).count()).collect();
        assert_eq!(told, [5, 1, 0]);
    }
}
