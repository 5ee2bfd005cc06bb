//! The tables of `pericope segment-eval` on the terminal.

use pericope_eval::format::plural;
use pericope_report::segmentation::{EMBEDDED_WITHIN, Report};
use pericope_segeval::evaluate::SegmentationRow;

/// What stands for a figure that is none.
const ABSENT: &str = "-";

/// Says how the segmenters did on every set, and what that shows.
pub fn table(report: &Report) -> std::io::Result<()> {
    let evaluation = &report.evaluation;
    let width = evaluation.rows.iter().map(|row| name(row).chars().count()).max().unwrap_or(0).max(9);
    let counted = evaluation.rows.iter().any(|row| row.tokens_read.is_some());
    for set in &report.sets {
        say!("{}: {}\n", set.name, plural(set.documents, "document"));
        say!(
            "{:width$}  {:>11} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>9} {:>9}{}",
            "segmenter",
            "Pk",
            "WD",
            "P",
            "R",
            "F1",
            "F1/doc",
            "B",
            "prop/true",
            "sent/s",
            if counted { format!(" {:>11}", "tokens read") } else { String::new() }
        );
        for row in evaluation.rows.iter().filter(|row| row.set == set.name) {
            say!("{}", line(row, width));
        }
        say!("");
        if let Some(verdict) = report.verdict(&set.name) {
            say!("{verdict}\n");
        }
    }
    let told =
        if evaluation.rows.iter().any(|row| row.known_count) { "* was told the true number of segments. " } else { "" };
    say!(
        "{told}Pk (± standard error over documents), WD (WindowDiff): lower is better.\n\
         P, R, F1: exact boundaries over all of the set; F1/doc: mean over documents. B: boundary similarity. Proposing\n\
         nothing often looks good on Pk and WD: read them together with F1 and the ratio of proposed to true boundaries."
    );
    for row in &evaluation.rows {
        if let Some(used) = &row.asked {
            say!("{} on {}: groups of passages: {used}.", row.segmenter, row.set);
        }
    }
    if let Some(seconds) = report.embedding_seconds {
        say!(
            "All sentences were embedded once, beforehand, in {seconds:.1} s: sent/s is without that.\n{EMBEDDED_WITHIN}"
        );
    }
    Ok(())
}

/// A segmenter as the first column names it: whether it was told the number of segments, and how many documents it failed on.
fn name(row: &SegmentationRow) -> String {
    let told = if row.known_count { " *" } else { "" };
    let failed = if row.failed.is_empty() { String::new() } else { format!(" ({} failed)", row.failed.len()) };
    format!("{}{told}{failed}", row.segmenter)
}

/// A row of the table, its first column so wide.
fn line(row: &SegmentationRow, width: usize) -> String {
    let figure = |x: f64, digits: usize| if x.is_finite() { format!("{x:.digits$}") } else { ABSENT.to_owned() };
    let percent = |x: f64| figure(100.0 * x, 1);
    format!(
        "{:width$}  {:>11} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>9} {:>9}{}",
        name(row),
        match row.pk_error.filter(|error| error.is_finite()) {
            Some(error) => format!("{} ±{:.1}", percent(row.pk), 100.0 * error),
            None => percent(row.pk),
        },
        percent(row.window_diff),
        percent(row.precision),
        percent(row.recall),
        percent(row.f1),
        percent(row.macro_f1),
        percent(row.boundary_similarity),
        row.proposed_over_true.map_or_else(|| ABSENT.to_owned(), |x| figure(x, 2)),
        figure(row.sentences_per_second, 0),
        row.tokens_read.map_or(String::new(), |tokens| format!(" {tokens:>11}"))
    )
}

#[cfg(test)]
mod tests {
    use pericope_segeval::evaluate::{Failure, SegmentationRow};

    use super::line;

    fn row(pk: f64, failed: usize) -> SegmentationRow {
        let failure = |i: usize| Failure { document: format!("d{i}"), reason: "told to".into() };
        SegmentationRow {
            set: "one".into(),
            segmenter: "near".into(),
            spec: "near".into(),
            known_count: true,
            documents: 3,
            pk,
            pk_error: None,
            window_diff: pk,
            window_diff_error: None,
            precision: pk,
            recall: pk,
            f1: pk,
            macro_precision: pk,
            macro_recall: pk,
            macro_f1: pk,
            boundary_similarity: pk,
            segmentation_similarity: pk,
            tiling: pk,
            tiling_penalised: pk,
            proposed_over_true: None,
            seconds: 1.0,
            tokens_read: None,
            asked: None,
            sentences_per_second: 40.0 * pk,
            failed: (0..failed).map(failure).collect(),
        }
    }

    #[test]
    fn failed_documents_are_counted_beside_the_name() {
        let words = |pk, failed| line(&row(pk, failed), 20).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words(0.25, 0), "near * 25.0 25.0 25.0 25.0 25.0 25.0 25.0 - 10");
        assert_eq!(words(0.25, 2), "near * (2 failed) 25.0 25.0 25.0 25.0 25.0 25.0 25.0 - 10");
        assert_eq!(words(f64::NAN, 3), "near * (3 failed) - - - - - - - - -");
    }
}
