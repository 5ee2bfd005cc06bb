//! What retrievers of others handed out, and how much of it stands in no document.

use pericope_eval::format;
use pericope_eval::record::{ChunkerRow, RetrieverRow};

/// The two columns: their heads, and what these mean.
pub(super) const HEADS: [(&str, &str); 2] = [
    ("passages", "Passages that a retriever handed out, over all questions"),
    ("in no document", "Passages that stand in no document of the data: they count as retrieved and hold no answer"),
];

/// True where a retriever was measured.
pub(super) fn any(rows: &[ChunkerRow]) -> bool {
    rows.iter().any(|row| row.retriever.is_some())
}

/// The two figures of a row as shown and as they are; dashes for a chunker.
pub(super) fn figures(row: &ChunkerRow) -> [(String, f64); 2] {
    let Some(found) = row.retriever else { return [(); 2].map(|()| (format::ABSENT.to_owned(), f64::NAN)) };
    [(format::count(found.passages as usize), found.passages as f64), (unplaced(found), found.unplaced as f64)]
}

/// Seconds of cutting or indexing; not a number for a retriever, of which they are not known.
pub(super) fn seconds(row: &ChunkerRow, seconds: f64) -> f64 {
    if row.retriever.is_some() { f64::NAN } else { seconds }
}

/// Says so where passages stand in no document.
pub(super) fn warning(rows: &[ChunkerRow]) -> Option<String> {
    let named: Vec<String> = (rows.iter())
        .filter_map(|row| Some((&row.name, row.retriever.filter(|found| found.unplaced > 0)?)))
        .map(|(name, found)| {
            let share = share(found).map(|share| format!(", {share}")).unwrap_or_default();
            let (unplaced, passages) = (found.unplaced as usize, found.passages as usize);
            format!("{name} ({} of {} passages{share})", format::count(unplaced), format::count(passages))
        })
        .collect();
    (!named.is_empty()).then(|| {
        format!(
            "Found by a retriever and in no document of the data: {}. These passages count as retrieved and hold no answer. If they \
             are of these documents, their offsets or texts differ from the files.",
            format::listed(&named)
        )
    })
}

fn unplaced(found: RetrieverRow) -> String {
    let count = format::count(found.unplaced as usize);
    match share(found).filter(|_| found.unplaced > 0) {
        Some(share) => format!("{count} ({share})"),
        None => count,
    }
}

/// The share of the passages that stand in no document; none where there are no passages.
fn share(found: RetrieverRow) -> Option<String> {
    (found.passages > 0).then(|| format::percent(found.unplaced as f64 / found.passages as f64))
}
