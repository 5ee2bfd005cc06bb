//! The segmenters of a set beside its first, by document: what the table and the sentence say.

use super::report::Report;
use pericope_eval::format;
use pericope_eval::record::{FEW_DOCUMENTS, Outcome};
use pericope_segeval::compare::{Comparison, Standing};

/// So many times the documents that there are is the most that is said to be needed.
const MOST: usize = 10;

/// What the columns of the table are.
pub(super) const BESIDE: &str = "Beside the first: Pk less the first's, paired by document, with a 95\u{a0}% interval; \
    p after Holm's correction over the segmenters of the set. One does better or worse where p is below 0.05 and the interval \
    excludes 0. A comparison cannot be resolved where no p-value of so few documents would be small enough. Documents needed: \
    so many in all would decide an open comparison in 4 of 5 samples, were the true difference the one seen here; “more than 10 \
    times”: of the documents here. P(best): share \
    of resamples of the documents in which its Pk is the lowest; those that may be the best: the model confidence set at \
    90\u{a0}%.";

/// Heads of the columns: name, and what [`Beside::cells`] gives.
pub(super) const HEADS: [&str; 9] = [
    "segmenter",
    "Pk, difference",
    "95\u{a0}% interval",
    "p",
    "result",
    "documents needed",
    "better on",
    "P(best)",
    "may be best",
];

/// A row of the table: a segmenter, the first one too.
#[derive(Debug)]
pub(super) struct Beside<'a> {
    pub(super) name: &'a str,
    /// With the first; none of the first itself.
    pub(super) comparison: Option<&'a Comparison>,
    standing: Option<&'a Standing>,
}

/// The rows of a set: the first segmenter, then the others; none where there is nothing to compare.
pub(super) fn beside<'a>(report: &'a Report, set: &str) -> Vec<Beside<'a>> {
    let found = of_set(report, set);
    let Some(first) = found.first().map(|c| c.b.as_str()) else { return Vec::new() };
    let stands = |name: &str| report.standings.iter().find(|s| s.set == set && s.segmenter == name);
    let row = |name: &'a str, comparison| Beside { name, comparison, standing: stands(name) };
    let others = found.iter().map(|&c| row(c.a.as_str(), Some(c)));
    std::iter::once(row(first, None)).chain(others).collect()
}

fn of_set<'a>(report: &'a Report, set: &str) -> Vec<&'a Comparison> {
    report.comparisons.iter().filter(|c| c.set == set).collect()
}

impl Beside<'_> {
    /// The columns after the name, as words.
    pub(super) fn cells(&self) -> [String; 8] {
        let of = |text: fn(&Comparison) -> String| self.comparison.map_or_else(|| format::ABSENT.to_owned(), text);
        let share = self.standing.and_then(|s| s.p_best).unwrap_or(f64::NAN);
        [
            of(|c| points(c.difference)),
            of(interval),
            of(|c| format::p_value(c.p_holm)),
            of(|c| outcome(c.outcome).to_owned()),
            of(needed),
            of(|c| format!("{} of {}", format::count(c.wins), format::count(c.n))),
            format::decimal(share, 2),
            self.standing.map_or(format::ABSENT, |s| if s.possible { "yes" } else { "no" }).to_owned(),
        ]
    }

    /// What the columns are sorted by.
    pub(super) fn keys(&self) -> [f64; 8] {
        let of = |figure: fn(&Comparison) -> f64| self.comparison.map_or(f64::NAN, figure);
        let (share, possible) =
            self.standing.map_or((f64::NAN, f64::NAN), |s| (s.p_best.unwrap_or(f64::NAN), f64::from(s.possible)));
        let needed = of(|c| c.documents_needed.map_or(f64::NAN, |n| n as f64));
        [of(|c| c.difference), of(|c| c.low), of(|c| c.p_holm), of(|c| c.difference), needed, of(won), share, possible]
    }
}

fn won(c: &Comparison) -> f64 {
    c.wins as f64 / c.n.max(1) as f64
}

/// How many documents would decide an open comparison.
fn needed(c: &Comparison) -> String {
    match c.documents_needed {
        Some(needed) if needed > MOST.saturating_mul(c.n) => format!("more than {MOST} times"),
        Some(needed) => format::count(needed),
        None => format::ABSENT.to_owned(),
    }
}

fn points(x: f64) -> String {
    format::signed(100.0 * x, 1)
}

fn interval(c: &Comparison) -> String {
    if c.low.is_finite() && c.high.is_finite() {
        format!("{} to {}", points(c.low), points(c.high))
    } else {
        format::ABSENT.to_owned()
    }
}

/// What a comparison shows of its first segmenter.
fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Better => "does better",
        Outcome::Worse => "does worse",
        Outcome::Equivalent => "no difference that matters",
        Outcome::Open => "open",
        Outcome::Unresolvable => "cannot be resolved",
    }
}

