//! The first three stages: feed, read, segment.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crossbeam_channel::{Receiver, Sender};
use pericope_api::{Chunk, Document, SegmentError};
use pericope_store::{
    DocumentHeader, Embedding, FileStamp, Known, KnownSource, LanguageChoice, Prepared, Provenance, SourceRecord,
    document_hash, prepare, truncated,
};
use pericope_util::time_limit;

use super::budget::{Budget, Share, document_cost, source_cost};
use super::crew::MOST_LEFT_BEHIND;
use super::report::{Failure, Options};
use super::seat::{Job, Seat};
use super::source::{Metadata, Source};

/// An item with its share of the memory.
pub(super) struct Fed<T> {
    number: u64,
    item: T,
    about: Metadata,
    share: Share,
}

/// A document on its way to the segmenter.
pub(super) struct Task {
    position: Position,
    document: Document,
    header: DocumentHeader,
    share: Share,
}

/// Which part of which source: what is in flight is put in this order again.
pub(super) type Position = (u64, u64);

/// So many times the limit may a source take whose reading has limits of its own: it may be tried twice, and wait for
/// others.
const GUARDED: u32 = 10;

/// What comes out of the middle stages.
pub(super) enum Part {
    /// A document, cut.
    Document { header: DocumentHeader, prepared: Vec<Prepared>, truncated: u64, share: Share },
    /// A document that the destination holds as it is.
    Same { id: String },
    /// A document without text: nothing of it is indexed.
    Empty { id: String },
    /// Something that cannot be indexed.
    Failed(Failure),
    /// The last part of a source.
    End(SourceEnd),
}

/// How reading a source ended.
pub(super) struct SourceEnd {
    pub name: Option<String>,
    /// Nothing was read, since nothing changed.
    pub unchanged: bool,
    /// All of it could be read.
    pub complete: bool,
    /// What to remember of it, where that is something new.
    pub record: Option<SourceRecord>,
    /// What it looked like before it was read: remembered of a source that is to be read again, where nothing is made of it
    /// but whether it changed since.
    pub stamp: Option<FileStamp>,
    /// Given back when the source is written.
    pub share: Option<Share>,
}

/// Reads sources.
pub(super) struct ReadStage<S> {
    pub source: Arc<S>,
    pub known: Arc<Known>,
    pub fingerprint: String,
    pub options: Options,
    pub budget: Arc<Budget>,
    /// Nothing more is read.
    pub exhausted: Arc<AtomicBool>,
}

impl<S: Source> ReadStage<S> {
    /// Lets one source after the other in, as memory allows.
    pub fn feed(&self, items: impl Iterator<Item = S::Item>, feed: &Sender<Fed<S::Item>>) {
        for (number, item) in (0..).zip(items) {
            if self.options.stop.load(Ordering::Relaxed) {
                return;
            }
            let about = self.source.about(&item);
            let Some(share) = self.budget.take(source_cost(about.bytes)) else { return };
            if feed.send(Fed { number, item, about, share }).is_err() {
                return;
            }
        }
    }

    /// Reads what is fed, until nothing more comes or nobody wants it.
    pub fn work(&self, fed: &Receiver<Fed<S::Item>>, seat: &Seat) {
        for one in fed {
            if !self.budget.admit(one.number) || self.one(one, seat).is_none() {
                return;
            }
        }
    }

    /// One source. Nothing where nobody listens any more.
    fn one(&self, Fed { number, mut item, about, share }: Fed<S::Item>, seat: &Seat) -> Option<()> {
        let window = Budget::new(share.bytes);
        let patience = if about.guarded { GUARDED } else { 1 };
        seat.begin(Job {
            position: (number, 0),
            name: about.name.clone().unwrap_or_default(),
            source: Some(about.name.clone()),
            stamp: about.stamp,
            limit: time_limit(self.options.time, about.bytes).map(|time| time.saturating_mul(patience)),
            share,
        });
        let known = about.name.as_ref().and_then(|name| self.known.sources.get(name));
        let current = known.filter(|known| known.fingerprint == self.fingerprint && known.hash.is_some());
        let unchanged = |record| {
            let (name, stamp) = (about.name.clone(), about.stamp);
            // The share is given back at once: there is nothing to write.
            move |_: Share| Part::End(SourceEnd { name, unchanged: true, complete: true, record, stamp, share: None })
        };
        if self.is_trusted(&about, current) {
            return seat.end(unchanged(None));
        }
        let now = nanoseconds_now();
        let hash = about.name.as_ref().and_then(|_| self.source.hash(&item));
        let stamp = about.stamp.filter(|stamp| stamp.is_settled(now));
        let empty = known.map_or(0, |known| known.empty);
        let record = SourceRecord { hash, stamp, fingerprint: self.fingerprint.clone(), empty };
        if let Some(known) = current
            && known.hash == hash
        {
            let news = (known.stamp != stamp).then_some(record);
            return seat.end(unchanged(news));
        }

        let mut reading = Reading {
            stage: self,
            seat,
            about: &about,
            known,
            hash,
            window: &window,
            held: None,
            documents: 0,
            empty: 0,
            problems: 0,
            closed: false,
        };
        if self.exhausted.load(Ordering::Relaxed) {
            reading
                .fail(&format!("not read: {MOST_LEFT_BEHIND} documents that took too long are still being worked on"));
        } else {
            let read = catch_unwind(AssertUnwindSafe(|| self.source.read(&mut item, &mut |read| reading.take(read))));
            if read.is_err() {
                reading.fail("the reader panicked");
            } else if about.stamp.is_some() && self.source.about(&item).stamp != about.stamp {
                reading.held = None;
                reading.fail("changed while it was read; the next run reads it again");
            }
        }
        let complete = reading.finish();
        if reading.closed {
            return None;
        }
        let record = complete.then_some(SourceRecord { empty: reading.empty, ..record });
        let (name, stamp) = (about.name.clone(), about.stamp);
        seat.end(|share| Part::End(SourceEnd { name, unchanged: false, complete, record, stamp, share: Some(share) }))
    }

