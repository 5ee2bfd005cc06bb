//! A commit of both engines and the manifest: steps in an order that makes a crash between any two harmless.

use std::time::Instant;

use uuid::Uuid;

use super::IndexWriter;
use crate::IndexError;
use crate::engines::Committed;

pub(super) type CommitStep = fn(&mut IndexWriter) -> Result<(), IndexError>;

impl IndexWriter {
    pub(super) fn commit_all(&mut self) -> Result<(), IndexError> {
        self.drain()?;
        self.committed = Instant::now();
        if self.touched.is_empty() {
            // Sources that were read and gave nothing new.
            return if self.changes.is_empty() { Ok(()) } else { self.commit_manifest() };
        }
        Self::COMMIT_STEPS.iter().try_for_each(|step| step(self))
    }

    /// A commit after the queue is empty. After each step the index holds the old contents or the new, never a mixture.
    pub(super) const COMMIT_STEPS: [CommitStep; 4] =
        [Self::write_vectors, Self::commit_text, Self::commit_manifest, Self::delete_superfluous_files];

    /// First step of a commit: its vectors are durable. No reader knows of them.
    fn write_vectors(&mut self) -> Result<(), IndexError> {
        let Some(vectors) = &mut self.vectors else { return Ok(()) };
        for points in self.touched.values() {
            let gone: Vec<Uuid> =
                points.committed.union(&points.written).filter(|id| !points.live.contains(id)).copied().collect();
            vectors.delete(&gone)?;
        }
        self.generation = Some(vectors.write_generation()?);
        Ok(())
    }

    /// Second step: the change happens.
    fn commit_text(&mut self) -> Result<(), IndexError> {
        self.text_writer.commit(Committed { sequence: self.sequence + 1, vectors: self.generation })?;
        self.sequence += 1;
        self.uncommitted_bytes = 0;
        self.touched.clear();
        self.snapshots.reload()
    }

    /// Third step: the manifest follows. A crash before it leaves one of an older number, which is made again.
    fn commit_manifest(&mut self) -> Result<(), IndexError> {
        let changes = std::mem::take(&mut self.changes);
        self.manifest.commit(&changes, self.sequence)
    }

    /// Last step: files that the commit does not need go.
    fn delete_superfluous_files(&mut self) -> Result<(), IndexError> {
        match &self.vectors {
            Some(vectors) => vectors.tidy(self.generation),
            None => Ok(()),
        }
    }
}
