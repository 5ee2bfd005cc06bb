//! `topic`: a sequence model over the sentence vectors of a whole document, with what the words, the paragraphs and the form of
//! sentences say beside them.
//!
//! [`Inputs`] is what the model reads, [`Topic`] the trained model.

mod checkpoint;
mod decode;
mod inputs;
mod model;
mod network;

pub use checkpoint::{Checkpoint, Settings};
pub use decode::best_count;
pub use inputs::{Inputs, NUMBERS};
pub use model::Topic;
pub(crate) use model::batch;
pub(crate) use network::Network;
pub use network::Sizes;
