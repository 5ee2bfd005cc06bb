use std::collections::HashMap;

use qdrant_client::qdrant::{Condition, Filter as ServerFilter, Range};

use super::{Hit, keyword};
use crate::collection::scroll;
use crate::point::uuid_of;
use crate::{Collection, Error, fields};

/// Hits whose neighbours are asked for at a time.
const BATCH: usize = 64;

impl Collection {
    /// For each hit the chunks of its document and revision whose place is at most `reach` from its own, in order, the
    /// hit itself among them: a hit that was replaced in the meantime stands alone.
    ///
    /// # Errors
    /// As [`count`](Self::count).
    pub fn neighbours(&self, hits: &[Hit], reach: u64) -> Result<Vec<Vec<Hit>>, Error> {
        let mut windows = Vec::with_capacity(hits.len());
        for batch in hits.chunks(BATCH) {
            let mut found: HashMap<(String, String), Vec<Hit>> = HashMap::new();
            if reach > 0 {
                let windows = batch.iter().map(|hit| -> Condition { window(hit, reach).into() });
                let filter = ServerFilter::should(windows);
                self.connection.wait(scroll(&self.connection, &self.name, Some(filter), None, |point| {
                    let hit = Hit::from_payload(uuid_of(point.id.as_ref()), point.payload, 0.0);
                    found.entry((hit.document.clone(), hit.revision.clone())).or_default().push(hit);
                }))?;
            }
            for hit in batch {
                let around = found.get(&(hit.document.clone(), hit.revision.clone()));
                let mut window: Vec<Hit> = around
                    .into_iter()
                    .flatten()
                    .filter(|other| other.ordinal.abs_diff(hit.ordinal) <= reach && other.id != hit.id)
                    .chain([hit])
                    .cloned()
                    .collect();
                window.sort_by_key(|hit| (hit.ordinal, hit.start, hit.id));
                windows.push(window);
            }
        }
        Ok(windows)
    }
}

fn window(hit: &Hit, reach: u64) -> ServerFilter {
    // Places are small numbers, exact in 64-bit floats.
    #[allow(clippy::cast_precision_loss)]
    let bound = |place: u64| Some(place as f64);
    let range = Range {
        gte: bound(hit.ordinal.saturating_sub(reach)),
        lte: bound(hit.ordinal.saturating_add(reach)),
        ..Range::default()
    };
    ServerFilter::must([
        keyword(fields::DOCUMENT, &hit.document),
        keyword(fields::REVISION, &hit.revision),
        Condition::range(fields::ORDINAL, range),
    ])
}
