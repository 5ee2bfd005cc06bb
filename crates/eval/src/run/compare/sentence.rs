//! The verdict in one sentence.

use std::collections::BTreeMap;

use crate::cell::Cutoff;
use crate::format;
use crate::metric::{Metric, Unit};
use crate::record::{Cell, Comparison, FEW_DOCUMENTS, Outcome, Verdict};
use crate::stats::{self, ALPHA};

/// Names that are listed; of more, their number is said.
const NAMED: usize = 5;

/// Why a chunker is the recommended one of those that may be the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    /// It has the highest mean of so many that cost the least.
    Cheapest(usize),
    /// It has the highest mean of so many that cost the least as far as costs are known.
    CheapestKnown(usize),
    /// All cost about the same, and it has the highest mean.
    Highest,
}

/// What the sentence needs beside the verdict.
pub(super) struct About<'a> {
    /// Of every chunker that was measured.
    pub(super) means: BTreeMap<String, f64>,
    /// The chunker that is to be told from the best.
    pub(super) next: Option<String>,
    /// Why the recommended chunker is that.
    pub(super) reason: Reason,
    pub(super) cells: &'a [Cell],
}

/// A size in a unit, without a sign.
fn points(unit: Unit, size: f64) -> String {
    format!("{}{}", unit.difference(size).trim_start_matches('+'), unit.points())
}

pub(super) fn of(verdict: &Verdict, family: &[Comparison], about: &About<'_>) -> String {
    let parts =
        Parts { verdict, family, about, place: place(verdict, about), figures: figures(verdict, family, &about.means) };
    let (all, left) = (about.means.len(), verdict.possible.len());
    let unresolvable = family.iter().filter(|c| c.outcome == Some(Outcome::Unresolvable)).count();
    let text = if all < 2 {
        let Parts { place, figures, .. } = &parts;
        format!("{place}, there is nothing to compare {} with: {figures}.", verdict.recommended)
    } else if unresolvable > 0 && !family.iter().any(resolvable) {
        parts.unresolvable(unresolvable)
    } else if left == 1 {
        parts.one_is_left()
    } else if verdict.equivalent.len() + 1 == left {
        parts.alike()
    } else {
        parts.several_are_left()
    };
    let text = match verdict.primary.documents {
        // The sentence on what cannot be resolved says so itself.
        documents if documents < FEW_DOCUMENTS && all > 1 && !text.contains("cannot be resolved with") => {
            let said = text.trim_end_matches('.');
            format!("{said}; with {} no interval can be trusted.", format::plural(documents, "document"))
        }
        _ => text,
    };
    text.replace('\u{a0}', " ")
}

/// Where the figures are from: the cutoff, and the mode of retrieval where there are several.
fn place(verdict: &Verdict, about: &About<'_>) -> String {
    let primary = &verdict.primary;
    let place = match primary.cutoff {
        // Documents are read whole.
        _ if primary.metric == Metric::ACCURACY => "In classification".to_owned(),
        Cutoff::K(k) => format!("At k = {k}"),
        Cutoff::Tokens(tokens) => format!("Within {} tokens", format::count(tokens)),
    };
    match about.cells.iter().any(|cell| cell.mode != primary.mode) {
        true => format!("{place} with {} retrieval", primary.mode),
        false => place,
    }
}

/// What sentences of every kind are made of.
struct Parts<'a> {
    verdict: &'a Verdict,
    family: &'a [Comparison],
    about: &'a About<'a>,
    place: String,
    figures: String,
}

