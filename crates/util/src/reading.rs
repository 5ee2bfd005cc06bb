use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Opens a file to read it. A pipe or a device is refused: nobody may ever write into it, or it may have no end.
///
/// # Errors
/// What the system says, and [`io::ErrorKind::InvalidInput`] for a pipe, a device or a socket.
pub fn open_file(path: &Path) -> io::Result<File> {
    let about = fs::metadata(path)?;
    // A folder is left to the system, whose words for it are known.
    if !about.is_file() && !about.is_dir() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "a pipe, a device or a socket, not a file; write its contents into a file and name that",
        ));
    }
    File::open(path)
}

/// Reads a file that [`open_file`] opens.
///
/// # Errors
/// As [`open_file`], and where reading fails.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = open_file(path)?;
    let length = file.metadata().map_or(0, |about| about.len());
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a file of UTF-8 that [`open_file`] opens.
///
/// # Errors
/// As [`read_file`], and [`io::ErrorKind::InvalidData`] where it is no UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open_file(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// Returns true for a link in a folder, or in a folder in it, that leads out of that folder.
#[must_use]
pub fn leads_out(folder: &Path, path: &Path) -> bool {
    let is_link = path.symlink_metadata().is_ok_and(|about| about.file_type().is_symlink());
    let leads_out = || Some(!path.canonicalize().ok()?.starts_with(folder.canonicalize().ok()?));
    is_link && leads_out().unwrap_or(false)
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn pipes_are_refused_and_links_out_of_a_folder_known() {
        let folder = tempfile::tempdir().unwrap();
        let (pipe, page) = (folder.path().join("pipe"), folder.path().join("page"));
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.is_ok_and(|status| status.success()));
        for refused in [open_file(&pipe).map(drop), read_file(&pipe).map(drop), read_text(&pipe).map(drop)] {
            assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::InvalidInput);
        }
        assert!(open_file(Path::new("/dev/null")).is_err());
        fs::write(&page, "text").unwrap();
        let (inner, inside, outside) = (folder.path().join("inner"), "inner/inside", "inner/outside");
        fs::create_dir(&inner).unwrap();
        fs::write(inner.join("file"), "").unwrap();
        std::os::unix::fs::symlink("file", folder.path().join(inside)).unwrap();
        std::os::unix::fs::symlink("../page", folder.path().join(outside)).unwrap();
        let leads = |path: &str| leads_out(&inner, &folder.path().join(path));
        assert!(leads(outside) && !leads(inside) && !leads("inner/file") && !leads("inner/none"));
        assert_eq!((read_file(&page).unwrap(), read_text(&page).unwrap().as_str()), (b"text".to_vec(), "text"));
    }
}
