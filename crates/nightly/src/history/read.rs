use std::collections::BTreeMap;

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Result, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::write::unpack;
use super::{History, HistoryError, check};
use crate::night::{NightlyCell, NightlyRun, Program, Timing, Verdict};
use pericope_eval::cell::{CellKey, Cutoff};
use pericope_eval::metric::Metric;

/// A night in the list of nights.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunHeader {
    /// Its number.
    pub number: u32,
    /// Unique among all nights.
    pub uid: String,
    /// When it began.
    pub started: String,
    /// When it ended.
    pub finished: String,
    /// Seconds of the run.
    pub seconds: f64,
    /// What came out.
    pub verdict: Verdict,
    /// The same in one line.
    pub line: String,
    /// The program.
    pub program: Program,
    /// Documents in the corpus.
    pub documents: usize,
    /// Questions asked.
    pub questions: usize,
}

/// A mean over the nights, in their order: night and value.
pub type Series = BTreeMap<CellKey, Vec<(u32, f64)>>;

/// A time over the nights by chunker and mode, in the nights' order.
pub type TimeSeries = BTreeMap<(String, String), Vec<(u32, f64)>>;

const HEAD: &str =
    "number, uid, started, finished, seconds, verdict, line, version, program, document_count, question_count";

impl History {
    /// All nights, oldest first.
    ///
    /// # Errors
    /// [`HistoryError::Sql`].
    pub fn heads(&self) -> std::result::Result<Vec<RunHeader>, HistoryError> {
        self.reading(|db| {
            let mut query = db.prepare(&format!("SELECT {HEAD} FROM night ORDER BY number"))?;
            query.query_map([], head)?.collect()
        })
    }

    /// All of a night.
    ///
    /// # Errors
    /// [`HistoryError::Missing`] where there is none of that number, [`HistoryError::Sql`].
    pub fn night(&self, number: u32) -> std::result::Result<NightlyRun, HistoryError> {
        let experiment = self.meta("experiment")?.unwrap_or_default();
        let found = night(&self.db, number, experiment).map_err(|error| self.of_night(number, error))?;
        found.ok_or_else(|| HistoryError::Missing { path: self.path.clone(), number })
    }

    /// A metric's means over all nights up to `last`, cell by cell.
    ///
    /// # Errors
    /// [`HistoryError::Sql`].
    pub fn series(&self, metric: &Metric, last: u32) -> std::result::Result<Series, HistoryError> {
        self.reading(|db| {
            let mut query = db.prepare(
                "SELECT chunker, mode, k, token_budget, night, mean FROM score JOIN cell ON cell.id = score.cell \
                 WHERE metric = ? AND night <= ? AND mean IS NOT NULL ORDER BY cell, night",
            )?;
            let mut found = Series::new();
            let mut rows = query.query((metric.key(), last))?;
            while let Some(row) = rows.next()? {
                found.entry(key(row)?).or_default().push((row.get(4)?, row.get(5)?));
            }
            Ok(found)
        })
    }

    /// A time over all nights up to `last`, by chunker and mode.
    ///
    /// # Errors
    /// [`HistoryError::Sql`].
    pub fn times(&self, what: &str, last: u32) -> std::result::Result<TimeSeries, HistoryError> {
        self.reading(|db| {
            let mut query = db.prepare(
                "SELECT chunker, mode, night, value FROM timing WHERE what = ? AND night <= ? ORDER BY night",
            )?;
            let mut found = TimeSeries::new();
            let mut rows = query.query((what, last))?;
            while let Some(row) = rows.next()? {
                found.entry((row.get(0)?, row.get(1)?)).or_default().push((row.get(2)?, row.get(3)?));
            }
            Ok(found)
        })
    }

