//! The fourth stage: everything is put in order again, and embedded in large batches.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use pericope_api::Embeddings;
use pericope_store::{ChunkEntry, DocumentHeader, EmbedCounts, Encoded, Prepared, StoreError};

use super::budget::{Budget, Share};
use super::read::{Part, Position, SourceEnd};
use super::report::Failure;
use crate::embed::{Embedder, is_full};

/// Steps that go to the destination together where nothing is embedded.
const STEPS: usize = 64;
/// A batch that is not full is encoded when nothing has come for so long: perhaps it holds the memory that others wait
/// for.
const PATIENCE: Duration = Duration::from_millis(200);

/// What the destination is told, in order.
pub(super) enum Step {
    Put { header: DocumentHeader, entries: Vec<ChunkEntry>, vectors: Embeddings, truncated: u64, share: Share },
    Same { id: String },
    Empty { id: String },
    Failed(Failure),
    Source(SourceEnd),
}

/// Steps, and what embedding took for them; or why there are no more.
pub(super) type Batch = Result<(Vec<Step>, EmbedCounts), StoreError>;

/// Puts in order and embeds.
pub(super) struct EmbedStage {
    embedder: Option<Embedder>,
    stop: Arc<AtomicBool>,
    budget: Arc<Budget>,
    /// What came before its turn.
    early: HashMap<Position, Part>,
    next: Position,
    steps: Vec<Step>,
    /// What is to be embedded for the last entries, with its hash.
    texts: Vec<(u128, Encoded)>,
    bytes: usize,
    /// The vectors of all entries before those, one after the other, and what they took.
    values: Vec<f32>,
    counts: EmbedCounts,
}

impl EmbedStage {
    pub fn new(embedder: Option<Embedder>, stop: Arc<AtomicBool>, budget: Arc<Budget>) -> Self {
        Self {
            embedder,
            stop,
            budget,
            early: HashMap::new(),
            next: (0, 0),
            steps: Vec::new(),
            texts: Vec::new(),
            bytes: 0,
            values: Vec::new(),
            counts: EmbedCounts::default(),
        }
    }

    /// Works until nothing more comes, the run is to stop, or nobody listens.
    pub fn work(mut self, parts: &Receiver<(Position, Part)>, batches: &Sender<Batch>) {
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
                // What has not been embedded is left for the next run. Without an embedder everything that was read is complete.
                if self.embedder.is_none() {
                    self.early.extend(parts.try_iter());
                    if self.in_order(batches).is_some() {
                        self.flush(batches);
                    }
                }
                return;
            }
        }
    }

    /// Everything whose turn it is. Nothing where nobody listens.
    fn in_order(&mut self, batches: &Sender<Batch>) -> Option<()> {
        while let Some(part) = self.early.remove(&self.next) {
            let ends = matches!(part, Part::End(_));
            self.next = if ends { (self.next.0 + 1, 0) } else { (self.next.0, self.next.1 + 1) };
            match part {
                Part::Document { header, prepared, truncated, share } => {
                    self.document(header, prepared, truncated, share, batches)?;
                }
                Part::Same { id } => self.steps.push(Step::Same { id }),
                Part::Empty { id } => self.steps.push(Step::Empty { id }),
                Part::Failed(failure) => self.steps.push(Step::Failed(failure)),
                Part::End(end) => self.steps.push(Step::Source(end)),
            }
            let ready = match self.embedder {
                Some(_) => {
                    is_full(self.texts.len(), self.bytes) || (self.texts.is_empty() && self.steps.len() >= STEPS)
                }
                None => self.steps.len() >= STEPS,
            };
            // What waits here holds the memory that others wait for.
            if ready || (ends && self.budget.is_overdrawn()) {
                self.flush(batches)?;
                // The run may be told to stop while a batch is embedded.
                if self.embedder.is_some() && self.stop.load(Ordering::Relaxed) {
                    return Some(());
                }
            }
            if ends {
                self.budget.turn(self.next.0);
            }
        }
        Some(())
    }

    fn document(
        &mut self,
        header: DocumentHeader,
        prepared: Vec<Prepared>,
        truncated: u64,
        share: Share,
        batches: &Sender<Batch>,
    ) -> Option<()> {
        let mut entries = Vec::with_capacity(prepared.len());
        for Prepared { entry, encoded } in prepared {
            if self.embedder.is_some() {
                self.bytes += encoded.as_str().len();
                self.texts.push((entry.encoded.unwrap_or(0), encoded));
                if is_full(self.texts.len(), self.bytes) {
                    // What is complete goes on; this document waits for the rest of its vectors.
                    self.flush(batches)?;
                }
            }
            entries.push(entry);
        }
        self.steps.push(Step::Put { header, entries, vectors: Embeddings::default(), truncated, share });
        Some(())
    }

    /// Embeds the texts and hands the steps on. Nothing where that failed or nobody listens.
    fn flush(&mut self, batches: &Sender<Batch>) -> Option<()> {
        if let Err(error) = self.embed() {
            batches.send(Err(error)).ok();
            return None;
        }
        if self.steps.is_empty() {
            return Some(());
        }
        let mut steps = std::mem::take(&mut self.steps);
        if let Some(embedder) = &self.embedder {
            let dimension = embedder.encoder.dimension();
            for step in &mut steps {
                if let Step::Put { entries, vectors, .. } = step {
                    let length = (entries.len() * dimension).min(self.values.len());
                    *vectors = Embeddings::new(dimension, self.values.drain(..length).collect());
                }
            }
        }
        batches.send(Ok((steps, std::mem::take(&mut self.counts)))).ok()
    }

    /// Embeds the texts.
    fn embed(&mut self) -> Result<(), StoreError> {
        let texts = std::mem::take(&mut self.texts);
        self.bytes = 0;
        let Some(embedder) = self.embedder.as_ref().filter(|_| !texts.is_empty()) else { return Ok(()) };
        let named: Vec<(u128, &Encoded)> = texts.iter().map(|(hash, text)| (*hash, text)).collect();
        let (vectors, counts) = embedder.embed(&named)?;
        self.values.extend_from_slice(vectors.values());
        self.counts.add(counts);
        Ok(())
    }
}
