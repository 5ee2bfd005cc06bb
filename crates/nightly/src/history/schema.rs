//! The tables, and how an older file becomes a newer one.
//!
//! `PRAGMA user_version` says which schema a file has. A file of an older one is copied beside itself
//! (`history.v1.db`) and then brought up to date in one transaction; a file of a newer one is left alone.

use std::fs::File;
use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::HistoryError;
use pericope_util::{StagedFile, sha256_file};

/// The schema that this program writes.
pub const VERSION: i64 = 3;

/// Marks a file as ours ("peri" in ASCII).
const APPLICATION: i64 = 0x7065_7269;

/// Scores lie in `content`, a night's vector of one cell and metric once however many nights have the same; `score`
/// points there and keeps the mean, so that curves need no vector.
const V1: &str = "
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE content(id INTEGER PRIMARY KEY, sha256 BLOB NOT NULL UNIQUE, data BLOB NOT NULL);
CREATE TABLE night(
    number INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE,
    started TEXT NOT NULL, finished TEXT NOT NULL, seconds REAL NOT NULL,
    verdict TEXT NOT NULL, line TEXT NOT NULL, reference INTEGER, baseline INTEGER,
    version TEXT NOT NULL, machine TEXT NOT NULL, tokenizer TEXT NOT NULL,
    failed INTEGER NOT NULL, items INTEGER NOT NULL,
    document_count INTEGER NOT NULL, question_count INTEGER NOT NULL,
    checksums INTEGER NOT NULL REFERENCES content(id), config INTEGER NOT NULL REFERENCES content(id),
    documents INTEGER NOT NULL REFERENCES content(id), questions INTEGER NOT NULL REFERENCES content(id),
    chunkers TEXT NOT NULL);
CREATE TABLE cell(
    id INTEGER PRIMARY KEY, chunker TEXT NOT NULL, mode TEXT NOT NULL,
    k INTEGER NOT NULL, token_budget INTEGER NOT NULL, UNIQUE(chunker, mode, k, token_budget));
CREATE TABLE night_cell(
    night INTEGER NOT NULL REFERENCES night(number), cell INTEGER NOT NULL REFERENCES cell(id),
    place INTEGER NOT NULL, context_tokens REAL, failed INTEGER NOT NULL, PRIMARY KEY(night, cell)) WITHOUT ROWID;
CREATE TABLE score(
    metric TEXT NOT NULL, cell INTEGER NOT NULL REFERENCES cell(id), night INTEGER NOT NULL REFERENCES night(number),
    mean REAL, scores INTEGER NOT NULL REFERENCES content(id), PRIMARY KEY(metric, cell, night)) WITHOUT ROWID;
CREATE INDEX score_of_night ON score(night);
";

/// Version 2 knows the program by the checksum of its file, and keeps times as rows of their own instead of only inside
/// the chunkers' JSON.
const V1_TO_V2: &str = "
ALTER TABLE night ADD COLUMN program TEXT NOT NULL DEFAULT '';
CREATE TABLE timing(
    what TEXT NOT NULL, chunker TEXT NOT NULL, mode TEXT NOT NULL, night INTEGER NOT NULL REFERENCES night(number),
    value REAL NOT NULL, PRIMARY KEY(what, chunker, mode, night)) WITHOUT ROWID;
CREATE INDEX timing_of_night ON timing(night);
INSERT INTO timing SELECT 'seconds', '', '', number, seconds FROM night;
INSERT INTO timing
    SELECT what.name, json_extract(chunker.value, '$.name'), '', night.number, json_extract(chunker.value, '$.' || what.name)
    FROM night, json_each(night.chunkers) AS chunker,
        (SELECT 'segment_seconds' AS name UNION ALL SELECT 'index_seconds') AS what
    WHERE json_extract(chunker.value, '$.' || what.name) IS NOT NULL;
INSERT INTO timing
    SELECT what.name, json_extract(chunker.value, '$.name'), times.key, night.number, json_extract(times.value, '$.' || what.field)
    FROM night, json_each(night.chunkers) AS chunker, json_each(chunker.value, '$.query_times') AS times,
        (SELECT 'query_p50_ms' AS name, 'p50_ms' AS field UNION ALL SELECT 'query_p95_ms', 'p95_ms') AS what
    WHERE json_extract(times.value, '$.' || what.field) IS NOT NULL;
