//! Sentences that the page and the Markdown share.

use super::lines::lines;
use super::plot::shown;
use super::report::{Report, SetFacts};
use pericope_eval::data::Unique;
use pericope_eval::format;

/// What every reader must know.
pub(super) const CAUTION: &str = "Proposing no boundary at all beats many systems on Pk and WindowDiff: read them \
    together with F1 and the number of proposed over true boundaries.";

/// What the columns are.
pub(super) const COLUMNS: &str = "Pk and WindowDiff (WD): mean over documents, lower is better, ± standard error. \
    P, R, F1: exact boundaries, over all of the set; F1/doc: mean over documents. B: boundary similarity. \
    Tiling: Costacurta's score, mean over documents, which leans towards 100; pen.: times true over proposed boundaries \
    where more are proposed. Prop/true: boundaries proposed over true ones. All but the last x 100.";

/// Which embeddings the seconds of segmenters hold, where all sentences were embedded beforehand.
pub const EMBEDDED_WITHIN: &str = "What kamradt and cluster embed beside sentences is in theirs; what bertscore embeds, and a model \
    with an encoder of its own, in the first that reads it.";

/// What the sentences per second are without.
pub(super) fn times(report: &Report) -> Option<String> {
    let seconds = report.embedding_seconds?;
    let sentences: usize = report.sets.iter().map(|set| set.sentences).sum();
    Some(format!(
        "All {} sentences were embedded once, beforehand, in {} ({} a second), and the segmenters that read with that encoder shared the \
         vectors: sentences/s is without that. {EMBEDDED_WITHIN}",
        format::count(sentences),
        format::seconds(seconds),
        format::count((sentences as f64 / seconds.max(1e-9)) as usize)
    ))
}

/// How a table of segmenters is headed.
pub(super) fn heading(known: bool) -> &'static str {
    if known { "Told the true number of segments" } else { "Finding the number of segments themselves" }
}

/// `920 documents, 68,106 sentences, 9,186 segments`.
pub(super) fn facts(set: &SetFacts) -> String {
    [(set.documents, "document"), (set.sentences, "sentence"), (set.segments, "segment")]
        .map(|(n, noun)| format::plural(n, noun))
        .join(", ")
}

/// Which segmenter has the highest F1 on a set, beside the highest of the figures of others.
pub(super) fn finding(report: &Report, set: &str) -> Option<String> {
    let known = !report.evaluation.rows.iter().any(|row| row.set == set && !row.known_count);
    let lines = lines(report, set, known);
    let percent = |x: f64| format::decimal(100.0 * x, 1);
    let ours = lines.iter().find(|line| line.place.is_some())?;
    let (f1, pk) = (ours.f1?, ours.pk?);
    let mut text = format!(
        "{set}: of the segmenters of this run, {} has the highest F1, {} (Pk {}",
        ours.name,
        percent(f1),
        percent(pk)
    );
    if let Some(ratio) = ours.proposed_over_true {
        text.push_str(&format!(", {} boundaries proposed for each true one", format::decimal(ratio, 2)));
    }
    text.push(')');
    if let Some(other) = lines.iter().find(|line| line.source.is_some())
        && let Some(f1) = other.f1
    {
        text.push_str(&format!("; of the figures given beside them, {} has the highest, {}", other.name, percent(f1)));
    }
    text.push('.');
    Some(text)
}

/// What was left out of figures, a line each: skipped inputs and failed documents.
pub(super) fn warnings(report: &Report) -> Vec<String> {
    let mut found = Vec::new();
    for set in &report.sets {
        if let Some(first) = set.skipped.first() {
            let n = format::plural(set.skipped.len(), "document");
            found.push(format!("{}: {n} could not be read (first: {first})", set.name));
        }
    }
    for row in &report.evaluation.rows {
        if let Some(first) = row.failed.first() {
            let name = shown(&row.segmenter, row.known_count);
            let n = format::plural(row.failed.len(), "document");
            found.push(format!("{name} failed on {n} of {} (first: {}: {})", row.set, first.document, first.reason));
        }
    }
    found
}

/// The names of the sets as parts of files' names and of addresses in a page, each another one: names in other scripts, of which
/// no letter stays, may be equally long.
pub(super) fn slugs(report: &Report) -> Vec<String> {
    let kept = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let mut given = Unique::default();
    let slug = |set: &SetFacts| {
        let plain: String = set.name.chars().map(kept).collect();
        given.name(&plain, |plain, number| format!("{plain}-{number}"))
    };
    report.sets.iter().map(slug).collect()
}

#[cfg(test)]
mod tests {
    use super::{finding, warnings};
    use crate::segmentation::samples::report;

    #[test]
    fn sentences_name_the_highest_and_what_was_left_out() {
        let report = report();
        let text = finding(&report, "one").unwrap_or_default();
        assert!(
            text.contains("near has the highest F1") && text.contains("Old <b> system has the highest, 50.0"),
            "{text}"
        );
        assert_eq!(warnings(&report), ["one: 1\u{a0}document could not be read (first: one.jsonl:3: bad)"]);
    }
}
