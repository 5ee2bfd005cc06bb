use crate::Embeddings;

/// The reason for which documents could not be classified.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClassifierError {
    /// The data or the settings are none to train with.
    #[error("{0}")]
    Unusable(String),
    /// The training or the model failed while it ran.
    #[error("the classifier failed: {0}")]
    Run(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// A document as a classifier reads it, and its class.
#[derive(Debug, Clone, Copy)]
pub struct LabelledSequence<'a> {
    /// The vectors of its segments, in order; empty for a document without segments.
    pub vectors: &'a Embeddings,
    /// The number of its class, from 0.
    pub class: usize,
}

/// What a classifier learns from.
#[derive(Debug, Clone, Copy)]
pub struct ClassifierData<'a> {
    /// The number of classes.
    pub classes: usize,
    /// Numbers of a vector.
    pub dimension: usize,
    /// Documents to learn from, at least one.
    pub train: &'a [LabelledSequence<'a>],
    /// Documents to stop by; where there are none, training goes on to its last epoch.
    pub validation: &'a [LabelledSequence<'a>],
    /// Another seed, another beginning and another order of the documents.
    pub seed: u64,
}

/// What a training came to.
pub struct TrainedClassifier {
    /// The classifier, with the weights that did best on the validation documents.
    pub classifier: Box<dyn SequenceClassifier>,
    /// Epochs done.
    pub epochs: usize,
    /// The epoch after which it had those weights, from 1; the last one without validation documents.
    pub best_epoch: usize,
}

/// Trains classifiers of documents that are sequences of vectors, one a segment.
pub trait ClassifierTrainer: Send + Sync {
    /// The short name: `robert`.
    fn name(&self) -> &str;

    /// Trains a classifier. The same data and seed give the same classifier for every thread count.
    ///
    /// # Errors
    /// [`ClassifierError`]: data that cannot be trained with, a loss that is no number, a device that fails.
    fn train(&self, data: &ClassifierData<'_>) -> Result<TrainedClassifier, ClassifierError>;
}

/// The class that a classifier gives a document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Classified {
    /// The number of the class.
    pub class: usize,
    /// Its probability, 0..=1.
    pub probability: f32,
}

/// Gives documents classes.
pub trait SequenceClassifier: Send + Sync {
    /// Returns the likeliest class of each document, in order; a document's class does not depend on the others.
    ///
    /// # Errors
    /// [`ClassifierError`] where vectors have another dimension, or the model fails.
    fn classify(&self, documents: &[&Embeddings]) -> Result<Vec<Classified>, ClassifierError>;
}
