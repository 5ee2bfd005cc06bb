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
    looked: Mutex<Looked>,
    notice: Arc<dyn Fn(&str) + Send + Sync>,
}

/// The last look at the file.
struct Looked {
    at: Instant,
    stamp: Option<Stamp>,
    /// Why the file could not be read then. It is read again until it can be: who gives leave to read it changes no stamp.
    failure: Option<String>,
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
        let looked = Mutex::new(Looked { at: Instant::now(), stamp, failure: None });
        Ok(Self { path, current, looked, notice })
    }

    /// The name and the scope of a key. A file that is gone allows nothing; one that cannot be read allows what it did.
    pub(in crate::http) fn find(&self, key: &str) -> Option<(String, Scope)> {
        if let Ok(mut looked) = self.looked.try_lock()
            && looked.at.elapsed() >= OFTEN
        {
            looked.at = Instant::now();
            let now = stamp(&self.path);
            if now != looked.stamp || looked.failure.is_some() {
                looked.stamp = now;
                let failed = looked.failure.take();
                match (now, KeyFile::read(&self.path)) {
                    (_, Ok(file)) => self.swap(file, "read anew"),
                    (None, Err(_)) => self.swap(KeyFile::default(), "gone: no key is valid any more"),
                    (Some(_), Err(error)) => {
                        let text = format!("{error}; the keys stay as they were");
                        // It is told once.
                        if failed.as_ref() != Some(&text) {
                            (self.notice)(&text);
                        }
                        looked.failure = Some(text);
                    }
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::fs::{self, File};
    use std::thread::sleep;

    use super::*;

    #[test]
    fn a_file_that_can_be_read_again_is_read_though_it_did_not_change() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        let add = |name: &str| KeyFile::change(&path, |file| file.add(name, Scope::Search)).unwrap();
        let first = add("first");
        let told = Arc::new(Mutex::new(Vec::new()));
        let hear = Arc::clone(&told);
        let notice = move |text: &str| hear.lock().unwrap().push(text.to_owned());
        let keys = Keys::open(path.clone(), Arc::new(notice)).unwrap();
        KeyFile::change(&path, |file| Ok(file.remove("first"))).unwrap();
        let second = add("second");
        let whole = fs::read(&path).unwrap();
        let at = SystemTime::now() + Duration::from_secs(10);
        let put = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            File::options().write(true).open(&path).unwrap().set_modified(at).unwrap();
            sleep(OFTEN + Duration::from_millis(20));
        };
        put(&vec![b'x'; whole.len()]);
        assert!(keys.find(&first).is_some(), "the keys stay as they were");
        sleep(OFTEN + Duration::from_millis(20));
        assert!(keys.find(&first).is_some() && told.lock().unwrap().len() == 1, "it is told once");
        put(&whole);
        assert!(keys.find(&second).is_some() && keys.find(&first).is_none());
    }
}
