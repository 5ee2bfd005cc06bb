//! All that an index holds, in all three of its parts.

use std::collections::BTreeMap;

use tantivy::TantivyDocument;
use tantivy::schema::Value;
use uuid::Uuid;

use crate::directory::manifest_path;
use crate::manifest::Manifest;
use crate::{IndexError, IndexReader, Known};

/// A chunk as the full-text index holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredChunk {
    /// Id of the document.
    pub document: String,
    /// Place among the document's chunks.
    pub ordinal: u64,
    /// First byte in the document's source.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
    /// The source in between.
    pub text: String,
}

/// Everything in an index, for audits, exports and tests of what survives a crash. It lies in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Contents {
    /// The full-text index, by point id.
    pub chunks: BTreeMap<Uuid, StoredChunk>,
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
            return Err(format!("{} chunks and {} vectors, not of the same ids", self.chunks.len(), vectors.len()));
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
        let (text, fields) = (self.text(), self.text().fields);
        let searcher = text.searcher();
        let mut chunks = BTreeMap::new();
        for (segment, ord) in searcher.segment_readers().iter().zip(0..) {
            let fast = segment.fast_fields();
            let (high, low) = (fast.u64("point_high")?, fast.u64("point_low")?);
            for doc in segment.doc_ids_alive() {
                let stored: TantivyDocument = searcher.doc(tantivy::DocAddress::new(ord, doc))?;
                let string = |field| stored.get_first(field).and_then(|v| v.as_str()).unwrap_or("").to_owned();
                let number = |field| stored.get_first(field).and_then(|v| v.as_u64()).unwrap_or(0);
                let id = Uuid::from_u64_pair(high.first(doc).unwrap_or(0), low.first(doc).unwrap_or(0));
                let chunk = StoredChunk {
                    document: string(fields.document),
                    ordinal: number(fields.ordinal),
                    start: number(fields.start),
                    end: number(fields.end),
                    text: string(fields.text),
                };
                if chunks.insert(id, chunk).is_some() {
                    return Err(IndexError::corrupt(&text.path, format!("chunk {id} is there twice")));
                }
            }
        }
        let vectors = match self.meta().embedder {
            Some(_) => {
                let store = self.vectors()?;
                let points = store.all_points()?;
                Some(store.vectors_of(&points)?.into_iter().collect())
            }
            None => None,
        };
        let manifest = Manifest::open(&manifest_path(self.dir()), text.sequence()?, || text.indexed())?;
        let mut named = BTreeMap::new();
        for id in manifest.points()? {
            *named.entry(id).or_default() += 1;
        }
        Ok(Contents { chunks, vectors, manifest: named, sources: manifest.known()? })
    }
}
