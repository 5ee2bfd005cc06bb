//! What `pericope compare` wrote into a folder: that it may write again, and nothing else.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pericope_util::{read_file, sha256_hex};
use serde::{Deserialize, Serialize};

use crate::commands::dataset::{WRITTEN, save};
use crate::resources::shown;
use crate::status::Failure;

/// Files with their checksums, and folders, that this command wrote.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Written {
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    folders: Vec<String>,
}

/// The folder that everything goes into.
pub struct Own {
    folder: PathBuf,
    written: Written,
}

impl Own {
    /// Looks at a folder. Files of these names that somebody else wrote or changed, and a folder that somebody else filled,
    /// are refused.
    pub fn open(folder: &Path, files: &[&str], folders: &[&str]) -> Result<Self, Failure> {
        let written = match read_file(&folder.join(WRITTEN)) {
            Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_default(),
            Err(_) => Written::default(),
        };
        let own = Self { folder: folder.to_owned(), written };
        for name in files {
            let path = folder.join(name);
            match read_file(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(Failure::runtime(format!("{}: {error}", shown(&path)))),
                Ok(bytes) if own.written.files.get(*name) == Some(&sha256_hex(&bytes)) => {}
                Ok(_) => return Err(own.foreign(&path)),
            }
        }
        for name in folders {
            let path = folder.join(name);
            let is_filled = path.read_dir().is_ok_and(|mut entries| entries.next().is_some());
            if is_filled && !own.written.folders.iter().any(|known| known == name) {
                return Err(own.foreign(&path));
            }
        }
        Ok(own)
    }

    fn foreign(&self, path: &Path) -> Failure {
        Failure::usage(format!(
            "{} is there and was written or changed by somebody else, so it stays: name another folder with --out; to go on \
             with changed files: pericope eval run {}",
            shown(path),
            shown(&self.folder.join(super::experiment::CONFIG))
        ))
    }

    /// Writes a file, and remembers that.
    pub fn write(&mut self, name: &str, text: &str) -> Result<(), Failure> {
        self.written.files.insert(name.to_owned(), sha256_hex(text.as_bytes()));
        // First the list: a file of that checksum is ours even where this process ends in between.
        self.remember()?;
        save(&self.folder.join(name), text)
    }

    /// Remembers that a folder is about to be filled.
    pub fn fill(&mut self, name: &str) -> Result<PathBuf, Failure> {
        if !self.written.folders.iter().any(|known| known == name) {
            self.written.folders.push(name.to_owned());
            self.remember()?;
        }
        Ok(self.folder.join(name))
    }

    fn remember(&self) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(&self.written).map_err(anyhow::Error::from)?;
        save(&self.folder.join(WRITTEN), &(text + "\n"))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn only_what_was_written_here_is_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Own::open(folder.path(), &["a.txt"], &["run"]);
        let mut own = open().unwrap();
        own.write("a.txt", "one").unwrap();
        let run = own.fill("run").unwrap();
        std::fs::create_dir(&run).unwrap();
        std::fs::write(run.join("x"), "x").unwrap();
        open().unwrap().write("a.txt", "two").unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("a.txt")).unwrap(), "two");
        std::fs::write(folder.path().join("a.txt"), "mine").unwrap();
        assert!(open().is_err_and(|e| e.to_string().contains("a.txt is there")));
        std::fs::remove_file(folder.path().join("a.txt")).unwrap();
        std::fs::remove_file(folder.path().join(WRITTEN)).unwrap();
        assert!(open().is_err_and(|e| e.to_string().contains("run is there")));
    }
}
