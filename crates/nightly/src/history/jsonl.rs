//! The whole history as JSON lines: a header, then a night a line.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use rusqlite::{ErrorCode, TransactionBehavior};
use serde::{Deserialize, Serialize};

use super::{History, HistoryError, write};
use pericope_util::StagedFile;

use crate::night::NightlyRun;

const FORMAT: &str = "pericope-nightly";
/// Version of the lines' layout.
const VERSION: u32 = 1;
/// The last number that an imported night may have: more nights than there will be, and room for those after it.
const LAST: u32 = 1_000_000_000;

#[derive(Serialize, Deserialize)]
struct Header {
    format: String,
    version: u32,
    experiment: String,
    #[serde(default)]
    pinned: Option<u32>,
}

/// What an import did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// Nights that were added.
    pub added: usize,
    /// Nights that were there already.
    pub known: usize,
}

impl History {
    /// Writes all nights to a file, whole or not at all; gives their number.
    ///
    /// # Errors
    /// [`HistoryError::Io`] where the file cannot be written, [`HistoryError::Sql`].
    pub fn export(&self, path: &Path) -> Result<usize, HistoryError> {
        let io = |source| HistoryError::Io { path: path.to_owned(), source };
        let mut out = StagedFile::named(path).map_err(io)?;
        let header = Header {
            format: FORMAT.into(),
            version: VERSION,
            experiment: self.meta("experiment")?.unwrap_or_default(),
            pinned: self.pinned()?,
        };
        line(&mut out, &header).map_err(io)?;
        let heads = self.heads()?;
        for head in &heads {
            line(&mut out, &self.night(head.number)?).map_err(io)?;
        }
        out.commit().map_err(io)?;
        Ok(heads.len())
    }

    /// Adds the nights of an exported file under their own numbers, all or none. Nights that are there already are
    /// passed over; a pin is taken over where there is none.
    ///
    /// # Errors
    /// [`HistoryError::Line`] where the file is damaged, [`HistoryError::Taken`] where another night has a number,
    /// [`HistoryError::OtherExperiment`].
    pub fn import(&mut self, path: &Path) -> Result<Imported, HistoryError> {
        let io = |source| HistoryError::Io { path: path.to_owned(), source };
        let damaged = |line, problem: String| HistoryError::Line { path: path.to_owned(), line, problem };
        let mut lines = BufReader::new(pericope_util::open_file(path).map_err(io)?).lines();
        let first = lines.next().and_then(Result::ok).unwrap_or_default();
        let header: Header =
            serde_json::from_str(&first).ok().filter(|header: &Header| header.format == FORMAT).ok_or_else(|| {
                damaged(1, "this is no exported history (pericope nightly CONFIG.toml --export FILE)".into())
            })?;
        if header.version > VERSION {
            return Err(damaged(1, format!("layout {} was written by a newer pericope", header.version)));
        }
        let experiment = self.meta("experiment")?.unwrap_or_default();
        if header.experiment != experiment {
            return Err(HistoryError::OtherExperiment {
                path: path.to_owned(),
                found: header.experiment,
                asked: experiment,
            });
        }
        let heads = self.heads()?;
        let uids: HashSet<&str> = heads.iter().map(|head| head.uid.as_str()).collect();
        let mut numbers: HashSet<u32> = heads.iter().map(|head| head.number).collect();
        let had_pin = self.pinned()?.is_some();
        let failed = HistoryError::sql(&self.path, "import into the history");
        let file = self.path.clone();
        let change = self.db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&failed)?;
        let mut done = Imported { added: 0, known: 0 };
        for (i, text) in lines.enumerate() {
            let text = text.map_err(|e| match e.kind() {
                std::io::ErrorKind::InvalidData => damaged(i + 2, "it is not UTF-8".to_owned()),
                _ => io(e),
            })?;
            let night: NightlyRun = serde_json::from_str(&text).map_err(|e| damaged(i + 2, e.to_string()))?;
            if uids.contains(night.uid.as_str()) {
                done.known += 1;
                continue;
            }
            sound(&night).map_err(|problem| damaged(i + 2, problem))?;
            if !numbers.insert(night.number) {
                return Err(HistoryError::Taken { path: file, number: night.number });
            }
            write::night(&change, &night).map_err(|source| match source.sqlite_error_code() {
                Some(ErrorCode::ConstraintViolation) => damaged(i + 2, format!("it holds something twice ({source})")),
                _ => failed(source),
            })?;
            done.added += 1;
        }
        if let Some(pinned) = header.pinned.filter(|_| !had_pin) {
            change.execute("INSERT OR REPLACE INTO meta VALUES('pinned', ?)", [pinned.to_string()]).map_err(&failed)?;
        }
        change.commit().map_err(&failed)?;
        Ok(done)
    }
}

/// Refuses a night that a history could not hold, or not read back.
fn sound(night: &NightlyRun) -> Result<(), String> {
    if night.number == 0 || night.number > LAST {
        return Err(format!("night {}: nights are numbered from 1 to {LAST}", night.number));
    }
    if night.uid.is_empty() {
        return Err(format!("night {} has no uid", night.number));
    }
    let long = night.cells.iter().flat_map(|cell| &cell.scores).find(|(_, list)| list.len() != night.questions.len());
    match long {
        Some((metric, list)) => Err(format!(
            "night {} has {} scores of {metric} for {} questions",
            night.number,
            list.len(),
            night.questions.len()
        )),
        None => Ok(()),
    }
}

fn line(out: &mut impl Write, value: &impl Serialize) -> std::io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}
