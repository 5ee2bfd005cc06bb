use std::ops::Range;

use candle_core::{D, DType, Device, Tensor};
use pericope_encode::encoders::{Embed, LayerByLayer};

use super::sample::Sample;
use crate::cogltx::{DENSE, MATCH, SCORE, SPAN, Sequence};
use crate::training::frozen;
use crate::training::gradients::cross_entropy;
use crate::training::options::TrainError;
use crate::training::variables::Variables;

/// The loss of samples: what the judge says of their tokens, and the reasoner of their answers' ends.
pub(super) struct Loss<'a> {
    pub(super) heads: Heads,
    /// The frozen layers, in optimised kernels; none where all are trained.
    pub(super) lower: Option<&'a dyn Embed>,
    /// The number of frozen layers, and of all.
    pub(super) layers: (usize, usize),
    pub(super) hidden: usize,
    pub(super) order_weight: f64,
    pub(super) span_weight: f64,
    pub(super) device: &'a Device,
}

/// The weights of the heads, `[outputs, hidden]`, and their biases, `[outputs]`: variables, which are stepped here too.
pub(super) struct Heads {
    dense: (Tensor, Tensor),
    score: (Tensor, Tensor),
    matching: (Tensor, Tensor),
    span: (Tensor, Tensor),
}

/// What every number of the likeness weighs to begin with, and the bias. All weights being equal, blocks are ranked by the cosine
/// of the two means from the first step on. all-MiniLM-L6-v2 has cosines of 0.69 on average there (standard deviation 0.11), and a
/// fifth of the blocks that are read are relevant, which is what these two make of it.
const LIKENESS: (f32, f32) = (4.0, -4.0);

impl Heads {
    /// Those of `variables`: made where they are not there, of zeros to begin with, or the identity for a hidden layer, which would
    /// never get a gradient otherwise.
    pub(super) fn of(variables: &Variables<'_>, hidden: usize, device: &Device) -> Result<Self, TrainError> {
        let head = |name: &str, outputs: usize| -> Result<(Tensor, Tensor), TrainError> {
            let weight = variables.inherited(&format!("{name}.weight"), &[outputs, hidden], || {
                if name == DENSE {
                    return Tensor::eye(hidden, DType::F32, device);
                }
                Tensor::zeros((outputs, hidden), DType::F32, device)
            })?;
            Ok((weight, variables.zeros(&format!("{name}.bias"), &[outputs])?))
        };
        let full = |name: &str, shape: &[usize], number: f32| {
            variables.inherited(name, shape, || Tensor::full(number, shape, device))
        };
        let matching = (
            full(&format!("{MATCH}.weight"), &[1, hidden], LIKENESS.0)?,
            full(&format!("{MATCH}.bias"), &[1], LIKENESS.1)?,
        );
        Ok(Self { dense: head(DENSE, hidden)?, score: head(SCORE, 1)?, matching, span: head(SPAN, 2)? })
    }
}

/// What the sums of a step are divided by.
#[derive(Clone, Copy)]
pub(super) struct Counts {
    pub(super) tokens: usize,
    /// Questions with relevant blocks and others.
    pub(super) ordered: usize,
    pub(super) ends: usize,
}

impl Counts {
    /// Those of what is read of each question.
    pub(super) fn of(asked: &[Vec<Sample>]) -> Self {
        let samples = || asked.iter().flatten();
        let is_ordered = |samples: &&Vec<Sample>| {
            let has = |wanted: bool| samples.iter().any(|sample| sample.read().any(|(_, relevant)| relevant == wanted));
            has(true) && has(false)
        };
        Self {
            tokens: samples().map(|sample| sample.sequence.ids.len()).sum(),
            ordered: asked.iter().filter(is_ordered).count(),
            ends: samples().map(|sample| sample.ends.iter().flatten().count()).sum(),
        }
    }
}

