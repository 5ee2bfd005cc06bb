use std::collections::HashMap;

use pericope_store::Ranked;
use qdrant_client::qdrant::{Condition, Filter as ServerFilter, Range};

use super::{ScoredChunk, keyword};
use crate::collection::scroll;
use crate::payload::Payload;
use crate::{Collection, Error, fields};

/// Chunks whose neighbours are asked for at a time.
const BATCH: usize = 64;

impl Collection {
    /// Returns for each chunk those of its document and revision whose place is at most `reach` from its own, in order,
    /// itself among them. A chunk that was replaced in the meantime has none.
    ///
    /// # Errors
    /// As [`count`](Self::count).
    pub fn neighbours(&self, of: &[Ranked], reach: usize) -> Result<Vec<Vec<ScoredChunk>>, Error> {
        let mut windows = Vec::with_capacity(of.len());
        for batch in of.chunks(BATCH) {
            let mut found: HashMap<String, Vec<ScoredChunk>> = HashMap::new();
            let around = batch.iter().map(|one| -> Condition { window(one, reach).into() });
            let filter = ServerFilter::should(around);
            self.connection.wait(scroll(&self.connection, &self.name, Some(filter), None, |point| {
                let payload = Payload { collection: &self.name, id: point.id.as_ref(), fields: &point.payload };
                let one = ScoredChunk::read(&payload, 0.0)?;
                found.entry(one.chunk.document.clone()).or_default().push(one);
                Ok(())
            }))?;
            for one in batch {
                let document = found.get(&one.document).map_or(&[][..], Vec::as_slice);
                // While a document is replaced, its chunks are there in two revisions.
                let revision = document.iter().find(|other| other.id == one.id).map(|other| other.revision.as_str());
                let mut window: Vec<ScoredChunk> = document
                    .iter()
                    .filter(|other| Some(other.revision.as_str()) == revision)
                    .filter(|other| other.chunk.ordinal.abs_diff(one.ordinal) <= reach)
                    .cloned()
                    .collect();
                window.sort_by_key(|other| (other.chunk.ordinal, other.chunk.start, other.id));
                windows.push(window);
            }
        }
        Ok(windows)
    }
}

fn window(one: &Ranked, reach: usize) -> ServerFilter {
    // Places are small numbers, exact in 64-bit floats.
    #[allow(clippy::cast_precision_loss)]
    let bound = |place: usize| Some(place as f64);
    let range = Range {
        gte: bound(one.ordinal.saturating_sub(reach)),
        lte: bound(one.ordinal.saturating_add(reach)),
        ..Range::default()
    };
    ServerFilter::must([keyword(fields::DOCUMENT, &one.document), Condition::range(fields::ORDINAL, range)])
}
