//! WeSWin: sentence labels from overlapping windows, weighted and averaged (Abbasi 2024).
//!
//! A sequence is `[CLS] s_a [SNT] ... s_b [SNT] [EOS]`; a linear head with softmax reads the last hidden state at each
//! `[SNT]` and gives the probability that a segment ends there. A [`Partition`] says which sequences a document becomes, a
//! [`Weighting`] how several predictions for one sentence are averaged. WeSWin-Ret has a second head that says which
//! sentences answer a question: [`WeSWinReranker`] orders passages by it.

mod adaptive;
mod checkpoint;
mod model;
mod partition;
mod plan;
mod reranker;
mod segmenter;
mod sequence;
mod shipped;
mod weighting;

pub(crate) use adaptive::Means;
pub(crate) use checkpoint::WORDS;
pub use checkpoint::{CHECKPOINT, Checkpoint, Settings};
pub use model::{Logits, WeSWin};
pub use partition::{Partition, Window};
pub use plan::Plan;
pub(crate) use reranker::RERANKER;
pub use reranker::WeSWinReranker;
pub(crate) use segmenter::{WESWIN, segmenter_of};
pub use segmenter::{WeSWinSegmenter, open};
pub(crate) use sequence::Asking;
pub use sequence::{QUESTION, Special, sequence};
pub use shipped::shipped;
pub use weighting::{Curve, Weighting};
