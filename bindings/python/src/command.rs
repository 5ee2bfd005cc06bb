//! The command `pericope`, carried by the wheel.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, OnceLock};

use pericope::read::{Isolation, WorkerLimits, WorkerPool};
use pericope_cli::worker;
use pyo3::prelude::*;

use crate::process::{PerProcess, detached};

/// The interpreter that runs this module; nothing where it does not know its own path.
static PYTHON: OnceLock<Option<PathBuf>> = OnceLock::new();

/// Notes how the interpreter is started again.
pub fn remember_python(py: Python<'_>) -> PyResult<()> {
    let path: Option<PathBuf> = py.import("sys")?.getattr("executable")?.extract()?;
    PYTHON.get_or_init(|| path.filter(|path| path.is_file()));
    Ok(())
}

/// The command in a process of its own.
fn again() -> Command {
    let python = PYTHON.get().cloned().flatten().unwrap_or_else(|| "python3".into());
    let mut command = Command::new(python);
    // Files of the working folder are no modules.
    command.env("PYTHONSAFEPATH", "1").args(["-m", "pericope"]);
    command
}

/// Where PDFs are read: in processes of their own, if the interpreter can be started again.
pub fn isolation(py: Python<'_>) -> Option<Arc<dyn Isolation>> {
    static POOL: PerProcess<WorkerPool> = PerProcess::new();
    PYTHON.get()?.as_ref()?;
    let start = || {
        let mut command = again();
        command.arg(worker::FLAG);
        command
    };
    let pool = POOL.get(py, || Some(WorkerPool::new(start, WorkerLimits::default())))?;
    Some(pool)
}

/// Runs the command with these arguments, the first of which is its name, and returns its exit status. Wrong arguments, and
/// the flags that ask for help, end the process.
#[pyfunction]
pub fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    worker::started_by(again);
    detached(py, || pericope_cli::main_with(arguments))
}
