//! Seeds: small files of our own, one folder a target, that runs begin with; and the inputs of findings that were mended.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder of a target's seeds.
#[must_use]
pub fn folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target)
}

/// The folder of the inputs of a target's findings, each replayed by a test of its name.
#[must_use]
pub fn findings(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("findings").join(target)
}

/// The seeds of a target in the order of their names, findings last; at least one, which is empty.
///
/// # Panics
/// Where a file that is listed cannot be read.
#[must_use]
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for folder in [folder(target), findings(target)] {
        let Ok(entries) = fs::read_dir(folder) else { continue };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        seeds.extend(paths.iter().map(|path| fs::read(path).expect("a seed can be read")));
    }
    if seeds.is_empty() {
        seeds.push(Vec::new());
    }
    seeds
}
