//! The tiny models that scripts make.

use std::path::Path;

pub fn golden(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// A copy of a model; a copy, because checksums are kept beside the files.
pub fn copied(name: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for file in ["config.json", "model.safetensors", "tokenizer.json"] {
        std::fs::copy(golden(name).join(file), dir.path().join(file)).unwrap();
    }
    dir
}

pub fn path(dir: &tempfile::TempDir) -> String {
    dir.path().display().to_string()
}
