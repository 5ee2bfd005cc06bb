//! `manifest.sqlite`: which source (a file, mostly) each document came from, and what it was then, so that what has not
//! changed costs a hash.
//!
//! The full-text index is what counts. Its commits are numbered, and the manifest is written after each, in one
//! transaction that carries the number. A manifest with another number than the full-text index's, and one that is
//! missing, unreadable or of another version, is made again from what the full-text index holds of every document.

mod indexed;
mod stale;
mod sums;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use pericope_store::{FileStamp, Known, KnownSource, SourceRecord};
use pericope_util::one_line;
use rusqlite::ffi::SQLITE_IOERR_SHORT_READ;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, params};
use uuid::Uuid;

pub(crate) use self::indexed::Indexed;
pub use self::stale::{Stale, stale};
use self::sums::{document_sum, source_sum};
use crate::IndexError;

/// The name of the manifest in the directory of an index.
pub const MANIFEST_FILE: &str = "manifest.sqlite";

/// Version of the tables. Another one is thrown away and made anew.
const VERSION: i64 = 3;

const TABLES: &str = "
    CREATE TABLE state (sequence INTEGER NOT NULL);
    CREATE TABLE source (
        name TEXT PRIMARY KEY,
        hash BLOB,              -- of its bytes; NULL where it has to be read again
        size INTEGER, modified INTEGER, inode INTEGER,
        fingerprint TEXT NOT NULL,
        empty INTEGER NOT NULL, -- its documents without text
        sequence INTEGER NOT NULL,
        sum INTEGER NOT NULL    -- checksum of the rest but for the number
    );
    CREATE TABLE document (
        id TEXT PRIMARY KEY,
        source TEXT,            -- NULL where it came from none
        hash BLOB,
        chunks BLOB NOT NULL,   -- 16 bytes a chunk: the point ids, in the order of the document
        sequence INTEGER NOT NULL,
        sum INTEGER NOT NULL    -- as above
    );
    CREATE INDEX document_source ON document (source);
";

/// A document as the manifest keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DocumentRecord {
    pub source: Option<String>,
    pub hash: Option<u128>,
    pub chunks: Vec<Uuid>,
}

/// What happened since the last commit; nothing stands for what was removed.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub sources: BTreeMap<String, Option<SourceRecord>>,
    pub documents: BTreeMap<String, Option<DocumentRecord>>,
}

impl Changes {
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty() && self.documents.is_empty()
    }
}

/// The open manifest.
pub(crate) struct Manifest {
    path: PathBuf,
    db: Connection,
}

impl Manifest {
    /// Opens the manifest at `path` if it belongs to commit `sequence`; else makes it from what `indexed` finds.
    pub fn open(
        path: &Path,
        sequence: u64,
        indexed: impl FnOnce() -> Result<Vec<Indexed>, IndexError>,
    ) -> Result<Self, IndexError> {
        if path.exists() {
            let opened = connect(path).and_then(|db| Ok((state(&db)?, db)));
            match opened {
                Ok((Some(found), db)) if found == sequence => return Ok(Self { path: path.to_owned(), db }),
                // It may be whole, and could not be made again either.
                Err(error) if is_of_the_disk(&error) => return Err(IndexError::database(path, &error)),
                _ => {}
            }
        }
        Self::make(path, sequence, indexed()?)
    }

    /// Makes the manifest again, in place of a damaged one.
    pub fn make_again(&mut self, sequence: u64, indexed: Vec<Indexed>) -> Result<(), IndexError> {
        // Closed before it is deleted, as some systems want it.
        self.db = Connection::open_in_memory().map_err(|e| IndexError::database(&self.path, &e))?;
        *self = Self::make(&self.path, sequence, indexed)?;
        Ok(())
    }

