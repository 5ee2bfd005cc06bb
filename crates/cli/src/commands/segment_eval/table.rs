//! The tables of `pericope segment-eval` on the terminal.

use pericope_eval::format::plural;
use pericope_report::segmentation::{EMBEDDED_WITHIN, Report};

/// Says how the segmenters did on every set, and what that shows.
pub fn table(report: &Report) -> std::io::Result<()> {
    let evaluation = &report.evaluation;
    let width = evaluation.rows.iter().map(|r| r.segmenter.chars().count() + 2).max().unwrap_or(0).max(9);
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
            let percent = |x: f64| format!("{:.1}", 100.0 * x);
            say!(
                "{:width$}  {:>11} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>9} {:>9.0}{}",
                format!("{}{}", row.segmenter, if row.known_count { " *" } else { "" }),
                match row.pk_error {
                    Some(error) => format!("{} ±{:.1}", percent(row.pk), 100.0 * error),
                    None => percent(row.pk),
                },
                percent(row.window_diff),
                percent(row.precision),
                percent(row.recall),
                percent(row.f1),
                percent(row.macro_f1),
                percent(row.boundary_similarity),
                row.proposed_over_true.map_or("-".into(), |x| format!("{x:.2}")),
                row.sentences_per_second,
                row.tokens_read.map_or(String::new(), |tokens| format!(" {tokens:>11}"))
            );
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
