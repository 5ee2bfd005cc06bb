#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod bm25;
mod clock;
mod files;
mod letters;
mod lines;
mod lock;
mod math;
mod names;
mod program;
mod reading;
mod semaphore;
mod sha256;
mod sync;
mod time;
mod visible;
mod xml;

pub use bm25::Bm25;
pub use clock::{now_rfc3339, rfc3339, seconds_since};
pub use files::{StagedFile, is_left_over, replace_file, replace_named_file};
pub use letters::{REPLACEMENT, is_sound, sound};
pub use lines::{one_line, short_line};
pub use lock::{FolderLock, LockError, try_lock};
pub use math::{cosine, dot, neighbours, percentile, to_length_one};
pub use names::{name_of_text, name_text, shown_path};
pub use program::{
    Program, ProgramError, ProgramLimits, command_words, find_program, on_program_line, on_program_start, stop_programs,
};
#[cfg(any(unix, windows))]
pub use reading::read_at;
pub use reading::{leads_out, open_file, open_unpacked, read_file, read_text};
pub use semaphore::{Permit, Semaphore};
pub use sha256::{hex, sha256_file, sha256_hex};
pub use sync::sync_folder;
pub use time::time_limit;
pub use visible::{is_steering, visible, visible_json, visible_line};
pub use xml::xml_text;