";

/// Version 3 knows what was left out of the data; of nights before nobody does.
const V2_TO_V3: &str = "ALTER TABLE night ADD COLUMN left_out INTEGER;";

/// The steps from no table to [`VERSION`].
const STEPS: [&str; 3] = [V1, V1_TO_V2, V2_TO_V3];

/// Brings a file, new or old, to [`VERSION`].
pub(super) fn migrate(db: &mut Connection, path: &Path) -> Result<(), HistoryError> {
    let failed = HistoryError::sql(path, "open the history");
    let found: i64 = db.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(&failed)?;
    if found == VERSION {
        return check_ours(db, path);
    }
    if found > VERSION {
        return Err(HistoryError::Newer { path: path.to_owned(), found, known: VERSION });
    }
    if found == 0 {
        let tables: i64 = db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(&failed)?;
        if tables > 0 {
            return Err(HistoryError::Foreign { path: path.to_owned() });
        }
    } else {
        check_ours(db, path)?;
        keep_copy(path, found)?;
    }
    let change = db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&failed)?;
    for sql in STEPS.into_iter().skip(usize::try_from(found).unwrap_or(0)) {
        change.execute_batch(sql).map_err(&failed)?;
    }
    change.pragma_update(None, "application_id", APPLICATION).map_err(&failed)?;
    change.pragma_update(None, "user_version", VERSION).map_err(&failed)?;
    change.commit().map_err(&failed)
}

/// Copies the file beside itself, whole or not at all. A copy that is there already stays; where it is another, or only a
/// part of the file, the new one gets a number.
fn keep_copy(path: &Path, version: i64) -> Result<(), HistoryError> {
    for number in 1_u32.. {
        let number = if number == 1 { String::new() } else { format!("-{number}") };
        let copy = path.with_extension(format!("v{version}{number}.db"));
        let failed = |source| HistoryError::Io { path: copy.clone(), source };
        StagedFile::remove_left_over(&copy).map_err(failed)?;
        if !copy.exists() {
            let mut out = StagedFile::create(&copy).map_err(failed)?;
            std::io::copy(&mut File::open(path).map_err(failed)?, &mut out).map_err(failed)?;
            return out.commit().map_err(failed);
        }
        if sha256_file(&copy).map_err(failed)? == sha256_file(path).map_err(failed)? {
            return Ok(());
        }
    }
    Ok(())
}

fn check_ours(db: &Connection, path: &Path) -> Result<(), HistoryError> {
    let failed = HistoryError::sql(path, "open the history");
    let found: i64 = db.query_row("PRAGMA application_id", [], |row| row.get(0)).map_err(failed)?;
    if found == APPLICATION { Ok(()) } else { Err(HistoryError::Foreign { path: path.to_owned() }) }
}

/// A file of the first schema that holds the nights of a file of the present one, for tests of the migration.
#[cfg(test)]
pub(super) fn downgrade(from: &Path, to: &Path) -> Result<(), rusqlite::Error> {
    let db = Connection::open(to)?;
    db.execute_batch(V1)?;
    db.execute("ATTACH DATABASE ? AS new", [from.display().to_string()])?;
    for table in ["meta", "content", "cell"] {
        db.execute_batch(&format!("INSERT INTO main.{table} SELECT * FROM new.{table}"))?;
    }
    let mut columns: Vec<String> = Vec::new();
    db.pragma(None, "table_info", "night", |row| {
        columns.push(row.get("name")?);
        Ok(())
    })?;
    let columns = columns.join(", ");
    db.execute_batch(&format!("INSERT INTO main.night({columns}) SELECT {columns} FROM new.night"))?;
    for table in ["night_cell", "score"] {
        db.execute_batch(&format!("INSERT INTO main.{table} SELECT * FROM new.{table}"))?;
    }
    db.pragma_update(None, "application_id", APPLICATION)?;
    db.pragma_update(None, "user_version", 1)?;
    Ok(())
}
