#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod clock;
mod files;
mod letters;
mod lock;
mod math;
mod sha256;
mod time;

pub use clock::{now_rfc3339, rfc3339};
pub use files::{StagedFile, replace_file};
pub use letters::{REPLACEMENT, is_sound, sound};
pub use lock::{FolderLock, LockError};
pub use math::{cosine, dot, percentile};
pub use sha256::{hex, sha256_file, sha256_hex};
pub use time::time_limit;
