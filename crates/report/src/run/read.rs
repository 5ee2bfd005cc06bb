//! Reading the files of a run.

use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;

use pericope_eval::record::Item;
use serde::de::DeserializeOwned;

use super::error::ReportError;

fn open(path: &Path) -> Result<BufReader<File>, ReportError> {
    let file = pericope_util::open_file(path).map_err(|source| ReportError::read(path, source))?;
    Ok(BufReader::with_capacity(1 << 16, file))
}

/// Reads a file that is one JSON value.
pub(crate) fn whole<T: DeserializeOwned>(path: &Path) -> Result<T, ReportError> {
    serde_json::from_reader(open(path)?).map_err(|source| match source.is_io() {
        true => ReportError::read(path, source.into()),
        false => ReportError::Parse { path: path.to_owned(), line: source.line(), source },
    })
}

/// Calls `f` with the item of every line that is not blank, and the byte at which the line begins.
pub(super) fn each_item(path: &Path, mut f: impl FnMut(&Item, u64)) -> Result<(), ReportError> {
    let mut reader = open(path)?;
    let (mut line, mut offset) = (String::new(), 0);
    for number in 1.. {
        line.clear();
        let bytes = reader.read_line(&mut line).map_err(|source| ReportError::read(path, source))?;
        if bytes == 0 {
            break;
        }
        if !line.trim().is_empty() {
            let parsed = serde_json::from_str(&line);
            f(&parsed.map_err(|source| ReportError::Parse { path: path.to_owned(), line: number, source })?, offset);
        }
        offset += bytes as u64;
    }
    Ok(())
}

/// Reads the items whose lines begin at these bytes.
pub(super) fn items_at(path: &Path, offsets: &[u64]) -> Result<Vec<Item>, ReportError> {
    if offsets.is_empty() {
        return Ok(Vec::new());
    }
    let mut reader = open(path)?;
    let mut line = String::new();
    let mut items = Vec::with_capacity(offsets.len());
    for &offset in offsets {
        line.clear();
        (reader.seek(SeekFrom::Start(offset)).and_then(|_| reader.read_line(&mut line)))
            .map_err(|source| ReportError::read(path, source))?;
        let moved = |source| ReportError::Moved { path: path.to_owned(), offset, source };
        items.push(serde_json::from_str(&line).map_err(moved)?);
    }
    Ok(items)
}
