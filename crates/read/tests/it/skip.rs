use std::io::Write;
use std::path::PathBuf;

/// Says on the real stderr, past the capture of the test runner, that a test does not run for want of something. The
/// lines that begin with `SKIPPED: ` are counted.
pub fn skipped(test: &str, missing: &str) {
    // Where stderr is closed, nobody is there to be told.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {test}: needs {missing}");
}

/// The folder of the development data; `None`, and the test counted as skipped, where the environment names none.
pub fn data(test: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("PERICOPE_DATA").map(PathBuf::from);
    if folder.is_none() {
        skipped(test, "PERICOPE_DATA");
    }
    folder
}