impl Parts<'_> {
    /// A difference of the primary metric.
    fn points(&self, x: f64) -> String {
        points(self.verdict.primary.metric.unit(), x)
    }

    /// What is said of more documents, behind the figures.
    fn more(&self, next: Option<&str>) -> String {
        let more = more(self.verdict, next, &|x| self.points(x));
        more.map_or_else(String::new, |more| format!("; {more}"))
    }

    /// That so many comparisons cannot be resolved, and none can.
    fn unresolvable(&self, comparisons: usize) -> String {
        let Self { verdict, family, about, place, figures } = self;
        let (primary, recommended) = (&verdict.primary, &verdict.recommended);
        let least = stats::smallest_p(primary.documents, stats::resamples_for(family.len(), ALPHA));
        let too_few = least * family.len() as f64 > ALPHA;
        let why = if too_few { "whatever they score" } else { "since too few of them differ" };
        let chosen = match about.reason {
            Reason::Cheapest(of) => format!("{} that may be the best, with", cheapest(recommended, of)),
            Reason::CheapestKnown(of) => {
                format!("{} that may be the best, as far as costs are known, with", cheapest(recommended, of))
            }
            Reason::Highest => format!("at about the same cost {recommended} scores highest:"),
        };
        format!(
            "{place}, open: {} cannot be resolved with {}{}, {why}; {chosen} {figures}.",
            format::plural(comparisons, "comparison"),
            if primary.metric == Metric::ACCURACY { "" } else { "questions on " },
            format::plural(primary.documents, "document")
        )
    }

    /// What is said where one alone may be the best.
    fn one_is_left(&self) -> String {
        let Self { verdict, family, about, place, figures } = self;
        let (primary, recommended, next) = (&verdict.primary, &verdict.recommended, about.next.as_deref());
        if let Some(NotShown { says, tells }) = not_shown(verdict, family, next) {
            return format!("{place}, {says}: {figures}{}.", self.more(next.filter(|_| tells)));
        }
        // Of another than the baseline, the figures say so.
        let is_slight = *recommended == primary.baseline && family.iter().all(|c| c.is_slight(primary.margin));
        let but = match is_slight {
            true => format!(", by less than the {} that matter", self.points(primary.margin)),
            false => String::new(),
        };
        let all = about.means.len();
        format!("{place}, take {recommended}, the only one of {all} chunkers that may be the best{but}: {figures}.")
    }

    /// What is said where none of those that may be the best differs from the highest by what matters. Each was compared with
    /// that one: of three, two may differ from each other by more.
    fn alike(&self) -> String {
        let Self { verdict, about, place, figures, .. } = self;
        let (recommended, left) = (&verdict.recommended, verdict.possible.len());
        let chosen = match about.reason {
            Reason::Cheapest(1) => format!("the cheapest of {left} chunkers"),
            Reason::Cheapest(of) => format!("the highest of the {of} cheapest of {left} chunkers"),
            Reason::CheapestKnown(1) => format!("as far as costs are known the cheapest of {left} chunkers"),
            Reason::CheapestKnown(of) => {
                format!("as far as costs are known the highest of the {of} cheapest of {left} chunkers")
            }
            Reason::Highest => format!("the highest of {left} chunkers that cost about the same and"),
        };
        let margin = self.points(verdict.primary.margin);
        let alike = match left {
            2 => format!("between which there is no difference that matters (of {margin} or more)"),
            _ => format!("of which none differs from {} by what matters ({margin} or more)", verdict.best),
        };
        format!("{place}, take {recommended}, {chosen} {alike}: {figures}.")
    }

    /// What is said where several may be the best.
    fn several_are_left(&self) -> String {
        let Self { verdict, about, place, figures, .. } = self;
        let (all, left, recommended) = (about.means.len(), verdict.possible.len(), &verdict.recommended);
        let who = if left <= NAMED { format!(" ({})", format::listed_names(&verdict.possible)) } else { String::new() };
        let head = match left == all {
            true if all == 2 => format!("{place}, open: both chunkers{who} may be the best, and"),
            true => format!("{place}, open: all {all} chunkers{who} may be the best, and"),
            false => format!("{place}, {left} of {all} chunkers{who} may be the best, and"),
        };
        let chosen = match about.reason {
            Reason::Cheapest(of) => format!("{} of them", cheapest(recommended, of)),
            Reason::CheapestKnown(of) => format!("{} of them as far as costs are known", cheapest(recommended, of)),
            Reason::Highest => format!("at about the same cost {recommended} scores highest"),
        };
        format!("{head} {chosen}: {figures}{}.", self.more(about.next.as_deref()))
    }
}

/// What is said of the only chunker that is left of those that may be the best, where no comparison shows it.
struct NotShown {
    says: String,
    /// Whether the best and the next are the two that are not told apart.
    tells: bool,
}

