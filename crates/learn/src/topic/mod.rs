//! `topic`: a sequence model over the sentence vectors of a whole document, with what the words, the paragraphs and the form of
//! sentences say beside them.
//!
//! [`Inputs`] is what the model reads, [`Topic`] the trained model, [`TopicSegmenter`] cuts by it.

mod beside;
mod checkpoint;
mod cut;
mod decode;
mod encoder;
mod lengths;
mod model;
mod network;
mod sections;
mod segmenter;
mod shipped;
mod spec;
mod window_diff;

pub(crate) use beside::{Opinion, evidence_of};
pub use checkpoint::{CHECKPOINT, Checkpoint, Settings, Weights};
pub(crate) use cut::Evidence;
pub use cut::{Amount, Objective};
pub use decode::best_count;
pub(crate) use encoder::CHANGEABLE;
pub use encoder::OwnEncoder;
pub use lengths::Lengths;
pub use model::{Topic, VectorsOf};
pub(crate) use network::Network;
pub use network::{Recurrence, Sizes, Without};
pub use segmenter::TopicSegmenter;
pub use shipped::shipped;
pub(crate) use spec::TOPIC;
pub use spec::open;

pub use crate::rows::{Inputs, NUMBERS};
