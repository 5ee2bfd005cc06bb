//! Two nights never overlap.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::NightlyError;

/// The file in the history's folder that is locked.
const FILE: &str = "lock";

/// Held while a night runs; the system lets go of it when the process ends, however it ends, so it cannot be left over.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of a history's folder, which is made where it is missing.
    ///
    /// # Errors
    /// [`NightlyError::Locked`] where another process holds it, [`NightlyError::Io`] where the folder cannot be written.
    pub fn take(dir: &Path) -> Result<Self, NightlyError> {
        std::fs::create_dir_all(dir).map_err(NightlyError::io(dir))?;
        let path = dir.join(FILE);
        let io = NightlyError::io(&path);
        let mut file =
            OpenOptions::new().create(true).truncate(false).read(true).write(true).open(&path).map_err(&io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut who = String::new();
                // Who holds it is a help, no more.
                let _ = file.read_to_string(&mut who);
                let who = who.trim();
                let who = if who.is_empty() { "it does not say who" } else { who };
                return Err(NightlyError::Locked { path, who: who.to_owned() });
            }
            Err(TryLockError::Error(source)) => return Err(io(source)),
        }
        let who = format!("process {}, since {}\n", std::process::id(), pericope_util::now_rfc3339());
        file.set_len(0)
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .and_then(|_| file.write_all(who.as_bytes()))
            .map_err(&io)?;
        Ok(Self { _file: file })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::Lock;

    #[test]
    fn one_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let held = Lock::take(dir.path()).unwrap();
        let refused = Lock::take(dir.path()).unwrap_err().to_string();
        assert!(refused.contains(&format!("process {}, since 2", std::process::id())), "{refused}");
        assert!(refused.contains("two nights never overlap"));
        drop(held);
        Lock::take(dir.path()).unwrap();
    }
}
