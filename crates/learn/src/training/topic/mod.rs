//! Training of the sequence model of `topic` on documents whose boundaries are known.

mod examples;
mod fit;
mod options;

pub use fit::train_topic;
pub use options::{TopicData, TopicOptions};
