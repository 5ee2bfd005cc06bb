//! The last stage: the destination is told, in order.

use std::collections::{HashMap, HashSet};

use crossbeam_channel::Receiver;

use super::embed::{Batch, Step};
use super::read::SourceEnd;
use super::{Failure, Progress, Report};
use crate::manifest::{Known, SourceRecord};
use crate::{Destination, DocumentHead, IndexError};

/// Writes.
pub(super) struct SinkStage<'a, D: ?Sized> {
    destination: &'a mut D,
    known: &'a Known,
    fingerprint: &'a str,
    report: Report,
    /// Documents of the source that is being written.
    ids: HashSet<String>,
    /// Something of that source failed.
    failed: bool,
    /// Something of that source was written or removed.
    news: bool,
    /// Which source a document is from, of those that are not called as their source is.
    owners: HashMap<String, String>,
    /// The document under way is left out.
    skipping: bool,
}

impl<'a, D: Destination + ?Sized> SinkStage<'a, D> {
    pub fn new(destination: &'a mut D, known: &'a Known, fingerprint: &'a str) -> Self {
        let mut owners = HashMap::new();
        for (name, source) in &known.sources {
            owners
                .extend(source.documents.iter().filter(|(id, _)| id != name).map(|(id, _)| (id.clone(), name.clone())));
        }
        let (report, ids) = (Report::default(), HashSet::new());
        Self { destination, known, fingerprint, report, ids, failed: false, news: false, owners, skipping: false }
    }

    /// Writes everything that comes.
    pub fn work(&mut self, steps: &Receiver<Batch>, progress: &mut impl FnMut(&Progress)) -> Result<(), IndexError> {
        for batch in steps {
            let (steps, embedded) = batch?;
            self.report.embedded.add(embedded);
            self.destination.account(embedded, 0);
            for step in steps {
                if self.step(step)? {
                    progress(&self.report.progress);
                }
            }
        }
        Ok(())
    }

    /// What was done.
    pub fn finish(self) -> Report {
        self.report
    }

    /// One step; says whether there is progress to show.
    fn step(&mut self, step: Step) -> Result<bool, IndexError> {
        match step {
            Step::Begin { head, truncated } => self.begin(&head, truncated)?,
            Step::Put(entries, vectors) => {
                if !self.skipping {
                    self.destination.put(entries, vectors)?;
                }
            }
            Step::End { chunks, bytes, share } => {
                drop(share);
                if std::mem::take(&mut self.skipping) {
                    return Ok(false);
                }
                self.destination.end()?;
                let progress = &mut self.report.progress;
                progress.documents += 1;
                progress.chunks += chunks;
                progress.bytes += bytes;
                self.news = true;
                // What has no source is done with its source.
                return Ok(!self.ids.is_empty());
            }
            Step::Same { id } => {
                self.report.progress.same += 1;
                self.ids.insert(id);
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

    fn begin(&mut self, head: &DocumentHead, truncated: u64) -> Result<(), IndexError> {
        if let Some(origin) = &head.origin {
            if let Some(other) = self.owner(&head.id, &origin.source) {
                let reason = format!("{} holds a document of this id already", other);
                self.fail(Failure { document: format!("{}, {:?}", origin.source, head.id), reason });
                self.skipping = true;
                return Ok(());
            }
            if head.id != origin.source {
                self.owners.insert(head.id.clone(), origin.source.clone());
            }
            self.ids.insert(head.id.clone());
        }
        self.report.truncated += truncated;
        self.destination.account(crate::EmbedCounts::default(), truncated);
        self.destination.begin(head)
    }

    /// The other source that has a document of this id, where that one came first in this run.
    fn owner(&self, id: &str, source: &str) -> Option<&str> {
        let owner = self.owners.get(id).map(String::as_str)?;
        (owner != source && self.report.met.contains(owner)).then_some(owner)
    }

    fn source(&mut self, end: SourceEnd) -> Result<(), IndexError> {
        let SourceEnd { name, unchanged, complete, record, share } = end;
        drop(share);
        let (ids, failed) = (std::mem::take(&mut self.ids), std::mem::take(&mut self.failed));
        let mut news = std::mem::take(&mut self.news);
        self.report.progress.sources += 1;
        let Some(name) = name else { return Ok(()) };
        if unchanged {
            self.report.progress.unchanged += 1;
            if record.is_some() {
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
                    news |= self.destination.remove(id)?;
                    self.report.progress.removed += 1;
                }
            }
            self.destination.record(&name, record)?;
        } else if known.is_some() || news {
            // Read again next time.
            let fingerprint = self.fingerprint.to_owned();
            self.destination.record(&name, Some(SourceRecord { hash: None, stamp: None, fingerprint }))?;
        }
        if news {
            self.report.written.push(name.clone());
        }
        self.report.met.insert(name);
        Ok(())
    }
}
