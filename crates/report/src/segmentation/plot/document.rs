//! A document as it is plotted, and the choice of documents.

use pericope_segeval::evaluate::{DocumentRow, Evaluation};

/// A document with its true and its proposed segmentations.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentPlot<'a> {
    /// The data set.
    pub set: &'a str,
    /// The document's id.
    pub document: &'a str,
    /// Its sentences, at least 1 to be drawn.
    pub sentences: usize,
    /// True boundaries.
    pub reference: &'a [usize],
    /// The proposals, from top to bottom.
    pub rows: Vec<TileRow<'a>>,
}

/// One segmenter's segmentation of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct TileRow<'a> {
    /// The segmenter; ` (told)` behind it where the number of segments was given.
    pub name: String,
    /// Proposed boundaries.
    pub hypothesis: &'a [usize],
    /// Pk on this document, 0 to 1.
    pub pk: f64,
    /// F1 on this document, 0 to 1.
    pub f1: f64,
}

impl<'a> DocumentPlot<'a> {
    /// What the segmenters made of a document; `known_count` picks those that were told the number of segments or not.
    /// `None` where there is no such document.
    #[must_use]
    pub fn of(evaluation: &'a Evaluation, set: &str, document: &str, known_count: Option<bool>) -> Option<Self> {
        let is_it = |row: &&DocumentRow| {
            row.set == set && row.document == document && known_count.is_none_or(|known| row.known_count == known)
        };
        let found: Vec<&DocumentRow> = evaluation.documents.iter().filter(is_it).collect();
        let first = *found.first()?;
        let rows = found
            .iter()
            .map(|row| TileRow {
                name: shown(&row.segmenter, row.known_count),
                hypothesis: &row.hypothesis,
                pk: row.pk,
                f1: row.f1,
            })
            .collect();
        Some(Self {
            set: &first.set,
            document: &first.document,
            sentences: first.sentences,
            reference: &first.reference,
            rows,
        })
    }
}

/// A segmenter's name, marked where it was told the number of segments.
pub(crate) fn shown(segmenter: &str, known_count: bool) -> String {
    if known_count { format!("{segmenter} (told)") } else { segmenter.to_owned() }
}

/// The documents of a set on which the first segmenter does best, in the middle and worst by Pk, in this order, without
/// repeats. Ties go to the document that comes first.
#[must_use]
pub fn extremes<'a>(evaluation: &'a Evaluation, set: &str) -> Vec<(&'static str, &'a str)> {
    let Some(first) = evaluation.rows.iter().find(|row| row.set == set) else { return Vec::new() };
    let mut found: Vec<&DocumentRow> = evaluation
        .documents
        .iter()
        .filter(|row| row.set == set && row.segmenter == first.segmenter && row.known_count == first.known_count)
        .collect();
    found.sort_by(|a, b| a.pk.total_cmp(&b.pk));
    let places = [("best", 0), ("median", found.len() / 2), ("worst", found.len().saturating_sub(1))];
    let mut chosen: Vec<(&str, &str)> = Vec::new();
    for (what, place) in places {
        if let Some(row) = found.get(place).filter(|row| !chosen.iter().any(|(_, id)| *id == row.document)) {
            chosen.push((what, &row.document));
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{DocumentPlot, extremes};
    use crate::segmentation::samples::evaluation;

    #[test]
    fn extremes_do_not_repeat() {
        let evaluation = evaluation();
        let found = extremes(&evaluation, "one");
        assert_eq!(found.iter().map(|(what, _)| *what).collect::<Vec<_>>(), ["best", "median", "worst"]);
        assert_eq!(extremes(&evaluation, "two").len(), 1);
        assert!(extremes(&evaluation, "three").is_empty());
    }

    #[test]
    fn a_documents_rows_by_whether_the_number_was_told() {
        let evaluation = evaluation();
        let plot = |known| DocumentPlot::of(&evaluation, "one", "d0", known).unwrap();
        assert_eq!((plot(None).rows.len(), plot(Some(false)).rows.len()), (3, 2));
        assert_eq!(plot(Some(true)).rows[0].name, "near (told)");
        assert_eq!(DocumentPlot::of(&evaluation, "one", "nope", None), None);
    }
}
