//! Collections on Qdrant servers as what `index` writes and `search` searches.

mod destination;
mod search;

use pericope_index::{IndexError, IndexMeta, IndexSpec, ReferenceMeta, TEXT_ANALYZER};
use pericope_qdrant::{Collection, Embedder, Error, Record, Target};

pub use self::destination::ServerIndex;
pub use self::search::{Answered, ServerSearch};
use crate::status::Failure;

/// What a word in a heading above the chunk, or in the document's title, counts beside 1 in the text: what embedded
/// indexes are searched with. Here it is part of what is stored.
const HEADING_WEIGHT: f64 = 0.5;

/// Names of what a collection's record holds beside what every record does.
const REFERENCE: &str = "reference";
const WEIGHTS: &str = "segmenter weights";
const HEADINGS: &str = "heading and title weight";

/// The server that an address names; nothing where it is a folder.
///
/// # Errors
/// A usage failure for an address that is wrong.
pub fn target(place: &str) -> Result<Option<Target>, Failure> {
    match Target::is_one(place) {
        true => Target::parse(place).map(Some).map_err(failure),
        false => Ok(None),
    }
}

/// What `same-size` was sized by when the collection was made, where it was.
///
/// # Errors
/// Where the server cannot be asked, or the collection is none of ours.
pub fn reference(target: &Target) -> Result<Option<ReferenceMeta>, Failure> {
    match Collection::open(target) {
        Ok(collection) => {
            let recorded = collection.record().options.get(REFERENCE);
            Ok(recorded.and_then(|text| serde_json::from_str(text).ok()))
        }
        Err(Error::NoCollection { .. }) => Ok(None),
        Err(error) => Err(failure(error)),
    }
}

/// What the user can mend before anything runs, and what went wrong while running.
pub fn failure(error: Error) -> Failure {
    match is_usage(&error) {
        true => Failure::usage(error),
        false => Failure::runtime(error),
    }
}

/// The same for the error of a destination; hands back what is none of ours.
pub fn destination_failure(error: IndexError) -> Result<Failure, IndexError> {
    match &error {
        IndexError::Destination { source, .. } => match source.downcast_ref::<Error>() {
            Some(inner) if is_usage(inner) => Ok(Failure::usage(inner)),
            Some(inner) => Ok(Failure::runtime(inner)),
            None => Err(error),
        },
        _ => Err(error),
    }
}

fn is_usage(error: &Error) -> bool {
    matches!(
        error,
        Error::Target { .. }
            | Error::Setting { .. }
            | Error::Key { .. }
            | Error::NoCollection { .. }
            | Error::NotOurs { .. }
            | Error::Format { .. }
            | Error::Mismatch { .. }
            | Error::NotAnAlias { .. }
            | Error::IsAnAlias { .. }
            | Error::Dimension { .. }
            | Error::NoVectors { .. }
    )
}

/// What a collection built by `spec` records.
fn record(spec: &IndexSpec) -> Record {
    let meta = IndexMeta::new(spec);
    let mut record = Record::new(meta.segmenter, meta.tokenizer, TEXT_ANALYZER);
    record.embedder = meta.embedder.map(|embedder| Embedder {
        name: embedder.name,
        fingerprint: embedder.fingerprint,
        dimension: embedder.dimension,
        prefix_headings: embedder.prefix_headings,
    });
    record.options.insert(HEADINGS.to_owned(), HEADING_WEIGHT.to_string());
    let reference = meta.reference.and_then(|reference| serde_json::to_string(&reference).ok());
    for (name, value) in [(REFERENCE, reference), (WEIGHTS, meta.segmenter_fingerprint)] {
        record.options.extend(value.map(|value| (name.to_owned(), value)));
    }
    record
}
