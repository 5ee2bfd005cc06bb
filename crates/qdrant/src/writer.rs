use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;

use prost::Message;
use qdrant_client::qdrant::points_selector::PointsSelectorOneOf;
use qdrant_client::qdrant::{
    Condition, DeletePoints, Filter as ServerFilter, PointStruct, PointsIdsList, PointsSelector, UpsertPoints,
};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::point::id_of;
use crate::search::keyword;
use crate::{Collection, Error, Point, fields};

/// Documents whose old chunks one delete may name: what is left over waits until so many have come together.
const SWEEP: usize = 128;
/// Ids in one delete.
const IDS: usize = 4096;

/// The work that a writer has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Written {
    /// Chunks that were stored.
    pub points: u64,
    /// Batches that they travelled in.
    pub batches: u64,
    /// Their encoded size in bytes.
    pub bytes: u64,
    /// Documents that were replaced or removed.
    pub documents: u64,
}

/// Puts chunks into a collection: gathered into batches, several of which are under way at the same time.
///
/// The chunks of a document are stored before what it had before is deleted, so that a search finds the document at
/// every moment, and at worst some of its chunks in both revisions. Nothing counts before [`flush`](Self::flush) has
/// returned. An error ends the writer; what was acknowledged stays, and loading again stores the same chunks under the
/// same ids.
pub struct Writer {
    collection: Collection,
    staged: Vec<PointStruct>,
    staged_bytes: usize,
    under_way: JoinSet<Result<(), Error>>,
    /// Documents whose chunks of other revisions than this (of all, where there is none) are to be deleted.
    stale: BTreeMap<String, Option<String>>,
    written: Written,
    poisoned: bool,
}

impl Writer {
    pub(crate) fn new(collection: &Collection) -> Self {
        Self {
            collection: collection.clone(),
            staged: Vec::new(),
            staged_bytes: 0,
            under_way: JoinSet::new(),
            stale: BTreeMap::new(),
            written: Written::default(),
            poisoned: false,
        }
    }

    /// Stores chunks beside what is there; a chunk of the same id is replaced. Waits while as many batches are under
    /// way as the settings allow.
    ///
    /// # Errors
    /// [`Error::Dimension`] and [`Error::BadPoint`] for a chunk that does not fit; [`Error::GaveUp`],
    /// [`Error::Refused`] and [`Error::Key`] for a batch, this or an earlier one; then [`Error::Poisoned`].
    pub fn upsert(&mut self, points: impl IntoIterator<Item = Point>) -> Result<(), Error> {
        self.usable()?;
        for point in points {
            let outcome = self.stage(point);
            self.poisoned |= outcome.is_err();
            outcome?;
        }
        Ok(())
    }

    /// Replaces all that is stored of a document by these chunks, which all carry this document and revision.
    ///
    /// # Errors
    /// As [`upsert`](Self::upsert); [`Error::BadPoint`] for a chunk of another document or revision.
    pub fn replace(
        &mut self,
        document: &str,
        revision: &str,
        points: impl IntoIterator<Item = Point>,
    ) -> Result<(), Error> {
        self.usable()?;
        if self.stale.contains_key(document) {
            // Two revisions of one document must not be under way together: batches overtake each other.
            self.flush()?;
        }
        let mut any = false;
        for point in points {
            if point.chunk.document != document || point.revision != revision {
                self.poisoned = true;
                let reason = format!("it is not of `{document}` in revision `{revision}`");
                return Err(Error::BadPoint { document: point.chunk.document, ordinal: point.chunk.ordinal, reason });
            }
            any = true;
            self.upsert([point])?;
        }
        self.written.documents += 1;
        self.stale.insert(document.to_owned(), any.then(|| revision.to_owned()));
        self.sweep_if_many()
    }

    /// Deletes all that is stored of a document.
    ///
    /// # Errors
    /// As [`upsert`](Self::upsert).
    pub fn remove(&mut self, document: &str) -> Result<(), Error> {
        self.usable()?;
        self.written.documents += 1;
        self.stale.insert(document.to_owned(), None);
        self.sweep_if_many()
    }

    /// Deletes chunks by their ids, after all that was staged before.
    ///
    /// # Errors
    /// As [`upsert`](Self::upsert).
    pub fn delete_points(&mut self, ids: &[Uuid]) -> Result<(), Error> {
        self.guarded(|writer| {
            writer.settle()?;
            for ids in ids.chunks(IDS) {
                let ids = ids.iter().map(|&id| id_of(id)).collect();
                writer.delete(PointsSelectorOneOf::Points(PointsIdsList { ids }))?;
            }
            writer.settle()
        })
    }

    /// Waits until all is stored, and deletes what is left of earlier revisions.
    ///
    /// # Errors
    /// As [`upsert`](Self::upsert).
    pub fn flush(&mut self) -> Result<(), Error> {
        self.guarded(|writer| {
            writer.sweep()?;
            writer.settle()
        })
    }

    /// Returns the work that was done up to now.
    #[must_use]
    pub fn written(&self) -> Written {
        self.written
    }

