use std::sync::Arc;

use pericope_store::{StoreError, VectorCache};
use uuid::Uuid;

use crate::IndexError;
use crate::engines::Snapshots;
use crate::guard::guarded;

/// The vectors of the index itself, as of its last commit: a chunk that moved, or was renamed with its file, still has
/// the vector that it had.
pub(crate) struct StoredVectors(pub Arc<Snapshots>);

impl VectorCache for StoredVectors {
    fn find(&self, hashes: &[u128]) -> Result<Vec<Option<Vec<f32>>>, StoreError> {
        let snapshot = self.0.current();
        let nothing = || Ok(vec![None; hashes.len()]);
        if snapshot.chunks() == 0 {
            return nothing();
        }
        let store = match self.0.vectors(&snapshot) {
            Ok(Some(store)) => store,
            Ok(None) | Err(IndexError::OldVectors { .. }) => return nothing(),
            Err(error) => return Err(error.into()),
        };
        let text = &self.0.text;
        let points: Vec<Option<Uuid>> = guarded(&text.path, || {
            hashes.iter().map(|&hash| text.point_with_text(&snapshot.searcher, hash)).collect()
        })?;
        let known: Vec<Uuid> = points.iter().filter_map(|p| *p).collect();
        let vectors = store.vectors_of(&known)?;
        // A text may stand in several chunks: each finds the vector of the same one.
        Ok(points.into_iter().map(|point| point.and_then(|id| vectors.get(&id).cloned())).collect())
    }
}
