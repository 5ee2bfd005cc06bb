//! The project that a folder belongs to: `.pericope` in it or above it, with settings and the project's own index.

mod owner;
mod place;
mod settings;

pub use pericope_index::project::FOLDER;

pub use self::place::{Project, SETTINGS, find_here, inside_of, is_own, required};
pub use self::settings::{Settings, check_segmenter, checked_url_prefix};
