//! HierCRF: the tree of a document's segments, by a conditional random field over binary trees (Nair et al. 2023).
//!
//! Sentence vectors go through a bidirectional LSTM; biaffine scores say how well each span of sentences is a node. [`chart`]
//! sums over all binary trees and finds the best; [`binarise`] and [`recover`] lead from trees of any arity to binary ones
//! and back. A [`Tree`] holds linear segmentations from coarse to fine.
//!
//! A model that reads rows ([`Reads::Rows`]) knows the words, the paragraphs and the form of sentences beside their vectors. This
//! is not in the paper: it is for text without headings.

mod binary;
pub mod chart;
mod checkpoint;
mod gaps;
mod loss;
mod model;
mod network;
mod outline;
mod reading;
mod segmenter;
mod shipped;
mod tree;
mod window_rows;
mod windows;

pub use binary::{BinaryNode, Kind, binarise, recover};
pub use checkpoint::{CHECKPOINT, Checkpoint, Cut, Reads, Settings, Sizes};
pub(crate) use loss::TreeLoss;
pub use model::HierCrf;
pub(crate) use network::{Network, Place};
pub use outline::{Element, Outline};
pub(crate) use reading::mixed;
pub use reading::{Reading, TopicLabel};
pub(crate) use segmenter::HIERCRF;
pub use segmenter::{CutBy, HierCrfSegmenter, open};
pub use shipped::shipped;
pub use tree::{Node, Tree};
