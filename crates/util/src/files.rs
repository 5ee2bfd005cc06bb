use std::ffi::OsStr;
use std::fs::{self, File};
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

/// Puts `bytes` into a file that the user named: see [`StagedFile::named`].
///
/// # Errors
/// As [`replace_file`].
pub fn replace_named_file(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let mut out = StagedFile::named(path)?;
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
    out: Out,
}

#[derive(Debug)]
enum Out {
    /// To be put in the place of `path`, with the permissions of what was there where that is to be kept.
    Staged { out: BufWriter<NamedTempFile>, path: PathBuf, permissions: Option<fs::Permissions> },
    /// A pipe or a device takes no other's place: it is written.
    Straight(BufWriter<File>),
    /// The same with what is written behind it.
    Standard(io::Stdout),
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
        let out = BufWriter::new(builder.tempfile_in(folder_of(path))?);
        Ok(Self { out: Out::Staged { out, path: path.to_owned(), permissions: None } })
    }

    /// As [`create`](Self::create), for a path that the user named and nobody else could have made: a link stays, and the
    /// file that it leads to is replaced; that file keeps its permissions; a pipe or a device, as `/dev/stdout`, is written
    /// as the text comes.
    ///
    /// # Errors
    /// As [`create`](Self::create), and where a link leads nowhere that could be made.
    pub fn named(path: &Path) -> io::Result<Self> {
        let path = end_of_links(path)?;
        let about = match fs::metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            about => Some(about?),
        };
        if is_standard_output(&path) {
            return Ok(Self { out: Out::Standard(io::stdout()) });
        }
        if is_special(&path) {
            // What another descriptor leads to may be a file, which goes on where it ends.
            return Ok(Self { out: Out::Straight(BufWriter::new(File::options().append(true).open(&path)?)) });
        }
        let mut staged = Self::create(&path)?;
        if let Out::Staged { permissions, .. } = &mut staged.out {
            *permissions = about.map(|about| about.permissions());
        }
        Ok(staged)
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
        let (out, path, permissions) = match self.out {
            Out::Staged { out, path, permissions } => (out, path, permissions),
            Out::Straight(mut out) => return out.flush(),
            Out::Standard(mut out) => return out.flush(),
        };
        let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        if let Some(permissions) = permissions {
            file.as_file().set_permissions(permissions)?;
        }
        file.as_file().sync_all()?;
        file.persist(&path)?;
        sync_folder(path.parent().unwrap_or(Path::new("")))
    }
}

/// Where a path leads through links. What the last one leads to need not be there, and what the system alone can follow
/// (`/proc/self/fd/1`) is followed by the system.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    /// Links in a row, as the system allows them.
    const MOST: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MOST {
        let is_link = fs::symlink_metadata(&path).is_ok_and(|about| about.file_type().is_symlink());
        if !is_link || is_special(&path) || is_standard_output(&path) {
            return Ok(path);
        }
        let target = fs::read_link(&path)?;
        path = folder_of(&path).join(target);
    }
    Err(io::Error::other("too many links lead to one another"))
}

/// Whether a path is that of this process's standard output: opened anew, a file would be written from its beginning.
fn is_standard_output(path: &Path) -> bool {
    let own = format!("/proc/{}/fd/1", std::process::id());
    ["/proc/self/fd/1", "/dev/fd/1", &own].iter().any(|known| path == Path::new(known))
}

/// Whether a path is that of a pipe or a device, or of an open file (`/dev/stdout`), whatever it is.
fn is_special(path: &Path) -> bool {
    path.starts_with("/proc") || fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir())
}

/// The folder that a path lies in.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns whether `found` is the name of an unfinished file that was to become `name`: see [`StagedFile`].
#[must_use]
pub fn is_left_over(found: &OsStr, name: &OsStr) -> bool {
    let middle = (found.as_encoded_bytes().strip_prefix(name.as_encoded_bytes()))
        .and_then(|rest| rest.strip_prefix(b"."))
        .and_then(|rest| rest.strip_suffix(UNFINISHED.as_bytes()));
    middle.is_some_and(|middle| middle.len() == 6 && middle.iter().all(u8::is_ascii_alphanumeric))
}

impl Write for StagedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.out {
            Out::Staged { out, .. } => out.write(bytes),
            Out::Straight(out) => out.write(bytes),
            Out::Standard(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.out {
            Out::Staged { out, .. } => out.flush(),
            Out::Straight(out) => out.flush(),
            Out::Standard(out) => out.flush(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;
    use std::io::Write;

    use super::{Out, StagedFile, replace_file, replace_named_file};

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
        let Out::Staged { out, .. } = staged.out else { panic!("it is staged") };
        let (_, left) = out.into_inner().unwrap().keep().unwrap();
        assert!(left.is_file());
        let others = ["run.json", "run.json.abc.unfinished", "notes.abcdef.unfinished", "run.json.abc-ef.unfinished"];
        others.iter().for_each(|name| fs::write(at(name), "").unwrap());
        StagedFile::remove_left_over(&at("run.json")).unwrap();
        assert!(!left.exists());
        assert!(others.iter().all(|name| at(name).is_file()));
        StagedFile::remove_left_over(&at("nowhere/run.json")).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn what_a_user_names_is_written_where_it_leads() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("target"), "old").unwrap();
        fs::set_permissions(at("target"), fs::Permissions::from_mode(0o600)).unwrap();
        symlink("target", at("link")).unwrap();
        symlink(at("link"), at("second")).unwrap();
        replace_named_file(&at("second"), "new").unwrap();
        assert_eq!(fs::read(at("target")).unwrap(), b"new");
        assert_eq!(fs::metadata(at("target")).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(["link", "second"].iter().all(|name| at(name).is_symlink()));
        symlink("made", at("dangling")).unwrap();
        replace_named_file(&at("dangling"), "made").unwrap();
        assert_eq!(fs::read(at("made")).unwrap(), b"made");
        symlink("/dev/null", at("null")).unwrap();
        replace_named_file(&at("null"), "gone").unwrap();
        assert!(at("null").is_symlink());
        symlink("round", at("round")).unwrap();
        assert!(replace_named_file(&at("round"), "x").is_err());
        // What this program names itself leads nowhere else.
        replace_file(&at("link"), "own").unwrap();
        assert!(!at("link").is_symlink() && fs::read(at("target")).unwrap() == b"new");
    }
}
