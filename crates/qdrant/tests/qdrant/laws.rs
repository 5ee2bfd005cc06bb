//! The laws that every store obeys.

use std::sync::Arc;

use pericope_api::{Document, Format, Rewrite, Span};
use pericope_qdrant::{QdrantDestination, QdrantRetriever};
use pericope_store::{Destination, IndexSpec, Mode, Query, Retriever, RunSummary};
use pericope_testkit::analyzer::PlainWords;
use pericope_testkit::documents::sentence_chunks;
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

#[test]
fn words_are_those_that_a_reader_sees() {
    let place = Place::in_memory();
    let mut document = Document::from_sentences("a", &["<b>fish</b>es swim"]);
    document.rewrites =
        [(0, 3), (7, 11)].map(|(start, end)| Rewrite { span: Span::new(start, end), with: "".into() }).into();
    document.format = Format::Html;
    let mut store = place.write(false);
    store.add(&document, &sentence_chunks(&document)).unwrap();
    store.finish(&RunSummary::default()).unwrap();
    let found = |query: &str| place.read().search(&Query::new(query, Mode::Bm25, 5)).unwrap().len();
    assert_eq!(["fishes", "swim", "fish", "b"].map(found), [1, 1, 0, 0]);
}
