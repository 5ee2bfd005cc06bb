//! Long calls. Other Python threads run meanwhile, and a process that was forked works with threads of its own.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Something that a fork cannot take along, since threads belong to it: every process makes its own.
pub struct PerProcess<T>(Mutex<Option<(u32, Arc<T>)>>);

impl<T> PerProcess<T> {
    pub const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// The one of this process. The lock is taken with the interpreter's alone, under which processes are forked: no fork finds it
    /// taken.
    pub fn get(&self, _: Python<'_>, make: impl FnOnce() -> Option<T>) -> Option<Arc<T>> {
        let process = std::process::id();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = kept.as_ref().filter(|(owner, _)| *owner == process) {
            return Some(Arc::clone(found));
        }
        let made = Arc::new(make()?);
        // The threads of the process before are not here: nobody may wait for them to end.
        std::mem::forget(kept.replace((process, Arc::clone(&made))));
        Some(made)
    }
}

/// The process that loaded the module. Rayon's own threads are its alone; a process that was forked from it would wait for ever for
/// what it gives them to do.
static LOADED_BY: OnceLock<u32> = OnceLock::new();

/// Notes which process loads the module.
pub fn remember() {
    LOADED_BY.get_or_init(std::process::id);
}

/// The threads that work for this process. Where it was not forked they are the caller's and rayon's, and what is written in Python
/// is called on the thread that asked for it.
#[derive(Clone)]
pub struct Threads(Option<Arc<ThreadPool>>);

impl Threads {
    /// Those of this process.
    pub fn here(py: Python<'_>) -> Self {
        static FORKED: PerProcess<ThreadPool> = PerProcess::new();
        let process = std::process::id();
        if *LOADED_BY.get_or_init(|| process) == process {
            return Self(None);
        }
        Self(FORKED.get(py, || ThreadPoolBuilder::new().build().ok()))
    }

    /// Does something with these threads.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match &self.0 {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    /// Whether they are those of a process that was forked.
    pub fn are_forked(&self) -> bool {
        self.0.is_some()
    }
}

/// Does something that may take long, while other Python threads run.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    let threads = Threads::here(py);
    py.detach(|| threads.run(work))
}
