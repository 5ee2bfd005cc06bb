use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use super::{KeyError, KeyFile, Scope};

/// How often the file is looked at.
const OFTEN: Duration = Duration::from_millis(200);

/// The keys of a running server: those of the file as it is now.
pub(in crate::http) struct Keys {
    path: PathBuf,
    current: RwLock<Arc<KeyFile>>,
    looked: Mutex<(Instant, Option<Stamp>)>,
    notice: Arc<dyn Fn(&str) + Send + Sync>,
}

/// What changes when a file does.
type Stamp = (SystemTime, u64);

fn stamp(path: &Path) -> Option<Stamp> {
    let about = std::fs::metadata(path).ok()?;
    Some((about.modified().ok()?, about.len()))
}

impl Keys {
    pub(in crate::http) fn open(path: PathBuf, notice: Arc<dyn Fn(&str) + Send + Sync>) -> Result<Self, KeyError> {
        let stamp = stamp(&path);
        let current = RwLock::new(Arc::new(KeyFile::read(&path)?));
        Ok(Self { path, current, looked: Mutex::new((Instant::now(), stamp)), notice })
    }

    /// The name and the scope of a key. A file that is gone allows nothing; one that cannot be read allows what it did.
    pub(in crate::http) fn find(&self, key: &str) -> Option<(String, Scope)> {
        if let Ok(mut looked) = self.looked.try_lock()
            && looked.0.elapsed() >= OFTEN
        {
            looked.0 = Instant::now();
            let now = stamp(&self.path);
            if now != looked.1 {
                looked.1 = now;
                match (now, KeyFile::read(&self.path)) {
                    (_, Ok(file)) => self.swap(file, "read anew"),
                    (None, Err(_)) => self.swap(KeyFile::default(), "gone: no key is valid any more"),
                    (Some(_), Err(error)) => (self.notice)(&format!("{error}; the keys stay as they were")),
                }
            }
        }
        let current = Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner));
        current.find(key).map(|entry| (entry.name.clone(), entry.scope))
    }

    fn swap(&self, file: KeyFile, what: &str) {
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(file);
        (self.notice)(&format!("{}: {what}", self.path.display()));
    }
}
