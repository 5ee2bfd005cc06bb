//! Keys: a file of their hashes, made and changed by `pericope keys`, and read again where it changed.
//!
//! A line holds a name, a scope and the SHA-256 of the key in hexadecimal, separated by blanks. Blank lines and lines that
//! begin with `#` are left out. The key itself is in no file.

mod file;
mod live;

pub use file::{KeyEntry, KeyError, KeyFile, PREFIX, Scope};
pub(super) use live::Keys;
