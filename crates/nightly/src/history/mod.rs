//! Every night's figures in one SQLite file, `history.db`.
//!
//! A night is added in one transaction, so it is there whole or not at all. Nights are numbered from 1 in the order in
//! which they were added; the clock has no say in it.

mod check;
mod error;
mod jsonl;
mod read;
pub mod schema;
mod write;

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, TransactionBehavior};
use uuid::Uuid;

use super::night::{NightlyRun, Verdict};
use pericope_eval::config::Baseline;

pub use error::HistoryError;
pub use jsonl::Imported;
pub use read::{RunHeader, Series, TimeSeries};

/// Name of the file in the history's folder.
pub const FILE: &str = "history.db";

/// An open history.
#[derive(Debug)]
pub struct History {
    db: Connection,
    path: PathBuf,
}

impl History {
    /// Opens the history of an experiment in `dir`, made where it is missing, brought up to date where it is older.
    ///
    /// # Errors
    /// [`HistoryError`]: the folder or file cannot be written, the file is something else, was written by a newer
    /// program, or belongs to another experiment.
    pub fn open(dir: &Path, experiment: &str) -> Result<Self, HistoryError> {
        std::fs::create_dir_all(dir).map_err(|source| HistoryError::Io { path: dir.to_owned(), source })?;
        let path = dir.join(FILE);
        check::not_lost(dir, &path)?;
        let failed = HistoryError::sql(&path, "open the history");
        let mut db = Connection::open(&path).map_err(&failed)?;
        db.busy_timeout(std::time::Duration::from_secs(10)).map_err(&failed)?;
        db.pragma_update(None, "synchronous", "FULL").map_err(&failed)?;
        db.pragma_update(None, "foreign_keys", true).map_err(&failed)?;
        check::file(&db, &path)?;
        schema::migrate(&mut db, &path)?;
        let mut history = Self { db, path };
        match history.meta("experiment")? {
            None => {
                history.set_meta("experiment", Some(experiment))?;
                // Names the feed, for good.
                let seed = format!("{experiment} {} {}", pericope_util::now_rfc3339(), dir.display());
                history.set_meta("id", Some(&Uuid::new_v5(&Uuid::NAMESPACE_OID, seed.as_bytes()).to_string()))?;
            }
            Some(found) if found == experiment => {}
            Some(found) => {
                return Err(HistoryError::OtherExperiment { path: history.path, found, asked: experiment.to_owned() });
            }
        }
        Ok(history)
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes something and takes it back: a file that cannot be written is found before the night's work is done.
    ///
    /// # Errors
    /// [`HistoryError::Sql`].
    pub fn probe(&mut self) -> Result<(), HistoryError> {
        let now = pericope_util::now_rfc3339();
        self.set_meta("attempted", Some(&now))
    }

    /// The number that the next night will have.
    ///
    /// # Errors
    /// [`HistoryError::Exhausted`] where there is none, [`HistoryError::Sql`].
    pub fn next_number(&self) -> Result<u32, HistoryError> {
        let last = self.last_number()?.unwrap_or(0);
        last.checked_add(1).ok_or_else(|| HistoryError::Exhausted { path: self.path.clone(), number: last })
    }

    /// The number of the last night; none where there is no night.
    ///
    /// # Errors
    /// [`HistoryError::Sql`].
    pub fn last_number(&self) -> Result<Option<u32>, HistoryError> {
        self.one("SELECT max(number) FROM night", [])
    }

    /// Adds a night, whole or not at all.
    ///
    /// # Errors
    /// [`HistoryError::Taken`] where its number or itself is there already, [`HistoryError::Sql`] where it cannot be
    /// written.
    pub fn append(&mut self, night: &NightlyRun) -> Result<(), HistoryError> {
        if self.has(night.number)? {
            return Err(HistoryError::Taken { path: self.path.clone(), number: night.number });
        }
        let failed = HistoryError::sql(&self.path, "add the night to the history");
        let change = self.db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&failed)?;
        write::night(&change, night).map_err(&failed)?;
        change.commit().map_err(&failed)
    }

