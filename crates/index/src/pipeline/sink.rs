//! The last stage: the destination is told, in order.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError};
use pericope_api::Embeddings;
use pericope_store::{ChunkEntry, Destination, DocumentHeader, FileStamp, Known, SourceRecord, StoreError};

use super::embed::{Batch, Step};
use super::read::SourceEnd;
use super::report::{Failure, Progress, Report};

/// How often it is looked whether the run is to stop.
const GLANCE: Duration = Duration::from_millis(100);
/// How long what is complete is waited for when the run is to stop: the stage before looks twice in that time.
const GRACE: Duration = Duration::from_millis(500);

/// Writes.
pub(super) struct SinkStage<'a, D: ?Sized> {
    destination: &'a mut D,
    known: &'a Known,
    fingerprint: &'a str,
    report: Report,
    /// Documents of the source that is being written.
    ids: HashSet<String>,
    /// Documents of that source that have no text.
    empty: Vec<String>,
    /// Something of that source failed.
    failed: bool,
    /// Something of that source was written or removed.
    news: bool,
    /// Which source a document is from, of those that are not called as their source is.
    owners: HashMap<String, String>,
    /// The other documents: those that are called as their source is.
    own: HashSet<Cow<'a, str>>,
    /// Documents that other sources took over in this run, by the source that had them.
    taken: HashMap<String, Vec<String>>,
}

impl<'a, D: Destination + ?Sized> SinkStage<'a, D> {
    pub fn new(destination: &'a mut D, known: &'a Known, fingerprint: &'a str) -> Self {
        let (mut owners, mut own) = (HashMap::new(), HashSet::new());
        for (name, source) in &known.sources {
            if source.documents.iter().any(|(id, _)| id == name) {
                own.insert(Cow::Borrowed(name.as_str()));
            }
            owners
                .extend(source.documents.iter().filter(|(id, _)| id != name).map(|(id, _)| (id.clone(), name.clone())));
        }
        Self {
            destination,
            known,
            fingerprint,
            report: Report::default(),
            ids: HashSet::new(),
            empty: Vec::new(),
            failed: false,
            news: false,
            owners,
            own,
            taken: HashMap::new(),
        }
    }

