//! The folder of the full-text index, as its engine sees it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pericope_util::{StagedFile, replace_file};
use tantivy::Directory;
use tantivy::directory::error::{DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    DirectoryLock, FileHandle, FileSlice, Lock, MmapDirectory, WatchCallback, WatchHandle, WritePtr,
};
use twox_hash::XxHash3_128;

use super::failures::Failures;
use super::summed_file::{SummedFile, SummedWriter};
use crate::guard::copy;

/// The list of the segments of a commit.
pub(crate) const META: &str = "meta.json";
/// The files that are replaced whole; all others are written once.
pub(super) const REPLACED: [&str; 2] = [META, ".managed.json"];
/// Stands before the checksum of that list, on a line of its own.
const SUM: &[u8] = b"\n#xxh3 ";

/// Files with checksums. For a reader nothing is ever written, and no lock is taken: the files of a commit never change,
/// and where one is gone since a writer has made the next commit, the reader opens that.
#[derive(Debug, Clone)]
pub(super) struct TextFiles {
    path: PathBuf,
    files: MmapDirectory,
    writes: bool,
    failures: Failures,
}

impl TextFiles {
    /// The folder, for a reader.
    pub fn reading(path: &Path) -> Result<Self, OpenDirectoryError> {
        Self::open(path, false)
    }

    /// The folder, for its one writer.
    pub fn writing(path: &Path) -> Result<Self, OpenDirectoryError> {
        let files = Self::open(path, true)?;
        for name in REPLACED {
            // What a killed writer left harms nobody.
            let _ = StagedFile::remove_left_over(&path.join(name));
        }
        Ok(files)
    }

    fn open(path: &Path, writes: bool) -> Result<Self, OpenDirectoryError> {
        let files = match MmapDirectory::open(path) {
            // The engine takes a folder for absent that it could not look at, for whatever reason.
            Err(OpenDirectoryError::DoesNotExist(folder)) => match std::fs::metadata(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Err(OpenDirectoryError::DoesNotExist(folder));
                }
                Err(error) => return Err(OpenDirectoryError::wrap_io_error(error, folder)),
                Ok(_) => MmapDirectory::open(path)?,
            },
            opened => opened?,
        };
        Ok(Self { path: path.to_owned(), files, writes, failures: Failures::default() })
    }

    /// What could not be written by any of its clones.
    pub fn failures(&self) -> Failures {
        self.failures.clone()
    }

    fn may_write(&self) -> io::Result<()> {
        match self.writes {
            true => Ok(()),
            false => Err(io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "the index was opened to be read")),
        }
    }

    /// Reads all of a file, and checks it.
    pub fn verify(&self, file: &Path) -> Result<(), OpenReadError> {
        let wrap = |error| OpenReadError::wrap_io_error(error, file.to_path_buf());
        FileSlice::new(self.get_file_handle(file)?).read_bytes().map(drop).map_err(wrap)
    }
}

impl Directory for TextFiles {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        SummedFile::open(self.path.join(path), self.files.get_file_handle(path)?)
            .map_err(|error| OpenReadError::wrap_io_error(error, path.to_path_buf()))
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.may_write()
            .map_err(|error| DeleteError::IoError { io_error: Arc::new(error), filepath: path.to_path_buf() })?;
        self.files.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.files.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.may_write().map_err(|error| OpenWriteError::wrap_io_error(error, path.to_path_buf()))?;
        let out = self.files.open_write(path).inspect_err(|error| {
            if let OpenWriteError::IoError { io_error, .. } = error {
                drop(self.failures.keep::<()>(&self.path.join(path), Err(copy(io_error))));
            }
        })?;
        Ok(SummedWriter::over(self.path.join(path), self.failures(), out))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        let mut bytes = self.files.atomic_read(path)?;
        if path == Path::new(META)
            && let Some(end) = bytes.windows(SUM.len()).rposition(|window| window == SUM)
        {
            let expected = bytes.split_off(end);
            if expected != sum_line(&bytes) {
                let error = io::Error::new(io::ErrorKind::InvalidData, "it does not have its checksum");
                return Err(OpenReadError::wrap_io_error(error, path.to_path_buf()));
            }
        }
        Ok(bytes)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.may_write()?;
        // The engine's own way makes files that nobody but their owner may read.
        let written = match path == Path::new(META) {
            true => replace_file(&self.path.join(path), [data, &sum_line(data)].concat()),
            false => replace_file(&self.path.join(path), data),
        };
        self.failures.keep(&self.path.join(path), written)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.failures.keep(&self.path, self.files.sync_directory())
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        match self.writes {
            // The engine takes a lock for held that the system could not give, for whatever reason.
            true => match self.files.acquire_lock(lock) {
                Err(LockError::LockBusy) => self.files.acquire_lock(lock),
                acquired => acquired,
            },
            false => Ok(DirectoryLock::from(Box::new(()))),
        }
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.files.watch(callback)
    }
}

fn sum_line(data: &[u8]) -> Vec<u8> {
    let mut line = SUM.to_vec();
    line.extend_from_slice(format!("{:032x}\n", XxHash3_128::oneshot(data)).as_bytes());
    line
}
