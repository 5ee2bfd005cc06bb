use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tantivy::directory::error::OpenReadError;
use tantivy::{Searcher, TantivyError};

use super::columns::Columns;
use super::text_index::{Committed, TextIndex};
use crate::guard::guarded;
use crate::vectors::VectorSet;
use crate::{IndexError, IndexMeta};

/// How often a commit is opened again that a writer replaced meanwhile, so that its files are gone,
const ATTEMPTS: usize = 40;
/// and how long is waited in between.
const PAUSE: Duration = Duration::from_millis(5);

/// The vectors of a commit.
enum Vectors {
    /// The index has none.
    None,
    Open(VectorSet),
    /// Those of an earlier version, which this one does not read.
    Old,
    /// They cannot be opened; words can be searched all the same.
    Unreadable,
}

/// One commit: its words, and its vectors. It stays as it is, whatever a writer does.
pub(crate) struct Snapshot {
    /// Its words.
    pub searcher: Searcher,
    /// What rankings read of its chunks.
    pub columns: Columns,
    /// Its number.
    pub committed: Committed,
    vectors: Vectors,
}

impl Snapshot {
    /// Number of chunks.
    pub fn chunks(&self) -> u64 {
        self.searcher.num_docs()
    }
}

/// The newest commit that was looked at, for all readers of an open index.
pub(crate) struct Snapshots {
    dir: PathBuf,
    vectors_path: PathBuf,
    /// Of the vectors, where there are any.
    dimension: Option<usize>,
    pub text: TextIndex,
    current: RwLock<Arc<Snapshot>>,
}

impl Snapshots {
    /// Opens the index in `dir` to read it. Nothing is written, and no lock taken.
    pub fn open(dir: &Path, text: &Path, vectors: &Path, meta: &IndexMeta) -> Result<Self, IndexError> {
        Self::over(dir, vectors, meta, patiently(|| guarded(text, || TextIndex::open(text)))?)
    }

    /// Opens the index in `dir` for its one writer; makes what is missing.
    pub fn create_or_open(dir: &Path, text: &Path, vectors: &Path, meta: &IndexMeta) -> Result<Self, IndexError> {
        Self::over(dir, vectors, meta, guarded(text, || TextIndex::open_or_create(text, &meta.text_analyzer))?)
    }

    fn over(dir: &Path, vectors: &Path, meta: &IndexMeta, text: TextIndex) -> Result<Self, IndexError> {
        let dimension = meta.embedder.as_ref().map(|embedder| embedder.dimension);
        let first = patiently(|| snapshot(&text, vectors, dimension, None))?;
        let current = RwLock::new(Arc::new(first));
        Ok(Self { dir: dir.to_owned(), vectors_path: vectors.to_owned(), dimension, text, current })
    }

    /// The commit that readers see.
    pub fn current(&self) -> Arc<Snapshot> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Readers see the newest commit from now on.
    pub fn reload(&self) -> Result<(), IndexError> {
        let before = self.current();
        let before = match &before.vectors {
            Vectors::Open(set) => Some(set),
            _ => None,
        };
        let newest = patiently(|| snapshot(&self.text, &self.vectors_path, self.dimension, before))?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(newest);
        Ok(())
    }

    /// The vectors of a commit; nothing where the index has none.
    pub fn vectors(&self, snapshot: &Snapshot) -> Result<Option<VectorSet>, IndexError> {
        match (&snapshot.vectors, self.dimension) {
            (Vectors::None, _) | (_, None) => Ok(None),
            (Vectors::Open(set), _) => Ok(Some(set.clone())),
            (Vectors::Old, _) => Err(IndexError::OldVectors { dir: self.dir.clone() }),
            (Vectors::Unreadable, Some(dimension)) => {
                let opened = match snapshot.committed.vectors {
                    Some(id) => VectorSet::open(&self.vectors_path, id, dimension, None)?,
                    None => None,
                };
                match opened {
                    Some(set) => Ok(Some(set)),
                    None => Err(IndexError::corrupt(&self.vectors_path, "the vectors of the last commit are missing")),
                }
            }
        }
    }
}

/// Opens the newest commit. A commit that is replaced meanwhile is an error that says that a file is missing.
fn snapshot(
    text: &TextIndex,
    path: &Path,
    dimension: Option<usize>,
    before: Option<&VectorSet>,
) -> Result<Snapshot, IndexError> {
    guarded(&text.path, || {
        let committed = text.committed()?;
        text.reload()?;
        let searcher = text.searcher();
        let vectors = match (dimension, committed.vectors) {
            (None, _) => Vectors::None,
            (Some(dimension), None) if searcher.num_docs() == 0 => Vectors::Open(VectorSet::empty(path, dimension)),
            (Some(_), None) => Vectors::Old,
            (Some(dimension), Some(id)) => match VectorSet::open(path, id, dimension, before) {
                Ok(Some(set)) => Vectors::Open(set),
                Ok(None) | Err(_) => Vectors::Unreadable,
            },
        };
        if text.committed()? != committed {
            let missing = OpenReadError::FileDoesNotExist(text.path.clone());
            return Err(TantivyError::from(missing).into());
        }
        Ok(Snapshot { columns: Columns::of(&searcher), searcher, committed, vectors })
    })
}

/// Tries again while files are missing: a writer may have deleted them after its next commit.
fn patiently<T>(mut open: impl FnMut() -> Result<T, IndexError>) -> Result<T, IndexError> {
    for _ in 1..ATTEMPTS {
        match open() {
            Err(IndexError::Missing { .. }) => std::thread::sleep(PAUSE),
            opened => return opened,
        }
    }
    open()
}
