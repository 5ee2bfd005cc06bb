//! Rows of ours and of others in one list.

use std::cmp::Ordering;

use super::report::Report;

/// A row of a table, in shares 0 to 1; none where it was not measured or not published.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Line {
    /// Segmenter or system.
    pub name: String,
    /// Place among our segmenters; none for others.
    pub place: Option<usize>,
    pub pk: Option<f64>,
    pub pk_error: Option<f64>,
    pub window_diff: Option<f64>,
    pub window_diff_error: Option<f64>,
    pub precision: Option<f64>,
    pub recall: Option<f64>,
    pub f1: Option<f64>,
    pub macro_f1: Option<f64>,
    pub boundary_similarity: Option<f64>,
    pub tiling: Option<f64>,
    pub tiling_penalised: Option<f64>,
    pub proposed_over_true: Option<f64>,
    pub sentences_per_second: Option<f64>,
    /// By the segmenter's own model.
    pub tokens_read: Option<f64>,
    /// Documents that failed.
    pub failed: usize,
    /// Where the figures are from; none for ours.
    pub source: Option<String>,
}

/// The rows of a set, told the number of segments or not: the highest F1 first, then those without by Pk.
pub(crate) fn lines(report: &Report, set: &str, known: bool) -> Vec<Line> {
    let names = report.evaluation.segmenters();
    let finite = |x: f64| Some(x).filter(|x| x.is_finite());
    let ours = report.evaluation.rows.iter().filter(|row| row.set == set && row.known_count == known).map(|row| Line {
        name: row.segmenter.clone(),
        place: names.iter().position(|name| *name == row.segmenter),
        pk: finite(row.pk),
        pk_error: row.pk_error,
        window_diff: finite(row.window_diff),
        window_diff_error: row.window_diff_error,
        precision: finite(row.precision),
        recall: finite(row.recall),
        f1: finite(row.f1),
        macro_f1: finite(row.macro_f1),
        boundary_similarity: finite(row.boundary_similarity),
        tiling: finite(row.tiling),
        tiling_penalised: finite(row.tiling_penalised),
        proposed_over_true: row.proposed_over_true,
        sentences_per_second: finite(row.sentences_per_second).filter(|x| *x > 0.0),
        tokens_read: row.tokens_read.map(|tokens| tokens as f64),
        failed: row.failed.len(),
        source: None,
    });
    let share = |x: Option<f64>| x.map(|x| x / 100.0);
    let theirs = report.published.iter().filter(|row| row.set == set && row.known == known).map(|row| Line {
        name: row.system.clone(),
        pk: share(row.pk),
        window_diff: share(row.window_diff),
        f1: share(row.f1),
        proposed_over_true: row.proposed_over_true,
        source: Some(row.source.clone()),
        ..Line::default()
    });
    let mut lines: Vec<Line> = ours.chain(theirs).collect();
    let highest = |a: Option<f64>, b: Option<f64>| match (a, b) {
        (Some(a), Some(b)) => b.total_cmp(&a),
        (a, b) => b.is_some().cmp(&a.is_some()),
    };
    lines.sort_by(|a, b| match highest(a.f1, b.f1) {
        Ordering::Equal => highest(a.pk.map(|x| -x), b.pk.map(|x| -x)),
        order => order,
    });
    lines
}

#[cfg(test)]
mod tests {
    use super::lines;
    use crate::segmentation::samples::report;

    #[test]
    fn ours_and_theirs_by_f1() {
        let report = report();
        let names = |set: &str, known: bool| -> Vec<String> {
            lines(&report, set, known).into_iter().map(|line| line.name).collect()
        };
        assert_eq!(names("one", false), ["near", "Old <b> system", "none"]);
        assert_eq!(names("one", true), ["near", "Told | system"]);
        assert_eq!(names("two", true), ["near"]);
    }
}
