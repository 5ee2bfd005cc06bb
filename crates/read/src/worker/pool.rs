//! Workers for whoever reads.

use std::fmt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pericope_util::time_limit;

use super::death::Death;
use super::gate::{Gate, Turn};
use super::process::Worker;
use super::protocol::{Reply, Request};
use crate::encoding::Decoded;
use crate::error::ReadError;
use crate::options::Isolation;

/// Below this much memory a worker can read hardly anything.
const LEAST_SHARE: u64 = 64 << 20;
/// What a file of so many bytes takes at least while it is parsed: itself, and its parts.
const FACTOR: u64 = 4;
/// Text that is accepted of any file, in bytes,
const TEXT: u64 = 64 << 20;
/// and of a large one, as a multiple of its size: the text of a file is packed.
const TEXT_FACTOR: u64 = 16;

/// The limits of workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerLimits {
    /// Bytes of memory for all workers together, above the some 20 MB that each takes at its start. A single file may have
    /// all of it; one whose size is more than a quarter of it may have four times its size. Only Linux enforces it.
    pub memory: u64,
    /// The time that a file may take, and as long again for each megabyte of it. Zero is no limit.
    pub time: Duration,
    /// The number of workers at once; 0 is one a core. There are never more than one for each 64 MiB of memory.
    pub workers: usize,
}

impl Default for WorkerLimits {
    /// 512 MB, 60 seconds, one a core.
    fn default() -> Self {
        Self { memory: 512_000_000, time: Duration::from_secs(60), workers: 0 }
    }
}

/// Processes that decode files, each started when it is first needed, and used again for the next file.
///
/// A file that ends its worker is an error that says how, and a new worker reads the next one. A file that needs more
/// memory than the share of one worker is tried once more, alone, with all of it.
pub struct WorkerPool {
    command: Box<dyn Fn() -> Command + Send + Sync>,
    limits: WorkerLimits,
    gate: Gate,
    idle: Mutex<Vec<Worker>>,
    started: AtomicUsize,
}

impl fmt::Debug for WorkerPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkerPool").field("limits", &self.limits).field("started", &self.started()).finish()
    }
}

impl WorkerPool {
    /// Makes a pool whose workers `command` starts: a program that calls [`serve`](super::serve).
    ///
    /// No process is started before a file needs it.
    #[must_use]
    pub fn new(command: impl Fn() -> Command + Send + Sync + 'static, limits: WorkerLimits) -> Self {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let wanted = if limits.workers == 0 { cores() } else { limits.workers };
        let room = usize::try_from(limits.memory / LEAST_SHARE).unwrap_or(usize::MAX).max(1);
        Self {
            command: Box::new(command),
            limits,
            gate: Gate::new(wanted.min(room)),
            idle: Mutex::default(),
            started: AtomicUsize::new(0),
        }
    }

    /// The number of processes started so far.
    pub fn started(&self) -> usize {
        self.started.load(Ordering::Relaxed)
    }

    /// Asks a worker, and keeps it where it lives.
    fn attempt(
        &self,
        format: &str,
        bytes: &Arc<Vec<u8>>,
        memory: u64,
        turn: Turn<'_>,
    ) -> Result<(Reply, Vec<u8>), Death> {
        let length = bytes.len() as u64;
        let most_text = TEXT.max(length.saturating_mul(TEXT_FACTOR));
        let request = Request { format: format.to_owned(), bytes: length, memory, most_text };
        let mut worker = self.worker()?;
        let answer = worker.ask(request, Arc::clone(bytes), self.time(length));
        if answer.is_ok() {
            self.idle().push(worker);
        } else {
            drop(worker);
        }
        // Only now, so that the next one does not start yet another.
        drop(turn);
        answer
    }

    fn worker(&self) -> Result<Worker, Death> {
        loop {
            let Some(mut idle) = self.idle().pop() else { break };
            if idle.is_alive() {
                return Ok(idle);
            }
        }
        self.started.fetch_add(1, Ordering::Relaxed);
        Worker::start((self.command)())
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Worker>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn time(&self, bytes: u64) -> Option<Duration> {
        time_limit(self.limits.time, bytes)
    }

    /// Asks with a share of the memory, and with all of it where that was too little. Also says how much it was.
    fn answer(&self, format: &str, bytes: &Arc<Vec<u8>>) -> (Result<(Reply, Vec<u8>), Death>, u64) {
        let needs = (bytes.len() as u64).saturating_mul(FACTOR);
        let share = self.limits.memory / self.gate.places() as u64;
        let all = self.limits.memory.max(needs).max(LEAST_SHARE);
        if needs <= share {
            let answer = self.attempt(format, bytes, share, self.gate.one());
            if answer != Err(Death::Memory) {
                return (answer, share);
            }
            // Perhaps it was what the files before it left behind.
        }
        let turn = self.gate.all();
        // What the others keep is free again.
        self.idle().clear();
        let answer = self.attempt(format, bytes, all, turn);
        // And so is what this one keeps.
        self.idle().clear();
        (answer, all)
    }
}

impl Isolation for WorkerPool {
    fn decode(&self, format: &str, path: &Path, bytes: Vec<u8>) -> Result<Decoded, ReadError> {
        let path = path.to_owned();
        let length = bytes.len() as u64;
        let (answer, memory) = self.answer(format, &Arc::new(bytes));
        let what = format!("the {} reader", format.to_uppercase());
        let message = match answer {
            Ok((Reply::Text { encoding, missing, headings, .. }, text)) => match String::from_utf8(text) {
                Ok(text) => return Ok(Decoded { text, encoding, missing, headings }),
                Err(_) => format!("{what} gave what is no text"),
            },
            Ok((Reply::NoText, _)) => return Err(ReadError::NoText { path }),
            Ok((Reply::Encrypted, _)) => return Err(ReadError::Encrypted { path }),
            Ok((Reply::Broken { message }, _)) => return Err(ReadError::Pdf { path, message }),
            Err(Death::Memory) => format!("{what} ran out of memory ({} MB)", memory / 1_000_000),
            Err(Death::Time) => {
                format!("{what} took longer than {} s", self.time(length).unwrap_or_default().as_secs())
            }
            Err(Death::NotStarted(why)) => format!("{what} could not be started: {why}"),
            Err(Death::Crash(how)) => format!("{what} {how}"),
        };
        Err(ReadError::Worker { path, message })
    }
}
