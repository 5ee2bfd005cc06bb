use candle_core::Tensor;
use pericope_segment::random::{SplitMix64, fnv1a};

use super::examples::Drawn;
use super::fit::{Task, Training};
use super::trees::Example;
use crate::hiercrf::{BinaryNode, Kind, Network, Place, TreeLoss, binarise};
use crate::training::gradients::{Gradients, boundary_losses, cross_entropy};
use crate::training::options::TrainError;
use crate::training::over_vectors::dropped;

impl Training<'_> {
    /// The mean loss of a step and its gradients.
    pub(super) fn gradients(
        &self,
        network: &Network,
        tasks: &[Task],
        epoch: usize,
        step: usize,
    ) -> Result<(f32, Gradients), TrainError> {
        let examples = self.drawn(tasks, epoch);
        let mut gradients = Gradients::default();
        let mut total = 0.0;
        let all = Totals::of(&examples);
        let mut rest = examples.as_slice();
        let mut random = SplitMix64::new(fnv1a(self.options.seed ^ 0x5eed, step.to_le_bytes()));
        while let Some(first) = rest.first() {
            // As many as fit, each as long as the first.
            let count = (self.options.micro_batch / first.example.sentences.len().max(1)).clamp(1, rest.len());
            let (some, others) = rest.split_at(count);
            rest = others;
            let loss = self.loss(network, some, &all, &mut random)?;
            total += loss.to_scalar::<f32>()?;
            gradients.add_by(&loss, self.parameters.all())?;
        }
        Ok((total, gradients))
    }

    /// The part of some examples in the loss of a step.
    fn loss(
        &self,
        network: &Network,
        examples: &[Drawn<'_>],
        all: &Totals,
        random: &mut SplitMix64,
    ) -> Result<Tensor, TrainError> {
        let (x, ends) = self.inputs(examples)?;
        let lengths: Vec<usize> = examples.iter().map(|one| one.example.sentences.len()).collect();
        let rate = self.options.dropout;
        let read = network.read(&x, &lengths, &mut |x| dropped(x, rate, random))?;
        let trees: Vec<Vec<BinaryNode>> = examples.iter().map(|one| binarise(&one.example.tree)).collect();
        let gold: Vec<Vec<(usize, usize)>> =
            trees.iter().map(|tree| tree.iter().map(|node| (node.start, node.end)).collect()).collect();
        let (mut places, mut kinds): (Vec<Place>, Vec<usize>) = (Vec::new(), Vec::new());
        for (document, tree) in trees.iter().enumerate() {
            places.extend(tree.iter().map(|node| (document, (node.start, node.end))));
            kinds.extend(tree.iter().map(|node| usize::from(node.kind == Kind::Irreducible)));
        }
        let scores = network.spans(&read)?.contiguous()?;
        let trees = scores.apply_op1(TreeLoss::new(gold, lengths))?.sum_all()?;
        let types = cross_entropy(&network.kinds(&read, &places)?, &kinds)?;
        let mut loss = ((trees / all.sentences)? + (types / all.nodes)?)?;
        if self.options.boundary_loss > 0.0
            && let Some(odds) = read.gaps()
        {
            let ends: Vec<&[bool]> = ends.iter().map(Vec::as_slice).collect();
            let (gaps, _) = boundary_losses(odds, &ends)?;
            // A document has as many gaps as nodes.
            loss = (loss + (gaps * (self.options.boundary_loss / all.nodes))?)?;
        }
        let (mut places, mut labels): (Vec<Place>, Vec<usize>) = (Vec::new(), Vec::new());
        for (document, one) in examples.iter().enumerate() {
            for &(start, end, (from, at)) in &one.example.topics {
                let label = one.documents.get(from).and_then(|from| from.topics.get(at));
                let place = label.and_then(|(.., label)| self.settings.topics.binary_search(label).ok());
                if let Some(place) = place {
                    places.push((document, (start, end)));
                    labels.push(place);
                }
            }
        }
        if !places.is_empty()
            && let Some(scores) = network.topics(&read, &places)?
        {
            loss = (loss + (cross_entropy(&scores, &labels)? / all.topics.max(1.0))?)?;
        }
        Ok(loss)
    }
}

/// What the losses of a step are divided by.
struct Totals {
    sentences: f64,
    nodes: f64,
    topics: f64,
}

impl Totals {
    fn of(examples: &[Drawn<'_>]) -> Self {
        let sum = |number: fn(&Example) -> usize| examples.iter().map(|one| number(&one.example)).sum::<usize>() as f64;
        Self {
            sentences: sum(|example| example.sentences.len()).max(1.0),
            nodes: sum(|example| example.sentences.len().saturating_sub(1)).max(1.0),
            topics: sum(|example| example.topics.len()),
        }
    }
}
