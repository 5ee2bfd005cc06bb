//! The laws that every store obeys.

use pericope_index::{Destination, IndexReader, IndexSpec, IndexWriter, Retriever};
use pericope_testkit::encoders::BagOfWords;
use pericope_testkit::{TestStore, store_laws};

struct Folder(tempfile::TempDir);

fn spec(vectors: bool) -> IndexSpec {
    let spec = IndexSpec::new("sentence", "words");
    if vectors { spec.with_encoder(BagOfWords::new()) } else { spec }
}

impl TestStore for Folder {
    fn write(&self, vectors: bool) -> Box<dyn Destination> {
        Box::new(IndexWriter::create_or_open(self.0.path(), &spec(vectors)).unwrap())
    }

    fn rebuild(&self, vectors: bool) -> Box<dyn Destination> {
        Box::new(IndexWriter::rebuild(self.0.path(), &spec(vectors)).unwrap())
    }

    fn read(&self) -> Box<dyn Retriever> {
        Box::new(IndexReader::open(self.0.path()).unwrap())
    }
}

#[test]
fn an_index_obeys_the_laws_of_stores() {
    let folder = || Folder(tempfile::tempdir().unwrap());
    store_laws(&folder(), &folder());
}
