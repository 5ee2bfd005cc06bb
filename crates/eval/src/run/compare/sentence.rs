//! The verdict in one sentence.

use std::collections::BTreeMap;

use crate::cell::Cutoff;
use crate::format;
use crate::record::{Cell, Comparison, Outcome, Verdict};

/// Names that are listed; of more, their number is said.
const NAMED: usize = 5;

/// `means`: of every chunker that was measured; `next`: the chunker with the second highest mean.
pub(super) fn of(
    verdict: &Verdict,
    family: &[Comparison],
    means: &BTreeMap<String, f64>,
    next: Option<&str>,
    cells: &[Cell],
) -> String {
    let primary = &verdict.primary;
    let modes = cells.iter().any(|cell| cell.mode != primary.mode);
    let place = match primary.cutoff {
        Cutoff::K(k) => format!("At k = {k}"),
        Cutoff::Tokens(tokens) => format!("Within {} tokens", format::count(tokens)),
    };
    let place = if modes { format!("{place} with {} retrieval", primary.mode) } else { place };
    let recommended = &verdict.recommended;
    let figures = figures(verdict, family, means);
    let (all, left) = (means.len(), verdict.possible.len());
    let points = |x: f64| {
        let unit = primary.metric.unit();
        format!("{}{}", unit.difference(x).trim_start_matches('+'), unit.points())
    };
    let text = if all < 2 {
        format!("{place}, there is nothing to compare {recommended} with: {figures}.")
    } else if family.iter().any(|c| c.outcome == Some(Outcome::Unresolvable)) && !family.iter().any(decided) {
        let documents = format::plural(primary.documents, "document");
        format!(
            "{place}, open: {} cannot be resolved with questions on {documents}, whatever they score; {recommended} is the \
             cheapest that may be the best, with {figures}.",
            format::plural(family.len(), "comparison")
        )
    } else if left == 1 {
        format!("{place}, take {recommended}, the only one of {all} chunkers that may be the best: {figures}.")
    } else if verdict.equivalent.len() + 1 == left {
        format!(
            "{place}, take {recommended}, the cheapest of {left} chunkers between which there is no difference that matters \
             (of {} or more): {figures}.",
            points(primary.margin)
        )
    } else {
        let who = if left <= NAMED { format!(" ({})", format::listed(&verdict.possible)) } else { String::new() };
        let (head, among) = if left == all {
            (format!("{place}, open: all {all} chunkers{who} may be the best, and"), "is the cheapest".to_owned())
        } else {
            (
                format!("{place}, {left} of {all} chunkers{who} may be the best, and"),
                "is the cheapest of them".to_owned(),
            )
        };
        let more = more(verdict, next).map_or_else(String::new, |more| format!("; {more}"));
        format!("{head} {recommended} {among}: {figures}{more}.")
    };
    text.replace('\u{a0}', " ")
}

/// True where a comparison came out one way.
fn decided(c: &Comparison) -> bool {
    matches!(c.outcome, Some(Outcome::Better | Outcome::Worse))
}

/// What the recommended chunker scores, beside the baseline.
fn figures(verdict: &Verdict, family: &[Comparison], means: &BTreeMap<String, f64>) -> String {
    let (metric, recommended) = (&verdict.primary.metric, &verdict.recommended);
    let value = |name: &str| means.get(name).map_or_else(|| format::ABSENT.to_owned(), |x| metric.unit().value(*x));
    let scores = format!("{} {}", metric.label(), value(recommended));
    let baseline = &verdict.primary.baseline;
    if baseline == recommended {
        return format!("{scores}, and it is the baseline");
    }
    let Some(c) = family.iter().find(|c| c.a == *recommended) else { return scores };
    let unit = metric.unit();
    let says = match c.outcome {
        Some(Outcome::Better) => "better",
        Some(Outcome::Worse) => "worse",
        Some(Outcome::Equivalent) => "no difference that matters",
        _ => "open",
    };
    let p = format::p_sentence(c.p_holm.unwrap_or(c.p));
    let interval = if c.low.is_finite() && c.high.is_finite() {
        format!("95 % interval {} to {}, ", unit.difference(c.low), unit.difference(c.high))
    } else {
        String::new()
    };
    format!(
        "{scores} against {} for the baseline {baseline} ({}{}, {interval}{p} after correction: {says})",
        value(baseline),
        unit.difference(c.difference),
        unit.points()
    )
}

/// How many more documents would decide between the best and the next: at the difference that was seen, or at the smallest
/// that matters where less was seen.
fn more(verdict: &Verdict, next: Option<&str>) -> Option<String> {
    let primary = &verdict.primary;
    let needed = match (verdict.documents_needed, verdict.documents_needed_for_margin) {
        (Some(seen), Some(margin)) => seen.min(margin),
        (seen, margin) => seen.or(margin)?,
    };
    let more = needed.checked_sub(primary.documents).filter(|more| *more > 0)?;
    let each = primary.questions as f64 / primary.documents.max(1) as f64;
    let questions = (more as f64 * each).round() as usize;
    Some(format!(
        "about {} more {} with {} would tell {} from {}",
        format::count(more),
        if more == 1 { "document" } else { "documents" },
        format::plural(questions, "question"),
        verdict.best,
        next?
    ))
}