/// The set of those that may be the best works at 10 %, the comparisons with the baseline at 5 % after correction: the one
/// that is left is only called the best where they show it. None where they do.
fn not_shown(verdict: &Verdict, family: &[Comparison], next: Option<&str>) -> Option<NotShown> {
    let (left, baseline) = (&verdict.recommended, &verdict.primary.baseline);
    let is_baseline = left == baseline;
    let wanted = if is_baseline { Outcome::Worse } else { Outcome::Better };
    let with: Vec<&Comparison> = family.iter().filter(|c| is_baseline || c.a == *left).collect();
    let short: Vec<&Comparison> = with.iter().copied().filter(|c| c.outcome != Some(wanted)).collect();
    if short.is_empty() && !with.is_empty() {
        return None;
    }
    let open: Vec<&Comparison> = short.iter().copied().filter(|c| c.outcome != Some(Outcome::Equivalent)).collect();
    let alike = open.is_empty() && !short.is_empty();
    let named = if alike { &short } else { &open };
    let names: Vec<&str> = named.iter().map(|c| c.a.as_str()).collect();
    let others = match names.len() {
        _ if !is_baseline => "the baseline".to_owned(),
        0..=NAMED => format::listed_names(&names),
        many => format::plural(many, "chunker"),
    };
    let p = match named.as_slice() {
        // Elsewhere it stands beside the scores.
        [one] if is_baseline => format!(" ({} after correction)", format::p_sentence(one.p_holm.unwrap_or(one.p))),
        _ => String::new(),
    };
    let best = &verdict.best;
    let highest = if best == baseline { format!("{best}, the baseline,") } else { best.clone() };
    let (differences, are) = if is_baseline && names.len() > 1 { ("differences", "are") } else { ("difference", "is") };
    let its = if best == left { format!("its {differences}") } else { format!("the {differences} of {left}") };
    let says = if alike {
        format!("{highest} has the highest mean, and {its} from {others} {are} none that matters{p}")
    } else {
        format!("open: {highest} has the highest mean, but {its} from {others} {are} not decided{p}")
    };
    let apart =
        if is_baseline { next.is_some_and(|next| names.contains(&next)) } else { next == Some(baseline.as_str()) };
    Some(NotShown { says, tells: !alike && best == left && apart })
}

/// The chunker, and that it is one of so many that cost the least.
fn cheapest(recommended: &str, of: usize) -> String {
    match of {
        0 | 1 => format!("{recommended} is the cheapest"),
        of => format!("{recommended} scores highest of the {of} cheapest"),
    }
}

/// True where a comparison came out one way, or may yet.
fn resolvable(c: &Comparison) -> bool {
    matches!(c.outcome, Some(Outcome::Better | Outcome::Worse | Outcome::Open))
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
        Some(Outcome::Unresolvable) => "cannot be resolved",
        Some(Outcome::Open) | None => "open",
    };
    let margin = verdict.primary.margin;
    let but = match c.outcome {
        Some(Outcome::Better | Outcome::Worse) if c.is_slight(margin) => {
            format!(", but by less than the {} that matter", points(unit, margin))
        }
        _ => String::new(),
    };
    let p = format::p_sentence(c.p_holm.unwrap_or(c.p));
    let interval = if c.low.is_finite() && c.high.is_finite() {
        format!("95 % interval {} to {}, ", unit.difference(c.low), unit.difference(c.high))
    } else {
        String::new()
    };
    format!(
        "{scores} against {} for the baseline {baseline} ({}{}, {interval}{p} after correction: {says}{but})",
        value(baseline),
        unit.difference(c.difference),
        unit.points()
    )
}

/// How many more documents would decide between the best and the next: at the difference that was seen, or, where less was
/// seen than matters, whether they differ by that much. Of more than two chunkers it is said that this holds for these two
/// alone: among all, more are needed.
fn more(verdict: &Verdict, next: Option<&str>, points: &dyn Fn(f64) -> String) -> Option<String> {
    let (primary, best, next) = (&verdict.primary, &verdict.best, next?);
    let (seen, margin) = (verdict.documents_needed, verdict.documents_needed_for_margin);
    let (needed, would) = match (seen, margin) {
        (Some(seen), margin) if margin.is_none_or(|margin| seen <= margin) => {
            (seen, format!("tell {best} from {next}"))
        }
        (_, margin) => (margin?, format!("show whether {best} and {next} differ by {}", points(primary.margin))),
    };
    let would = if primary.comparisons > 1 { format!("{would}, were these two alone compared") } else { would };
    let more = needed.checked_sub(primary.documents).filter(|more| *more > 0)?;
    if primary.metric == Metric::ACCURACY {
        return Some(format!("about {} would {would}", format::plural(more, "more test document")));
    }
    let each = primary.questions as f64 / primary.documents.max(1) as f64;
    let questions = (more as f64 * each).round() as usize;
    Some(format!(
        "about {} more {} with {} would {would}",
        format::count(more),
        if more == 1 { "document" } else { "documents" },
        format::plural(questions, "question")
    ))
}
