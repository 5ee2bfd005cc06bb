#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod boundaries;
mod chunk;
mod classifier;
mod document;
mod encoder;
mod heading;
mod model_use;
mod reranker;
mod segmenter;
mod shift;
mod span;
mod span_reader;
mod tokens;
mod tree;
mod variables;

pub use boundaries::{Boundaries, BoundaryError};
pub use chunk::{Chunk, Joint, joints};
pub use classifier::{
    Classified, ClassifierData, ClassifierError, ClassifierTrainer, LabelledSequence, SequenceClassifier,
    TrainedClassifier,
};
pub use document::{Document, Format, Kind, Rewrite, Sentence};
pub use encoder::{Embeddings, EncodeError, SentenceEncoder, joined_windows};
pub use heading::Heading;
pub use model_use::ModelUse;
pub use reranker::{RerankError, Reranker};
pub use segmenter::{KnownCount, SegmentError, Segmentation, Segmenter, segment_into};
pub use shift::ShiftFinder;
pub use span::Span;
pub use span_reader::{FoundSpan, SpanReader, SpanReaderError};
pub use tokens::{TokenCounter, TokenMap};
pub use tree::{SegmentLabel, SegmentTree, SegmentTrees};
pub use variables::{VariableError, expand_variables};
