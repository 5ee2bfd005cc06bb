//! Support of tests: the installed model, and what is said where it is not there.

use std::io::Write;
use std::panic::Location;

use crate::models::{ModelDir, locate};

/// The folder of all-MiniLM-L6-v2; where it is not installed, a line about the calling test that is skipped.
#[track_caller]
pub(crate) fn minilm() -> Option<ModelDir> {
    let found = locate("minilm").ok();
    if found.is_none() {
        skipped("the model minilm: run `pericope models pull minilm`");
    }
    found
}

/// Writes `SKIPPED: <test>: needs <what>` past libtest, which holds back what the macros print.
#[track_caller]
pub(crate) fn skipped(needs: &str) {
    let caller = Location::caller();
    let thread = std::thread::current();
    // With one thread for all tests it is called main.
    let place = format!("{}:{}", caller.file(), caller.line());
    let name = thread.name().filter(|name| *name != "main").unwrap_or(&place);
    let _ = writeln!(std::io::stderr(), "SKIPPED: {name}: needs {needs}");
}