    /// The times of the last `window` good nights before a night, newest first.
    ///
    /// # Errors
    /// [`HistoryError::Sql`].
    pub fn good_times(&self, before: u32, window: usize) -> std::result::Result<Vec<Vec<Timing>>, HistoryError> {
        self.reading(|db| {
            let mut query = db.prepare(
                "SELECT number FROM night WHERE number < ? AND verdict <> 'failed' ORDER BY number DESC LIMIT ?",
            )?;
            let window = i64::try_from(window).unwrap_or(i64::MAX);
            let numbers: Vec<u32> = query.query_map((before, window), |row| row.get(0))?.collect::<Result<_>>()?;
            numbers.into_iter().map(|number| timings(db, number)).collect()
        })
    }

    /// The error of reading a night: damage is named with its number.
    fn of_night(&self, number: u32, error: rusqlite::Error) -> HistoryError {
        match error {
            rusqlite::Error::FromSqlConversionFailure(_, _, problem) => {
                HistoryError::Damaged { path: self.path.clone(), number, problem: problem.to_string() }
            }
            rusqlite::Error::InvalidColumnType(_, column, found) => {
                let problem = format!("{column} is of type {found}");
                HistoryError::Damaged { path: self.path.clone(), number, problem }
            }
            rusqlite::Error::QueryReturnedNoRows => {
                let problem = "a part of it is missing".to_owned();
                HistoryError::Damaged { path: self.path.clone(), number, problem }
            }
            other => HistoryError::sql(&self.path, "read the history")(other),
        }
    }

    pub(super) fn reading<T>(
        &self,
        act: impl FnOnce(&Connection) -> Result<T>,
    ) -> std::result::Result<T, HistoryError> {
        act(&self.db).map_err(HistoryError::sql(&self.path, "read the history"))
    }
}

fn head(row: &Row<'_>) -> Result<RunHeader> {
    Ok(RunHeader {
        number: row.get("number")?,
        uid: row.get("uid")?,
        started: row.get("started")?,
        finished: row.get("finished")?,
        seconds: row.get("seconds")?,
        verdict: verdict(row)?,
        line: row.get("line")?,
        program: Program { version: row.get("version")?, sha256: row.get("program")? },
        documents: size(row, "document_count")?,
        questions: size(row, "question_count")?,
    })
}

fn night(db: &Connection, number: u32, experiment: String) -> Result<Option<NightlyRun>> {
    let mut query = db.prepare_cached("SELECT * FROM night WHERE number = ?")?;
    let found = query
        .query_row([number], |row| {
            Ok(NightlyRun {
                number,
                uid: row.get("uid")?,
                experiment,
                started: row.get("started")?,
                finished: row.get("finished")?,
                seconds: row.get("seconds")?,
                verdict: verdict(row)?,
                line: row.get("line")?,
                reference: row.get("reference")?,
                baseline: row.get("baseline")?,
                program: Program { version: row.get("version")?, sha256: row.get("program")? },
                machine: parsed(&row.get::<_, String>("machine")?)?,
                tokenizer: row.get("tokenizer")?,
                checksums: content(db, "checksums", row.get("checksums")?)?,
                config: content(db, "config", row.get("config")?)?,
                documents: content(db, "documents", row.get("documents")?)?,
                questions: content(db, "questions", row.get("questions")?)?,
                chunkers: parsed(&row.get::<_, String>("chunkers")?)?,
                cells: Vec::new(),
                timings: Vec::new(),
                failed: size(row, "failed")?,
                items: size(row, "items")?,
                left_out: row.get::<_, Option<i64>>("left_out")?.map(|n| usize::try_from(n).unwrap_or(0)),
            })
        })
        .optional()?;
    let Some(mut night) = found else { return Ok(None) };
    night.cells = cells(db, number)?;
    night.timings = timings(db, number)?;
    Ok(Some(night))
}

