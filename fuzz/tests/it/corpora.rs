//! What is committed beside the targets.

use std::fs;
use std::path::Path;

use pericope_fuzz::{TARGETS, corpus, find};

/// Bytes of one target's seeds that are committed, at most.
const MOST: u64 = 96 << 10;

#[test]
fn every_target_has_seeds_and_they_are_small() {
    for target in TARGETS {
        let folder = corpus::folder(target.name);
        let files = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        let sizes: Vec<u64> = files.map(|file| file.unwrap().metadata().unwrap().len()).collect();
        assert!(!sizes.is_empty(), "{} has no seed", target.name);
        assert!(sizes.iter().sum::<u64>() <= MOST, "the seeds of {} have {sizes:?} bytes", target.name);
        assert!(sizes.iter().all(|&size| size <= target.longest as u64), "{}: {sizes:?}", target.name);
    }
}

#[test]
fn every_folder_is_a_targets() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in ["corpus", "findings"].map(|name| root.join(name)) {
        let Ok(entries) = fs::read_dir(folder) else { continue };
        for entry in entries.flatten() {
            assert!(find(&entry.file_name().to_string_lossy()).is_some(), "{}", entry.path().display());
        }
    }
}
