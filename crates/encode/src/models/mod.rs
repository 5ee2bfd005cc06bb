//! Model files: where they lie, whether they are whole, and how they get there.
//!
//! Everything is under `$PERICOPE_HOME/models/NAME/` (default: the XDG data folder). A model counts as installed only
//! when each of its files is there with its right size; [`Models::verify`] reads them again and compares checksums.

mod checksums;
mod embedders;
mod error;
mod files;
mod home;
mod hub;
mod known;
mod pull;
mod pypi;
mod record;
mod repository;
mod staging;
mod store;

pub(crate) use checksums::known_sha256;
pub(crate) use embedders::prompts_of;
pub use embedders::{KnownEmbedder, known_embedders};
pub use error::ModelError;
pub(crate) use error::one_line;
pub use files::Progress;
pub(crate) use files::sha256_file;
pub use known::{PublishedFile, PublishedModel, known};
pub use pull::pull;
pub use store::{InstallState, Listed, ModelDir, Models, embedder_by_name, home, list, locate, static_vectors, verify};
