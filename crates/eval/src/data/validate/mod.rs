//! Whether a question file can be trusted: each answer where it says, told from other documents, and how hard to find.

mod bm25;
mod check;
mod record;

pub use check::validate;
pub use record::{Hardness, Ranks, Validated, Validation, Verdict};
