//! Whether a question file can be trusted: each answer where it says, told from other documents, and how hard to find.

mod check;
mod passages;
mod record;

pub use check::validate;
pub use record::{Hardness, Ranks, Validated, Validation, Verdict};
