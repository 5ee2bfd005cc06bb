//! Stores by their places, with failures as the command tells them.

use std::path::Path;

use pericope::store::{Destination, IndexSpec, Retriever, StoreError, StoreMeta};
use pericope::stores;

use crate::resources::shown;
use crate::status::Failure;

/// Checks `--into`, and returns it as messages name it: never with a key.
pub fn name(into: &str) -> Result<String, Failure> {
    if !stores::is_server(into) && Path::new(into).is_file() {
        return Err(Failure::usage(format!("--into {} is a file: name a folder", shown(Path::new(into)))));
    }
    stores::name(into).map_err(failure)
}

/// Opens a store to search it once, for somebody who waits. A folder that is no index is wrong usage; one that is damaged is not.
pub fn open(place: &str) -> Result<Box<dyn Retriever>, Failure> {
    stores::open_soon(place).map_err(failure)
}

/// Opens or makes a store to write it; with `rebuild` another one takes its place. Commits every so many bytes of text.
pub fn create(
    place: &str,
    spec: &IndexSpec,
    rebuild: bool,
    commit_bytes: u64,
) -> Result<Box<dyn Destination>, Failure> {
    stores::create(place, spec, rebuild, commit_bytes).map_err(failure)
}

/// What a store was built with; none where there is none yet.
pub fn built_with(place: &str) -> Result<Option<StoreMeta>, Failure> {
    stores::built_with(place).map_err(failure)
}

/// Whether a place is a folder whose vectors are of an earlier version, which this one does not read.
pub fn has_old_vectors(place: &str) -> bool {
    !stores::is_server(place)
        && pericope_index::IndexMeta::read(Path::new(place)).is_ok_and(|meta| meta.has_old_vectors())
}

/// What the user can mend before anything runs, and what went wrong while running.
pub fn failure(error: StoreError) -> Failure {
    Failure::of(error.kind().is_usage(), error)
}
