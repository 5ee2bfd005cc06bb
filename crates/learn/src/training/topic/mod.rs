//! Training of the sequence model of `topic` on documents whose boundaries are known.

mod examples;
mod fit;
mod options;
mod weigh;

pub use examples::{topic_examples, topic_validation};
pub use fit::{topic_f1, train_topic};
pub use options::{Part, TopicData, TopicOptions};
