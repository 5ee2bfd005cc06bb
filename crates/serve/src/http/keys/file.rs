use std::fmt;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pericope_util::{hex, replace_named_file, try_lock};
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};

use crate::service::is_name;

/// What every key begins with, so that people and scanners know one.
pub const PREFIX: &str = "pericope_";
/// Random bytes of a key.
const RANDOM: usize = 32;
/// Bytes of a key that are looked at.
const LONGEST: usize = 256;
/// How long another process may take to change a file.
const PATIENCE: Duration = Duration::from_secs(10);
/// The first line of a file that is made.
const HEAD: &str =
    "# Keys of a Pericope search service: name, scope, SHA-256 of the key. Changed by `pericope keys`.\n";

/// What a key allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Searching and reading.
    Search,
    /// Everything.
    Admin,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Search => "search",
            Self::Admin => "admin",
        })
    }
}

impl FromStr for Scope {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "search" => Ok(Self::Search),
            "admin" => Ok(Self::Admin),
            _ => Err(format!("there is no scope `{text}`; the scopes are search and admin")),
        }
    }
}

/// The reason why a file of keys cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub struct KeyError {
    path: PathBuf,
    reason: String,
    /// Whether the user can mend it by other arguments.
    usage: bool,
}

impl KeyError {
    /// Returns true where the arguments are wrong rather than the file.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        self.usage
    }
}

/// A key of a file: all but the key itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyEntry {
    /// The name by which logs and `pericope keys` call it.
    pub name: String,
    /// What it allows.
    pub scope: Scope,
    /// The SHA-256 of the key.
    hash: [u8; 32],
}

/// The contents of a file of keys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyFile {
    entries: Vec<KeyEntry>,
}

impl KeyFile {
    /// Reads a file.
    ///
    /// # Errors
    /// [`KeyError`] where it cannot be read, or a line is none of a key.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let fail = |reason: String| KeyError { path: path.to_owned(), reason, usage: true };
        let text = std::fs::read_to_string(path).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => {
                fail("there is no such file; `pericope keys add FILE --name NAME` makes it".to_owned())
            }
            _ => fail(e.to_string()),
        })?;
        let mut file = Self::default();
        for (number, line) in (1..).zip(text.lines()) {
            if !is_key(line) {
                continue;
            }
            let entry = parse(line.trim()).map_err(|reason| fail(format!("line {number}: {reason}")))?;
            if file.entries.iter().any(|known| known.name == entry.name) {
                return Err(fail(format!("line {number}: a second key is called {}", entry.name)));
            }
            file.entries.push(entry);
        }
        Ok(file)
    }

    /// Reads a file, or begins an empty one where there is none.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_or_new(path: &Path) -> Result<Self, KeyError> {
        match path.try_exists() {
            Ok(false) => Ok(Self::default()),
            _ => Self::read(path),
        }
    }

    /// Reads a file, or begins an empty one, lets `change` change it, and writes it. No other process changes it meanwhile, on
    /// systems where folders can be locked.
    ///
    /// # Errors
    /// As [`read`](Self::read) and [`write`](Self::write), and what `change` says, as an error of usage.
    pub fn change<T>(path: &Path, change: impl FnOnce(&mut Self) -> Result<T, String>) -> Result<T, KeyError> {
        let fail = |reason, usage| KeyError { path: path.to_owned(), reason, usage };
        // The file itself is replaced; its folder stays. Where that cannot be locked, nobody waits.
        let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let folder = whole.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let lock = File::open(folder).ok();
        let until = Instant::now() + PATIENCE;
        while lock.as_ref().is_some_and(|lock| matches!(try_lock(lock), Err(TryLockError::WouldBlock))) {
            if Instant::now() > until {
                return Err(fail(format!("another process holds its folder {}", folder.display()), false));
            }
        }
        let mut file = Self::read_or_new(path)?;
        let fail = |reason| fail(reason, true);
        let changed = change(&mut file).map_err(fail)?;
        file.write(path)?;
        Ok(changed)
    }

    /// Writes the file whole. Comments that stand in the file already stay; so do its permissions, and a link to it.
    ///
    /// # Errors
    /// [`KeyError`] where it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), KeyError> {
        let fail = |e: std::io::Error| KeyError { path: path.to_owned(), reason: e.to_string(), usage: false };
        let before = match std::fs::read_to_string(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => HEAD.to_owned(),
            read => read.map_err(fail)?,
        };
        let (mut text, mut there) = (String::new(), Vec::new());
        for line in before.lines() {
            let key = match is_key(line) {
                true => self.entries.iter().find(|key| parse(line.trim()).is_ok_and(|found| found == **key)),
                false => None,
            };
            if key.is_some() || !is_key(line) {
                text.push_str(line);
                text.push('\n');
            }
            there.extend(key);
        }
        for key in self.entries.iter().filter(|key| !there.contains(key)) {
            text.push_str(&format!("{} {} {}\n", key.name, key.scope, hex(&key.hash)));
        }
        replace_named_file(path, text).map_err(fail)
    }

    /// Makes a key and returns it: this is the only time that anybody sees it.
    ///
    /// # Errors
    /// A sentence where the name is none or taken, or the system has no random numbers.
    pub fn add(&mut self, name: &str, scope: Scope) -> Result<String, String> {
        if !is_name(name) {
            return Err(format!("{name:?} is no name: 1 to 64 letters, digits, `.`, `_`, `-`"));
        }
        if self.entries.iter().any(|known| known.name == name) {
            return Err(format!("there is a key called {name}: remove it first, or choose another name"));
        }
        let mut random = [0; RANDOM];
        getrandom::fill(&mut random).map_err(|e| format!("the system gives no random numbers: {e}"))?;
        let key = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(random));
        self.entries.push(KeyEntry { name: name.to_owned(), scope, hash: hash(&key) });
        Ok(key)
    }

    /// Removes the key of a name; returns whether there was one.
    pub fn remove(&mut self, name: &str) -> bool {
        let before = self.entries.len();
        self.entries.retain(|key| key.name != name);
        self.entries.len() < before
    }

    /// The keys, in the order of the file.
    #[must_use]
    pub fn entries(&self) -> &[KeyEntry] {
        &self.entries
    }

    /// Returns the entry of a key. Every entry is compared, and each in the same time whatever differs.
    #[must_use]
    pub fn find(&self, key: &str) -> Option<&KeyEntry> {
        let asked = hash(key.get(..LONGEST).unwrap_or(key));
        let mut found = None;
        for entry in &self.entries {
            let same: Choice = entry.hash.ct_eq(&asked);
            if bool::from(same) {
                found = Some(entry);
            }
        }
        found
    }
}