    fn make(path: &Path, sequence: u64, indexed: Vec<Indexed>) -> Result<Self, IndexError> {
        Self::remove(path)?;
        let db = connect(path).map_err(|e| IndexError::database(path, &e))?;
        let mut manifest = Self { path: path.to_owned(), db };
        let changes = indexed::changes_of(indexed);
        manifest.write(|db| {
            db.execute_batch(TABLES)?;
            db.pragma_update(None, "user_version", VERSION)?;
            db.execute("INSERT INTO state (sequence) VALUES (?1)", [signed(sequence)])?;
            apply(db, &changes, sequence)
        })?;
        Ok(manifest)
    }

    /// Asks the manifest at `path` whether it is whole; says what is wrong with it. One that is not there is.
    pub fn verify(path: &Path) -> Result<Option<IndexError>, IndexError> {
        if !path.exists() {
            return Ok(None);
        }
        let check = || -> rusqlite::Result<Option<String>> {
            let db = read_only(path)?;
            let version: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
            // One of an earlier version, and one that was never finished, is made again by the next writer.
            if version != VERSION {
                return Ok((!(0..VERSION).contains(&version)).then(|| "it is of no version that is known".to_owned()));
            }
            let mut query = db.prepare("PRAGMA integrity_check")?;
            let findings: Vec<String> = query.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
            drop(query);
            let finding = findings.into_iter().find(|finding| finding != "ok");
            let known = Self { path: path.to_owned(), db }.known();
            Ok(finding.or_else(|| match known {
                Err(IndexError::Database { reason, .. }) => Some(reason),
                Err(error) => Some(error.to_string()),
                Ok(_) => None,
            }))
        };
        let damaged = |reason: &str| {
            let reason = one_line(reason);
            Ok(Some(IndexError::Database { path: path.to_owned(), reason }))
        };
        match check() {
            Ok(None) => Ok(None),
            Ok(Some(finding)) => damaged(&finding),
            // A file that ends too early is read as far as it goes, and that is no fault of the disk.
            Err(error) if is_of_the_disk(&error) && extended_code(&error) != Some(SQLITE_IOERR_SHORT_READ) => {
                Err(IndexError::database(path, &error))
            }
            Err(error) => damaged(&error.to_string()),
        }
    }

    /// The manifest at `path`, to be read alone.
    pub fn look(path: &Path) -> Result<Self, IndexError> {
        let db = read_only(path).map_err(|e| IndexError::database(path, &e))?;
        Ok(Self { path: path.to_owned(), db })
    }

