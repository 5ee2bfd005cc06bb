//! Graph tiling (Costacurta, "Text Tiling Done Right"): sentences are nodes, similarities of near sentences edges,
//! Louvain's communities, made contiguous, the tiles.
//!
//! The steps can be used one by one:
//!
//! ```
//! use pericope_api::Document;
//! use pericope_segment::graph::similarity::{Jaccard, PairWeights};
//! use pericope_segment::graph::{Network, compact, louvain};
//!
//! let document = Document::from_sentences("d", &["red fish", "blue fish", "one fish", "two cows", "old cows"]);
//! let band = Jaccard.band(&document, &[0, 1, 2, 3, 4], 2)?;
//! let network = Network::new(document.len(), band.pairs());
//! assert_eq!(compact(&louvain(&network, 1.0, 0)).after(), [3]);
//! # Ok::<(), pericope_api::SegmentError>(())
//! ```

mod compaction;
mod entry;
mod evidence;
mod louvain;
mod network;
mod segmenter;
pub mod similarity;

pub use compaction::compact;
pub(crate) use entry::GRAPH;
pub use louvain::{louvain, modularity};
pub use network::Network;
pub use segmenter::GraphTiling;
