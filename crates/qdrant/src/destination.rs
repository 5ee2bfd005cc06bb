//! A collection as the destination of a pipeline.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use pericope_api::Embeddings;
use pericope_store::{
    Analyzer, COMMIT_EVERY, ChunkEntry, Destination, DestinationInfo, DocumentHeader, Finished, IndexSpec, IndexStats,
    Known, Provenance, Publication, RunSummary, StoreError, StoreMeta,
};
use twox_hash::XxHash3_128;

use crate::record::HEADING_WEIGHT;
use crate::{Collection, Error, Point, Rebuild, Record, Target, Writer};

/// Writes documents into a collection.
///
/// The knowledge of the sources lies on the server: every chunk names the document's revision and the source that it came
/// from, so that any machine can go on where another one stopped.
pub struct QdrantDestination {
    about: DestinationInfo,
    target: Target,
    collection: Collection,
    /// The collection is built beside the one that is searched.
    rebuild: Option<Rebuild>,
    writer: Writer,
    analyzer: Arc<dyn Analyzer>,
    documents: BTreeMap<String, Held>,
    commit_bytes: u64,
    uncommitted: u64,
    committed: Instant,
    started: Instant,
    stats: IndexStats,
}

/// A document as the collection holds it.
struct Held {
    provenance: Option<Provenance>,
    chunks: u64,
    /// All chunks are there, in one revision.
    whole: bool,
    /// It was put by this run.
    fresh: bool,
}

impl QdrantDestination {
    /// Opens the collection, or makes it; with `rebuild` a new one that takes its place when it is finished. Lists the
    /// documents that are there. `analyzer` makes the terms of BM25. Everything is stored every `commit_bytes` bytes of
    /// text and every 30 seconds.
    ///
    /// # Errors
    /// As [`Collection::open_or_create`] and [`Rebuild::begin`].
    pub fn open(
        target: &Target,
        spec: &IndexSpec,
        analyzer: Arc<dyn Analyzer>,
        rebuild: bool,
        commit_bytes: u64,
    ) -> Result<Self, Error> {
        let started = Instant::now();
        let record = Record::of(spec, analyzer.as_ref());
        let record = if target.settings.evaluation { record.of_evaluation() } else { record };
        let rebuild = if rebuild { Some(Rebuild::begin(target, &record)?) } else { None };
        let collection = match &rebuild {
            Some(rebuild) => rebuild.collection().clone(),
            None => Collection::open_or_create(target, &record)?,
        };
        let stored = collection.documents()?.into_iter().map(|(id, stored)| {
            let whole = stored.revision.as_deref().is_some_and(|revision| stored.is(revision));
            let provenance = stored.origin.as_deref().and_then(Provenance::decode);
            (id, Held { provenance, chunks: stored.found, whole, fresh: false })
        });
        let about = DestinationInfo {
            name: target.to_string(),
            fingerprint: StoreMeta::new(spec).fingerprint(),
            embedding: spec.embedding(),
            language: collection.record().language(),
            vectors: None,
        };
        Ok(Self {
            about,
            documents: stored.collect(),
            writer: collection.writer(),
            analyzer,
            commit_bytes: commit_bytes.max(1),
            uncommitted: 0,
            committed: started,
            started,
            stats: IndexStats::default(),
            rebuild,
            collection,
            target: target.clone(),
        })
    }

    /// Removes what an earlier, interrupted rebuild had, and this run neither put again nor met the source of.
    fn remove_leftovers(&mut self, run: &RunSummary<'_>) -> Result<(), StoreError> {
        let stays = |id: &str, held: &Held| {
            held.fresh || run.may_hold(held.provenance.as_ref().map_or(id, |from| from.source.as_str()))
        };
        let gone: Vec<String> =
            self.documents.iter().filter(|(id, held)| !stays(id, held)).map(|(id, _)| id.clone()).collect();
        for id in gone {
            self.remove(&id)?;
        }
        Ok(())
    }

    /// The documents that searches find now, and would not after a rebuild, only because their sources failed or nobody
    /// could look where they are.
    fn lost(&self, run: &RunSummary<'_>) -> Result<Vec<String>, Error> {
        if run.is_complete() {
            return Ok(Vec::new());
        }
        let stored = match Collection::open(&self.target).and_then(|published| published.documents()) {
            Ok(stored) => stored,
            // The first build; or one that searches of this program cannot read anyway.
            Err(
                Error::NoCollection { .. } | Error::NotOurs { .. } | Error::Format { .. } | Error::NotAChunk { .. },
            ) => BTreeMap::new(),
            Err(error) => return Err(error),
        };
        let unread = stored.into_iter().filter(|(id, stored)| {
            let provenance = stored.origin.as_deref().and_then(Provenance::decode);
            !self.documents.contains_key(id)
                && run.missed(provenance.as_ref().map_or(id.as_str(), |from| from.source.as_str()))
        });
        Ok(unread.map(|(id, _)| id).collect())
    }

    /// Lets a rebuild take its place where it is whole.
    fn publish(&mut self, run: &RunSummary<'_>) -> Result<Publication, Error> {
        let Some(rebuild) = self.rebuild.take() else { return Ok(Publication::InPlace) };
        if run.interrupted {
            return Ok(Publication::Unfinished);
        }
        let lost = self.lost(run)?;
        if !lost.is_empty() {
            return Ok(Publication::KeptOld { lost });
        }
        rebuild.publish(true)?;
        Ok(Publication::Published)
    }

