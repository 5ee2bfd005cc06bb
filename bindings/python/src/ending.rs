//! The end of the interpreter. A thread that is in Python then is ended from below, through the frames of this module, which would
//! take the process down. So code of the user's is not begun any more, and what has begun is waited for.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use pyo3::exceptions::PySystemExit;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyTuple};

/// How long calls are waited for.
const PATIENCE: Duration = Duration::from_secs(5);
const GLANCE: Duration = Duration::from_millis(1);

static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// The process, and how many calls are under way in it: a fork takes the number along, and not the calls.
static UNDER_WAY: AtomicU64 = AtomicU64::new(0);

/// What is said of calls that are not begun.
pub const ENDS: &str = "the interpreter is ending";

/// The exception in place of a call that is not begun: it ends a thread without a word.
pub fn exit() -> PyErr {
    PySystemExit::new_err(ENDS)
}

/// A call of the user's code.
pub struct Call(());

impl Call {
    /// Nothing where the interpreter is ending.
    pub fn begin() -> Option<Self> {
        count(|calls| calls + 1);
        let call = Self(());
        (!IS_ENDING.load(Ordering::SeqCst)).then_some(call)
    }

    /// Asks with the interpreter's lock; nothing where the interpreter is ending.
    pub fn ask<T>(self, question: impl FnOnce(Python<'_>) -> T) -> Option<T> {
        Python::try_attach(|py| self.inside(|| question(py)))
    }

    /// Asks on a thread that has the interpreter's lock.
    pub fn inside<T>(&self, question: impl FnOnce() -> T) -> T {
        let stay = Stay;
        let answer = question();
        std::mem::forget(stay);
        answer
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        count(|calls| calls.saturating_sub(1));
    }
}

/// Stops a thread that is being ended from below before it leaves frames that cannot be left so: as Python does from 3.14 on.
struct Stay;

impl Drop for Stay {
    fn drop(&mut self) {
        while !std::thread::panicking() {
            std::thread::park();
        }
    }
}

/// Waits for what is under way before the interpreter ends.
pub fn watch(py: Python<'_>) -> PyResult<()> {
    let end = PyCFunction::new_closure(py, None, None, end)?;
    py.import("atexit")?.call_method1("register", (end,))?;
    Ok(())
}

fn end(arguments: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>) {
    IS_ENDING.store(true, Ordering::SeqCst);
    arguments.py().detach(|| {
        let began = Instant::now();
        while count(|calls| calls) > 0 && began.elapsed() < PATIENCE {
            std::thread::sleep(GLANCE);
        }
    });
}

/// Changes the number of calls that are under way in this process, and returns it.
fn count(change: impl Fn(u64) -> u64) -> u64 {
    let process = u64::from(std::process::id());
    let mut found = UNDER_WAY.load(Ordering::SeqCst);
    loop {
        let calls = if found >> 32 == process { found & u64::from(u32::MAX) } else { 0 };
        let changed = change(calls);
        match UNDER_WAY.compare_exchange(found, (process << 32) | changed, Ordering::SeqCst, Ordering::SeqCst) {
            Ok(_) => return changed,
            Err(other) => found = other,
        }
    }
}