/// Who does better and worse than the first of a set, in a sentence; none where there is nothing to compare.
pub(super) fn against(report: &Report, set: &str) -> Option<String> {
    let found = of_set(report, set);
    let first = found.first()?.b.as_str();
    let with = |wanted: Outcome, words: fn(&str) -> String| -> Option<String> {
        let names: Vec<&str> = found.iter().filter(|c| c.outcome == wanted).map(|c| c.a.as_str()).collect();
        (!names.is_empty()).then(|| words(&format::listed_names(&names)))
    };
    let groups = [
        with(Outcome::Better, |names| format!("better: {names}")),
        with(Outcome::Worse, |names| format!("worse: {names}")),
        with(Outcome::Open, |names| format!("open: {names}")),
        with(Outcome::Unresolvable, |names| format!("cannot be resolved: {names}")),
    ];
    let groups: Vec<String> = groups.into_iter().flatten().collect();
    let possible: Vec<&str> =
        report.standings.iter().filter(|s| s.set == set && s.possible).map(|s| s.segmenter.as_str()).collect();
    let all = report.sets.iter().find(|one| one.name == set).map_or(0, |one| one.documents);
    let compared = found.iter().map(|c| c.n).chain(report.standings.iter().filter(|s| s.set == set).map(|s| s.n));
    let documents = compared.min().unwrap_or(all);
    let (few, on) = match format::plural(documents, "document") {
        some if documents < all => {
            (format!("On the {some} that all have segmented"), format!(", on the {some} that all have segmented"))
        }
        every => (format!("With {every}"), String::new()),
    };
    let best = match possible.as_slice() {
        _ if documents < FEW_DOCUMENTS => format!(" {few} no interval can be trusted."),
        [] => String::new(),
        [one] => format!(" Only {one} may be the best{on}."),
        some => format!(" {} may be the best{on}.", format::listed_names(some)),
    };
    Some(format!(
        "{set}: beside {first} by Pk, corrected over {}: {}.{best}",
        format::plural(found.len(), "comparison"),
        groups.join("; ")
    ))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{Outcome, Report, against, beside};
    use crate::segmentation::samples::report;

    /// Sets of so many documents, of which all segmenters have segmented some.
    fn set_size(report: &mut Report, all: usize, shared: usize) {
        report.sets.iter_mut().for_each(|set| set.documents = all);
        report.comparisons.iter_mut().for_each(|c| c.n = shared);
        report.standings.iter_mut().for_each(|s| s.n = shared);
    }

    #[test]
    fn the_verdict_counts_the_documents_that_all_have_segmented() {
        let mut report = report();
        set_size(&mut report, 40, 3);
        let says = |report: &Report| against(report, "one").unwrap().replace('\u{a0}', " ");
        let text = says(&report);
        assert!(text.ends_with(" On the 3 documents that all have segmented no interval can be trusted."), "{text}");
        set_size(&mut report, 40, 30);
        let text = says(&report);
        assert!(text.ends_with(" may be the best, on the 30 documents that all have segmented."), "{text}");
    }

    #[test]
    fn every_segmenter_stands_beside_the_first() {
        let mut report = report();
        let rows = beside(&report, "one");
        let names: Vec<&str> = rows.iter().map(|row| row.name).collect();
        assert_eq!(names, ["near", "none"]);
        assert_eq!(rows[0].cells(), ["–", "–", "–", "–", "–", "–", "1.00", "yes"]);
        let cells = rows[1].cells();
        // Few documents: the bootstrap's interval excludes 0, and no p-value could be small enough.
        assert_eq!((cells[2].as_str(), cells[3].as_str()), ("0.25", "cannot be resolved"));
        assert_eq!((cells[4].as_str(), cells[5].as_str()), ("–", "0 of 3"));
        assert!(cells[0].starts_with('+') && cells[1].starts_with('+'), "{cells:?}");
        assert!(rows[1].keys()[0] > 0.0 && rows[0].keys()[0].is_nan());
        let text = against(&report, "one").unwrap();
        assert_eq!(
            text.replace('\u{a0}', " "),
            "one: beside near by Pk, corrected over 1 comparison: cannot be resolved: none. With 3 documents no interval can be \
             trusted."
        );
        set_size(&mut report, 30, 30);
        assert!(against(&report, "one").unwrap().ends_with(": none. near and none may be the best."));
        report.comparisons[0].outcome = Outcome::Worse;
        report.standings[1].possible = false;
        assert_eq!(beside(&report, "one")[1].cells()[3], "does worse");
        let text = against(&report, "one").unwrap();
        assert!(text.ends_with(": worse: none. Only near may be the best."), "{text}");
        assert!(beside(&report, "three").is_empty() && against(&report, "three").is_none());
    }

    #[test]
    fn an_open_comparison_says_how_many_documents_it_needs() {
        let mut report = report();
        report.comparisons[0].outcome = Outcome::Open;
        for (needed, says) in [(Some(30), "30"), (Some(31), "more than 10 times"), (None, "–")] {
            report.comparisons[0].documents_needed = needed;
            let row = &beside(&report, "one")[1];
            assert_eq!(row.cells()[4], says);
            assert!(needed.is_none_or(|n| row.keys()[4] == n as f64), "{needed:?}");
        }
    }

    #[test]
    fn a_name_with_a_comma_stands_in_quotes_in_a_list() {
        let mut report = report();
        set_size(&mut report, 30, 30);
        report.comparisons[0].a = "window, max".into();
        report.standings[1].segmenter = "window, max".into();
        let text = against(&report, "one").unwrap();
        assert!(text.contains(": \"window, max\". near and \"window, max\" may be the best."), "{text}");
    }

    #[test]
    fn one_document_has_no_interval() {
        let report = report();
        let cells = beside(&report, "two")[1].cells();
        assert_eq!((cells[1].as_str(), cells[6].as_str(), cells[7].as_str()), ("–", "–", "yes"));
    }
}