    fn point(&self, entry: ChunkEntry, vector: Option<Vec<f32>>) -> Point {
        let ChunkEntry { id, chunk, searched, headings: within, .. } = entry;
        let language = chunk.language;
        let is_source = searched.is_empty() || self.analyzer.reads_source();
        let read = if is_source { Cow::Borrowed(chunk.text.as_str()) } else { searched.join("\n\n").into() };
        let words = |text: &str, each: &mut dyn FnMut(&str)| {
            self.analyzer.analyze_stored(text, language, &mut |word| each(word.text));
        };
        let headings = chunk.heading_path.join("\n");
        let others = [(headings.as_str(), HEADING_WEIGHT), (chunk.title.as_deref().unwrap_or(""), HEADING_WEIGHT)];
        let sparse = match &chunk.context {
            // Its words count as those of the text do.
            Some(context) => {
                let text = format!("{read}\n\n{context}");
                self.collection.bm25().chunk_with(&text, &others, &words)
            }
            None => self.collection.bm25().chunk_with(&read, &others, &words),
        };
        Point { id, chunk, headings: within, sparse, vector, ..Point::default() }
    }
}

/// What a document's chunks depend on: the document, and their contexts where they have any.
fn revision(document: &DocumentHeader, chunks: &[ChunkEntry]) -> String {
    let mut hash = document.hash;
    if chunks.iter().any(|entry| entry.chunk.context.is_some()) {
        let mut key = hash.to_le_bytes().to_vec();
        chunks.iter().for_each(|entry| key.extend_from_slice(entry.id.as_bytes()));
        hash = XxHash3_128::oneshot(&key);
    }
    format!("{hash:032x}")
}

impl Destination for QdrantDestination {
    fn about(&self) -> &DestinationInfo {
        &self.about
    }

    fn known(&mut self) -> Result<Known, StoreError> {
        let documents = self.documents.iter();
        Ok(Known::of_documents(
            documents.filter_map(|(id, held)| Some((id.clone(), held.provenance.clone()?, held.whole))),
        ))
    }

    fn put(
        &mut self,
        document: &DocumentHeader,
        chunks: Vec<ChunkEntry>,
        vectors: Embeddings,
    ) -> Result<(), StoreError> {
        let (count, revision) = (chunks.len() as u64, revision(document, &chunks));
        let origin = document.provenance.as_ref().map(Provenance::encode);
        let mut rows = self.about.embedding.is_some().then(|| vectors.rows());
        let mut points = Vec::with_capacity(chunks.len());
        for entry in chunks {
            let vector = rows.as_mut().and_then(Iterator::next).map(<[f32]>::to_vec);
            let point = self.point(entry, vector);
            points.push(Point { chunks: count, revision: revision.clone(), origin: origin.clone(), ..point });
        }
        let before = self.documents.remove(&document.id);
        if count > 0 {
            let provenance = document.provenance.clone();
            self.documents.insert(document.id.clone(), Held { provenance, chunks: count, whole: true, fresh: true });
        }
        // Of a document without a chunk nothing is stored, not even that it was read.
        if count > 0 || before.is_some() {
            self.writer.replace(&document.id, &revision, points)?;
            self.stats.documents_written += 1;
            self.stats.chunks_written += count;
        }
        self.stats.bytes += document.bytes;
        self.uncommitted += document.bytes;
        let is_time = self.uncommitted >= self.commit_bytes || self.committed.elapsed() >= COMMIT_EVERY;
        if is_time { self.commit() } else { Ok(()) }
    }

    fn remove(&mut self, document: &str) -> Result<bool, StoreError> {
        if self.documents.remove(document).is_none() {
            return Ok(false);
        }
        self.stats.documents_removed += 1;
        self.writer.remove(document)?;
        Ok(true)
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        self.uncommitted = 0;
        self.committed = Instant::now();
        Ok(self.writer.flush()?)
    }

    /// Stores what is left, and lets a rebuild take its place. One that was interrupted is left for the next run. One is
    /// left, too, that lacks documents of the collection in its place which this run could not read. A finished rebuild
    /// holds the documents that this run put, and those of the sources that it met or could not look for; no others.
    fn finish(mut self: Box<Self>, run: &RunSummary<'_>) -> Result<Finished, StoreError> {
        if self.rebuild.is_some() && !run.interrupted {
            self.remove_leftovers(run)?;
        }
        self.commit()?;
        let publication = self.publish(run)?;
        let chunks = self.collection.count()?;
        // Others may have written in the meantime.
        let documents = match self.documents.values().map(|held| held.chunks).sum::<u64>() == chunks {
            true => self.documents.len(),
            false => self.collection.documents()?.len(),
        };
        let seconds = self.started.elapsed().as_secs_f64();
        let mut stats = IndexStats { documents: documents as u64, chunks, seconds, ..self.stats };
        stats.add_embedding(run.embedded, run.truncated);
        Ok(Finished { stats, publication })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use pericope_testkit::analyzer::PlainWords;
    use pericope_testkit::documents::{made_up, sentence_chunks};
    use pericope_testkit::encoders::BagOfWords;
    use pericope_testkit::qdrant::Server;

    use super::*;

    #[test]
    fn what_does_not_fill_a_batch_is_stored_in_time() {
        let server = Server::start().unwrap();
        let target = Target::parse(&server.url("docs")).unwrap();
        let spec = IndexSpec::new("sentence", "words").with_encoder(BagOfWords::new());
        let mut store = QdrantDestination::open(&target, &spec, Arc::new(PlainWords), false, u64::MAX).unwrap();
        let stored = || Collection::open(&target).unwrap().count().unwrap();
        let [first, second] = ["a", "b"].map(|id| made_up(id, 1, 5));
        store.add(&first, &sentence_chunks(&first)).unwrap();
        assert_eq!(stored(), 0);
        store.committed = store.committed.checked_sub(COMMIT_EVERY).unwrap();
        store.add(&second, &sentence_chunks(&second)).unwrap();
        assert_eq!(stored(), 10);
    }
}
