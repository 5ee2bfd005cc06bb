//! Graph tiling (Costacurta, "Text Tiling Done Right"): sentences are nodes, similarities of near sentences edges,
//! Louvain's communities, made contiguous, the tiles.
//!
//! ```
//! use pericope_api::{Document, segment_into};
//! use pericope_segment::graph::GraphTiling;
//! use pericope_segment::graph::similarity::Jaccard;
//!
//! let document = Document::from_sentences("d", &["red fish", "blue fish", "one fish", "two cows", "old cows"]);
//! let tiling = GraphTiling { k: 2, ..GraphTiling::new(vec![Box::new(Jaccard)]) };
//! assert_eq!(segment_into(&tiling, &document, 2)?.after(), [3]);
//! # Ok::<(), pericope_api::SegmentError>(())
//! ```

mod compaction;
mod entry;
mod evidence;
mod louvain;
mod network;
mod segmenter;
pub mod similarity;

pub(crate) use entry::GRAPH;
pub use segmenter::GraphTiling;
