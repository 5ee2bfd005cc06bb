use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::sync::sync_folder;
use tempfile::{Builder, NamedTempFile};

/// How the name of a file ends that is not whole yet.
const UNFINISHED: &str = ".unfinished";

/// Puts `bytes` in the place of a file, whole or not at all: see [`StagedFile`].
///
/// # Errors
/// Where the folder is not there or cannot be written. The old file then stays, and nothing is left beside it.
pub fn replace_file(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let mut out = StagedFile::create(path)?;
    out.write_all(bytes.as_ref())?;
    out.commit()
}

/// A file that takes its place when it is whole.
///
/// It is written beside its place, as `NAME.XXXXXX.unfinished`. [`commit`](Self::commit) puts it on the disk, then in the
/// place of what was there, and then the change of the folder on the disk. Without that it is removed. It gets the usual
/// permissions: 0666 without what the process masks.
#[derive(Debug)]
pub struct StagedFile {
    out: BufWriter<NamedTempFile>,
    path: PathBuf,
}

impl StagedFile {
    /// Creates the file beside `path`, in the same folder.
    ///
    /// # Errors
    /// Where the folder is not there or cannot be written.
    pub fn create(path: &Path) -> io::Result<Self> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".");
        let mut builder = Builder::new();
        builder.prefix(&name).suffix(UNFINISHED);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        Ok(Self { out: BufWriter::new(builder.tempfile_in(folder_of(path))?), path: path.to_owned() })
    }

    /// Removes what killed processes left of writing to `path`: files beside it named `NAME.XXXXXX.unfinished`. Nobody may
    /// be writing to `path` at the same time.
    ///
    /// # Errors
    /// Where the folder cannot be read or a file cannot be removed. A folder that is not there is fine.
    pub fn remove_left_over(path: &Path) -> io::Result<()> {
        let name = path.file_name().unwrap_or_default();
        let entries = match fs::read_dir(folder_of(path)) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            if is_left_over(&entry.file_name(), name) && entry.file_type()?.is_file() {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// Where it cannot be written or moved; it is then removed, and the old file stays. Where the disk fails after that,
    /// the new file is in its place, and a power cut may bring the old one back.
    pub fn commit(self) -> io::Result<()> {
        let file = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.as_file().sync_all()?;
        file.persist(&self.path)?;
        sync_folder(self.path.parent().unwrap_or(Path::new("")))
    }
}

/// The folder that a path lies in.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether `found` is the name of an unfinished file that was to become `name`.
fn is_left_over(found: &OsStr, name: &OsStr) -> bool {
    let middle = (found.as_encoded_bytes().strip_prefix(name.as_encoded_bytes()))
        .and_then(|rest| rest.strip_prefix(b"."))
        .and_then(|rest| rest.strip_suffix(UNFINISHED.as_bytes()));
    middle.is_some_and(|middle| middle.len() == 6 && middle.iter().all(u8::is_ascii_alphanumeric))
}

impl Write for StagedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;
    use std::io::Write;

    use super::{StagedFile, replace_file};

    #[test]
    fn a_replaced_file_is_whole_and_like_any_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.safetensors");
        fs::write(&path, "a longer text that was there before").unwrap();
        replace_file(&path, b"new").unwrap();
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
        assert!(replace_file(&nowhere, b"x").is_err() && !nowhere.exists());
    }

    #[test]
    fn what_is_not_committed_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("items.jsonl");
        replace_file(&path, "old").unwrap();
        let mut staged = StagedFile::create(&path).unwrap();
        staged.write_all(b"half of the n").unwrap();
        staged.flush().unwrap();
        drop(staged);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let mut staged = StagedFile::create(&path).unwrap();
        staged.write_all(b"new").unwrap();
        staged.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let staged = StagedFile::create(&at("run.json")).unwrap();
        let (_, left) = staged.out.into_inner().unwrap().keep().unwrap();
        assert!(left.is_file());
        let others = ["run.json", "run.json.abc.unfinished", "notes.abcdef.unfinished", "run.json.abc-ef.unfinished"];
        others.iter().for_each(|name| fs::write(at(name), "").unwrap());
        StagedFile::remove_left_over(&at("run.json")).unwrap();
        assert!(!left.exists());
        assert!(others.iter().all(|name| at(name).is_file()));
        StagedFile::remove_left_over(&at("nowhere/run.json")).unwrap();
    }
}
