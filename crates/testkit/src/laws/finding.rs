//! What filters and vectors let be found.

use std::collections::BTreeSet;

use pericope_store::{ChunkId, Filter, Mode, Query, RunSummary};

use super::{MODES, TestStore, reader};
use crate::documents::headed;
use crate::encoders::DIMENSION;

/// A chunk is found by the headings on its path and by those within it, and keeps its path.
pub(super) fn headings_within_a_chunk_let_it_pass(store: &dyn TestStore) {
    let (document, chunk) = headed("loans.md");
    let mut writer = store.write(true);
    writer.add(&document, std::slice::from_ref(&chunk)).unwrap();
    writer.commit().unwrap();
    {
        let reader = reader(store);
        for mode in MODES {
            let found = |heading: &str| {
                let filter = Filter::default().heading(heading);
                reader.search(&Query::new("kestrels", mode, 3).with_filter(filter)).unwrap()
            };
            for heading in ["loans", "How long?", "fines"] {
                let hits = found(heading);
                assert_eq!(hits.len(), 1, "{mode} {heading}");
                assert_eq!(hits[0].chunk.heading_path, ["Loans"], "{mode} {heading}");
            }
            assert!(found("kestrels").is_empty(), "{mode}: text is no heading");
        }
    }
    writer.remove(&document.id).unwrap();
    writer.finish(&RunSummary::default()).unwrap();
}

/// With what the law before left: a query that the encoder knows no word of is searched for by its words alone.
pub(super) fn a_vector_of_zeros_is_near_nothing(store: &dyn TestStore) {
    let reader = reader(store);
    let zeros = |text: &str, mode| Query { vector: Some(vec![0.0; DIMENSION]), ..Query::new(text, mode, 500) };
    let ids =
        |query: &Query| -> BTreeSet<ChunkId> { reader.rank(query).unwrap().into_iter().map(|one| one.id).collect() };
    assert!(ids(&zeros("w1 w3", Mode::Dense)).is_empty());
    let by_words = ids(&Query::new("w1 w3", Mode::Bm25, 500));
    assert!(!by_words.is_empty() && by_words.len() < 120, "{}", by_words.len());
    assert_eq!(ids(&zeros("w1 w3", Mode::Hybrid)), by_words);
    assert!(ids(&zeros("zebra", Mode::Hybrid)).is_empty());
}
