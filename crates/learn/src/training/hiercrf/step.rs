use candle_core::{Device, Tensor};
use pericope_segment::random::{SplitMix64, fnv1a};

use super::fit::Training;
use super::trees::Example;
use crate::hiercrf::{BinaryNode, Kind, Network, Place, TreeLoss, binarise};
use crate::training::gradients::{Gradients, cross_entropy};
use crate::training::options::TrainError;
use crate::training::over_vectors::dropped;

impl Training<'_> {
    /// The examples of a step, longest first.
    fn examples(&self, tasks: &[usize], epoch: usize) -> Vec<Example> {
        let (documents, limit) = (self.data.train, self.options.window);
        let made = tasks.iter().map(|&task| {
            let seed = fnv1a(self.options.seed, [epoch.to_le_bytes(), task.to_le_bytes()].concat());
            let mut random = SplitMix64::new(seed);
            match task < documents.len() {
                true => Example::of(documents, task, limit, &mut random),
                false => Example::synthetic(documents, limit, &mut random),
            }
        });
        let mut made: Vec<Example> = made.filter(|example| example.sentences.len() > 1).collect();
        made.sort_by_key(|example| std::cmp::Reverse(example.sentences.len()));
        made
    }

    /// The mean loss of a step and its gradients.
    pub(super) fn gradients(
        &self,
        network: &Network,
        tasks: &[usize],
        epoch: usize,
        step: usize,
    ) -> Result<(f32, Gradients), TrainError> {
        let examples = self.examples(tasks, epoch);
        let mut gradients = Gradients::default();
        let mut total = 0.0;
        let all = Totals::of(&examples);
        let mut rest = examples.as_slice();
        let mut random = SplitMix64::new(fnv1a(self.options.seed ^ 0x5eed, step.to_le_bytes()));
        while let Some(first) = rest.first() {
            // As many as fit, each as long as the first.
            let count = (self.options.micro_batch / first.sentences.len().max(1)).clamp(1, rest.len());
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
        examples: &[Example],
        all: &Totals,
        random: &mut SplitMix64,
    ) -> Result<Tensor, TrainError> {
        let x = self.vectors(examples)?;
        let lengths: Vec<usize> = examples.iter().map(|example| example.sentences.len()).collect();
        let rate = self.options.dropout;
        let read = network.read(&x, &lengths, &mut |x| dropped(x, rate, random))?;
        let trees: Vec<Vec<BinaryNode>> = examples.iter().map(|example| binarise(&example.tree)).collect();
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
        let (mut places, mut labels): (Vec<Place>, Vec<usize>) = (Vec::new(), Vec::new());
        for (document, example) in examples.iter().enumerate() {
            for &(start, end, (from, at)) in &example.topics {
                let label = self.data.train.get(from).and_then(|one| one.topics.get(at));
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

    /// The vectors of a batch, `[examples, time, input]`.
    fn vectors(&self, examples: &[Example]) -> Result<Tensor, TrainError> {
        let width = self.settings.sizes.input;
        let time = examples.iter().map(|example| example.sentences.len()).max().unwrap_or(0);
        let mut x = vec![0f32; examples.len() * time * width];
        for (example, rows) in examples.iter().zip(x.chunks_exact_mut((time * width).max(1))) {
            let text = |&(document, sentence): &(usize, usize)| -> &str {
                let sentences = self.data.train.get(document).map(|one| one.sentences.as_slice());
                sentences.and_then(|all| all.get(sentence)).map_or("", String::as_str)
            };
            let texts: Vec<&str> = example.sentences.iter().map(text).collect();
            let found = self.data.vectors.vectors(&texts).map_err(TrainError::Options)?;
            match rows.get_mut(..found.len()) {
                Some(rows) if found.len() == texts.len() * width => rows.copy_from_slice(&found),
                _ => {
                    return Err(TrainError::Options(format!("{} numbers for {} texts", found.len(), texts.len())));
                }
            }
        }
        Ok(Tensor::from_vec(x, (examples.len(), time, width), &Device::Cpu)?)
    }
}

/// What the losses of a step are divided by.
struct Totals {
    sentences: f64,
    nodes: f64,
    topics: f64,
}

impl Totals {
    fn of(examples: &[Example]) -> Self {
        let sum = |number: fn(&Example) -> usize| examples.iter().map(number).sum::<usize>() as f64;
        Self {
            sentences: sum(|example| example.sentences.len()).max(1.0),
            nodes: sum(|example| example.sentences.len().saturating_sub(1)).max(1.0),
            topics: sum(|example| example.topics.len()),
        }
    }
}