/// Whether a line is that of a key: not blank, and no comment.
fn is_key(line: &str) -> bool {
    !line.trim().is_empty() && !line.trim_start().starts_with('#')
}

fn parse(line: &str) -> Result<KeyEntry, String> {
    let mut words = line.split_whitespace();
    let (Some(name), Some(scope), Some(hash), None) = (words.next(), words.next(), words.next(), words.next()) else {
        return Err("it is not a name, a scope and a hash; `pericope keys add` writes such lines".into());
    };
    if !is_name(name) {
        return Err(format!("{name:?} is no name: 1 to 64 letters, digits, `.`, `_`, `-`"));
    }
    let wrong = || "the hash is not 64 hexadecimal digits".to_owned();
    let mut bytes = [0; 32];
    if hash.len() != 64 || !hash.is_ascii() {
        return Err(wrong());
    }
    for (n, byte) in bytes.iter_mut().enumerate() {
        let digits = hash.get(2 * n..2 * n + 2).ok_or_else(wrong)?;
        *byte = u8::from_str_radix(digits, 16).map_err(|_| wrong())?;
    }
    Ok(KeyEntry { name: name.to_owned(), scope: scope.parse()?, hash: bytes })
}

fn hash(key: &str) -> [u8; 32] {
    Sha256::digest(key).into()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_key_is_known_by_its_hash_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        let mut file = KeyFile::read_or_new(&path).unwrap();
        let search = file.add("site", Scope::Search).unwrap();
        let admin = file.add("ops", Scope::Admin).unwrap();
        assert!(search.starts_with(PREFIX) && search.len() == PREFIX.len() + 43 && search != admin);
        file.write(&path).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains(&search) && text.contains("site search "), "{text}");
        let mut read = KeyFile::read(&path).unwrap();
        assert_eq!(read, file);
        assert_eq!(read.find(&search).map(|key| (key.name.as_str(), key.scope)), Some(("site", Scope::Search)));
        assert_eq!(read.find(&admin).map(|key| key.scope), Some(Scope::Admin));
        for wrong in ["", "pericope_", &search[1..], &format!("{search}x")] {
            assert_eq!(read.find(wrong), None, "{wrong}");
        }
        assert!(read.add("site", Scope::Admin).is_err() && read.add("a b", Scope::Admin).is_err());
        assert!(read.remove("site") && !read.remove("site"));
        assert_eq!(read.find(&search), None);
    }

    #[test]
    fn what_people_wrote_beside_the_keys_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        let add = |name: &str| KeyFile::change(&path, |file| file.add(name, Scope::Search)).unwrap();
        let first = add("site");
        let mine = format!("# mine\n\n{}# the end\n", std::fs::read_to_string(&path).unwrap());
        std::fs::write(&path, &mine).unwrap();
        add("second");
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with(&mine) && text.lines().count() == mine.lines().count() + 1, "{text}");
        // A key of the same name in its place is another one.
        let renewed = |file: &mut KeyFile| {
            file.remove("site");
            file.add("site", Scope::Search)
        };
        let key = KeyFile::change(&path, renewed).unwrap();
        let read = KeyFile::read(&path).unwrap();
        assert!(read.find(&first).is_none() && read.find(&key).is_some() && read.entries().len() == 2);
    }

    #[test]
    fn keys_that_are_added_at_once_are_all_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        std::thread::scope(|threads| {
            for n in 0..12 {
                let path = &path;
                threads.spawn(move || KeyFile::change(path, |file| file.add(&format!("k{n}"), Scope::Search)).unwrap());
            }
        });
        #[cfg(unix)]
        assert_eq!(KeyFile::read(&path).unwrap().entries().len(), 12);
    }

    #[test]
    fn lines_that_are_none_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        let sum = "0".repeat(64);
        for (line, named) in [
            ("site search", "a name, a scope and a hash"),
            ("site search 00", "64 hexadecimal"),
            (&format!("site root {sum}"), "no scope `root`"),
            (&format!("a/b search {sum}"), "no name"),
            (&format!("a search {sum}\na admin {sum}"), "a second key"),
            (&format!("a search {}", "é".repeat(32)), "64 hexadecimal"),
        ] {
            std::fs::write(&path, format!("# comment\n\n{line}\n")).unwrap();
            let error = KeyFile::read(&path).unwrap_err().to_string();
            assert!(error.contains(named) && error.contains("line "), "{error}");
        }
    }
}
