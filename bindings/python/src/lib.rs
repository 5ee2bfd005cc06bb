//! Pericope for Python: the module `pericope._native`, which the package `pericope` shows in parts.
//!
//! It is glue: arguments in, calls of the library, values and exceptions out. Long calls let other Python threads run.
#![forbid(unsafe_code)]

mod chunk;
mod command;
mod custom;
mod document;
mod embedder;
mod ending;
mod errors;
mod evaluate;
mod feed;
mod forked;
mod index;
mod json;
mod metrics;
mod numbers;
mod pickles;
mod process;
mod search;
mod segmentation;
mod segmenter;
mod stats;
mod stream;
mod tree;

use pyo3::prelude::*;

/// The compiled part of `pericope`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::chunk::Chunk;
    #[pymodule_export]
    use crate::command::main;
    #[pymodule_export]
    use crate::document::{Document, Sentence, read, read_all};
    #[pymodule_export]
    use crate::embedder::Embedder;
    #[pymodule_export]
    use crate::errors::{PericopeError, RunError, UsageError};
    #[pymodule_export]
    use crate::evaluate::evaluate;
    #[pymodule_export]
    use crate::index::{IndexReport, index};
    #[pymodule_export]
    use crate::metrics::{answer_scores, retrieval_scores, segmentation_scores};
    #[pymodule_export]
    use crate::search::{Hit, Index, open};
    #[pymodule_export]
    use crate::segmentation::{Boundaries, Scores, Spans};
    #[pymodule_export]
    use crate::segmenter::{Segmenter, segmenters};
    #[pymodule_export]
    use crate::stats::{bootstrap_interval, compare, holm, permutation_p};
    #[pymodule_export]
    use crate::stream::ChunkIterator;
    #[pymodule_export]
    use crate::tree::Tree;

    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        use pyo3::prelude::*;
        crate::process::remember();
        crate::ending::watch(module.py())?;
        crate::command::remember_python(module.py())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
