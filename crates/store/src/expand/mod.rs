//! More than the chunk that was found: the section around it, its neighbours, the best run of chunks.
//!
//! Small chunks are found well and read badly. An [`Expansion`] says what is given back in their place: a [`Run`] of chunks
//! of the same document, with at most so many tokens. Nothing is stored for it. A chunk's parents are the sections of its
//! document, by the headings that its chunks share, and the document itself.
//!
//! [`runs()`] works on the chunks of one document, wherever they come from;
//! [`Retriever::search_expanded`](crate::Retriever::search_expanded) on those of a store.

mod kind;
mod merge;
mod page;
mod part;
mod runs;
mod search;
mod segment;
#[cfg(test)]
mod tests;

pub use kind::{EXPAND_TOKENS, Expand, Expansion, UnknownExpand};
pub use part::{Found, Part, Run, depth, evidence_depth, rank_weights};
pub use runs::runs;
pub(crate) use search::{Shape, search};
