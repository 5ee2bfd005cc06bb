//! The pipeline's way into a collection.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Instant;

use pericope_api::Embeddings;
use pericope_index::pipeline::Report;
use pericope_index::{
    Destination, DocumentHead, EmbedCounts, Embedding, Entry, IndexError, IndexMeta, IndexSpec, IndexStats, Known,
    Origin, Words,
};
use pericope_qdrant::{Collection, Error, Point, Rebuild, Target, Writer};

use super::{HEADING_WEIGHT, record};
use crate::input::Input;

/// A collection that is being written.
///
/// What it knows of the files lies on the server: every chunk names the document's revision and the file that it came
/// from, so that any machine can go on where another one stopped. A document goes in when all of its chunks have come.
pub struct ServerIndex {
    name: String,
    target: Target,
    collection: Collection,
    /// The collection is built beside the one that is searched.
    rebuild: Option<Rebuild>,
    writer: Writer,
    words: RefCell<Words>,
    embedding: Option<Embedding>,
    fingerprint: String,
    documents: BTreeMap<String, Held>,
    current: Option<Current>,
    commit_bytes: u64,
    uncommitted: u64,
    started: Instant,
    stats: IndexStats,
}

/// What the collection holds of a document.
struct Held {
    origin: Option<Origin>,
    chunks: u64,
    /// All chunks are there, in one revision.
    whole: bool,
}

/// The document that is under way.
struct Current {
    head: DocumentHead,
    points: Vec<Point>,
}

impl ServerIndex {
    /// Opens the collection, or makes it; with `rebuild` a new one that takes its place when it is finished. Lists what
    /// is there. All is stored every `commit_bytes` bytes of text.
    ///
    /// # Errors
    /// [`IndexError::Destination`] with the server's or the record's reason.
    pub fn open(target: &Target, spec: &IndexSpec, rebuild: bool, commit_bytes: u64) -> Result<Self, IndexError> {
        let started = Instant::now();
        let (name, meta, record) = (target.to_string(), IndexMeta::new(spec), record(spec));
        let wrap = |error| wrapped(&name, error);
        let rebuild = if rebuild { Some(Rebuild::begin(target, &record).map_err(wrap)?) } else { None };
        let collection = match &rebuild {
            Some(rebuild) => rebuild.collection().clone(),
            None => Collection::open_or_create(target, &record).map_err(wrap)?,
        };
        let stored = collection.documents().map_err(wrap)?.into_iter().map(|(id, stored)| {
            let whole = stored.revision.as_deref().is_some_and(|revision| stored.is(revision));
            let origin = stored.origin.as_deref().and_then(Origin::decode);
            (id, Held { origin, chunks: stored.found, whole })
        });
        let embedding = spec.encoder.clone().map(|encoder| Embedding {
            encoder,
            prefix_headings: spec.prefix_headings,
            tokenizer: spec.tokenizer.clone(),
        });
        Ok(Self {
            documents: stored.collect(),
            writer: collection.writer(),
            words: RefCell::default(),
            fingerprint: meta.fingerprint(),
            embedding,
            current: None,
            commit_bytes: commit_bytes.max(1),
            uncommitted: 0,
            started,
            stats: IndexStats::default(),
            rebuild,
            collection,
            name,
            target: target.clone(),
        })
    }

