//! NSP: next-sentence prediction between neighbouring sentences (Dong, Singh and Yeh).
//!
//! A model reads `[CLS] s_i [SEP] s_{i+1} [SEP]`, and a classifier on its pooled first token gives q_i, the probability
//! that s_{i+1} follows s_i. A segment ends after sentence i where q_i <= p, and where the next sentence would take it
//! over 512 tokens. Most q_i exceed 0.99, so thresholds and probabilities are compared as log-odds ([`Threshold`]).
//!
//! "NSP with overlap" is `overlap_next=1` of the [`NSP`] entry
//! ([`Overlap::Next`](pericope_segment::policy::Overlap::Next)). The paper's naive overlap, windows of 200 tokens moved by
//! 50, is `fixed:tokens=200,overlap=150`.
//!
//! | model | what it is |
//! | --- | --- |
//! | a BERT's folder | one with `bert.pooler.dense` and `cls.seq_relationship`, as BERT was released |
//! | `nsp.safetensors` | a [`Checkpoint`] of [`train_nsp`](crate::training::train_nsp) on any installed encoder |

mod checkpoint;
mod limit;
mod model;
mod pair;
mod segmenter;
mod threshold;

pub use checkpoint::{CHECKPOINT, Checkpoint, Settings};
pub use model::Nsp;
pub use pair::pair;
pub use segmenter::{NSP, NspSegmenter, shipped};
pub use threshold::{THRESHOLD, Threshold};

pub(crate) use checkpoint::{HEAD, POOLER};
