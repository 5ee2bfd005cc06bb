//! Reading the files of a run.

use std::io::BufReader;
use std::path::Path;

use pericope_eval::record::{Item, ItemSeeker};
use serde::de::DeserializeOwned;

use super::error::ReportError;

/// Reads a file that is one JSON value.
pub(crate) fn whole<T: DeserializeOwned>(path: &Path) -> Result<T, ReportError> {
    let file = pericope_util::open_file(path).map_err(|source| ReportError::read(path, source))?;
    serde_json::from_reader(BufReader::with_capacity(1 << 16, file)).map_err(|source| match source.is_io() {
        true => ReportError::read(path, source.into()),
        false => ReportError::Parse { path: path.to_owned(), line: source.line(), source },
    })
}

/// Reads the items whose lines begin at these bytes.
pub(super) fn items_at(path: &Path, offsets: &[u64]) -> Result<Vec<Item>, ReportError> {
    if offsets.is_empty() {
        return Ok(Vec::new());
    }
    let mut items = ItemSeeker::open(path)?;
    offsets.iter().map(|&offset| Ok(items.at(offset)?)).collect()
}
