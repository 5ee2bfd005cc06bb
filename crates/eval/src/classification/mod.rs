//! Classification: how well a class can be read from the segments of a document, by every way of cutting.
//!
//! [`ClassificationExperiment`] is what a file says, [`ClassSet`] the documents with their classes, [`ClassificationSummary`] what came
//! out. [`crate::run::classify`] runs it, with a classifier that the caller brings.

mod config;
mod make;
mod mask;
mod newsgroups;
mod record;
mod set;

pub use config::{
    ClassCompare, ClassData, ClassDataKind, ClassificationExperiment, ClassifierConfig, PublishedAccuracy, SchemeConfig,
};
pub use make::{Made, MakeOptions, make};
pub use mask::{MASK, Mask};
pub use newsgroups::Part;
pub use record::{ClassRow, ClassificationSummary, ClassifiedItem, ClassifiedRow, TrainingRow};
pub use set::{ClassLine, ClassSet, class_of, load};
