//! All that an index holds, in all three of its parts.

use std::collections::BTreeMap;

use pericope_store::{ChunkRecord, Known};
use uuid::Uuid;

use crate::directory::manifest_path;
use crate::guard::guarded;
use crate::manifest::Manifest;
use crate::{IndexError, IndexReader};

/// Everything in an index, for audits, exports and tests of what survives a crash. It lies in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Contents {
    /// The full-text index, by point id.
    pub chunks: BTreeMap<Uuid, ChunkRecord>,
    /// The vectors; nothing where the index has none.
    pub vectors: Option<BTreeMap<Uuid, Vec<f32>>>,
    /// The chunks that the manifest names, each with how often it does.
    pub manifest: BTreeMap<Uuid, usize>,
    /// The sources that the manifest names, with their documents.
    pub sources: Known,
}

impl Contents {
    /// Checks that all three parts name the same chunks, each once.
    ///
    /// # Errors
    /// What does not fit, in one line.
    pub fn agree(&self) -> Result<(), String> {
        if let Some(vectors) = &self.vectors
            && !vectors.keys().eq(self.chunks.keys())
        {
            let bare = self.chunks.iter().filter(|(id, _)| !vectors.contains_key(id));
            let bare: Vec<String> = bare.map(|(_, chunk)| format!("{}:{}", chunk.document, chunk.ordinal)).collect();
            let idle = vectors.keys().filter(|id| !self.chunks.contains_key(id)).count();
            return Err(format!(
                "{} chunks, {} vectors; chunks without a vector: {}; vectors without a chunk: {idle}",
                self.chunks.len(),
                vectors.len(),
                bare.join(", ")
            ));
        }
        if !self.manifest.keys().eq(self.chunks.keys()) {
            return Err(format!("{} chunks, {} in the manifest", self.chunks.len(), self.manifest.len()));
        }
        match self.manifest.iter().find(|(_, times)| **times != 1) {
            Some((id, times)) => Err(format!("the manifest names {id} {times} times")),
            None => Ok(()),
        }
    }
}

impl IndexReader {
    /// Everything in the index, as of the commit that the reader stands at. No writer may be at work: the manifest is
    /// read as it is now.
    ///
    /// # Errors
    /// Where one of the parts cannot be read, or a chunk is there twice.
    pub fn contents(&self) -> Result<Contents, IndexError> {
        guarded(&self.text().path, || self.contents_unguarded())
    }

    fn contents_unguarded(&self) -> Result<Contents, IndexError> {
        let text = self.text();
        let snapshot = self.snapshot();
        let mut chunks = BTreeMap::new();
        for (segment, ord) in snapshot.searcher.segment_readers().iter().zip(0..) {
            let fast = segment.fast_fields();
            let (high, low) = (fast.u64("point_high")?, fast.u64("point_low")?);
            for doc in segment.doc_ids_alive() {
                let id = Uuid::from_u64_pair(high.first(doc).unwrap_or(0), low.first(doc).unwrap_or(0));
                let chunk = text.record(&snapshot.searcher, tantivy::DocAddress::new(ord, doc))?;
                if chunks.insert(id, chunk).is_some() {
                    return Err(IndexError::corrupt(&text.path, format!("chunk {id} is there twice")));
                }
            }
        }
        let vectors = match self.meta().embedder {
            Some(_) => {
                let store = self.vectors(&snapshot)?;
                let points = store.all_points()?;
                Some(store.vectors_of(&points)?.into_iter().collect())
            }
            None => None,
        };
        let sequence = snapshot.committed.sequence;
        let manifest = Manifest::open(&manifest_path(self.home()), sequence, || text.indexed(&snapshot.searcher))?;
        let mut named = BTreeMap::new();
        for id in manifest.points()? {
            *named.entry(id).or_default() += 1;
        }
        Ok(Contents { chunks, vectors, manifest: named, sources: manifest.known()? })
    }
}
