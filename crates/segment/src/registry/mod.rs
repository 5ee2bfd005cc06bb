//! The segmenters by name, and how specs become chunkers.

pub(crate) mod args;
mod build;
mod custom;
mod embedder;
pub(crate) mod entry;
mod settings;
mod table;

pub use args::SpecArgs;
pub use build::{build, build_custom, build_from, check_in, needs};
pub use custom::CUSTOM;
pub use embedder::takes_embedder;
pub use entry::{BuiltSegmenter, Needs, POLICY_KEYS, SegmenterEntry, SettingKey};
pub use settings::settings;
pub use table::{is_finished, is_outside, list, outside};
