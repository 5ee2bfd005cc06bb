//! Panics as findings: where, with which words, by which input.

use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::Target;

/// A law that an input breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// File and line of the panic.
    pub place: String,
    /// The words of the panic.
    pub message: String,
}

/// The first panic since it was last taken, in whatever thread.
static LAST: Mutex<Option<Finding>> = Mutex::new(None);

fn last() -> std::sync::MutexGuard<'static, Option<Finding>> {
    LAST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps panics as findings from now on, in place of printing them.
pub fn install() {
    panic::set_hook(Box::new(|info| {
        let place = info.location().map_or_else(|| "unknown".to_owned(), |at| format!("{}:{}", at.file(), at.line()));
        let message = info.payload_as_str().unwrap_or("a panic without words").to_owned();
        last().get_or_insert(Finding { place, message });
    }));
}

/// Runs a target; a panic is a finding. [`install`] must have been called.
///
/// # Errors
/// The finding.
pub fn guarded(target: &Target, data: &[u8]) -> Result<(), Finding> {
    last().take();
    let run = panic::catch_unwind(AssertUnwindSafe(|| (target.run)(data)));
    // A panic that Pericope itself caught is none of its caller's.
    run.map_err(|_| last().take().unwrap_or(Finding { place: "unknown".into(), message: String::new() }))
}

/// Writes the input of a finding to `folder/TARGET/PLACE`.
///
/// # Errors
/// Where the folder cannot be written.
pub fn save(folder: &Path, target: &str, place: &str, data: &[u8]) -> std::io::Result<PathBuf> {
    let short = place.rsplit_once("/registry/src/").map_or(place, |(_, rest)| rest);
    let name: String = short.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let folder = folder.join(target);
    fs::create_dir_all(&folder)?;
    let path = folder.join(name.trim_matches('_'));
    fs::write(&path, data)?;
    Ok(path)
}