    /// True where there is a night of this number.
    ///
    /// # Errors
    /// [`HistoryError::Sql`].
    pub fn has(&self, number: u32) -> Result<bool, HistoryError> {
        Ok(self.one::<u32, _>("SELECT number FROM night WHERE number = ?", [number])?.is_some())
    }

    /// The number of the last good night before `number`.
    ///
    /// # Errors
    /// [`HistoryError::Sql`].
    pub fn last_good(&self, before: u32) -> Result<Option<u32>, HistoryError> {
        self.one("SELECT max(number) FROM night WHERE number < ? AND verdict <> 'failed'", [before])
    }

    /// The night that is compared with for good: what `--pin` said, else what the configuration says.
    ///
    /// # Errors
    /// [`HistoryError::Missing`] where that night is not in the history.
    pub fn baseline(&self, configured: Option<Baseline>) -> Result<Option<u32>, HistoryError> {
        let pinned = self.pinned()?.map(Baseline::Run);
        match pinned.or(configured) {
            None => Ok(None),
            Some(Baseline::First) => self.one("SELECT min(number) FROM night WHERE verdict <> 'failed'", []),
            Some(Baseline::Run(number)) if self.has(number)? => Ok(Some(number)),
            // Nothing can be pinned in an empty history; once there are nights, a wrong number is a mistake.
            Some(Baseline::Run(_)) if self.last_number()?.is_none() => Ok(None),
            Some(Baseline::Run(number)) => Err(HistoryError::Missing { path: self.path.clone(), number }),
        }
    }

    /// The night that was pinned by hand.
    ///
    /// # Errors
    /// [`HistoryError::Sql`].
    pub fn pinned(&self) -> Result<Option<u32>, HistoryError> {
        Ok(self.meta("pinned")?.and_then(|text| text.parse().ok()))
    }

    /// Pins a night as the baseline, or none.
    ///
    /// # Errors
    /// [`HistoryError::Missing`] where there is no such night.
    pub fn pin(&mut self, number: Option<u32>) -> Result<(), HistoryError> {
        if let Some(number) = number
            && !self.has(number)?
        {
            return Err(HistoryError::Missing { path: self.path.clone(), number });
        }
        self.set_meta("pinned", number.map(|n| n.to_string()).as_deref())
    }

    /// Says that a failed night is as it should be: later nights are compared with it.
    ///
    /// # Errors
    /// [`HistoryError::Missing`] where there is no such night.
    pub fn accept(&mut self, number: u32) -> Result<(), HistoryError> {
        let failed = HistoryError::sql(&self.path, "accept the night");
        let changed = (self.db)
            .execute(
                "UPDATE night SET verdict = ?1 WHERE number = ?2 AND verdict = 'failed'",
                (Verdict::Accepted.name(), number),
            )
            .map_err(failed)?;
        if changed == 0 && !self.has(number)? {
            return Err(HistoryError::Missing { path: self.path.clone(), number });
        }
        Ok(())
    }

    /// What names the history and its feed for good, a UUID.
    ///
    /// # Errors
    /// [`HistoryError::Sql`].
    pub fn id(&self) -> Result<String, HistoryError> {
        Ok(self.meta("id")?.unwrap_or_default())
    }

    fn meta(&self, key: &str) -> Result<Option<String>, HistoryError> {
        self.one("SELECT value FROM meta WHERE key = ?", [key])
    }

    fn set_meta(&mut self, key: &str, value: Option<&str>) -> Result<(), HistoryError> {
        let failed = HistoryError::sql(&self.path, "write to the history");
        match value {
            Some(value) => self.db.execute(
                "INSERT INTO meta VALUES(?1, ?2) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
                [key, value],
            ),
            None => self.db.execute("DELETE FROM meta WHERE key = ?", [key]),
        }
        .map_err(failed)?;
        Ok(())
    }

    /// The first column of the first row; none where there is no row or it is NULL.
    fn one<T: rusqlite::types::FromSql, P: rusqlite::Params>(
        &self,
        sql: &str,
        by: P,
    ) -> Result<Option<T>, HistoryError> {
        let failed = HistoryError::sql(&self.path, "read the history");
        let found: Option<Option<T>> = self.db.query_row(sql, by, |row| row.get(0)).optional().map_err(failed)?;
        Ok(found.flatten())
    }
}

#[cfg(test)]
mod tests;