    /// Stores what is left, lets a rebuild take its place, and says what was done. A rebuild that was interrupted is left
    /// for the next run, and so is one that lacks what the collection in its place holds and this run could not read; a
    /// finished one holds the sources that were met, or could not be looked for, and no others.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn finish(mut self, report: &Report, found: &Input) -> Result<IndexStats, IndexError> {
        if self.rebuild.is_some() && !report.interrupted {
            let stays = |source: &str| report.met.contains(source) || found.may_miss(source);
            let gone = |held: &Held| held.origin.as_ref().is_none_or(|origin| !stays(&origin.source));
            let gone: Vec<String> =
                self.documents.iter().filter(|(_, held)| gone(held)).map(|(id, _)| id.clone()).collect();
            for id in gone {
                self.remove(&id)?;
            }
        }
        self.commit()?;
        let wrap = |error| wrapped(&self.name, error);
        if let Some(rebuild) = self.rebuild.take().filter(|_| !report.interrupted) {
            let lost = self.lost(report, found).map_err(wrap)?;
            match lost.first() {
                None => drop(rebuild.publish(true).map_err(wrap)?),
                Some(first) => anstream::eprintln!(
                    "the rebuild is not published: {} of the documents in {} could not be read this time ({first} for \
                     one); the old collection still serves, and the same command publishes when they can be read or are \
                     gone",
                    lost.len(),
                    self.name
                ),
            }
        }
        let chunks = self.collection.count().map_err(wrap)?;
        // Others may have written in the meantime.
        let documents = match self.documents.values().map(|held| held.chunks).sum::<u64>() == chunks {
            true => self.documents.len(),
            false => self.collection.documents().map_err(wrap)?.len(),
        };
        let seconds = self.started.elapsed().as_secs_f64();
        Ok(IndexStats { documents: documents as u64, chunks, seconds, ..self.stats })
    }

    /// The documents that searches find now, and would not after a rebuild, only because their sources failed or nobody
    /// could look where they are.
    fn lost(&self, report: &Report, found: &Input) -> Result<Vec<String>, Error> {
        if report.failed.is_empty() && found.problems().is_empty() {
            return Ok(Vec::new());
        }
        let stored = match Collection::open(&self.target) {
            Ok(published) => published.documents()?,
            // The first build; or one that searches of this program cannot read anyway.
            Err(Error::NoCollection { .. } | Error::NotOurs { .. } | Error::Format { .. }) => BTreeMap::new(),
            Err(error) => return Err(error),
        };
        let is_lost = |source: &str| report.failed.contains(source) || found.may_miss(source);
        let unread = stored.into_iter().filter(|(id, stored)| {
            let origin = stored.origin.as_deref().and_then(Origin::decode);
            !self.documents.contains_key(id) && origin.is_some_and(|origin| is_lost(&origin.source))
        });
        Ok(unread.map(|(id, _)| id).collect())
    }

    fn point(&self, entry: Entry, vector: Option<Vec<f32>>) -> Point {
        let words = |text: &str, each: &mut dyn FnMut(&str)| self.words.borrow_mut().each(text, each);
        let headings = entry.heading_path.join("\n");
        let others = [(headings.as_str(), HEADING_WEIGHT), (entry.title.as_deref().unwrap_or(""), HEADING_WEIGHT)];
        Point {
            id: entry.id,
            sparse: self.collection.bm25().chunk_with(&entry.text, &others, &words),
            document: entry.document,
            ordinal: entry.ordinal,
            start: entry.span.start as u64,
            end: entry.span.end as u64,
            heading_path: entry.heading_path,
            anchor: entry.anchor,
            title: entry.title,
            text: entry.text,
            tokens: entry.tokens,
            file_type: Some(entry.file_type),
            lead: entry.lead,
            vector,
            // Known when the document has come to its end.
            revision: String::new(),
            chunks: 0,
            origin: None,
        }
    }
}

impl Destination for ServerIndex {
    fn embedding(&self) -> Option<Embedding> {
        self.embedding.clone()
    }

    fn fingerprint(&self) -> String {
        self.fingerprint.clone()
    }

    fn known(&mut self) -> Result<Known, IndexError> {
        let documents = self.documents.iter();
        Ok(Known::of_documents(documents.filter_map(|(id, held)| Some((id.clone(), held.origin.clone()?, held.whole)))))
    }

    fn begin(&mut self, document: &DocumentHead) -> Result<(), IndexError> {
        self.current = Some(Current { head: document.clone(), points: Vec::new() });
        Ok(())
    }

    fn put(&mut self, entries: Vec<Entry>, vectors: Embeddings) -> Result<(), IndexError> {
        let mut rows = self.embedding.is_some().then(|| vectors.rows());
        let mut points = Vec::with_capacity(entries.len());
        for entry in entries {
            let vector = rows.as_mut().and_then(Iterator::next).map(<[f32]>::to_vec);
            points.push(self.point(entry, vector));
        }
        let Some(current) = &mut self.current else { return Err(IndexError::Poisoned) };
        current.points.append(&mut points);
        Ok(())
    }

    fn end(&mut self) -> Result<(), IndexError> {
        let Some(Current { head, mut points }) = self.current.take() else { return Err(IndexError::Poisoned) };
        let (chunks, revision) = (points.len() as u64, format!("{:032x}", head.hash));
        let origin = head.origin.as_ref().map(Origin::encode);
        for point in &mut points {
            (point.chunks, point.revision, point.origin) = (chunks, revision.clone(), origin.clone());
        }
        let before = self.documents.remove(&head.id);
        if chunks > 0 {
            self.documents.insert(head.id.clone(), Held { origin: head.origin, chunks, whole: true });
        }
        // Of a document without a chunk nothing is stored, not even that it was read.
        if chunks > 0 || before.is_some() {
            self.writer.replace(&head.id, &revision, points).map_err(|error| wrapped(&self.name, error))?;
            self.stats.documents_written += 1;
            self.stats.chunks_written += chunks;
        }
        self.stats.bytes += head.bytes;
        self.uncommitted += head.bytes;
        if self.uncommitted >= self.commit_bytes { self.commit() } else { Ok(()) }
    }

    fn remove(&mut self, document: &str) -> Result<bool, IndexError> {
        if self.documents.remove(document).is_none() {
            return Ok(false);
        }
        self.stats.documents_removed += 1;
        self.writer.remove(document).map_err(|error| wrapped(&self.name, error))?;
        Ok(true)
    }

    fn account(&mut self, embedded: EmbedCounts, truncated: u64) {
        self.stats.texts_embedded += embedded.encoded;
        self.stats.texts_reused += embedded.reused;
        self.stats.embed_seconds += embedded.seconds;
        self.stats.truncated += truncated;
    }

    fn commit(&mut self) -> Result<(), IndexError> {
        self.uncommitted = 0;
        self.writer.flush().map_err(|error| wrapped(&self.name, error))
    }
}

fn wrapped(name: &str, error: Error) -> IndexError {
    IndexError::Destination { name: name.to_owned(), source: Box::new(error) }
}
