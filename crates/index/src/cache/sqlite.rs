use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use pericope_api::{Chunk, SentenceEncoder};
use pericope_store::{StoreError, VectorCache};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, params};
use twox_hash::XxHash3_64;

use crate::IndexError;

/// A file of vectors that several indexes, and several programs, may share: for encoders that cost money or minutes.
///
/// The key is the encoder's name and fingerprint together with the hash of the text. An entry is 4 bytes a dimension and
/// about 50 more, a checksum among them: a damaged entry does not have the encoder's dimension, so that its text is
/// embedded again, and the entry replaced; nothing is ever removed from it but by deleting the file.
///
/// ```
/// use pericope_index::{EmbeddingCache, VectorCache};
///
/// let dir = tempfile::tempdir()?;
/// let cache = EmbeddingCache::open(&dir.path().join("vectors.sqlite"), "minilm", "a checksum")?;
/// cache.keep(&[(17, &[0.6, 0.8])])?;
/// assert_eq!(cache.find(&[17, 18])?, [Some(vec![0.6, 0.8]), None]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct EmbeddingCache {
    path: PathBuf,
    model: Vec<u8>,
    db: Mutex<Connection>,
}

impl EmbeddingCache {
    /// Opens the cache in the file `path`, or makes it, for the encoder of that name and fingerprint.
    ///
    /// # Errors
    /// [`IndexError::Database`] where the file is no such cache or cannot be opened.
    pub fn open(path: &Path, name: &str, fingerprint: &str) -> Result<Self, IndexError> {
        let open = || -> rusqlite::Result<Connection> {
            let db = Connection::open(path)?;
            db.busy_timeout(std::time::Duration::from_secs(30))?;
            db.pragma_update(None, "journal_mode", "WAL")?;
            // What a power cut takes away is embedded again.
            db.pragma_update(None, "synchronous", "NORMAL")?;
            db.execute_batch(
                "CREATE TABLE IF NOT EXISTS vector (model BLOB NOT NULL, text BLOB NOT NULL, vector BLOB NOT NULL, \
                 PRIMARY KEY (model, text)) WITHOUT ROWID",
            )?;
            Ok(db)
        };
        let db = open().map_err(|e| IndexError::database(path, &e))?;
        let model = Chunk::content_hash(&format!("{name}\u{0}{fingerprint}")).to_be_bytes().to_vec();
        Ok(Self { path: path.to_owned(), model, db: Mutex::new(db) })
    }

    /// The same for an encoder.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn for_encoder(path: &Path, encoder: &dyn SentenceEncoder) -> Result<Self, IndexError> {
        Self::open(path, encoder.name(), &encoder.fingerprint())
    }
}

impl VectorCache for EmbeddingCache {
    fn find(&self, hashes: &[u128]) -> Result<Vec<Option<Vec<f32>>>, StoreError> {
        let db = self.db.lock().unwrap_or_else(PoisonError::into_inner);
        let find = || -> rusqlite::Result<Vec<Option<Vec<f32>>>> {
            let mut query = db.prepare_cached("SELECT vector FROM vector WHERE model = ?1 AND text = ?2")?;
            let one = |hash: &u128| {
                let key = params![self.model, hash.to_be_bytes().to_vec()];
                // What is not even bytes is damaged too.
                let bytes = |row: &Row<'_>| match row.get_ref(0)? {
                    ValueRef::Blob(bytes) | ValueRef::Text(bytes) => Ok(bytes.to_vec()),
                    _ => Ok(Vec::new()),
                };
                let bytes: Option<Vec<u8>> = query.query_row(key, bytes).optional()?;
                Ok(bytes.map(|bytes| from_bytes(seed(*hash), &bytes)))
            };
            hashes.iter().map(one).collect()
        };
        find().map_err(|e| IndexError::database(&self.path, &e).into())
    }

    fn keep(&self, fresh: &[(u128, &[f32])]) -> Result<(), StoreError> {
        if fresh.iter().any(|(_, vector)| !vector.iter().all(|value| value.is_finite())) {
            let reason = "a vector to keep is not finite".to_owned();
            return Err(IndexError::Vectors { path: self.path.clone(), reason }.into());
        }
        let mut db = self.db.lock().unwrap_or_else(PoisonError::into_inner);
        let keep = |db: &mut Connection| -> rusqlite::Result<()> {
            let transaction = db.transaction()?;
            {
                let mut insert = transaction
                    .prepare_cached("INSERT OR REPLACE INTO vector (model, text, vector) VALUES (?1, ?2, ?3)")?;
                for (hash, vector) in fresh {
                    let mut bytes: Vec<u8> = vector.iter().flat_map(|v| v.to_le_bytes()).collect();
                    let sum = XxHash3_64::oneshot_with_seed(seed(*hash), &bytes);
                    bytes.extend(sum.to_le_bytes());
                    insert.execute(params![self.model, hash.to_be_bytes().to_vec(), bytes])?;
                }
            }
            transaction.commit()
        };
        keep(&mut db).map_err(|e| IndexError::database(&self.path, &e).into())
    }
}

