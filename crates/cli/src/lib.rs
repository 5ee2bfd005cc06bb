//! Pericope's libraries under one name: read, cut, embed, index, evaluate.
//!
//! The crates can be used on their own; this one re-exports them for programs that want all.
#![forbid(unsafe_code)]

pub use pericope_api as api;
pub use pericope_encode as encode;
pub use pericope_eval as eval;
pub use pericope_index as index;
pub use pericope_learn as learn;
pub use pericope_read as read;
pub use pericope_segment as segment;
pub use pericope_store as store;
