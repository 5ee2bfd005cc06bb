//! Exceptions: one base class, and the words of the command.

use std::fmt::Display;

use pericope::EngineError;
use pericope::experiments::ExperimentError;
use pericope::read::ReadError;
use pericope::store::StoreError;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(pericope, PericopeError, PyException, "The base of all errors of Pericope.");
create_exception!(
    pericope,
    UsageError,
    PericopeError,
    "A wrong spec, name, value or configuration, or a model that is not installed: what was asked for must change."
);
create_exception!(pericope, RunError, PericopeError, "Something failed while it ran: a file, a model, a server.");

/// An error that the caller can mend.
pub fn usage(problem: impl Display) -> PyErr {
    UsageError::new_err(problem.to_string())
}

/// An error of a run.
pub fn failed(problem: impl Display) -> PyErr {
    RunError::new_err(problem.to_string())
}

fn by_kind(is_usage: bool, problem: impl Display) -> PyErr {
    if is_usage { usage(problem) } else { failed(problem) }
}

/// The exception of the engine's errors.
pub fn of_engine(error: EngineError) -> PyErr {
    by_kind(matches!(error, EngineError::Usage(_)), error)
}

/// The exception of a store's errors.
pub fn of_store(error: StoreError) -> PyErr {
    by_kind(error.kind().is_usage(), error)
}

/// The exception of what could not be read.
pub fn of_read(error: ReadError) -> PyErr {
    let is_usage = matches!(
        error,
        ReadError::NotFound { .. }
            | ReadError::NotAFile { .. }
            | ReadError::UnknownFormat { .. }
            | ReadError::Glob { .. }
    );
    by_kind(is_usage, error)
}

/// The exception of a run's errors.
pub fn of_experiment(error: ExperimentError) -> PyErr {
    by_kind(error.is_usage(), error)
}
