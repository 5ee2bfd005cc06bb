use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Name of the file in a folder that is locked.
const FILE: &str = "lock";
/// Bytes that are read of what the holder wrote about itself.
const WHO: u64 = 200;

/// The right to write into a folder, held by one process at a time.
///
/// It is a lock on the file `lock` in the folder. The system lets go of it when the process ends, however it ends, so it
/// cannot be left over. The file itself stays.
#[derive(Debug)]
pub struct FolderLock {
    folder: PathBuf,
    _file: File,
}

/// Why a folder could not be locked.
#[derive(Debug)]
pub enum LockError {
    /// Another process holds it.
    Held {
        /// The locked file.
        path: PathBuf,
        /// The holder in its own words: its process number and since when.
        who: String,
    },
    /// The folder or the file cannot be written.
    Io {
        /// The folder or the file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl FolderLock {
    /// Takes the lock of a folder, which is made where it is missing. Does not wait for another holder: see [`try_lock`].
    ///
    /// # Errors
    /// [`LockError::Held`] where another process holds it, or this one does. [`LockError::Io`] where the folder cannot be
    /// written.
    pub fn take(folder: &Path) -> Result<Self, LockError> {
        fs::create_dir_all(folder).map_err(|source| LockError::Io { path: folder.to_owned(), source })?;
        let path = folder.join(FILE);
        let io = |source| LockError::Io { path: path.clone(), source };
        let mut file =
            OpenOptions::new().create(true).truncate(false).read(true).write(true).open(&path).map_err(io)?;
        match try_lock(&file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(LockError::Held { who: holder(&mut file), path }),
            Err(TryLockError::Error(source)) => return Err(io(source)),
        }
        let who = format!("process {}, since {}\n", std::process::id(), crate::now_rfc3339());
        file.set_len(0)
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .and_then(|_| file.write_all(who.as_bytes()))
            .map_err(io)?;
        Ok(Self { folder: folder.to_owned(), _file: file })
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Held { path, who } => {
                let folder = path.parent().unwrap_or(path).display();
                let path = path.display();
                write!(
                    f,
                    "another process writes into {folder} and holds {path} ({who}); wait for it, or name another folder"
                )
            }
            Self::Io { path, source } => write!(f, "{}: {source}", path.display()),
        }
    }
}

impl std::error::Error for LockError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Held { .. } => None,
            Self::Io { source, .. } => Some(source),
        }
    }
}

/// Attempts to take a lock, and the time between two of them.
const ATTEMPTS: usize = 20;
const BETWEEN: Duration = Duration::from_millis(5);

/// Locks a file for this process, until all its handles are closed. Does not wait for another holder, but asks again for a
/// tenth of a second: a process that this one is just starting holds all locks of this one until it runs its own program,
/// also those that were given back meanwhile.
///
/// # Errors
/// [`TryLockError::WouldBlock`] where somebody else holds it.
pub fn try_lock(file: &File) -> Result<(), TryLockError> {
    again_and_again(|| file.try_lock(), || std::thread::sleep(BETWEEN))
}

fn again_and_again(
    mut attempt: impl FnMut() -> Result<(), TryLockError>,
    mut wait: impl FnMut(),
) -> Result<(), TryLockError> {
    for _ in 1..ATTEMPTS {
        match attempt() {
            Err(TryLockError::WouldBlock) => wait(),
            done => return done,
        }
    }
    attempt()
}

/// What the holder wrote. It is a help and no more.
fn holder(file: &mut File) -> String {
    let mut bytes = Vec::new();
    let _ = file.take(WHO).read_to_end(&mut bytes);
    let who: String = String::from_utf8_lossy(&bytes).lines().next().unwrap_or_default().trim().to_owned();
    if who.is_empty() || who.chars().any(char::is_control) { "it does not say who".to_owned() } else { who }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs::{self, TryLockError};

    use super::{ATTEMPTS, FolderLock, LockError, again_and_again};

    #[test]
    fn a_lock_that_is_held_for_a_moment_is_taken_and_one_that_stays_held_is_not() {
        let attempts = |held: usize| {
            let (mut asked, mut waited) = (0, 0);
            let attempt = || {
                asked += 1;
                if asked > held { Ok(()) } else { Err(TryLockError::WouldBlock) }
            };
            let taken = again_and_again(attempt, || waited += 1).is_ok();
            (taken, asked, waited)
        };
        assert_eq!(attempts(0), (true, 1, 0));
        assert_eq!(attempts(3), (true, 4, 3));
        assert_eq!(attempts(usize::MAX), (false, ATTEMPTS, ATTEMPTS - 1));
    }

    #[test]
    fn one_at_a_time() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("new/run");
        let held = FolderLock::take(&folder).unwrap();
        assert_eq!(held.folder(), folder);
        let refused = FolderLock::take(&folder).unwrap_err();
        let said = refused.to_string();
        assert!(said.starts_with("another process writes into ") && !said.contains('\n'), "{said}");
        let LockError::Held { path, who } = refused else { panic!("{said}") };
        assert_eq!(path, folder.join("lock"));
        assert!(who.starts_with(&format!("process {}, since 2", std::process::id())), "{who}");
        drop(held);
        FolderLock::take(&folder).unwrap();
    }

    #[test]
    fn what_a_holder_says_is_one_harmless_line() {
        let root = tempfile::tempdir().unwrap();
        let _held = FolderLock::take(root.path()).unwrap();
        for (text, wanted) in [("\u{1b}]0;x\u{7}", "it does not say who"), ("", "it does not say who"), ("a\nb", "a")] {
            fs::write(root.path().join("lock"), text).unwrap();
            let Err(LockError::Held { who, .. }) = FolderLock::take(root.path()) else { panic!("taken twice") };
            assert_eq!(who, wanted);
        }
    }

    #[test]
    fn a_folder_that_cannot_be_is_named() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("file"), "").unwrap();
        let Err(LockError::Io { path, .. }) = FolderLock::take(&root.path().join("file")) else { panic!("a file") };
        assert_eq!(path, root.path().join("file"));
    }
}