/// What goes into the checksum of the vector of a text: that of another text does not have it.
fn seed(hash: u128) -> u64 {
    (hash >> 64) as u64 ^ hash as u64
}

/// The vector in an entry: without its checksum, where it has one. Entries of earlier versions have none. A damaged one
/// comes with numbers that are none of it, so that it has another length.
fn from_bytes(seed: u64, bytes: &[u8]) -> Vec<f32> {
    let vector = match bytes.split_last_chunk::<8>() {
        Some((vector, sum)) if XxHash3_64::oneshot_with_seed(seed, vector).to_le_bytes() == *sum => vector,
        _ => bytes,
    };
    vector.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn vectors_survive_and_models_do_not_mix() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("cache.sqlite");
        let vector = [1.5f32, -2.25, f32::MIN_POSITIVE];
        EmbeddingCache::open(&path, "m", "1").unwrap().keep(&[(7, &vector), (u128::MAX, &vector)]).unwrap();
        let again = EmbeddingCache::open(&path, "m", "1").unwrap();
        assert_eq!(again.find(&[u128::MAX, 8, 7]).unwrap(), [Some(vector.to_vec()), None, Some(vector.to_vec())]);
        for (name, fingerprint) in [("m", "2"), ("n", "1"), ("m1", "")] {
            let other = EmbeddingCache::open(&path, name, fingerprint).unwrap();
            assert_eq!(other.find(&[7]).unwrap(), [None]);
        }
    }

    #[test]
    fn a_damaged_entry_is_of_another_length_and_an_old_one_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("cache.sqlite");
        let cache = EmbeddingCache::open(&path, "m", "1").unwrap();
        cache.keep(&[(7, &[0.6, 0.8]), (8, &[1.0, 0.0])]).unwrap();
        let db = Connection::open(&path).unwrap();
        let set = |text: u128, vector: &[u8]| {
            let key = text.to_be_bytes().to_vec();
            assert_eq!(db.execute("UPDATE vector SET vector = ?1 WHERE text = ?2", params![vector, key]).unwrap(), 1);
        };
        let stored: Vec<u8> = db
            .query_row("SELECT vector FROM vector WHERE text = ?1", [7u128.to_be_bytes().to_vec()], |row| row.get(0))
            .unwrap();
        assert_eq!(stored.len(), 16);
        for bit in 0..128 {
            let mut flipped = stored.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            set(7, &flipped);
            assert_ne!(cache.find(&[7]).unwrap()[0].as_ref().map(Vec::len), Some(2), "bit {bit}");
        }
        // The vector of another text.
        set(8, &stored);
        assert_ne!(cache.find(&[8]).unwrap()[0].as_ref().map(Vec::len), Some(2));
        set(7, &stored[..8]);
        assert_eq!(cache.find(&[7]).unwrap(), [Some(vec![0.6, 0.8])], "of an earlier version");
    }

    #[test]
    fn another_file_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notes.txt");
        std::fs::write(&path, "years of work ".repeat(100)).unwrap();
        let error = EmbeddingCache::open(&path, "m", "1").err().unwrap();
        assert!(matches!(error, IndexError::Database { .. }) && error.to_string().contains("notes.txt"), "{error}");
        assert!(std::fs::read_to_string(&path).unwrap().starts_with("years"));
    }
}