    /// Deletes the manifest at `path`, if there is one.
    pub fn remove(path: &Path) -> Result<(), IndexError> {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            let file = PathBuf::from(name);
            match fs::remove_file(&file) {
                Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                    return Err(IndexError::Io { path: file, source });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Writes what commit `sequence` of the full-text index brought.
    pub fn commit(&mut self, changes: &Changes, sequence: u64) -> Result<(), IndexError> {
        self.write(|db| {
            apply(db, changes, sequence)?;
            db.execute("UPDATE state SET sequence = ?1", [signed(sequence)]).map(drop)
        })
    }

    /// All sources with their documents. Every row is compared with its checksum.
    pub fn known(&self) -> Result<Known, IndexError> {
        let damaged =
            || IndexError::Database { path: self.path.clone(), reason: "a row does not have its checksum".to_owned() };
        let read = || -> rusqlite::Result<Option<Known>> {
            let found: String = self.db.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
            if found != "ok" {
                return Ok(None);
            }
            let mut sources: HashMap<String, KnownSource> = HashMap::new();
            let mut query =
                self.db.prepare("SELECT name, hash, size, modified, inode, fingerprint, empty, sum FROM source")?;
            let mut rows = query.query([])?;
            while let Some(row) = rows.next()? {
                let stamp = match (row.get(2)?, row.get(3)?, row.get(4)?) {
                    (Some(size), Some(modified), Some(inode)) => Some(FileStamp { size, modified, inode }),
                    _ => None,
                };
                let name: String = row.get(0)?;
                let empty = u64::try_from(row.get::<_, i64>(6)?).unwrap_or(0);
                let record = SourceRecord { hash: hash(row, 1)?, stamp, fingerprint: row.get(5)?, empty };
                if source_sum(&name, &record) != row.get::<_, i64>(7)? {
                    return Ok(None);
                }
                let SourceRecord { hash, fingerprint, .. } = record;
                sources.insert(name, KnownSource { hash, stamp, fingerprint, empty, documents: Vec::new() });
            }
            let mut query =
                self.db.prepare("SELECT source, id, hash, chunks, sum FROM document ORDER BY source, id")?;
            let mut rows = query.query([])?;
            while let Some(row) = rows.next()? {
                let (source, id): (Option<String>, String) = (row.get(0)?, row.get(1)?);
                let hash = hash(row, 2)?;
                if document_sum(&id, source.as_deref(), hash, row.get_ref(3)?.as_blob()?) != row.get::<_, i64>(4)? {
                    return Ok(None);
                }
                if let Some(source) = source {
                    sources.entry(source).or_default().documents.push((id, hash));
                }
            }
            Ok(Some(Known { sources }))
        };
        read().map_err(|e| IndexError::database(&self.path, &e))?.ok_or_else(damaged)
    }

    /// The ids of the documents that came from no source. Rows are not compared with their checksums:
    /// [`known`](Self::known) does that.
    pub fn documents_of_no_source(&self) -> Result<Vec<String>, IndexError> {
        let read = || -> rusqlite::Result<Vec<String>> {
            let mut query = self.db.prepare("SELECT id FROM document WHERE source IS NULL ORDER BY id")?;
            query.query_map([], |row| row.get(0))?.collect()
        };
        read().map_err(|e| IndexError::database(&self.path, &e))
    }

    /// What is known of one document.
    #[cfg(test)]
    pub fn document(&self, id: &str) -> Option<DocumentRecord> {
        let query = "SELECT source, hash, chunks FROM document WHERE id = ?1";
        let read = |row: &Row<'_>| {
            let bytes: Vec<u8> = row.get(2)?;
            let chunks = bytes.as_chunks::<16>().0.iter().map(|b| Uuid::from_bytes(*b)).collect();
            Ok(DocumentRecord { source: row.get(0)?, hash: hash(row, 1)?, chunks })
        };
        self.db.query_row(query, [id], read).optional().ok().flatten()
    }

    /// The point ids of all documents.
    pub fn points(&self) -> Result<Vec<Uuid>, IndexError> {
        let read = || -> rusqlite::Result<Vec<Uuid>> {
            let mut query = self.db.prepare("SELECT chunks FROM document ORDER BY id")?;
            let rows = query.query_map([], |row| row.get::<_, Vec<u8>>(0))?;
            let mut points = Vec::new();
            for bytes in rows {
                points.extend(bytes?.as_chunks::<16>().0.iter().map(|b| Uuid::from_bytes(*b)));
            }
            Ok(points)
        };
        read().map_err(|e| IndexError::database(&self.path, &e))
    }

    /// The documents of which some chunk is as asked.
    pub fn documents_with(
        &self,
        mut asked: impl FnMut(Uuid) -> Result<bool, IndexError>,
    ) -> Result<HashSet<String>, IndexError> {
        let read = || -> rusqlite::Result<Vec<(String, Vec<u8>)>> {
            let mut query = self.db.prepare("SELECT id, chunks FROM document")?;
            query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        };
        let mut found = HashSet::new();
        for (id, chunks) in read().map_err(|e| IndexError::database(&self.path, &e))? {
            for point in chunks.as_chunks::<16>().0 {
                if asked(Uuid::from_bytes(*point))? {
                    found.insert(id);
                    break;
                }
            }
        }
        Ok(found)
    }

    fn write(&mut self, work: impl FnOnce(&Connection) -> rusqlite::Result<()>) -> Result<(), IndexError> {
        let write = |db: &mut Connection| -> rusqlite::Result<()> {
            let transaction = db.transaction()?;
            work(&transaction)?;
            transaction.commit()
        };
        write(&mut self.db).map_err(|e| IndexError::database(&self.path, &e))
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let db = Connection::open(path)?;
    db.busy_timeout(std::time::Duration::from_secs(10))?;
    db.pragma_update(None, "journal_mode", "WAL")?;
    // A power cut may take the last transactions with it: the number tells, and the manifest is made again.
    db.pragma_update(None, "synchronous", "NORMAL")?;
    Ok(db)
}

/// Opens a manifest to read it, also where nothing can be written: what a writer left in its log is read where there is one.
fn read_only(path: &Path) -> rusqlite::Result<Connection> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    match Path::new(&log).exists() {
        true => Connection::open_with_flags(path, flags),
        // Without a log the file is all there is. The database would make one else.
        false => {
            let mut name = String::from("file:");
            for byte in path.as_os_str().as_encoded_bytes() {
                match byte {
                    b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => name.push(char::from(*byte)),
                    byte => name.push_str(&format!("%{byte:02x}")),
                }
            }
            Connection::open_with_flags(format!("{name}?immutable=1"), flags | OpenFlags::SQLITE_OPEN_URI)
        }
    }
}

/// True where the system would not let the database work, whatever is in it.
fn is_of_the_disk(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{CannotOpen, DatabaseBusy, DiskFull, PermissionDenied, ReadOnly, SystemIoFailure};
    let code = error.sqlite_error_code();
    matches!(code, Some(CannotOpen | DatabaseBusy | DiskFull | PermissionDenied | ReadOnly | SystemIoFailure))
}

fn extended_code(error: &rusqlite::Error) -> Option<i32> {
    error.sqlite_error().map(|error| error.extended_code)
}

/// The commit that a manifest of this version belongs to.
fn state(db: &Connection) -> rusqlite::Result<Option<u64>> {
    let version: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version != VERSION {
        return Ok(None);
    }
    let found: Option<i64> = db.query_row("SELECT sequence FROM state", [], |row| row.get(0)).optional()?;
    Ok(found.and_then(|sequence| u64::try_from(sequence).ok()))
}

/// The database's numbers have a sign.
fn signed(sequence: u64) -> i64 {
    i64::try_from(sequence).unwrap_or(i64::MAX)
}

fn hash(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<u128>> {
    let bytes: Option<[u8; 16]> = row.get(column)?;
    Ok(bytes.map(u128::from_be_bytes))
}

fn apply(db: &Connection, changes: &Changes, sequence: u64) -> rusqlite::Result<()> {
    let blob = |hash: Option<u128>| hash.map(u128::to_be_bytes);
    let sequence = signed(sequence);
    let mut put = db.prepare_cached(
        "INSERT OR REPLACE INTO source (name, hash, size, modified, inode, fingerprint, empty, sequence, sum) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    let mut forget = db.prepare_cached("DELETE FROM source WHERE name = ?1")?;
    for (name, record) in &changes.sources {
        let Some(record) = record else {
            forget.execute([name])?;
            continue;
        };
        let stamp = record.stamp;
        let (size, modified, inode) = (stamp.map(|s| s.size), stamp.map(|s| s.modified), stamp.map(|s| s.inode));
        let (hash, empty, sum) = (blob(record.hash), signed(record.empty), source_sum(name, record));
        put.execute(params![name, hash, size, modified, inode, record.fingerprint, empty, sequence, sum])?;
    }
    let mut put = db.prepare_cached(
        "INSERT OR REPLACE INTO document (id, source, hash, chunks, sequence, sum) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    let mut forget = db.prepare_cached("DELETE FROM document WHERE id = ?1")?;
    for (id, record) in &changes.documents {
        let Some(record) = record else {
            forget.execute([id])?;
            continue;
        };
        let chunks: Vec<u8> = record.chunks.iter().flat_map(|id| *id.as_bytes()).collect();
        let sum = document_sum(id, record.source.as_deref(), record.hash, &chunks);
        put.execute(params![id, record.source, blob(record.hash), chunks, sequence, sum])?;
    }
    Ok(())
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
