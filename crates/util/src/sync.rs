use std::fs::File;
use std::io;
use std::path::Path;

/// Puts the names in a folder on the disk, so that a power cut does not undo a move or a new file. The empty path is the
/// working directory. Does nothing where the system knows no such thing, or does not let this process read the folder.
///
/// # Errors
/// Where there is no such folder, or the disk fails.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported
            ) =>
        {
            Ok(())
        }
        synced => synced,
    }
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_synced_where_there_is_one() {
        let folder = tempfile::tempdir().unwrap();
        assert!(sync_folder(folder.path()).is_ok() && sync_folder(Path::new("")).is_ok());
        assert!(sync_folder(&folder.path().join("none")).is_err());
    }
}
