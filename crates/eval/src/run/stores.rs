//! The stores that chunkers are measured in.

use std::path::Path;

use super::folder::INDEX;
use pericope_index::{IndexReader, IndexWriter};
use pericope_store::{Destination, ErrorKind, IndexSpec, OthersCollection, Retriever, StoreError};
use pericope_util::sha256_hex;

/// Makes and opens stores by their places: a folder, or the address of a collection on a server.
pub trait Stores: Sync {
    /// Makes a store anew, in place of what is there.
    ///
    /// # Errors
    /// Where it cannot be made.
    fn create(&self, place: &str, spec: &IndexSpec) -> Result<Box<dyn Destination>, StoreError>;

    /// Opens a store to search it.
    ///
    /// # Errors
    /// Where there is none that can be read.
    fn open(&self, place: &str) -> Result<Box<dyn Retriever>, StoreError>;

    /// Opens a collection of passages on a server that another program made. There are none by default.
    ///
    /// # Errors
    /// Where the address is none, or such collections are not known here.
    fn open_others(&self, _place: &str) -> Result<Box<dyn OthersCollection>, StoreError> {
        let error = "collections of other programs cannot be read here: this program was built without Qdrant";
        Err(StoreError::Backend { kind: ErrorKind::Address, error: error.into() })
    }
}

/// Embedded stores: every place is a folder.
#[derive(Debug, Clone, Copy, Default)]
pub struct Embedded;

impl Stores for Embedded {
    fn create(&self, place: &str, spec: &IndexSpec) -> Result<Box<dyn Destination>, StoreError> {
        Ok(Box::new(IndexWriter::rebuild(Path::new(place), spec)?))
    }

    fn open(&self, place: &str) -> Result<Box<dyn Retriever>, StoreError> {
        Ok(Box::new(IndexReader::open(Path::new(place))?))
    }
}

/// Says in the address of a collection that it is made to be measured in: it takes the place of no other one.
const EVALUATION: &str = "evaluation=on";

/// The place of one chunker's store: the folder `index.tmp` of the run, or beside the collection that the configuration
/// names one with the chunker's name behind it (`qdrant://localhost:6334/eval` gives `.../eval-fixed`).
pub(super) fn place(base: Option<&str>, chunker: &str, out: &Path) -> String {
    let Some(base) = base else { return out.join(INDEX).display().to_string() };
    let name = name_of(chunker);
    match base.split_once('?') {
        Some((address, settings)) => format!("{address}-{name}?{settings}&{EVALUATION}"),
        None if base.contains("://") => format!("{base}-{name}?{EVALUATION}"),
        None => format!("{base}-{name}"),
    }
}

/// A chunker's name as part of a collection's. Where a character cannot be, a hash of the whole name keeps apart what would
/// be one name.
fn name_of(chunker: &str) -> String {
    const HASH: usize = 8;
    let can_be = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let name: String = chunker.chars().map(|c| if can_be(c) { c } else { '-' }).collect();
    if name == chunker {
        return name;
    }
    let hash: String = sha256_hex(chunker).chars().take(HASH).collect();
    format!("{name}-{hash}")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::place;

    #[test]
    fn every_chunker_has_a_collection_of_its_own() {
        let of = |base| place(base, "same size/2", Path::new("run"));
        assert_eq!(of(Some("qdrant://h:6334/eval")), "qdrant://h:6334/eval-same-size-2-372fe31e?evaluation=on");
        assert_eq!(
            of(Some("qdrant://h:6334/eval?shards=2")),
            "qdrant://h:6334/eval-same-size-2-372fe31e?shards=2&evaluation=on"
        );
        let name = |chunker| place(Some("qdrant://h/eval"), chunker, Path::new("run"));
        assert_eq!(name("same-size-2"), "qdrant://h/eval-same-size-2?evaluation=on");
        let alike = ["same size/2", "same/size 2", "same-size-2", "same size 2"].map(name);
        assert!(alike.iter().enumerate().all(|(i, one)| !alike[..i].contains(one)), "{alike:?}");
        assert_eq!(of(None), Path::new("run").join("index.tmp").display().to_string());
    }
}
