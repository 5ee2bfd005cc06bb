//! The stores that a place on the command line may name: a folder, or a collection on a Qdrant server.

use std::path::Path;
use std::sync::Arc;

use pericope_eval::run::{Embedded, Stores};
use pericope_index::{EnglishAnalyzer, IndexMeta, IndexReader, IndexWriter};
use pericope_qdrant::{Collection, Error, QdrantDestination, QdrantRetriever, Target};
use pericope_store::{Destination, IndexSpec, ReferenceMeta, Retriever, StoreError};

use crate::status::Failure;

/// The server that a place names; `None` for a folder.
fn target(place: &str) -> Result<Option<Target>, Failure> {
    match Target::is_one(place) {
        true => Target::parse(place).map(Some).map_err(failure),
        false => Ok(None),
    }
}

/// Checks `--into`, and returns it as messages name it: never with a key.
pub fn name(into: &str) -> Result<String, Failure> {
    match target(into)? {
        Some(target) => Ok(target.to_string()),
        None if Path::new(into).is_file() => Err(Failure::usage(format!("--into {into} is a file: name a folder"))),
        None => Ok(into.to_owned()),
    }
}

/// Opens a store to search it.
pub fn open(place: &str) -> Result<Box<dyn Retriever>, Failure> {
    Ok(match target(place)? {
        Some(target) => Box::new(QdrantRetriever::open(&target, analyzer()).map_err(failure)?),
        None => Box::new(IndexReader::open(Path::new(place)).map_err(Failure::usage)?),
    })
}

/// Opens or makes a store to write it; with `rebuild` another one takes its place. Commits every so many bytes of text.
pub fn create(
    place: &str,
    spec: &IndexSpec,
    rebuild: bool,
    commit_bytes: u64,
) -> Result<Box<dyn Destination>, Failure> {
    if let Some(target) = target(place)? {
        let made = QdrantDestination::open(&target, spec, analyzer(), rebuild, commit_bytes);
        return Ok(Box::new(made.map_err(failure)?));
    }
    let made = match rebuild {
        true => IndexWriter::rebuild(Path::new(place), spec),
        false => IndexWriter::create_or_open(Path::new(place), spec),
    };
    let mut writer = made.map_err(failure)?;
    writer.commit_every(commit_bytes);
    Ok(Box::new(writer))
}

/// The size that `same-size` was given when the store was made; `None` where it was not, or where there is no store yet.
pub fn reference(place: &str) -> Result<Option<ReferenceMeta>, Failure> {
    let Some(target) = target(place)? else {
        return Ok(IndexMeta::read(Path::new(place)).ok().and_then(|meta| meta.reference));
    };
    match Collection::open(&target) {
        Ok(collection) => Ok(collection.record().built_with().reference),
        Err(Error::NoCollection { .. }) => Ok(None),
        Err(error) => Err(failure(error)),
    }
}

/// What the user can mend before anything runs, and what went wrong while running.
pub fn failure(error: impl Into<StoreError>) -> Failure {
    let error = error.into();
    match error.kind().is_usage() {
        true => Failure::usage(error),
        false => Failure::runtime(error),
    }
}

fn analyzer() -> Arc<EnglishAnalyzer> {
    Arc::new(EnglishAnalyzer::default())
}

/// Bytes of text after which a collection of an experiment is committed.
const COMMIT_BYTES: u64 = 64 << 20;

/// The stores of experiments, by the same places.
pub struct Places;

impl Stores for Places {
    fn create(&self, place: &str, spec: &IndexSpec) -> Result<Box<dyn Destination>, StoreError> {
        match Target::is_one(place) {
            true => {
                let target = Target::parse(place)?;
                Ok(Box::new(QdrantDestination::open(&target, spec, analyzer(), true, COMMIT_BYTES)?))
            }
            false => Embedded.create(place, spec),
        }
    }

    fn open(&self, place: &str) -> Result<Box<dyn Retriever>, StoreError> {
        match Target::is_one(place) {
            true => Ok(Box::new(QdrantRetriever::open(&Target::parse(place)?, analyzer())?)),
            false => Embedded.open(place),
        }
    }
}
