//! Writing files whole or not at all.

use std::path::Path;
use std::{fs, io};

/// Writes a file beside its place and then moves it there.
pub(crate) fn replace_file(path: &Path, content: &str) -> io::Result<()> {
    let beside = path.with_extension("tmp");
    fs::write(&beside, content).and_then(|()| fs::rename(&beside, path))
}