    /// Writes everything that comes. Returns true where nothing more will; false where the run is to stop, and what comes
    /// before it takes too long.
    pub fn work(
        &mut self,
        steps: &Receiver<Batch>,
        stop: &AtomicBool,
        progress: &mut impl FnMut(&Progress),
    ) -> Result<bool, StoreError> {
        let mut stopping = None;
        loop {
            let batch = match steps.recv_timeout(GLANCE) {
                Ok(batch) => batch,
                Err(RecvTimeoutError::Disconnected) => return Ok(true),
                Err(RecvTimeoutError::Timeout) if stop.load(Ordering::Relaxed) => {
                    if stopping.get_or_insert_with(Instant::now).elapsed() > GRACE {
                        return Ok(false);
                    }
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => continue,
            };
            let (steps, embedded) = batch?;
            self.report.embedded.add(embedded);
            for step in steps {
                if self.step(step)? {
                    progress(&self.report.progress);
                }
            }
        }
    }

    /// What was done.
    pub fn finish(self) -> Report {
        self.report
    }

    /// One step; says whether there is progress to show.
    fn step(&mut self, step: Step) -> Result<bool, StoreError> {
        match step {
            Step::Put { header, entries, vectors, truncated, share } => {
                let progress = self.put(&header, entries, vectors, truncated);
                drop(share);
                return progress;
            }
            Step::Same { id } => {
                self.report.progress.same += 1;
                self.ids.insert(id);
            }
            Step::Empty { id } => {
                self.report.progress.empty += 1;
                self.empty.push(id);
            }
            Step::Failed(failure) => self.fail(failure),
            Step::Source(end) => {
                self.source(end)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn fail(&mut self, failure: Failure) {
        self.failed = true;
        self.report.progress.failed += 1;
        // What was indexed of it before stays.
        self.ids.insert(failure.document.clone());
        self.report.failures.push(failure);
    }

    /// One document; says whether there is progress to show.
    fn put(
        &mut self,
        header: &DocumentHeader,
        entries: Vec<ChunkEntry>,
        vectors: Embeddings,
        truncated: u64,
    ) -> Result<bool, StoreError> {
        if let Some(provenance) = &header.provenance {
            let holder = self.holder(&header.id).filter(|holder| *holder != provenance.source).map(str::to_owned);
            if let Some(holder) = &holder
                && self.report.met.contains(holder)
            {
                self.clash(&header.id, &provenance.source, holder);
                return Ok(false);
            }
            if holder.is_some() || header.id != provenance.source {
                self.owners.insert(header.id.clone(), provenance.source.clone());
            } else {
                self.own.insert(Cow::Owned(header.id.clone()));
            }
            if let Some(holder) = holder {
                // It may still have the document, for the day when this source lets it go.
                let unread = self.unread(None);
                self.destination.record(&holder, Some(unread))?;
                self.taken.entry(holder).or_default().push(header.id.clone());
            }
            self.ids.insert(header.id.clone());
        }
        let chunks = entries.len() as u64;
        self.destination.put(header, entries, vectors)?;
        self.report.truncated += truncated;
        let progress = &mut self.report.progress;
        progress.documents += 1;
        progress.chunks += chunks;
        progress.bytes += header.bytes;
        self.news = true;
        // What has no source is done with its source.
        Ok(!self.ids.is_empty())
    }

    /// The source that has a document of this id.
    fn holder(&self, id: &str) -> Option<&str> {
        if let Some(owner) = self.owners.get(id) {
            return Some(owner.as_str());
        }
        self.own.get(id).map(|name| &**name)
    }

    /// A document that another source has, too: the first one counts.
    fn clash(&mut self, id: &str, source: &str, holder: &str) {
        let reason = format!("{holder} holds a document of this id already");
        self.fail(Failure::new(format!("{source}, {id:?}"), reason));
    }

    /// What to remember of a source that the next run is to read again: how it looked when it was read, if it was.
    fn unread(&self, stamp: Option<FileStamp>) -> SourceRecord {
        SourceRecord { hash: None, stamp, fingerprint: self.fingerprint.to_owned(), empty: 0 }
    }

    fn source(&mut self, end: SourceEnd) -> Result<(), StoreError> {
        let SourceEnd { name, unchanged, complete, record, stamp, share } = end;
        drop(share);
        if let Some(name) = &name {
            // What was taken from it before it came, and what it still holds as it was.
            for id in self.taken.remove(name).unwrap_or_default() {
                if (unchanged || self.ids.contains(&id))
                    && let Some(owner) = self.owners.get(&id).cloned()
                {
                    self.clash(&id, name, &owner);
                }
            }
        }
        let (ids, failed) = (std::mem::take(&mut self.ids), std::mem::take(&mut self.failed));
        let mut news = std::mem::take(&mut self.news);
        let empty = std::mem::take(&mut self.empty);
        self.report.progress.sources += 1;
        let Some(name) = name else {
            if failed {
                self.report.failed.extend(ids);
            }
            // Nobody knows what it held before.
            for id in empty {
                self.report.progress.removed += u64::from(self.destination.remove(&id)?);
                self.report.empty.push(id);
            }
            return Ok(());
        };
        self.report.empty.extend(empty);
        if failed || !complete {
            self.report.failed.insert(name.clone());
        }
        if unchanged {
            self.report.progress.unchanged += 1;
            self.report.progress.empty += self.known.sources.get(&name).map_or(0, |known| known.empty);
            if failed {
                let unread = self.unread(stamp);
                self.destination.record(&name, Some(unread))?;
            } else if record.is_some() {
                self.destination.record(&name, record)?;
            }
            self.report.met.insert(name);
            return Ok(());
        }
        let known = self.known.sources.get(&name);
        if complete && !failed {
            for (id, _) in known.iter().flat_map(|known| &known.documents) {
                let elsewhere = self.owners.get(id).is_some_and(|owner| *owner != name);
                if !ids.contains(id) && !elsewhere {
                    self.owners.remove(id);
                    self.own.remove(id.as_str());
                    news |= self.destination.remove(id)?;
                    self.report.progress.removed += 1;
                }
            }
            self.destination.record(&name, record)?;
        } else if known.is_some() || news {
            let unread = self.unread(stamp);
            self.destination.record(&name, Some(unread))?;
        }
        if news {
            self.report.written.push(name.clone());
        }
        self.report.met.insert(name);
        Ok(())
    }
}
