use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use uuid::Uuid;

use super::generation::{self, GenerationId, Part};
use super::nearest;
use super::segment::Segment;
use crate::IndexError;

/// The vectors of one commit. Cheap to clone.
#[derive(Clone)]
pub(crate) struct VectorSet {
    path: Arc<Path>,
    dimension: usize,
    pub(super) parts: Arc<[Part]>,
}

impl VectorSet {
    pub(super) fn new(path: &Path, dimension: usize, parts: Vec<Part>) -> Self {
        Self { path: path.into(), dimension, parts: parts.into() }
    }

    /// The vectors of an index that has none yet.
    pub fn empty(path: &Path, dimension: usize) -> Self {
        Self::new(path, dimension, Vec::new())
    }

    /// Opens the vectors of a commit; nothing where they are not there. Files that `before` has open are not opened again.
    pub fn open(
        path: &Path,
        id: GenerationId,
        dimension: usize,
        before: Option<&Self>,
    ) -> Result<Option<Self>, IndexError> {
        let open: Vec<Arc<Segment>> =
            before.into_iter().flat_map(|set| set.parts.iter()).map(|part| Arc::clone(&part.segment)).collect();
        Ok(generation::read(path, id, dimension, &open)?.map(|parts| Self::new(path, dimension, parts)))
    }

    /// Numbers of a vector.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Number of vectors.
    pub fn len(&self) -> usize {
        self.parts.iter().map(Part::live).sum()
    }

    fn place_of(&self, point: Uuid) -> Result<Option<(&Part, usize)>, IndexError> {
        for part in self.parts.iter() {
            if let Some(row) = part.segment.row_of(point.as_u128())?
                && !part.deleted.holds(row)
            {
                return Ok(Some((part, row)));
            }
        }
        Ok(None)
    }

    /// The vectors of those points that are there.
    pub fn vectors_of(&self, points: &[Uuid]) -> Result<HashMap<Uuid, Vec<f32>>, IndexError> {
        let (mut found, mut bytes) = (HashMap::with_capacity(points.len()), Vec::new());
        for &point in points {
            if let Some((part, row)) = self.place_of(point)? {
                let mut vector = Vec::with_capacity(self.dimension);
                part.segment.exact(row, &mut bytes, &mut vector)?;
                found.insert(point, vector);
            }
        }
        Ok(found)
    }

    /// The ids of all vectors.
    pub fn all_points(&self) -> Result<Vec<Uuid>, IndexError> {
        let mut points = Vec::with_capacity(self.len());
        for part in self.parts.iter() {
            let live = part.segment.ids()?.iter().enumerate().filter(|(row, _)| !part.deleted.holds(*row));
            points.extend(live.map(|(_, id)| Uuid::from_u128(*id)));
        }
        Ok(points)
    }

    /// The `limit` points with the highest cosine to `vector`, exactly, of all or of those in `among`, and all others that
    /// score like the last of them; in no particular order.
    pub fn nearest(
        &self,
        vector: &[f32],
        limit: usize,
        among: Option<&[Uuid]>,
    ) -> Result<Vec<(Uuid, f32)>, IndexError> {
        let wrong = |reason| Err(IndexError::Vectors { path: self.path.to_path_buf(), reason });
        if vector.len() != self.dimension {
            return wrong(format!("the query has {} dimensions, the index {}", vector.len(), self.dimension));
        }
        if !vector.iter().all(|value| value.is_finite()) {
            return wrong("the vector of the query is not finite".to_owned());
        }
        nearest::nearest(&self.parts, vector, limit, among)
    }

    /// Reads all files and checks them; says what is wrong with which.
    pub fn verify(&self) -> Vec<IndexError> {
        self.parts.iter().filter_map(|part| part.segment.verify().err()).collect()
    }
}
