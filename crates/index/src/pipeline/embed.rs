//! The fourth stage: everything is put in order again, and embedded in large batches.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use pericope_api::Embeddings;

use super::Failure;
use super::budget::Share;
use super::read::{Part, Place, SourceEnd};
use crate::embed::{Embedder, is_full};
use crate::prepare::Prepared;
use crate::{DocumentHead, EmbedCounts, Entry, IndexError};

/// Steps that go to the destination together where nothing is embedded.
const STEPS: usize = 64;
/// A batch that is not full is encoded when nothing has come for so long: perhaps it holds the memory that others wait
/// for.
const PATIENCE: Duration = Duration::from_millis(200);

/// What the destination is told, in order.
pub(super) enum Step {
    Begin { head: DocumentHead, truncated: u64 },
    Put(Vec<Entry>, Embeddings),
    End { chunks: u64, bytes: u64, share: Share },
    Same { id: String },
    Failed(Failure),
    Source(SourceEnd),
}

/// Steps, and what embedding took for them; or why there are no more.
pub(super) type Batch = Result<(Vec<Step>, EmbedCounts), IndexError>;

/// Puts in order and embeds.
pub(super) struct EmbedStage<'a> {
    embedder: Option<Embedder>,
    stop: &'a Arc<AtomicBool>,
    /// What came before its turn.
    early: HashMap<Place, Part>,
    next: Place,
    steps: Vec<Step>,
    /// What is to be embedded for the entries in `steps`, one text each.
    texts: Vec<String>,
    bytes: usize,
    /// The destination was told the beginning of a document and not its end.
    open: bool,
}

impl<'a> EmbedStage<'a> {
    pub fn new(embedder: Option<Embedder>, stop: &'a Arc<AtomicBool>) -> Self {
        let (early, steps, texts) = (HashMap::new(), Vec::new(), Vec::new());
        Self { embedder, stop, early, next: (0, 0), steps, texts, bytes: 0, open: false }
    }

    /// Works until nothing more comes, the run is to stop, or nobody listens.
    pub fn work(mut self, parts: &Receiver<(Place, Part)>, batches: &Sender<Batch>) {
        loop {
            let outcome = match parts.recv_timeout(PATIENCE) {
                Ok((place, part)) => {
                    self.early.insert(place, part);
                    self.in_order(batches)
                }
                Err(RecvTimeoutError::Timeout) => self.flush(batches),
                Err(RecvTimeoutError::Disconnected) => {
                    self.flush(batches);
                    return;
                }
            };
            if outcome.is_none() {
                return;
            }
            if self.stop.load(Ordering::Relaxed) {
                // A document that the destination knows half of is finished; what has not been embedded is left.
                if self.open || self.embedder.is_none() {
                    self.flush(batches);
                }
                return;
            }
        }
    }

    /// Everything whose turn it is. Nothing where nobody listens.
    fn in_order(&mut self, batches: &Sender<Batch>) -> Option<()> {
        while let Some(part) = self.early.remove(&self.next) {
            self.next = match part {
                Part::End(_) => (self.next.0 + 1, 0),
                _ => (self.next.0, self.next.1 + 1),
            };
            match part {
                Part::Document { head, prepared, truncated, share } => {
                    self.document(head, prepared, truncated, share, batches)?;
                }
                Part::Same { id } => self.steps.push(Step::Same { id }),
                Part::Failed(failure) => self.steps.push(Step::Failed(failure)),
                Part::End(end) => self.steps.push(Step::Source(end)),
            }
            let ready = match self.embedder {
                Some(_) => {
                    is_full(self.texts.len(), self.bytes) || (self.texts.is_empty() && self.steps.len() >= STEPS)
                }
                None => self.steps.len() >= STEPS,
            };
            if ready {
                self.flush(batches)?;
                // The run may be told to stop while a batch is embedded.
                if self.stop.load(Ordering::Relaxed) {
                    return Some(());
                }
            }
        }
        Some(())
    }

    fn document(
        &mut self,
        head: DocumentHead,
        prepared: Vec<Prepared>,
        truncated: u64,
        share: Share,
        batches: &Sender<Batch>,
    ) -> Option<()> {
        let (chunks, bytes) = (prepared.len() as u64, head.bytes);
        self.steps.push(Step::Begin { head, truncated });
        let mut entries = Vec::new();
        for Prepared { entry, encoded } in prepared {
            entries.push(entry);
            if self.embedder.is_some() {
                self.bytes += encoded.len();
                self.texts.push(encoded);
                if is_full(self.texts.len(), self.bytes) {
                    self.steps.push(Step::Put(std::mem::take(&mut entries), Embeddings::default()));
                    self.flush(batches)?;
                }
            }
        }
        if !entries.is_empty() {
            self.steps.push(Step::Put(entries, Embeddings::default()));
        }
        self.steps.push(Step::End { chunks, bytes, share });
        Some(())
    }

    /// Embeds the texts and hands the steps on. Nothing where that failed or nobody listens.
    fn flush(&mut self, batches: &Sender<Batch>) -> Option<()> {
        if self.steps.is_empty() {
            return Some(());
        }
        for step in &self.steps {
            match step {
                Step::Begin { .. } => self.open = true,
                Step::End { .. } => self.open = false,
                _ => {}
            }
        }
        let embedded = self.embed();
        let failed = embedded.is_err();
        batches.send(embedded).ok()?;
        if failed { None } else { Some(()) }
    }

    fn embed(&mut self) -> Batch {
        let (mut steps, texts) = (std::mem::take(&mut self.steps), std::mem::take(&mut self.texts));
        self.bytes = 0;
        let Some(embedder) = self.embedder.as_ref().filter(|_| !texts.is_empty()) else {
            return Ok((steps, EmbedCounts::default()));
        };
        let entries = steps.iter().flat_map(|step| match step {
            Step::Put(entries, _) => entries.as_slice(),
            _ => &[],
        });
        let hashed: Vec<(u128, &str)> =
            entries.map(|entry| entry.encoded.unwrap_or(0)).zip(texts.iter().map(String::as_str)).collect();
        let (all, counts) = embedder.embed(&hashed)?;
        let mut rows = all.rows();
        for step in &mut steps {
            if let Step::Put(entries, vectors) = step {
                let values: Vec<f32> = rows.by_ref().take(entries.len()).flatten().copied().collect();
                *vectors = Embeddings::new(all.dimension(), values);
            }
        }
        Ok((steps, counts))
    }
}
