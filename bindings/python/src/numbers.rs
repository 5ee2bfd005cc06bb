//! Whole numbers as callers give them.

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;

use crate::errors::usage;

/// A number from 0 on, or one that lies beyond what can be counted: which argument it is for is known where it is used.
pub struct Whole(Result<usize, String>);

impl Whole {
    pub const fn of(number: usize) -> Self {
        Self(Ok(number))
    }

    /// The number, of the argument of this name.
    pub fn named(self, name: &str) -> PyResult<usize> {
        self.0.map_err(|given| usage(format!("{name} is {given}: it is a whole number from 0 on, of 64 bits at most")))
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Whole {
    type Error = PyErr;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match given.extract::<usize>() {
            Ok(number) => Ok(Self(Ok(number))),
            Err(error) if error.is_instance_of::<PyOverflowError>(given.py()) => {
                Ok(Self(Err(given.str()?.to_string())))
            }
            Err(error) => Err(error),
        }
    }
}

/// As [`Whole::named`], where there may be no number.
pub fn optional(given: Option<Whole>, name: &str) -> PyResult<Option<usize>> {
    given.map(|number| number.named(name)).transpose()
}

/// As [`Whole::named`], of each of a list.
pub fn each(given: Vec<Whole>, name: &str) -> PyResult<Vec<usize>> {
    given.into_iter().map(|number| number.named(name)).collect()
}