    fn usable(&self) -> Result<(), Error> {
        if self.poisoned { Err(Error::Poisoned) } else { Ok(()) }
    }

    fn guarded(&mut self, work: impl FnOnce(&mut Self) -> Result<(), Error>) -> Result<(), Error> {
        self.usable()?;
        let outcome = work(self);
        self.poisoned |= outcome.is_err();
        outcome
    }

    fn stage(&mut self, point: Point) -> Result<(), Error> {
        let (document, ordinal) = (point.chunk.document.clone(), point.chunk.ordinal);
        let point = point.into_struct(&self.collection.pinned, self.collection.record.dimension())?;
        // The length in front of it, and the field's tag, are at most ten bytes.
        let bytes = point.encoded_len() + 10;
        let settings = &self.collection.connection.target.settings;
        // What is stored must come back in one message, with a score and the rest of an answer around it.
        if bytes > settings.message_bytes - settings.message_bytes / 16 {
            let most = settings.message_bytes;
            let reason = format!(
                "it takes {bytes} bytes, and a message at most {most}; cut smaller chunks, or raise `message_bytes` in the address"
            );
            return Err(Error::BadPoint { document, ordinal, reason });
        }
        let most = settings.batch_bytes.min(settings.message_bytes);
        let full = self.staged_bytes + bytes > most || self.staged.len() >= settings.batch_points;
        if full {
            self.send()?;
        }
        self.staged.push(point);
        self.staged_bytes += bytes;
        Ok(())
    }

    /// Sends what is staged, as soon as there is room under way.
    fn send(&mut self) -> Result<(), Error> {
        if self.staged.is_empty() {
            return Ok(());
        }
        let most = self.collection.connection.target.settings.in_flight;
        self.wait_until_under_way(most - 1)?;
        let points = mem::take(&mut self.staged);
        self.written.points += points.len() as u64;
        self.written.batches += 1;
        self.written.bytes += mem::take(&mut self.staged_bytes) as u64;
        let request = UpsertPoints {
            collection_name: self.collection.pinned.clone(),
            wait: Some(true),
            points,
            ..UpsertPoints::default()
        };
        let connection = Arc::clone(&self.collection.connection);
        let handle = connection.handle().clone();
        let store = async move {
            connection
                .update("storing chunks", || {
                    let mut client = connection.points.clone();
                    let request = request.clone();
                    async move { client.upsert(request).await }
                })
                .await
        };
        self.under_way.spawn_on(store, &handle);
        Ok(())
    }

    fn delete(&mut self, which: PointsSelectorOneOf) -> Result<(), Error> {
        let most = self.collection.connection.target.settings.in_flight;
        self.wait_until_under_way(most - 1)?;
        let request = DeletePoints {
            collection_name: self.collection.pinned.clone(),
            wait: Some(true),
            points: Some(PointsSelector { points_selector_one_of: Some(which) }),
            ..DeletePoints::default()
        };
        let connection = Arc::clone(&self.collection.connection);
        let handle = connection.handle().clone();
        let delete = async move {
            connection
                .update("deleting chunks", || {
                    let mut client = connection.points.clone();
                    let request = request.clone();
                    async move { client.delete(request).await }
                })
                .await
        };
        self.under_way.spawn_on(delete, &handle);
        Ok(())
    }

    fn sweep_if_many(&mut self) -> Result<(), Error> {
        if self.stale.len() < SWEEP { Ok(()) } else { self.guarded(Self::sweep) }
    }

    /// Deletes what the replaced and removed documents had before, once what they have now is stored.
    fn sweep(&mut self) -> Result<(), Error> {
        self.settle()?;
        let stale: Vec<_> = mem::take(&mut self.stale).into_iter().collect();
        for documents in stale.chunks(SWEEP) {
            let conditions = documents.iter().map(|(document, revision)| -> Condition {
                let mut one = ServerFilter::must([keyword(fields::DOCUMENT, document)]);
                one.must_not = revision.iter().map(|revision| keyword(fields::REVISION, revision)).collect();
                one.into()
            });
            self.delete(PointsSelectorOneOf::Filter(ServerFilter::should(conditions)))?;
        }
        // A document may come again, and must then find its old chunks gone.
        self.settle()
    }

    /// Sends what is staged and waits until nothing is under way.
    fn settle(&mut self) -> Result<(), Error> {
        self.send()?;
        self.wait_until_under_way(0)
    }

    fn wait_until_under_way(&mut self, most: usize) -> Result<(), Error> {
        // What is done already is taken first, so that a failure shows as early as possible.
        while let Some(done) = self.under_way.try_join_next() {
            outcome(done)?;
        }
        let connection = Arc::clone(&self.collection.connection);
        while self.under_way.len() > most {
            match connection.wait(self.under_way.join_next()) {
                Some(done) => outcome(done)?,
                None => break,
            }
        }
        Ok(())
    }
}

fn outcome(done: Result<Result<(), Error>, tokio::task::JoinError>) -> Result<(), Error> {
    done.unwrap_or_else(|e| Err(Error::Setup { what: "a task of the connection".to_owned(), reason: e.to_string() }))
}
