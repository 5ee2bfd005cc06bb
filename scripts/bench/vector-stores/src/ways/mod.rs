//! The ways, each behind the same few functions.

#[cfg(feature = "arroy")]
mod arroy;
#[cfg(feature = "hannoy")]
mod hannoy;
#[cfg(any(feature = "arroy", feature = "hannoy"))]
mod lmdb;
#[cfg(feature = "ours")]
mod ours;
#[cfg(feature = "qdrant")]
mod qdrant;

use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result};

use crate::data::Data;

/// A way to keep vectors. Vectors are known by the number of their row.
pub trait Way: Sync {
    fn name(&self) -> &'static str;

    /// Writes some rows into a folder, where there may be others already, and commits. `ready` is called when the folder
    /// is open and nothing is written yet.
    fn write(&self, dir: &Path, data: &Data, rows: Range<usize>, ready: &mut dyn FnMut()) -> Result<()>;

    fn open(&self, dir: &Path) -> Result<Box<dyn Open>>;

    /// How deep a search may look, ascending; one that is exact has a single depth.
    fn depths(&self) -> &'static [usize];
}

/// A folder that is open for searches.
pub trait Open {
    /// The nearest rows.
    fn search(&mut self, query: &[f32], depth: usize) -> Result<Vec<u32>>;

    /// Sees what was committed last.
    fn refresh(&mut self) -> Result<()>;
}

pub fn all() -> &'static [&'static dyn Way] {
    &[
        #[cfg(feature = "ours")]
        &ours::Ours,
        #[cfg(feature = "hannoy")]
        &hannoy::Hannoy,
        #[cfg(feature = "arroy")]
        &arroy::Arroy,
        #[cfg(feature = "qdrant")]
        &qdrant::Qdrant { graph: false },
        #[cfg(feature = "qdrant")]
        &qdrant::Qdrant { graph: true },
    ]
}

pub fn by_name(name: &str) -> Result<&'static dyn Way> {
    all().iter().copied().find(|way| way.name() == name).with_context(|| format!("there is no way {name:?}"))
}
