//! RoBERT: classes of documents from the vectors of their segments (Pappagari et al. 2019; Dong, Singh and Yeh, section 3.1).
//!
//! An LSTM reads the vectors of a frozen encoder, one a segment, and two layers make a class of its last state. [`Robert`] trains
//! it; what it reads, and so how well a way of cutting serves it, is the caller's.

mod classifier;
mod network;

pub(crate) use classifier::{RobertClassifier, batch};
pub(crate) use network::Network;

use pericope_api::{ClassifierData, ClassifierError, ClassifierTrainer, TrainedClassifier};

/// How a classifier is made and trained.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Robert {
    /// Units of the LSTM; 128 as published.
    pub hidden: usize,
    /// Units of the layer behind it; 64 as published.
    pub head: usize,
    /// Learning rate of Adam; 5e-5 as published, with 500 epochs.
    pub learning_rate: f64,
    /// Passes over the documents, at most.
    pub epochs: usize,
    /// Epochs without a lower loss on the validation documents after which training ends.
    pub patience: usize,
    /// Documents of a step.
    pub batch: usize,
}

impl ClassifierTrainer for Robert {
    fn name(&self) -> &str {
        "robert"
    }

    /// Adam on the cross-entropy; the weights with the lowest loss on the validation documents stay.
    fn train(&self, data: &ClassifierData<'_>) -> Result<TrainedClassifier, ClassifierError> {
        crate::training::train_robert(self, data)
    }
}
