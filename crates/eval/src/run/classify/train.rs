use std::time::Instant;

use pericope_api::{
    Classified, ClassifierData, ClassifierError, ClassifierTrainer, Embeddings, LabelledSequence, SequenceClassifier,
};
use pericope_segment::split::Split;
use rayon::prelude::*;

use super::super::cut::Cut;
use super::super::{Observer, RunError};
use crate::classification::{ClassSet, ClassifiedItem, TrainingRow};
use crate::record::Status;

/// What the trainings of one chunker gave.
pub(super) struct Trained {
    pub(super) runs: Vec<TrainingRow>,
    /// A line a training and test document.
    pub(super) items: Vec<ClassifiedItem>,
    pub(super) seconds: f64,
}

/// Trains once a seed, side by side, and classifies the documents that were not trained on.
pub(super) fn trained(
    cut: &Cut,
    set: &ClassSet,
    vectors: &[Embeddings],
    seeds: &[u64],
    trainer: &dyn ClassifierTrainer,
    observer: &dyn Observer,
) -> Result<Trained, RunError> {
    let start = Instant::now();
    observer.stage(&format!("{}: training", cut.name), seeds.len());
    let parts = Parts { cut, set, vectors };
    let failed = |e: ClassifierError| RunError::Config(format!("chunker '{}': {e}", cut.name));
    let one = |&seed: &u64| -> Result<(TrainingRow, Vec<ClassifiedItem>), RunError> {
        let found = parts.run(seed, trainer).map_err(failed)?;
        observer.advance(1);
        Ok(found)
    };
    let found: Vec<(TrainingRow, Vec<ClassifiedItem>)> = seeds.par_iter().map(one).collect::<Result<_, _>>()?;
    let (runs, items): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    Ok(Trained { runs, items: items.concat(), seconds: start.elapsed().as_secs_f64() })
}

/// The documents as one chunker cut them.
struct Parts<'a> {
    cut: &'a Cut,
    set: &'a ClassSet,
    vectors: &'a [Embeddings],
}

impl Parts<'_> {
    fn run(
        &self,
        seed: u64,
        trainer: &dyn ClassifierTrainer,
    ) -> Result<(TrainingRow, Vec<ClassifiedItem>), ClassifierError> {
        let (train, validation, test) = (self.of(Split::Train), self.of(Split::Validation), self.of(Split::Test));
        let data = ClassifierData {
            classes: self.set.labels.len(),
            dimension: self.vectors.iter().find(|one| !one.is_empty()).map_or(0, Embeddings::dimension),
            train: &self.sequences(&train),
            validation: &self.sequences(&validation),
            seed,
        };
        let found = trainer.train(&data)?;
        let held = self.given(found.classifier.as_ref(), &validation)?;
        let tested = self.given(found.classifier.as_ref(), &test)?;
        let row = TrainingRow {
            seed,
            epochs: found.epochs,
            best_epoch: found.best_epoch,
            validation_accuracy: self.share(&validation, &held, Split::Validation),
            accuracy: self.share(&test, &tested, Split::Test).unwrap_or(0.0),
        };
        Ok((row, self.items(seed, &test, &tested)))
    }

    /// The documents (their indices) that serve for something and have been cut.
    fn of(&self, split: Split) -> Vec<usize> {
        let serves = |at: &usize| self.set.splits.get(*at) == Some(&split) && self.cut.failed(*at).is_none();
        (0..self.set.documents.len()).filter(serves).collect()
    }

    fn sequences(&self, some: &[usize]) -> Vec<LabelledSequence<'_>> {
        let one =
            |&at: &usize| Some(LabelledSequence { vectors: self.vectors.get(at)?, class: *self.set.classes.get(at)? });
        some.iter().filter_map(one).collect()
    }

    fn given(&self, classifier: &dyn SequenceClassifier, some: &[usize]) -> Result<Vec<Classified>, ClassifierError> {
        classifier.classify(&some.iter().filter_map(|&at| self.vectors.get(at)).collect::<Vec<_>>())
    }

    /// The share of all documents that serve for something that were given their class; those that were not cut were not.
    fn share(&self, some: &[usize], given: &[Classified], split: Split) -> Option<f64> {
        let all = self.set.count(None, split);
        let right =
            some.iter().zip(given).filter(|(at, given)| self.set.classes.get(**at) == Some(&given.class)).count();
        (all > 0).then(|| right as f64 / all as f64)
    }

    fn items(&self, seed: u64, test: &[usize], given: &[Classified]) -> Vec<ClassifiedItem> {
        let mut given = test.iter().zip(given).peekable();
        let label = |class: usize| self.set.labels.get(class).cloned();
        let all = self.set.documents.iter().zip(&self.set.classes).zip(&self.set.splits).enumerate();
        let tested = all.filter(|(_, (_, split))| **split == Split::Test);
        tested
            .map(|(at, ((document, &class), _))| {
                let classified = given.next_if(|(place, _)| **place == at).map(|(_, classified)| *classified);
                ClassifiedItem {
                    document: document.id.clone(),
                    label: label(class).unwrap_or_default(),
                    chunker: self.cut.name.clone(),
                    seed,
                    given: classified.and_then(|one| label(one.class)),
                    probability: classified.map(|one| one.probability),
                    segments: self.vectors.get(at).map_or(0, Embeddings::len),
                    status: if classified.is_some() { Status::Ok } else { Status::Failed },
                    error: self.cut.failed(at).map(str::to_owned),
                }
            })
            .collect()
    }
}
