//! The engine for words, tantivy, and what readers see of a commit: words and vectors that belong together.
//!
//! New vectors are written first, and then the full-text commit that names them: it is the moment at which the change
//! happens. What a crash leaves in between belongs to no commit, and goes with the next.

mod columns;
mod failures;
mod fields;
mod listing;
mod own;
mod snapshots;
mod summed_file;
mod text_files;
mod text_index;
mod text_writer;

pub(crate) use self::own::{is_own_text, is_text_index};
pub(crate) use self::snapshots::{Snapshot, Snapshots};
pub(crate) use self::text_files::META as TEXT_META;
pub(crate) use self::text_index::{Committed, TextIndex};
pub(crate) use self::text_writer::{TextWriter, no_operation};
