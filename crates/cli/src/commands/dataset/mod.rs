//! `pericope dataset`: question sets made, checked and read.

mod args;
mod classes;
mod documents;
mod draft;
mod from_docs;
mod review;
mod split;
mod validate;

pub use args::{DRAFT_EXAMPLES, REVIEW_EXAMPLES, VALIDATE_EXAMPLES};
pub use args::{DraftArgs, QuestionArgs, ReviewArgs, SourceArgs, ValidateArgs};
pub use classes::{CLASSES_EXAMPLES, ClassesArgs, run as classes};
pub use documents::{note_paths, read, save};
pub use draft::{Drafting, make, price, run as draft, text};
pub use from_docs::from_docs_command;
pub use review::run as review;
pub use split::{DatasetSplitArgs, SPLIT_EXAMPLES, SplitArgs, corpus_failure, run as split, shown_report};
pub use validate::run as validate;