fn cells(db: &Connection, number: u32) -> Result<Vec<NightlyCell>> {
    let mut query = db.prepare_cached(
        "SELECT chunker, mode, k, token_budget, cell.id, context_tokens, failed FROM night_cell \
         JOIN cell ON cell.id = night_cell.cell WHERE night = ? ORDER BY place",
    )?;
    let mut ids = BTreeMap::new();
    let mut found: Vec<NightlyCell> = Vec::new();
    let mut rows = query.query([number])?;
    while let Some(row) = rows.next()? {
        ids.insert(row.get::<_, i64>(4)?, found.len());
        found.push(NightlyCell {
            key: key(row)?,
            context_tokens: row.get::<_, Option<f64>>(5)?.unwrap_or(0.0),
            failed: size(row, "failed")?,
            scores: BTreeMap::new(),
        });
    }
    let mut query = db.prepare_cached(
        "SELECT cell, metric, data, sha256, mean FROM score LEFT JOIN content ON content.id = score.scores \
         WHERE night = ?",
    )?;
    let mut rows = query.query([number])?;
    while let Some(row) = rows.next()? {
        let metric = row.get_ref(1)?.as_str()?.to_owned();
        let wrong = |problem: String| broken(&format!("scores of {metric}: {problem}"));
        let place = ids.get(&row.get::<_, i64>(0)?).and_then(|&at| found.get_mut(at));
        let cell = place.ok_or_else(|| wrong("they are of no cell of the night".to_owned()))?;
        let (Some(data), Some(sum)) = (row.get_ref(2)?.as_blob_or_null()?, row.get_ref(3)?.as_blob_or_null()?) else {
            return Err(wrong("they are missing".to_owned()));
        };
        check::content(sum, data).map_err(wrong)?;
        let metric = Metric::named(&metric);
        cell.scores.insert(metric.clone(), unpack(data));
        // Curves are drawn from means alone.
        let mean = cell.mean(&metric).filter(|mean| mean.is_finite());
        let same = match (mean, row.get::<_, Option<f64>>(4)?) {
            (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * a.abs().max(1.0),
            (a, b) => a == b,
        };
        if !same {
            return Err(broken(&format!("scores of {metric}: their mean is another")));
        }
    }
    Ok(found)
}

fn timings(db: &Connection, number: u32) -> Result<Vec<Timing>> {
    let mut query = db
        .prepare_cached("SELECT chunker, mode, what, value FROM timing WHERE night = ? ORDER BY chunker, what, mode")?;
    let time =
        |row: &Row<'_>| Ok(Timing { chunker: row.get(0)?, mode: row.get(1)?, what: row.get(2)?, value: row.get(3)? });
    query.query_map([number], time)?.collect()
}

/// The key in the first four columns.
fn key(row: &Row<'_>) -> Result<CellKey> {
    let number =
        |at: usize| -> Result<Option<usize>> { Ok(usize::try_from(row.get::<_, i64>(at)?).ok().filter(|n| *n > 0)) };
    let cutoff = Cutoff::from_keys(number(2)?, number(3)?).ok_or_else(|| broken("a cell has no cutoff"))?;
    Ok(CellKey { chunker: row.get(0)?, mode: row.get(1)?, cutoff })
}

fn verdict(row: &Row<'_>) -> Result<Verdict> {
    let name: String = row.get("verdict")?;
    Verdict::named(&name).ok_or_else(|| broken(&format!("unknown verdict '{name}'")))
}

fn size(row: &Row<'_>, column: &str) -> Result<usize> {
    Ok(usize::try_from(row.get::<_, i64>(column)?).unwrap_or(0))
}

fn content<T: DeserializeOwned>(db: &Connection, what: &str, id: i64) -> Result<T> {
    db.prepare_cached("SELECT data, sha256 FROM content WHERE id = ?")?.query_row([id], |row| {
        let (bytes, sum) = (row.get_ref(0)?.as_blob()?, row.get_ref(1)?.as_blob()?);
        let wrong = |problem: String| broken(&format!("{what}: {problem}"));
        check::content(sum, bytes).map_err(wrong)?;
        serde_json::from_slice(bytes).map_err(|e| wrong(e.to_string()))
    })
}

fn parsed<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|e| broken(&e.to_string()))
}

fn broken(problem: &str) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, problem.to_owned().into())
}
