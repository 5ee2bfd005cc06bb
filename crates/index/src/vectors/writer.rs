use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pericope_api::Embeddings;
use pericope_store::ChunkEntry;
use pericope_util::replace_file;
use uuid::Uuid;

use super::build::{self, InMemory, Rows};
use super::codes::{Bound, normalize};
use super::generation::{self, GenerationId, Part};
use super::own::is_own_vectors;
use super::set::VectorSet;
use crate::IndexError;

/// Bytes of vectors that wait in memory before they are written into a segment.
const BUFFER_BYTES: usize = 64 << 20;
/// So many segments of a size become one: each vector is written again once for every time the index grows so much.
const FAN: usize = 8;
/// Segments of up to so many vectors are of the same size.
const SMALL: usize = 1024;

/// Writes the vectors of an index. What it writes is nobody's until a commit of the full-text index names the generation.
pub(crate) struct VectorWriter {
    path: PathBuf,
    dimension: usize,
    /// The commit to be, but for what waits in memory.
    parts: Vec<Part>,
    waiting: HashMap<u128, Vec<f32>>,
    /// Goes into the names of files, so that no two are the same.
    files: u64,
    buffer_bytes: usize,
}

impl VectorWriter {
    /// Goes on from a commit. `salt` differs from commit to commit.
    pub fn new(path: &Path, committed: &VectorSet, salt: u64) -> Result<Self, IndexError> {
        fs::create_dir_all(path).map_err(IndexError::io(path))?;
        Ok(Self {
            path: path.to_owned(),
            dimension: committed.dimension(),
            parts: committed.parts.to_vec(),
            waiting: HashMap::new(),
            files: salt << 16,
            buffer_bytes: BUFFER_BYTES,
        })
    }

    /// Takes vectors, in place of those of the same ids.
    pub fn upsert(&mut self, entries: &[ChunkEntry], vectors: &Embeddings) -> Result<(), IndexError> {
        let refuse = |reason| Err(IndexError::Vectors { path: self.path.clone(), reason });
        if entries.len() != vectors.len() || (!entries.is_empty() && vectors.dimension() != self.dimension) {
            return refuse(format!(
                "{} vectors of {} dimensions for {} chunks of {}",
                vectors.len(),
                vectors.dimension(),
                entries.len(),
                self.dimension
            ));
        }
        if let Some(at) = vectors.values().iter().position(|value| !value.is_finite()) {
            let entry = entries.get(at / self.dimension.max(1));
            let (document, ordinal) =
                entry.map_or(("", 0), |entry| (entry.chunk.document.as_str(), entry.chunk.ordinal));
            return refuse(format!("the vector of chunk {ordinal} of {document:?} is not finite"));
        }
        for (entry, vector) in entries.iter().zip(vectors.rows()) {
            self.remove(entry.id)?;
            let mut vector = vector.to_vec();
            normalize(&mut vector);
            self.waiting.insert(entry.id.as_u128(), vector);
            if self.waiting.len() * self.dimension * 4 >= self.buffer_bytes {
                self.spill()?;
            }
        }
        Ok(())
    }

    /// Takes vectors away, where they are there.
    pub fn delete(&mut self, points: &[Uuid]) -> Result<(), IndexError> {
        points.iter().try_for_each(|point| self.remove(*point))
    }

    fn remove(&mut self, point: Uuid) -> Result<(), IndexError> {
        let id = point.as_u128();
        if self.waiting.remove(&id).is_some() {
            return Ok(());
        }
        for part in &mut self.parts {
            if let Some(row) = part.segment.row_of(id)? {
                part.deleted.add(row, part.segment.rows());
            }
        }
        Ok(())
    }

