//! The verdicts of several runs, one a row.

use pericope_eval::format;

use crate::run::report::Report;
use crate::run::view::View;

/// Names of the columns after the run's.
pub(super) const HEADS: [&str; 6] = ["decided by", "take", "best", "P(best)", "may be best", "documents (needed)"];

/// By run that has a verdict, its place and the columns.
pub(super) fn rows(reports: &[Report], views: &[View]) -> Vec<(usize, [String; 6])> {
    let row = |(at, view): (usize, &View)| {
        let verdict = view.summary.verdict.as_ref()?;
        let primary = &verdict.primary;
        let p = verdict.p_best.get(&verdict.best).copied().unwrap_or(f64::NAN);
        let needed = match (verdict.documents_needed, verdict.documents_needed_for_margin) {
            (Some(seen), Some(margin)) => Some(seen.min(margin)),
            (seen, margin) => seen.or(margin),
        };
        let needed = needed.map_or_else(|| format::ABSENT.to_owned(), format::count);
        let columns = [
            format!("{} at {}, {}", primary.metric.label(), primary.cutoff.label(), primary.mode),
            verdict.recommended.clone(),
            verdict.best.clone(),
            format::decimal(p, 2),
            format!("{} of {}", format::count(verdict.possible.len()), format::count(primary.comparisons + 1)),
            format!("{} ({needed})", format::count(primary.documents)),
        ];
        Some((at, columns))
    };
    views.iter().take(reports.len()).enumerate().filter_map(row).collect()
}
