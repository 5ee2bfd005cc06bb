//! Reading `items.jsonl`.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use pericope_util::{open_file, shown_path};
use serde::de::DeserializeOwned;

use super::Item;

/// The file of the items in a run's folder.
pub const ITEMS: &str = "items.jsonl";

/// Why items cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ItemError {
    /// The file is missing or cannot be read.
    #[error("cannot read {path}: {source}", path = shown_path(path))]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line is no item.
    #[error("{path}, line {line}: {source}", path = shown_path(path))]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// An item is not where it is said to be.
    #[error("{path}, byte {offset}: {source}", path = shown_path(path))]
    Moved {
        /// The file.
        path: PathBuf,
        /// The byte at which its line should begin.
        offset: u64,
        /// What is wrong there.
        source: serde_json::Error,
    },
}

/// The lines of a file, and where they begin.
#[derive(Debug)]
struct Lines {
    path: PathBuf,
    reader: BufReader<File>,
    /// The byte at which the next line begins.
    next: u64,
    line: Vec<u8>,
}

impl Lines {
    fn open(path: &Path) -> Result<Self, ItemError> {
        let file = open_file(path).map_err(|source| ItemError::Io { path: path.to_owned(), source })?;
        let reader = BufReader::with_capacity(1 << 16, file);
        Ok(Self { path: path.to_owned(), reader, next: 0, line: Vec::new() })
    }

    /// Reads the next line, its end included; 0 bytes at the end of the file.
    fn read(&mut self) -> Result<usize, ItemError> {
        self.line.clear();
        let read = self.reader.read_until(b'\n', &mut self.line);
        let bytes = read.map_err(|source| ItemError::Io { path: self.path.clone(), source })?;
        self.next += bytes as u64;
        Ok(bytes)
    }

    /// Goes to the line that begins at this byte.
    fn go_to(&mut self, offset: u64) -> Result<(), ItemError> {
        let signed = |byte: u64| i64::try_from(byte).unwrap_or(i64::MAX);
        // What is buffered stays where it is of use: items are often asked for in the order of the file.
        let moved = self.reader.seek_relative(signed(offset) - signed(self.next));
        moved.map_err(|source| ItemError::Io { path: self.path.clone(), source })?;
        self.next = offset;
        Ok(())
    }
}

/// The items of a run one by one, each with the byte at which its line begins. Blank lines are passed over. A line that is no item is
/// an error, behind which the next item comes; a file that cannot be read any further ends with its error.
#[derive(Debug)]
pub struct ItemReader<T = Item> {
    lines: Lines,
    /// Lines that were read.
    read: usize,
    ended: bool,
    of: PhantomData<T>,
}

impl ItemReader {
    /// Opens `items.jsonl`.
    ///
    /// # Errors
    /// [`ItemError::Io`] where the file is missing or cannot be read.
    pub fn open(path: &Path) -> Result<Self, ItemError> {
        Self::open_as(path)
    }
}

impl<T> ItemReader<T> {
    /// Opens `items.jsonl` for some of the fields of every item: what is not asked for costs little.
    ///
    /// # Errors
    /// [`ItemError::Io`] where the file is missing or cannot be read.
    pub fn open_as(path: &Path) -> Result<Self, ItemError> {
        Ok(Self { lines: Lines::open(path)?, read: 0, ended: false, of: PhantomData })
    }
}

impl<T: DeserializeOwned> Iterator for ItemReader<T> {
    type Item = Result<(T, u64), ItemError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            let offset = self.lines.next;
            match self.lines.read() {
                Ok(0) => self.ended = true,
                Ok(_) => {
                    self.read += 1;
                    if self.lines.line.trim_ascii().is_empty() {
                        continue;
                    }
                    let (path, line) = (&self.lines.path, self.read);
                    let item = serde_json::from_slice(&self.lines.line);
                    let wrong = |source| ItemError::Line { path: path.clone(), line, source };
                    return Some(item.map(|item| (item, offset)).map_err(wrong));
                }
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
            }
        }
        None
    }
}

/// The items of a run whose places are known.
#[derive(Debug)]
pub struct ItemSeeker(Lines);

impl ItemSeeker {
    /// Opens `items.jsonl`.
    ///
    /// # Errors
    /// [`ItemError::Io`] where the file is missing or cannot be read.
    pub fn open(path: &Path) -> Result<Self, ItemError> {
        Lines::open(path).map(Self)
    }

    /// Reads the item whose line begins at byte `offset`.
    ///
    /// # Errors
    /// [`ItemError::Moved`] where no item begins there, [`ItemError::Io`] where the file cannot be read.
    pub fn at(&mut self, offset: u64) -> Result<Item, ItemError> {
        self.0.go_to(offset)?;
        self.0.read()?;
        let moved = |source| ItemError::Moved { path: self.0.path.clone(), offset, source };
        serde_json::from_slice(&self.0.line).map_err(moved)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{ITEMS, Item, ItemError, ItemReader, ItemSeeker};

    #[test]
    fn items_are_read_in_their_order_and_by_their_places() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(ITEMS);
        let line = |id: &str| serde_json::to_string(&Item { question_id: id.into(), ..Item::default() }).unwrap();
        let (first, last) = (line("first"), line("last"));
        // A blank line, one that was cut off, one that is no text, and no end behind the last one.
        let mut bytes = format!("{first}\n\n{}\n", &first[..20]).into_bytes();
        bytes.extend(b"\xff\xfe\n");
        let place = bytes.len() as u64;
        bytes.extend(last.as_bytes());
        std::fs::write(&path, bytes).unwrap();

        let found: Vec<_> = ItemReader::open(&path).unwrap().collect();
        let ids: Vec<(&str, u64)> =
            found.iter().flatten().map(|(item, offset)| (item.question_id.as_str(), *offset)).collect();
        assert_eq!(ids, [("first", 0), ("last", place)]);
        let wrong: Vec<String> = found.iter().filter_map(|one| one.as_ref().err()).map(ToString::to_string).collect();
        assert!(wrong[0].contains("items.jsonl, line 3: ") && wrong[1].contains("items.jsonl, line 4: "), "{wrong:?}");
        assert_eq!(wrong.len(), 2);

        let mut items = ItemSeeker::open(&path).unwrap();
        for (offset, id) in [(place, "last"), (0, "first"), (place, "last")] {
            assert_eq!(items.at(offset).unwrap().question_id, id);
        }
        for offset in [7, place + 1, place + 10_000] {
            assert!(matches!(items.at(offset), Err(ItemError::Moved { offset: at, .. }) if at == offset));
        }
        assert_eq!(items.at(0).unwrap().question_id, "first");
        assert!(matches!(ItemReader::open(&folder.path().join("none")), Err(ItemError::Io { .. })));
    }
}
