use std::sync::Arc;

use pericope_store::{StoreError, VectorCache};
use uuid::Uuid;

use crate::engines::{TextIndex, VectorStore};

/// The vectors of the index itself, as of its last commit: a chunk that moved, or was renamed with its file, still has
/// the vector that it had.
///
/// A point that is deleted while it is asked for is not found, and its text embedded again.
pub(crate) struct StoredVectors {
    pub text: Arc<TextIndex>,
    pub store: Arc<VectorStore>,
}

impl VectorCache for StoredVectors {
    fn find(&self, hashes: &[u128]) -> Result<Vec<Option<Vec<f32>>>, StoreError> {
        let searcher = self.text.searcher();
        if searcher.num_docs() == 0 {
            return Ok(vec![None; hashes.len()]);
        }
        let mut points: Vec<Option<Uuid>> = Vec::with_capacity(hashes.len());
        for &hash in hashes {
            points.push(self.text.point_with_text(&searcher, hash)?);
        }
        let known: Vec<Uuid> = points.iter().filter_map(|p| *p).collect();
        let mut vectors = self.store.vectors_of(&known)?;
        Ok(points.into_iter().map(|point| point.and_then(|id| vectors.remove(&id))).collect())
    }
}
