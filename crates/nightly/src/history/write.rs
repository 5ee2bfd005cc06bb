use rusqlite::{Connection, Result, params};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::night::NightlyRun;
use pericope_eval::cell::CellKey;

/// Writes all rows of a night; the caller holds the transaction.
pub(super) fn night(db: &Connection, night: &NightlyRun) -> Result<()> {
    let checksums = json(db, &night.checksums)?;
    let config = json(db, &night.config)?;
    let documents = json(db, &night.documents)?;
    let questions = json(db, &night.questions)?;
    db.prepare_cached(
        "INSERT INTO night(number, uid, started, finished, seconds, verdict, line, reference, baseline, version, machine, \
         tokenizer, failed, items, document_count, question_count, checksums, config, documents, questions, chunkers, program, \
         left_out) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?
    .execute(params![
        night.number,
        night.uid,
        night.started,
        night.finished,
        finite(night.seconds).unwrap_or(0.0),
        night.verdict.name(),
        night.line,
        night.reference,
        night.baseline,
        night.program.version,
        text(&night.machine)?,
        night.tokenizer,
        count(night.failed),
        count(night.items),
        count(night.documents.len()),
        count(night.questions.len()),
        checksums,
        config,
        documents,
        questions,
        text(&night.chunkers)?,
        night.program.sha256,
        night.left_out.map(count),
    ])?;
    let mut of_cell = db.prepare_cached("INSERT INTO night_cell VALUES(?, ?, ?, ?, ?)")?;
    let mut of_score = db.prepare_cached("INSERT INTO score VALUES(?, ?, ?, ?, ?)")?;
    for (place, found) in night.cells.iter().enumerate() {
        let cell = cell(db, &found.key)?;
        of_cell.execute(params![
            night.number,
            cell,
            count(place),
            finite(found.context_tokens),
            count(found.failed)
        ])?;
        for (metric, scores) in &found.scores {
            let vector = content(db, &pack(scores))?;
            of_score.execute(params![
                metric.key(),
                cell,
                night.number,
                found.mean(metric).filter(|mean| mean.is_finite()),
                vector
            ])?;
        }
    }
    let mut of_time = db.prepare_cached("INSERT OR REPLACE INTO timing VALUES(?, ?, ?, ?, ?)")?;
    for time in night.timings.iter().filter(|time| time.value.is_finite()) {
        of_time.execute(params![time.what, time.chunker, time.mode, night.number, time.value])?;
    }
    Ok(())
}

/// Scores as bytes: 64-bit floats, little-endian, NaN for none.
fn pack(scores: &[Option<f64>]) -> Vec<u8> {
    scores.iter().flat_map(|score| score.unwrap_or(f64::NAN).to_le_bytes()).collect()
}

/// What [`pack`] made.
pub(super) fn unpack(bytes: &[u8]) -> Vec<Option<f64>> {
    bytes.as_chunks().0.iter().map(|eight| Some(f64::from_le_bytes(*eight)).filter(|x| x.is_finite())).collect()
}

fn cell(db: &Connection, key: &CellKey) -> Result<i64> {
    let (k, budget) = (count(key.cutoff.k().unwrap_or(0)), count(key.cutoff.tokens().unwrap_or(0)));
    db.prepare_cached("INSERT OR IGNORE INTO cell(chunker, mode, k, token_budget) VALUES(?, ?, ?, ?)")?
        .execute(params![key.chunker, key.mode, k, budget])?;
    db.prepare_cached("SELECT id FROM cell WHERE chunker = ? AND mode = ? AND k = ? AND token_budget = ?")?
        .query_row(params![key.chunker, key.mode, k, budget], |row| row.get(0))
}

/// The place of these bytes in `content`, where they go once.
fn content(db: &Connection, bytes: &[u8]) -> Result<i64> {
    let sum = Sha256::digest(bytes);
    db.prepare_cached("INSERT OR IGNORE INTO content(sha256, data) VALUES(?, ?)")?
        .execute(params![sum.as_slice(), bytes])?;
    db.prepare_cached("SELECT id FROM content WHERE sha256 = ?")?.query_row([sum.as_slice()], |row| row.get(0))
}

fn json(db: &Connection, value: &impl Serialize) -> Result<i64> {
    content(db, text(value)?.as_bytes())
}

fn text(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|e| rusqlite::Error::ToSqlConversionFailure(e.into()))
}

fn finite(x: f64) -> Option<f64> {
    Some(x).filter(|x| x.is_finite())
}

fn count(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
