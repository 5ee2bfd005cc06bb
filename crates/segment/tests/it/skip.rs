//! Tests that need data which is not part of the repository.

use std::io::Write;
use std::path::PathBuf;

/// Returns the folder that `PERICOPE_DATA` names. Where it is not set, writes a `SKIPPED:` line on standard error, past
/// the capture of the test runner, and returns `None`.
pub fn data(test: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("PERICOPE_DATA").map(PathBuf::from);
    if folder.is_none() {
        // Nobody is there to be told if standard error is closed.
        let _ = std::io::stderr().write_all(format!("SKIPPED: {test}: needs PERICOPE_DATA\n").as_bytes());
    }
    folder
}
