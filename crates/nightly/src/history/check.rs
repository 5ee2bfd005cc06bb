//! Damage that SQLite itself does not see.

use std::path::Path;

use pericope_util::one_line;
use rusqlite::Connection;
use sha2::{Digest, Sha256};

use super::HistoryError;

/// Bytes of a file up to which its structure is checked at opening: some tenths of a second.
const CHECKED: u64 = 64 << 20;

/// Checks the structure of a file and of its indexes, where the file is not large.
///
/// # Errors
/// [`HistoryError::Broken`] names the first thing that is wrong.
pub(super) fn file(db: &Connection, path: &Path) -> Result<(), HistoryError> {
    if std::fs::metadata(path).map_or(0, |meta| meta.len()) > CHECKED {
        return Ok(());
    }
    let found: String = db
        .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
        .map_err(HistoryError::sql(path, "open the history"))?;
    if found == "ok" {
        return Ok(());
    }
    Err(HistoryError::Broken { path: path.to_owned(), problem: one_line(&found) })
}

/// Refuses a file without a byte beside nights: SQLite would take it for a new history.
///
/// # Errors
/// [`HistoryError::Broken`] says so.
pub(super) fn not_emptied(dir: &Path, path: &Path) -> Result<(), HistoryError> {
    let is_empty = std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() == 0);
    let has_nights = || std::fs::read_dir(dir.join("nights")).is_ok_and(|mut nights| nights.next().is_some());
    if is_empty && has_nights() {
        let problem = "it is empty, and the folders of nights stand beside it".to_owned();
        return Err(HistoryError::Broken { path: path.to_owned(), problem });
    }
    Ok(())
}

/// Whether bytes are those that a checksum was made of.
///
/// # Errors
/// In words.
pub(super) fn content(sum: &[u8], bytes: &[u8]) -> Result<(), String> {
    if Sha256::digest(bytes).as_slice() == sum { Ok(()) } else { Err("its checksum is another".to_owned()) }
}
