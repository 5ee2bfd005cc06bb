//! The segmenters by name, and how specs become chunkers.

pub(crate) mod args;
mod build;
pub(crate) mod entry;
mod settings;
mod table;

pub use args::SpecArgs;
pub use build::{build, build_from, check_in, needs};
pub use entry::{BuiltSegmenter, Needs, POLICY_KEYS, SegmenterEntry, SettingKey};
pub use settings::settings;
pub use table::{is_outside, list, outside};
