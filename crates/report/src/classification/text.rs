//! Sentences that the page, the Markdown and the terminal share.

use pericope_eval::classification::ClassificationSummary;
use pericope_eval::format;
use pericope_eval::metric::Metric;
use pericope_eval::record::{FEW_DOCUMENTS, Outcome};

use super::standings::primary;

/// What every reader must know.
pub(super) const ABOUT: &str = "Every document is cut, each segment becomes a vector of a frozen encoder, and an LSTM with a small head \
    reads the vectors and names the document’s class. All chunkers have the same documents, parts and seeds. The unit is the test \
    document: documents are drawn for the 95\u{a0}% intervals, and signs are flipped by document for p. Only the comparisons with \
    the baseline are corrected (Holm) and decide.";

/// Reasons for which something was left out that are shown.
const LISTED: usize = 5;

/// What the run shows.
pub(super) fn headline(summary: &ClassificationSummary) -> String {
    match &summary.verdict {
        Some(verdict) => verdict.sentence.clone(),
        None => "Nothing was compared.".to_owned(),
    }
}

/// What is said of the run beside its table.
pub(super) fn notes(summary: &ClassificationSummary) -> Vec<String> {
    let unit = Metric::ACCURACY.unit();
    let mut found = Vec::new();
    let mut by_accuracy: Vec<(f64, &str)> =
        summary.chunkers.iter().map(|row| (row.accuracy, row.chunker.name.as_str())).collect();
    by_accuracy.sort_by(|a, b| b.0.total_cmp(&a.0));
    if let (Some(first), Some(last)) = (by_accuracy.first(), by_accuracy.last())
        && by_accuracy.len() > 1
    {
        found.push(format!(
            "From the best to the worst way of cutting: {} ({}) to {} ({}), {} points.",
            unit.value(first.0),
            first.1,
            unit.value(last.0),
            last.1,
            unit.difference(first.0 - last.0).trim_start_matches('+')
        ));
    }
    let of = |wanted: Outcome| primary(summary).filter(|c| c.outcome == Some(wanted)).count();
    let all = primary(summary).count();
    if let Some(verdict) = summary.verdict.as_ref().filter(|_| all > 0) {
        found.push(format!(
            "Against {}: {} better, {} worse, {} without a difference that matters ({} points), {} open.",
            verdict.primary.baseline,
            of(Outcome::Better),
            of(Outcome::Worse),
            of(Outcome::Equivalent),
            unit.difference(verdict.primary.margin).trim_start_matches('+'),
            all - of(Outcome::Better) - of(Outcome::Worse) - of(Outcome::Equivalent)
        ));
    }
    let spread = |row: &pericope_eval::classification::ClassifiedRow| {
        let of = |pick: fn(f64, f64) -> f64| row.runs.iter().map(|run| run.accuracy).reduce(pick);
        Some(of(f64::max)? - of(f64::min)?)
    };
    if summary.seeds.len() > 1
        && let Some(widest) = summary.chunkers.iter().filter_map(spread).reduce(f64::max)
    {
        found.push(format!(
            "{} a chunker; those of one chunker differ by up to {} points.",
            format::capitalised(&format::plural(summary.seeds.len(), "training")),
            unit.difference(widest).trim_start_matches('+')
        ));
    }
    found
}

/// What should keep a reader from relying on the figures.
pub(super) fn warnings(summary: &ClassificationSummary) -> Vec<String> {
    let mut found = Vec::new();
    let tested: usize = summary.classes.iter().map(|class| class.test).sum();
    if tested < FEW_DOCUMENTS {
        found.push(format!("With {} to test on no interval can be trusted.", format::plural(tested, "document")));
    }
    if summary.classes.iter().all(|class| class.validation == 0) {
        found.push("There are no documents to stop by: trainings went on to their last epoch.".to_owned());
    }
    found.extend(failures(summary));
    for row in &summary.chunkers {
        let name = &row.chunker.name;
        if row.chunker.truncated > 0 {
            let many = format::count(usize::try_from(row.chunker.truncated).unwrap_or(usize::MAX));
            found.push(format!("{name}: the encoder does not read the end of {many} segments."));
        }
    }
    if !summary.skipped.is_empty() {
        let shown: Vec<&str> = summary.skipped.iter().take(LISTED).map(String::as_str).collect();
        let more = summary.left_out.saturating_sub(shown.len());
        let more = if more > 0 { format!("; and {} more", format::count(more)) } else { String::new() };
        found.push(format!("Left out of the data: {}{more}.", shown.join("; ")));
    }
    found
}

/// The documents that chunkers failed on, a line a chunker and part.
pub(super) fn failures(summary: &ClassificationSummary) -> Vec<String> {
    let mut found = Vec::new();
    for row in &summary.chunkers {
        let name = &row.chunker.name;
        if row.failed > 0 {
            let documents = format::plural(row.failed, "test document");
            found.push(format!("{name} failed on {documents}: each counts as given another class."));
        }
        if row.failed_training > 0 {
            let documents = format::plural(row.failed_training, "document");
            found.push(format!("{name} failed on {documents} to train on or to stop by: its trainings went without."));
        }
    }
    found
}

/// `600 documents of 10 classes: 360 to train on, 60 to stop by, 180 to test on`.
pub(super) fn facts(summary: &ClassificationSummary) -> String {
    let sum = |of: fn(&pericope_eval::classification::ClassRow) -> usize| {
        format::count(summary.classes.iter().map(of).sum::<usize>())
    };
    format!(
        "{} of {} classes: {} to train on, {} to stop by, {} to test on",
        format::plural(summary.documents, "document"),
        format::count(summary.classes.len()),
        sum(|class| class.train),
        sum(|class| class.validation),
        sum(|class| class.test)
    )
}
