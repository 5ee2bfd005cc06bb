//! Damage that SQLite itself does not see.

use std::io::ErrorKind;
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

/// Refuses a file without a byte beside nights, and one that is gone: SQLite would begin a new history, whose first night
/// nothing is compared with, and which writes over the folders of the old one.
///
/// # Errors
/// [`HistoryError::Broken`] says so.
pub(super) fn not_lost(dir: &Path, path: &Path) -> Result<(), HistoryError> {
    let lost = match std::fs::metadata(path) {
        Ok(meta) if meta.is_file() && meta.len() == 0 => "empty",
        Err(error) if error.kind() == ErrorKind::NotFound => "gone",
        _ => return Ok(()),
    };
    let has_nights = std::fs::read_dir(dir.join("nights")).is_ok_and(|mut nights| nights.next().is_some());
    if has_nights {
        let problem = format!("it is {lost}, and the folders of nights stand beside it");
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
