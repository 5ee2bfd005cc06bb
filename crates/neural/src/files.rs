//! Files that are written whole or not at all.

use std::fs::{self, File};
use std::io::{Result, Write};
use std::path::{Path, PathBuf};

/// Where a file is written before it takes its place: `model.safetensors.unfinished`. One name, so that what a crash
/// leaves is written over the next time.
pub(crate) fn unfinished(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".unfinished");
    path.with_file_name(name)
}

/// Puts `bytes` in the place of a file: they are on the disk before the old ones are gone. The file gets the usual
/// permissions, whatever the system takes off 0666.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let unfinished = unfinished(path);
    let write = || -> Result<()> {
        let mut file = File::create(&unfinished)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&unfinished, path)
    };
    let written = write();
    if written.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    written
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;

    use super::replace;

    #[test]
    fn a_replaced_file_is_whole_and_like_any_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.safetensors");
        fs::write(&path, "a longer text that was there before").unwrap();
        replace(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
            fs::write(folder.path().join("other"), "").unwrap();
            assert_eq!(mode(&path), mode(&folder.path().join("other")));
        }
        let nowhere = folder.path().join("gone/model");
        assert!(replace(&nowhere, b"x").is_err() && !nowhere.exists());
    }
}
