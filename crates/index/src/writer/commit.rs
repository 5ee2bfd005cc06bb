//! A commit of both engines and the manifest: steps in an order that makes a crash between any two harmless.

use std::time::Instant;

use uuid::Uuid;

use super::IndexWriter;
use crate::IndexError;
use crate::directory::{clear_pending, set_pending};

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
        [Self::flush_points, Self::commit_text, Self::commit_manifest, Self::drop_superfluous_points];

    /// First step of a commit: the new points are durable. Readers do not see them.
    fn flush_points(&mut self) -> Result<(), IndexError> {
        if let Some(vectors) = &self.vectors {
            // From here to the last step there may be points that no commit names.
            set_pending(&self.dir)?;
            vectors.flush()?;
        }
        Ok(())
    }

    /// Second step: the change happens.
    fn commit_text(&mut self) -> Result<(), IndexError> {
        self.text_writer.commit(self.sequence + 1)?;
        self.sequence += 1;
        self.uncommitted_bytes = 0;
        self.text.reload()
    }

    /// Third step: the manifest follows. A crash before it leaves one of an older number, which is made again.
    fn commit_manifest(&mut self) -> Result<(), IndexError> {
        let changes = std::mem::take(&mut self.changes);
        self.manifest.commit(&changes, self.sequence)
    }

    /// Last step: what the change made superfluous goes.
    fn drop_superfluous_points(&mut self) -> Result<(), IndexError> {
        let touched = std::mem::take(&mut self.touched);
        let Some(vectors) = &self.vectors else { return Ok(()) };
        for points in touched.values() {
            let gone: Vec<Uuid> =
                points.committed.union(&points.written).filter(|id| !points.live.contains(id)).copied().collect();
            if !gone.is_empty() {
                self.points_deleted = true;
                vectors.delete(&gone)?;
            }
        }
        vectors.flush()?;
        clear_pending(&self.dir)
    }
}