    /// True where the stamp alone says that nothing changed.
    fn is_trusted(&self, about: &Metadata, current: Option<&KnownSource>) -> bool {
        let Some(stamp) = about.stamp.filter(|_| self.options.trust_stamps) else { return false };
        current.is_some_and(|known| known.stamp == Some(stamp))
            && about.name.as_ref().is_some_and(|name| !self.options.distrust.contains(name))
    }
}

/// A source while it is being read.
struct Reading<'a, S> {
    stage: &'a ReadStage<S>,
    seat: &'a Seat,
    about: &'a Metadata,
    known: Option<&'a KnownSource>,
    hash: Option<u128>,
    /// What its documents may take: a source larger than the memory is read no faster than it is written.
    window: &'a Arc<Budget>,
    /// The last document read: it leaves when it is known whether it is the last of all.
    held: Option<Document>,
    documents: u64,
    /// Those without text.
    empty: u64,
    problems: u64,
    /// Nobody listens any more.
    closed: bool,
}

impl<S: Source> Reading<'_, S> {
    fn take(&mut self, read: Result<Document, Failure>) {
        match read {
            // The last document with text says how many there are of both.
            Ok(document) if !document.has_text() => {
                self.empty += 1;
                self.send(Part::Empty { id: document.id });
            }
            Ok(document) => {
                self.documents += 1;
                if let Some(before) = self.held.replace(document) {
                    self.pass(before, None);
                }
            }
            Err(failure) => {
                if let Some(before) = self.held.take() {
                    self.pass(before, None);
                }
                self.problems += 1;
                self.send(Part::Failed(failure));
            }
        }
    }

    fn fail(&mut self, reason: &str) {
        let document = self.about.name.clone().unwrap_or_default();
        self.take(Err(Failure::new(document, reason)));
    }

    /// Passes the last document on; says whether all of the source could be read.
    fn finish(&mut self) -> bool {
        let complete = self.problems == 0;
        if let Some(last) = self.held.take() {
            self.pass(last, complete.then_some(self.documents));
        }
        complete
    }

    /// Passes a document on to the segmenter, or past it where the destination holds it as it is.
    fn pass(&mut self, document: Document, documents: Option<u64>) {
        if self.closed {
            return;
        }
        let named = self.about.name.as_ref();
        // The same document by another segmenter or embedder is another one. A store may tell its revisions by this, so that it is needed
        // for documents of no source too.
        let hash = document_hash(&document) ^ Chunk::content_hash(&self.stage.fingerprint);
        let known = self.known.and_then(|known| {
            // Sorted by id.
            let at = known.documents.binary_search_by(|(id, _)| id.as_str().cmp(&document.id)).ok()?;
            known.documents.get(at)?.1
        });
        if named.is_some() && known == Some(hash) {
            self.send(Part::Same { id: document.id });
            return;
        }
        let provenance = named.map(|name| Provenance {
            document_hash: hash,
            source: name.clone(),
            source_hash: self.hash,
            fingerprint: self.stage.fingerprint.clone(),
            documents,
            empty: documents.map_or(0, |_| self.empty),
        });
        let bytes = document.source.len() as u64;
        let cost = document_cost(bytes);
        let Some(share) = self.seat.wait(|| self.window.take(cost)) else { return };
        // Text that was packed is larger than the source that the memory was taken for.
        let more = cost.saturating_sub(share.bytes);
        let share = share.with((more > 0).then(|| self.stage.budget.overdraw(more)));
        let header = DocumentHeader { id: document.id.clone(), hash, bytes, provenance };
        self.closed |= self.seat.pass(|position| Task { position, document, header, share }).is_none();
    }

    fn send(&mut self, part: Part) {
        self.closed |= self.seat.send(part).is_none();
    }
}

/// Cuts documents, until nothing more comes or nobody wants it.
pub(super) fn segment<C>(
    documents: &Receiver<Task>,
    seat: &Seat,
    chunk: &C,
    (embedding, language): (Option<&Embedding>, LanguageChoice),
    time: Duration,
) where
    C: Fn(&Document) -> Result<Vec<Chunk>, SegmentError>,
{
    for Task { position, document, header, share } in documents {
        let (name, limit) = (header.id.clone(), time_limit(time, header.bytes));
        seat.begin(Job { position, name, source: None, stamp: None, limit, share });
        let cut = catch_unwind(AssertUnwindSafe(|| {
            let chunks = chunk(&document).map_err(|e| e.to_string())?;
            prepare(&document, &chunks, embedding, language).map_err(|e| e.to_string())
        }));
        let ended = match cut.unwrap_or_else(|_| Err("the segmenter panicked".to_owned())) {
            Ok(prepared) => {
                let truncated = truncated(&prepared, embedding);
                seat.end(|share| Part::Document { header, prepared, truncated, share })
            }
            Err(reason) => seat.end(|_| Part::Failed(Failure::new(header.id, reason))),
        };
        if ended.is_none() {
            return;
        }
    }
}

fn nanoseconds_now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| i64::try_from(t.as_nanos()).unwrap_or(i64::MAX))
}
