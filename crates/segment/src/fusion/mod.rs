//! Words and embeddings together: the semantic segmenter for where no trained one is wanted.

mod evidence;
mod segmenter;
mod words;

pub(crate) use segmenter::FUSION;
pub use segmenter::Fusion;
