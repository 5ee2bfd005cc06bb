#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod boundaries;
mod chunk;
mod document;
mod encoder;
mod heading;
mod segmenter;
mod span;
mod tokens;
mod variables;

pub use boundaries::{Boundaries, BoundaryError};
pub use chunk::Chunk;
pub use document::{Document, Format, Kind, Rewrite, Sentence};
pub use encoder::{Embeddings, EncodeError, SentenceEncoder};
pub use heading::Heading;
pub use segmenter::{KnownCount, SegmentError, Segmentation, Segmenter, segment_into};
pub use span::Span;
pub use tokens::{TokenCounter, TokenMap};
pub use variables::{VariableError, expand_variables};