    /// True where a vector of this id is there or waits.
    pub fn holds(&self, point: Uuid) -> Result<bool, IndexError> {
        let id = point.as_u128();
        if self.waiting.contains_key(&id) {
            return Ok(true);
        }
        for part in &self.parts {
            if part.segment.row_of(id)?.is_some_and(|row| !part.deleted.holds(row)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Number of vectors.
    pub fn len(&self) -> usize {
        self.waiting.len() + self.parts.iter().map(Part::live).sum::<usize>()
    }

    /// Writes what waits in memory into a segment.
    fn spill(&mut self) -> Result<(), IndexError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let waiting = std::mem::take(&mut self.waiting);
        let rows = InMemory::new(waiting.iter().map(|(id, vector)| (*id, vector.as_slice())));
        let part = self.write(&rows)?;
        self.parts.push(part);
        Ok(())
    }

    fn write(&mut self, rows: &dyn Rows) -> Result<Part, IndexError> {
        self.files += 1;
        let segment = build::write(&self.path, self.dimension, self.files, rows)?;
        Ok(Part { segment: Arc::new(segment), deleted: Default::default() })
    }

    /// Makes everything durable; the id is for the commit of the full-text index.
    pub fn write_generation(&mut self) -> Result<GenerationId, IndexError> {
        self.spill()?;
        self.merge()?;
        let (bytes, id) = generation::encode(self.dimension, &self.parts);
        let path = self.path.join(id.file_name());
        replace_file(&path, bytes).map_err(IndexError::io(&path))?;
        Ok(id)
    }

    /// Brings segments of a size together, and those of which a quarter is deleted into a new one.
    fn merge(&mut self) -> Result<(), IndexError> {
        self.parts.retain(|part| part.live() > 0);
        loop {
            let mut sizes: HashMap<u32, Vec<usize>> = HashMap::new();
            for (at, part) in self.parts.iter().enumerate() {
                sizes.entry((part.live() / SMALL).max(1).ilog(FAN)).or_default().push(at);
            }
            let full = sizes.into_values().filter(|places| places.len() >= FAN).min();
            let worn = |part: &Part| part.deleted.count() * 4 > part.segment.rows();
            let Some(places) = full.or_else(|| self.parts.iter().position(worn).map(|at| vec![at])) else {
                return Ok(());
            };
            let mut at = 0;
            let (old, kept) = std::mem::take(&mut self.parts).into_iter().partition(|_| {
                at += 1;
                places.contains(&(at - 1))
            });
            self.parts = kept;
            let merged = self.write(&Merged::new(old)?)?;
            self.parts.push(merged);
        }
    }

    /// Deletes the files that the generation does not need: to be called when it is the full-text index's.
    pub fn tidy(&self, current: Option<GenerationId>) -> Result<(), IndexError> {
        let mut needed: HashSet<String> = current.into_iter().map(GenerationId::file_name).collect();
        needed.extend(self.parts.iter().filter_map(|part| Some(part.segment.path().file_name()?.to_str()?.to_owned())));
        for entry in fs::read_dir(&self.path).map_err(IndexError::io(&self.path))? {
            let entry = entry.map_err(IndexError::io(&self.path))?;
            let name = entry.file_name();
            let ours = is_own_vectors(Path::new(&name));
            if ours && !name.to_str().is_some_and(|name| needed.contains(name)) {
                // A file that cannot be deleted costs space and nothing else.
                drop(fs::remove_file(entry.path()));
            }
        }
        Ok(())
    }
}

/// The rows of several segments that are not deleted.
struct Merged {
    ids: Vec<u128>,
    /// Of each row the segment and the row in it.
    places: Vec<(usize, usize)>,
    parts: Vec<Part>,
}

impl Merged {
    fn new(parts: Vec<Part>) -> Result<Self, IndexError> {
        let mut rows: Vec<(u128, (usize, usize))> = Vec::with_capacity(parts.iter().map(Part::live).sum());
        for (at, part) in parts.iter().enumerate() {
            let live = part.segment.ids()?.iter().enumerate().filter(|(row, _)| !part.deleted.holds(*row));
            rows.extend(live.map(|(row, id)| (*id, (at, row))));
        }
        rows.sort_unstable();
        let (ids, places) = rows.into_iter().unzip();
        Ok(Self { ids, places, parts })
    }
}

impl Rows for Merged {
    fn ids(&self) -> &[u128] {
        &self.ids
    }

    fn codes(&self, codes: &mut Vec<u8>) -> Result<Vec<Bound>, IndexError> {
        let sources = self.parts.iter().map(|part| part.segment.codes()).collect::<Result<Vec<_>, IndexError>>()?;
        let mut bounds = Vec::with_capacity(self.places.len());
        for &(at, row) in &self.places {
            if let Some(source) = sources.get(at)
                && let Some(bound) = source.bounds.get(row)
            {
                let dimension = source.codes.len() / source.bounds.len().max(1);
                codes.extend_from_slice(source.codes.get(row * dimension..(row + 1) * dimension).unwrap_or_default());
                bounds.push(*bound);
            }
        }
        Ok(bounds)
    }

    fn exact(&self, row: usize, bytes: &mut Vec<u8>) -> Result<(), IndexError> {
        match self.places.get(row).and_then(|(at, row)| Some((self.parts.get(*at)?, *row))) {
            Some((part, row)) => part.segment.exact_bytes(row, bytes),
            None => Ok(()),
        }
    }
}
