//! What changed since an index was written, by a look at the files from outside.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use pericope_store::FileStamp;
use pericope_util::name_of_text;

use super::{MANIFEST_FILE, VERSION, read_only};
use crate::IndexError;
use crate::build::{home, serving};

/// Files that are named.
const NAMED: usize = 10;

/// Files that are not as the index has them. Nobody looked for new ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stale {
    /// The number of files that the index knows.
    pub sources: u64,
    /// The number of those that have another size, time or number than when they were read, and of those that were to be read
    /// again and were not.
    pub changed: u64,
    /// The number of those that are gone.
    pub gone: u64,
    /// The first ten of the changed and the gone, by their names.
    pub names: Vec<String>,
}

impl Stale {
    /// Returns whether every file is as the index has it.
    #[must_use]
    pub fn is_fresh(&self) -> bool {
        self.changed == 0 && self.gone == 0
    }
}

/// Compares the files that the index in `dir` was made from with what it knows of them, without opening one. `base` is
/// the folder that relative names are seen from: the working directory of `pericope index`.
///
/// `None` where nothing can be said: the index knows no files, or none of them is found from `base`.
///
/// # Errors
/// [`IndexError::Database`] where the manifest cannot be read, [`IndexError::Io`] where the directory cannot.
pub fn stale(dir: &Path, base: &Path) -> Result<Option<Stale>, IndexError> {
    let path = home(dir, serving(dir)?).join(MANIFEST_FILE);
    if !path.exists() {
        return Ok(None);
    }
    let written = written(&path);
    let read = || -> rusqlite::Result<Stale> {
        let db = read_only(&path)?;
        let mut found = Stale::default();
        let version: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if version != VERSION {
            return Ok(found);
        }
        let mut query = db.prepare("SELECT name, hash IS NULL, size, modified, inode FROM source ORDER BY name")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let name: String = row.get(0)?;
            let (unread, size): (bool, Option<i64>) = (row.get(1)?, row.get(2)?);
            let stamp = match (size, row.get(3)?, row.get(4)?) {
                (Some(size), Some(modified), Some(inode)) => Some(FileStamp { size, modified, inode }),
                _ => None,
            };
            found.sources += 1;
            let differs = match fs::metadata(base.join(PathBuf::from(name_of_text(&name)))) {
                Ok(about) => {
                    let now = FileStamp::of(&about);
                    // A file of which a part could not be indexed is read again by every run, and is no news. One that was
                    // written in the seconds before it was read has no stamp that proves anything.
                    let changed = stamp.map_or(unread || now.modified > written, |stamp| stamp != now);
                    found.changed += u64::from(changed);
                    changed
                }
                Err(error) if error.kind() == ErrorKind::NotFound || error.kind() == ErrorKind::NotADirectory => {
                    found.gone += 1;
                    true
                }
                // Nobody knows what it is now.
                Err(_) => false,
            };
            if differs && found.names.len() < NAMED {
                found.names.push(name);
            }
        }
        Ok(found)
    };
    let found = read().map_err(|e| IndexError::database(&path, &e))?;
    Ok((found.gone < found.sources).then_some(found))
}

/// The time at which the manifest was written last, in nanoseconds since 1970.
fn written(path: &Path) -> i64 {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let time = |path: &Path| fs::metadata(path).map_or(0, |about| FileStamp::of(&about).modified);
    time(path).max(time(Path::new(&log)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::fs::File;
    use std::time::{Duration, SystemTime};

    use pericope_store::SourceRecord;

    use super::super::{Changes, Manifest};
    use super::*;
    use crate::meta::META_FILE;

    #[test]
    fn a_look_from_outside_tells_what_changed() {
        let folder = tempfile::tempdir().unwrap();
        let (dir, base) = (folder.path().join("x.idx"), folder.path());
        fs::create_dir(&dir).unwrap();
        assert_eq!(stale(&dir, base).unwrap(), None, "no manifest");
        let mut manifest = Manifest::open(&dir.join(MANIFEST_FILE), 0, || Ok(Vec::new())).unwrap();
        assert_eq!(stale(&dir, base).unwrap(), None, "no files");
        let hour = Duration::from_secs(3600);
        let write = |name: &str, text: &str, time: SystemTime| {
            fs::write(base.join(name), text).unwrap();
            File::options().append(true).open(base.join(name)).unwrap().set_modified(time).unwrap();
        };
        let mut changes = Changes::default();
        for (name, stamped, hash) in [
            ("a.md", true, Some(1)),
            ("b.md", true, Some(2)),
            ("c.md", false, Some(3)),
            ("d.md", false, None),
            ("e.jsonl", true, None),
        ] {
            write(name, name, SystemTime::now() - hour);
            let stamp = stamped.then(|| FileStamp::of(&fs::metadata(base.join(name)).unwrap()));
            changes.sources.insert(name.into(), Some(SourceRecord { hash, stamp, fingerprint: "f".into(), empty: 0 }));
        }
        manifest.commit(&changes, 1).unwrap();
        // While it is open for writing.
        let found = stale(&dir, base).unwrap().unwrap();
        assert_eq!((found.sources, found.changed, found.gone, found.names), (5, 1, 0, vec!["d.md".to_owned()]));
        drop(manifest);
        write("b.md", "another size", SystemTime::now() - hour);
        write("c.md", "c.md", SystemTime::now() + hour);
        write("e.jsonl", "its bad line was mended", SystemTime::now() - hour);
        fs::remove_file(base.join("a.md")).unwrap();
        fs::write(base.join("new.md"), "new").unwrap();
        let found = stale(&dir, base).unwrap().unwrap();
        assert!(!found.is_fresh());
        assert_eq!((found.sources, found.changed, found.gone), (5, 4, 1));
        assert_eq!(found.names, ["a.md", "b.md", "c.md", "d.md", "e.jsonl"]);
        assert_eq!(stale(&dir, &base.join("elsewhere")).unwrap(), None, "nothing is found from there");
    }

    #[test]
    fn an_index_that_was_built_anew_has_its_list_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let (dir, base) = (folder.path().join("x.idx"), folder.path());
        fs::create_dir_all(home(&dir, 2)).unwrap();
        fs::write(dir.join(META_FILE), r#"{"format": 3, "build": 2}"#).unwrap();
        fs::write(base.join("a.md"), "a.md").unwrap();
        let mut changes = Changes::default();
        for name in ["a.md", "b.md"] {
            let record = SourceRecord { hash: Some(1), stamp: None, fingerprint: "f".into(), empty: 0 };
            changes.sources.insert(name.into(), Some(record));
        }
        let list = home(&dir, 2).join(MANIFEST_FILE);
        Manifest::open(&list, 0, || Ok(Vec::new())).unwrap().commit(&changes, 1).unwrap();
        let found = stale(&dir, base).unwrap().unwrap();
        assert_eq!((found.sources, found.gone), (2, 1));
    }
}
