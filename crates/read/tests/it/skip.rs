use std::io::Write;
use std::path::PathBuf;

/// Says on the real stderr, past the capture of the test runner, that a test does not run because `missing` is missing.
///
/// The lines with `SKIPPED: ` are counted. Each is written at once, so that other output does not cut it in two.
pub fn skipped(test: &str, missing: &str) {
    let line = format!("SKIPPED: {test}: needs {missing}\n");
    // If stderr is closed, nobody is there to be told.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// The folder of the development data; `None`, and the test counted as skipped, where the environment names none.
pub fn data(test: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("PERICOPE_DATA").map(PathBuf::from);
    if folder.is_none() {
        skipped(test, "PERICOPE_DATA");
    }
    folder
}
