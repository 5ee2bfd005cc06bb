//! Exceptions of the user's code on their way through the library, whose errors hold texts alone.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyException, PyRuntimeError, PyStopIteration};
use pyo3::prelude::*;

use crate::ending::{Call, ENDS, exit};
use crate::errors::{UsageError, failed, usage};

/// Stands around the number of an exception in a text. It is no character of any script.
const MARK: char = '\u{E000}';

/// Exceptions that nobody asked for, after which the oldest is let go.
const MOST: usize = 10_000;

/// What the user's code raised while the library was calling it: the caller gets it as it was. Several calls may share one of these,
/// at the same time: the text of each exception bears its number.
#[derive(Clone, Default)]
pub struct Raised {
    kept: Arc<Mutex<BTreeMap<u64, PyErr>>>,
    /// One call alone has it: the first exception is what it gives, and texts are as they were.
    of_one_call: bool,
}

impl Raised {
    /// What a single call raises.
    pub fn of_one_call() -> Self {
        Self { of_one_call: true, ..Self::default() }
    }

    /// Calls the user's code. What it raises is kept, and the text for the library's error is returned.
    pub fn call<T>(&self, question: impl FnOnce(Python<'_>) -> PyResult<T>) -> Result<T, String> {
        let ask = |call: Call| call.ask(|py| question(py).map_err(|error| self.keep(py, error)));
        Call::begin().and_then(ask).unwrap_or_else(|| {
            let number = self.hold(exit());
            Err(self.said(number, ENDS))
        })
    }

    /// Keeps an exception; returns what it says.
    pub fn keep(&self, py: Python<'_>, error: PyErr) -> String {
        let error = unmistakable(py, error);
        let text = error.to_string().replace(MARK, "");
        let number = self.hold(error);
        self.said(number, &text)
    }

    /// The text for the library's error.
    fn said(&self, number: u64, text: &str) -> String {
        if self.of_one_call { text.to_owned() } else { format!("{MARK}{number}{MARK}{text}") }
    }

    /// Keeps an exception of which nobody asks what it says.
    pub fn hold(&self, error: PyErr) -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut kept = self.slot();
        let spare = if self.of_one_call && !kept.is_empty() {
            Some(error)
        } else {
            kept.insert(number, error);
            if kept.len() > MOST { kept.pop_first().map(|(_, oldest)| oldest) } else { None }
        };
        // What goes with an exception may be anything, and may ask for this lock.
        drop(kept);
        drop(spare);
        number
    }

    /// Whether an exception is kept.
    pub fn holds(&self) -> bool {
        !self.slot().is_empty()
    }

    /// The first exception that is kept.
    pub fn first(&self) -> Option<PyErr> {
        self.slot().pop_first().map(|(_, error)| error)
    }

    /// What a text speaks of, with the text as it was; nothing where it is of no exception that was kept.
    pub fn of(&self, text: &str) -> Option<(Option<PyErr>, String)> {
        let (before, rest) = text.split_once(MARK)?;
        let (number, after) = rest.split_once(MARK)?;
        let number: u64 = number.parse().ok()?;
        let raised = self.slot().remove(&number);
        Some((raised, format!("{before}{after}")))
    }

    /// What was raised, where the error speaks of it, else the error.
    pub fn or(&self, error: PyErr) -> PyErr {
        if self.of_one_call {
            return self.first().unwrap_or(error);
        }
        let (text, is_usage) =
            Python::attach(|py| (error.value(py).to_string(), error.is_instance_of::<UsageError>(py)));
        match self.of(&text) {
            Some((Some(raised), _)) => raised,
            Some((None, text)) if is_usage => usage(text),
            Some((None, text)) => failed(text),
            None => error,
        }
    }

    fn slot(&self) -> MutexGuard<'_, BTreeMap<u64, PyErr>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether an exception is to end the program, as an interrupt is, rather than say that something failed.
pub fn is_exit(error: &PyErr) -> bool {
    Python::try_attach(|py| !error.is_instance_of::<PyException>(py)).unwrap_or(false)
}

/// An iterator that let `StopIteration` through would seem to be at its end.
fn unmistakable(py: Python<'_>, error: PyErr) -> PyErr {
    if !error.is_instance_of::<PyStopIteration>(py) {
        return error;
    }
    let clear = PyRuntimeError::new_err("code of your own raised StopIteration");
    clear.set_cause(py, Some(error));
    clear
}
