use candle_core::{Device, Tensor};
use pericope_segment::random::{SplitMix64, fnv1a};
use rayon::prelude::*;

use super::fit::{Task, Training};
use super::trees::{Example, TreeDocument};
use crate::hiercrf::Reads;
use crate::rows::batch;
use crate::training::options::TrainError;
use crate::training::runs::{Labelled, Run};

/// Makes the draws of how an example is read others than those of what it is.
const HOW: u64 = 0x0905;

/// An example of a step, and how it is read.
pub(super) struct Drawn<'a> {
    pub(super) example: Example,
    /// The documents that it is made of.
    pub(super) documents: &'a [TreeDocument],
    /// Whether the paragraphs of its documents are known.
    paragraphs: bool,
    /// Whether the headings among its sentences are known to be headings.
    headings: bool,
}

impl Drawn<'_> {
    /// Its sentences, with what is known of them.
    fn run(&self) -> Run {
        let mut run = Run::default();
        let mut next: Option<(usize, usize)> = None;
        for &(document, sentence) in &self.example.sentences {
            if next.is_some_and(|next| next != (document, sentence)) {
                run.end();
            }
            if let Some(one) = self.documents.get(document) {
                one.add_to(&mut run, sentence, self.paragraphs, self.headings);
            }
            next = Some((document, sentence + 1));
        }
        run
    }
}

impl<'a> Training<'a> {
    /// The examples of a step, longest first.
    pub(super) fn drawn(&self, tasks: &[Task], epoch: usize) -> Vec<Drawn<'a>> {
        let mut drawn: Vec<Drawn<'a>> = tasks.iter().map(|&task| self.one(task, epoch)).collect();
        drawn.retain(|one| one.example.sentences.len() > 1);
        drawn.sort_by_key(|one| std::cmp::Reverse(one.example.sentences.len()));
        drawn
    }

    /// The example of a task.
    fn one(&self, (task, part): Task, epoch: usize) -> Drawn<'a> {
        let limit = self.options.window;
        let key = || match part {
            0 => [epoch.to_le_bytes(), task.to_le_bytes()].concat(),
            _ => [epoch.to_le_bytes(), task.to_le_bytes(), part.to_le_bytes()].concat(),
        };
        let mut how = SplitMix64::new(fnv1a(self.options.seed ^ HOW, key()));
        let mut share = || (how.next() >> 11) as f64 / (1u64 << 53) as f64;
        let ways = self.data.train;
        let (kept, headings) = (share() < 0.5, share() < 0.5);
        let paragraphs = share() >= self.options.hidden_paragraphs;
        let documents = if kept && !ways.with_headings.is_empty() { ways.with_headings } else { ways.plain };
        let mut random = SplitMix64::new(fnv1a(self.options.seed, key()));
        let example = match task < documents.len() {
            true => Example::of(documents, task, limit, &mut random),
            false => Example::synthetic(documents, limit, &mut random),
        };
        Drawn { example, documents, paragraphs, headings }
    }

    /// What is read of a batch, `[examples, time, numbers]`, and whether a segment ends behind each sentence.
    ///
    /// Rows are those of the example's own run of sentences, so that words and cosines are right where documents are joined.
    pub(super) fn inputs(&self, examples: &[Drawn<'_>]) -> Result<(Tensor, Vec<Vec<bool>>), TrainError> {
        let runs: Vec<Run> = examples.iter().map(Drawn::run).collect();
        match self.settings.reads {
            Reads::Vectors => Ok((self.vectors(&runs)?, runs.into_iter().map(|run| run.ends).collect())),
            Reads::Rows => {
                let vectors = self.data.vectors;
                let read = |run: Run| Labelled::read(run, false, vectors);
                let labelled: Vec<Labelled> = runs.into_par_iter().map(read).collect::<Result<_, _>>()?;
                let parts: Vec<_> = labelled.iter().map(|one| (&one.inputs, 0..one.inputs.len())).collect();
                let (x, _) = batch(&parts, &Device::Cpu)?;
                Ok((x, labelled.into_iter().map(|one| one.ends).collect()))
            }
        }
    }

    /// The vectors of a batch, `[examples, time, input]`.
    fn vectors(&self, runs: &[Run]) -> Result<Tensor, TrainError> {
        let width = self.settings.sizes.input;
        let time = runs.iter().map(|run| run.sentences.len()).max().unwrap_or(0);
        let mut x = vec![0f32; runs.len() * time * width];
        for (run, rows) in runs.iter().zip(x.chunks_exact_mut((time * width).max(1))) {
            let texts: Vec<&str> = run.sentences.iter().map(String::as_str).collect();
            let found = self.data.vectors.vectors(&texts).map_err(TrainError::Options)?;
            match rows.get_mut(..found.len()) {
                Some(rows) if found.len() == texts.len() * width => rows.copy_from_slice(&found),
                _ => {
                    return Err(TrainError::Options(format!("{} numbers for {} texts", found.len(), texts.len())));
                }
            }
        }
        Ok(Tensor::from_vec(x, (runs.len(), time, width), &Device::Cpu)?)
    }
}
