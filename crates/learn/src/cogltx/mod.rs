//! CogLTX: long texts read through their key blocks (Ding et al. 2020, "CogLTX: Applying BERT to Long Texts").
//!
//! A text is cut into [blocks](pericope_segment::blocks) of at most 63 tokens. The [`Judge`] reads `[CLS] Q [SEP] z_0 [SEP] ...
//! z_{n-1} [SEP]` and gives each token a relevance; a block's score is the mean over its tokens. [`MemRecall`] finds the key blocks of
//! a text of any length with it: blocks compete one by one beside what is kept, the best are read together, the best of these are
//! kept, and the next step begins. The reasoner is a head on the same encoder that finds the answer's first and last token in the
//! key blocks.
//!
//! | here | is |
//! | --- | --- |
//! | [`Reader`] | [`SpanReader`](pericope_api::SpanReader): question and texts, key blocks, a contiguous answer |
//! | [`reranker`] | [`Reranker`](pericope_api::Reranker): passages by their best block |
//! | [`train_judge`](crate::training::train_judge) | the training of both heads |
//!
//! The authors have two encoders, one for the judge and one for the reasoner; here one serves both. As in their code, a block is
//! followed by a `[SEP]`, the last one too.

mod answer;
mod checkpoint;
mod judge;
mod open;
mod reader;
mod recall;
mod rerank;
mod sequence;
mod texts;

pub use checkpoint::{CHECKPOINT, Checkpoint, Settings};
pub use judge::Judge;
pub use open::{open, shipped, shipped_sha256};
pub use reader::Reader;
pub use recall::{MemRecall, Recalled};
pub(crate) use rerank::RERANKER;
pub use rerank::{JudgeReranker, reranker};
pub use sequence::{BLOCK, QUERY, Sequence, TOKENS, sequence};
pub use texts::Texts;

pub(crate) use answer::{Best, best_span, runs};
pub(crate) use checkpoint::{DENSE, MATCH, SCORE, SPAN};
pub(crate) use judge::check as check_settings;
pub(crate) use texts::Counter;