impl Loss<'_> {
    /// The loss of what is read of each question; see [`Loss::of_rows`].
    pub(super) fn of(
        &self,
        encoder: &dyn LayerByLayer,
        asked: &[Vec<Sample>],
        counts: Counts,
    ) -> Result<Tensor, TrainError> {
        let samples: Vec<&Sample> = asked.iter().flatten().collect();
        self.of_rows(&self.rows(encoder, &samples)?, asked, counts)
    }

    /// The cross-entropy of all tokens' relevance, over `counts.tokens`, and, by weights, that of the order of questions' blocks, over
    /// `counts.ordered`, and that of the answers' ends among the tokens of blocks, over `counts.ends`. `x` are the last hidden states,
    /// `[tokens, hidden]`, the samples one after the other.
    pub(super) fn of_rows(&self, x: &Tensor, asked: &[Vec<Sample>], counts: Counts) -> Result<Tensor, TrainError> {
        let samples: Vec<&Sample> = asked.iter().flatten().collect();
        let classes: Vec<usize> = samples.iter().flat_map(|sample| sample.labels()).map(usize::from).collect();
        let Heads { dense, score, matching, span } = &self.heads;
        let inner = x.matmul(&dense.0.t()?)?.broadcast_add(&dense.1)?.tanh()?;
        let mut likeness = Vec::with_capacity(samples.len());
        let mut from = 0;
        let mut starts = Vec::with_capacity(samples.len());
        for sample in &samples {
            let count = sample.sequence.ids.len();
            likeness.push(self.likeness(&x.narrow(0, from, count)?, &sample.sequence, matching)?);
            starts.push(from);
            from += count;
        }
        let odds = (inner.matmul(&score.0.t()?)?.broadcast_add(&score.1)? + Tensor::cat(&likeness, 0)?)?;
        // The sigmoid of one logit is the softmax of it and 0.
        let logits = Tensor::cat(&[&odds.zeros_like()?, &odds], D::Minus1)?;
        let mut loss = (cross_entropy(&logits, &classes)? / counts.tokens.max(1) as f64)?;
        if self.order_weight > 0.0
            && let Some(order) = self.order(&odds, asked)?
        {
            loss = (loss + (order * (self.order_weight / counts.ordered.max(1) as f64))?)?;
        }
        let scale = self.span_weight / counts.ends.max(1) as f64;
        for (sample, start) in samples.iter().zip(starts).filter(|(sample, _)| sample.ends != [None; 2]) {
            let Some(first) = sample.sequence.blocks.first().map(|places| places.start) else { continue };
            let own = x.narrow(0, start + first, sample.sequence.ids.len() - first)?;
            let logits = own.matmul(&span.0.t()?)?.broadcast_add(&span.1)?.t()?.contiguous()?;
            for (i, place) in sample.ends.iter().enumerate() {
                let Some(place) = place else { continue };
                loss = (loss + (cross_entropy(&logits.narrow(0, i, 1)?, &[place - first])? * scale)?)?;
            }
        }
        Ok(loss)
    }

    /// The sum over questions of the mean cross-entropy of a relevant block among the irrelevant ones, by the means of the tokens' log-odds,
    /// `[tokens, 1]`. Nothing where no question has both.
    fn order(&self, odds: &Tensor, asked: &[Vec<Sample>]) -> Result<Option<Tensor>, TrainError> {
        let mut sum: Option<Tensor> = None;
        let mut from = 0;
        for samples in asked {
            let (mut relevant, mut others, mut scores) = (Vec::new(), Vec::new(), Vec::new());
            for sample in samples {
                let count = sample.sequence.ids.len();
                let (places, labels): (Vec<Range<usize>>, Vec<bool>) = sample.read().unzip();
                for is_relevant in labels {
                    let at = (relevant.len() + others.len()) as u32;
                    if is_relevant { relevant.push(at) } else { others.push(at) }
                }
                if !places.is_empty() {
                    scores.push(self.means(&places, count)?.matmul(&odds.narrow(0, from, count)?)?.flatten_all()?);
                }
                from += count;
            }
            if relevant.is_empty() || others.is_empty() {
                continue;
            }
            let (many, width) = (relevant.len(), 1 + others.len());
            let rows: Vec<u32> = relevant.iter().flat_map(|one| std::iter::once(one).chain(&others)).copied().collect();
            let rows = Tensor::cat(&scores, 0)?.index_select(&Tensor::from_vec(rows, many * width, self.device)?, 0)?;
            let own = (cross_entropy(&rows.reshape((many, width))?, &vec![0; many])? / many as f64)?;
            sum = Some(match sum {
                Some(sum) => (sum + own)?,
                None => own,
            });
        }
        Ok(sum)
    }

    /// What makes means over places of the rows of a sequence of `count` tokens, `[places, count]`.
    fn means(&self, places: &[Range<usize>], count: usize) -> candle_core::Result<Tensor> {
        let mut shares = vec![0f32; places.len() * count];
        for (places, row) in places.iter().zip(shares.chunks_exact_mut(count.max(1))) {
            row[places.clone()].fill(1.0 / places.len().max(1) as f32);
        }
        Tensor::from_vec(shares, (places.len(), count), self.device)
    }

    /// What each token's logit gains by its block's likeness to the query, `[tokens, 1]`: nothing before the blocks. `x` is
    /// `[tokens, hidden]`.
    fn likeness(
        &self,
        x: &Tensor,
        sequence: &Sequence,
        (weight, bias): &(Tensor, Tensor),
    ) -> Result<Tensor, TrainError> {
        let tokens = x.dim(0)?;
        let places: Vec<Range<usize>> =
            std::iter::once(sequence.query()).chain(sequence.blocks.iter().cloned()).collect();
        let mut owner = vec![0u32; tokens];
        for (i, places) in places.iter().enumerate().skip(1) {
            // With its [SEP], as it is labelled.
            owner[places.start..=places.end].fill(i as u32);
        }
        let means = self.means(&places, tokens)?.matmul(x)?;
        // No length is 0, whatever a mean is.
        let lengths = (means.sqr()?.sum_keepdim(1)? + 1e-12)?.sqrt()?;
        let directions = means.broadcast_div(&lengths)?;
        let query = directions.narrow(0, 0, 1)?.broadcast_mul(weight)?;
        let blocks = directions.narrow(0, 1, places.len() - 1)?.contiguous()?;
        let found = blocks.matmul(&query.t()?.contiguous()?)?.broadcast_add(bias)?;
        let all = Tensor::cat(&[&Tensor::zeros((1, 1), DType::F32, self.device)?, &found], 0)?;
        let count = owner.len();
        Ok(all.index_select(&Tensor::from_vec(owner, count, self.device)?, 0)?)
    }

    /// The last hidden states, `[tokens, hidden]`, the samples one after the other.
    fn rows(&self, encoder: &dyn LayerByLayer, samples: &[&Sample]) -> Result<Tensor, TrainError> {
        let ids: Vec<&[u32]> = samples.iter().map(|sample| sample.sequence.ids.as_slice()).collect();
        let longest = ids.iter().map(|ids| ids.len()).max().unwrap_or(0);
        let padded = self.padded_rows(encoder, &ids, longest)?.reshape(((), self.hidden))?;
        let places: Vec<u32> = ids
            .iter()
            .enumerate()
            .flat_map(|(row, ids)| (0..ids.len()).map(move |at| (row * longest + at) as u32))
            .collect();
        let count = places.len();
        Ok(padded.index_select(&Tensor::from_vec(places, count, self.device)?, 0)?)
    }

    /// The same, `[samples, longest, hidden]`.
    fn padded_rows(&self, encoder: &dyn LayerByLayer, ids: &[&[u32]], longest: usize) -> Result<Tensor, TrainError> {
        let (frozen, all) = self.layers;
        let Some(lower) = self.lower else {
            let (x, mask) = encoder.embed_tokens(ids)?;
            return Ok(encoder.run_layers(&x, &mask, 0..all)?);
        };
        let mut rows = Vec::with_capacity(ids.len() * longest * self.hidden);
        for mut own in frozen::run(lower, ids, self.hidden)? {
            own.resize(longest * self.hidden, 0.0);
            rows.append(&mut own);
        }
        let x = Tensor::from_vec(rows, (ids.len(), longest, self.hidden), self.device)?;
        let mask = ids.iter().flat_map(|ids| (0..longest).map(|at| if at < ids.len() { 1f32 } else { 0.0 }));
        let mask = Tensor::from_iter(mask, self.device)?.reshape((ids.len(), longest))?;
        Ok(encoder.run_layers(&x, &mask, frozen..all)?)
    }
}
