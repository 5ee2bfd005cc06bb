//! The laws that every store obeys.

use std::sync::Arc;

use pericope_qdrant::{QdrantDestination, QdrantRetriever};
use pericope_store::{Destination, IndexSpec, Retriever};
use pericope_testkit::analyzer::PlainWords;
use pericope_testkit::encoders::BagOfWords;
use pericope_testkit::{TestStore, store_laws};

use crate::common::Place;

fn spec(vectors: bool) -> IndexSpec {
    let spec = IndexSpec::new("sentence", "words");
    if vectors { spec.with_encoder(BagOfWords::new()) } else { spec }
}

impl TestStore for Place {
    fn write(&self, vectors: bool) -> Box<dyn Destination> {
        Box::new(
            QdrantDestination::open(&self.target(), &spec(vectors), Arc::new(PlainWords), false, u64::MAX).unwrap(),
        )
    }

    fn rebuild(&self, vectors: bool) -> Box<dyn Destination> {
        let (target, words) = (self.target(), Arc::new(PlainWords));
        Box::new(QdrantDestination::open(&target, &spec(vectors), words, true, u64::MAX).unwrap())
    }

    fn read(&self) -> Box<dyn Retriever> {
        Box::new(QdrantRetriever::open(&self.target(), Arc::new(PlainWords)).unwrap())
    }
}

#[test]
fn a_collection_obeys_the_laws_of_stores() {
    store_laws(&Place::any(), &Place::any());
}
