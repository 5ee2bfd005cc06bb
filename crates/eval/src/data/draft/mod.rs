//! Questions drafted from any documents, without a language model.
//!
//! A file a kind of question: headings that ask, paths of other headings, definitions, rows of tables, and sentences whose
//! rare words become a query. A model may write questions instead ([`ask_model`]). Documents stay as they are, but for the
//! words of headings that became queries: those give way to a mark of the same length, so that the heading still stands
//! where it stood, says nothing, and every byte keeps its place. All chunkers read the same text.

mod asked;
mod candidate;
mod corpus;
mod deal;
mod definitions;
mod headings;
mod kind;
mod leaks;
mod mask;
mod model;
mod model_config;
mod options;
mod tables;
mod terms;
mod write;

pub use kind::QuestionKind;
pub use model::{DraftEstimate, ModelDraft, ask_model, estimate};
pub use model_config::ModelConfig;
pub use options::{DraftOptions, Drafted, Dropped};
pub use write::draft;
