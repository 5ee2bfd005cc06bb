//! `pericope dataset`: question sets made, checked and read.

mod args;
mod classes;
mod compared;
mod documents;
mod draft;
mod from_docs;
mod review;
mod split;
mod synthetic;
mod validate;

pub use args::{DatasetCommand, QuestionArgs};
pub use compared::WRITTEN;
pub use documents::{note_paths, read, save, save_named};
pub use draft::{Drafting, make, price, text};
pub use split::{SplitArgs, corpus_failure, shown_report};

use crate::status::Outcome;

/// Runs the command.
pub fn run(command: DatasetCommand, quiet: bool) -> Outcome {
    match command {
        DatasetCommand::FromDocs(args) => from_docs::run(args, quiet),
        DatasetCommand::Draft(args) => draft::run(args, quiet),
        DatasetCommand::Validate(args) => validate::run(&args, quiet),
        DatasetCommand::Review(args) => review::run(&args),
        DatasetCommand::Split(args) => split::run(&args, quiet),
        DatasetCommand::Classes(args) => classes::run(&args, quiet),
        DatasetCommand::Synthetic(args) => synthetic::run(args, quiet),
    }
}
