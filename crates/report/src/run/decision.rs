//! The table by chunker that the verdict rests on, and what belongs beside it.

use pericope_eval::format;
use pericope_eval::record::{Comparison, Family, Outcome, Verdict};

use super::view::View;

/// A figure as it reads, and what it is sorted by.
pub(crate) struct Figure {
    pub text: String,
    pub key: f64,
}

/// One chunker.
pub(crate) struct Standing<'a> {
    pub name: &'a str,
    /// Place in the configuration.
    pub place: usize,
    pub recommended: bool,
    pub figures: Vec<Figure>,
}

/// The chunkers by the primary metric, the highest mean first.
pub(crate) struct Decided<'a> {
    pub caption: String,
    /// Name and meaning of each figure.
    pub heads: Vec<(String, &'static str)>,
    pub rows: Vec<Standing<'a>>,
}

/// What an outcome is called.
pub(crate) fn outcome(outcome: Option<Outcome>) -> &'static str {
    match outcome {
        Some(Outcome::Better) => "better",
        Some(Outcome::Worse) => "worse",
        Some(Outcome::Equivalent) => "no difference that matters",
        Some(Outcome::Open) => "open",
        Some(Outcome::Unresolvable) => "cannot be resolved",
        None => format::ABSENT,
    }
}

/// The table; none for a run without a verdict.
pub(crate) fn table<'a>(view: &View<'a>) -> Option<Decided<'a>> {
    let verdict = view.summary.verdict.as_ref()?;
    let (primary, setting) = (&verdict.primary, verdict.primary.setting());
    let cell = |name: &str| view.cell(name, &setting);
    let failed = view.summary.chunkers.iter().filter_map(|row| cell(&row.name)).any(|cell| cell.failed > 0);
    let paid = view.summary.chunkers.iter().filter_map(|row| cell(&row.name)).any(|cell| cell.cost.is_some());
    let mut heads = vec![(primary.metric.heading(), "Mean over all questions; a failed item scores the worst value.")];
    if failed {
        heads.push(("without failed items".to_owned(), "Mean over the items that did not fail."));
    }
    heads.extend([
        (format!("against {}", format::clipped(&primary.baseline, 24)), "Difference from the baseline."),
        ("95\u{a0}% interval".to_owned(), "By document, not adjusted for the other comparisons."),
        ("Holm’s p".to_owned(), "Paired permutation test by document, corrected within this table."),
        ("shows".to_owned(), "What the comparison with the baseline shows."),
        ("P(best)".to_owned(), "Share of resamples of the documents in which it has the highest mean."),
        ("may be best".to_owned(), "Whether it is in the model confidence set at 90\u{a0}%."),
        ("seconds".to_owned(), "To cut and to index."),
        ("tokens".to_owned(), "Mean tokens given to the reader."),
    ]);
    if paid {
        heads.push(("money".to_owned(), "Price of the models’ answers here, cached ones included."));
    }
    let mut rows: Vec<(f64, Standing<'a>)> = Vec::new();
    for (place, row) in view.summary.chunkers.iter().enumerate() {
        let (name, here) = (row.name.as_str(), cell(&row.name));
        let mean = view.value(name, &setting, &primary.metric).unwrap_or(f64::NAN);
        let mut figures = vec![score(verdict, mean)];
        if failed {
            let rest = here.and_then(|cell| cell.metrics_without_failed.get(&primary.metric)).copied();
            figures.push(score(verdict, rest.unwrap_or(mean)));
        }
        figures.extend(against(verdict, name, view.primary(name)));
        figures.push(share(verdict.p_best.get(name).copied().unwrap_or(f64::NAN)));
        let possible = verdict.possible.iter().any(|other| other == name);
        figures.push(match mean.is_finite() {
            true => Figure { text: if possible { "yes" } else { "no" }.into(), key: f64::from(u8::from(possible)) },
            // It has no value by this metric.
            false => Figure { text: format::ABSENT.to_owned(), key: f64::NAN },
        });
        let seconds = row.seconds().unwrap_or(f64::NAN);
        figures.push(Figure { text: format::seconds(seconds), key: seconds });
        let tokens = here.map_or(f64::NAN, |cell| cell.context_tokens);
        figures.push(Figure { text: format::mean(tokens), key: tokens });
        if paid {
            let money = here.and_then(|cell| cell.cost).map_or(f64::NAN, |cost| cost.price);
            figures.push(Figure { text: format::decimal(money, 4), key: money });
        }
        rows.push((mean, Standing { name, place, recommended: verdict.recommended == name, figures }));
    }
    // Those without a value stand below.
    let height = |mean: f64| if mean.is_finite() { mean } else { f64::NEG_INFINITY };
    rows.sort_by(|x, y| height(y.0).total_cmp(&height(x.0)));
    Some(Decided {
        caption: format!(
            "The chunkers by {} at {}, {}: what decides",
            primary.metric.label(),
            primary.cutoff.label(),
            primary.mode
        ),
        heads,
        rows: rows.into_iter().map(|(_, row)| row).collect(),
    })
}

fn score(verdict: &Verdict, x: f64) -> Figure {
    Figure { text: verdict.primary.metric.unit().bare(x), key: x }
}

fn share(x: f64) -> Figure {
    let text = if x > 0.0 && x < 0.005 { "<\u{a0}0.01".to_owned() } else { format::decimal(x, 2) };
    Figure { text, key: x }
}

/// Difference from the baseline, interval, p, and what they show.
fn against(verdict: &Verdict, name: &str, c: Option<&Comparison>) -> [Figure; 4] {
    let unit = verdict.primary.metric.unit();
    let absent = || Figure { text: format::ABSENT.to_owned(), key: f64::NAN };
    let Some(c) = c else {
        let word = if verdict.primary.baseline == name { "baseline" } else { format::ABSENT };
        return [absent(), absent(), absent(), Figure { text: word.to_owned(), key: f64::NAN }];
    };
    let interval = if c.low.is_finite() && c.high.is_finite() {
        Figure { text: format!("{} to {}", unit.difference(c.low), unit.difference(c.high)), key: c.low }
    } else {
        absent()
    };
    let p = c.p_holm.unwrap_or(c.p);
    let is_slight = c.is_slight(verdict.primary.margin);
    let shows = match c.outcome {
        Some(Outcome::Better | Outcome::Worse) if is_slight => {
            format!("{}, by too little to matter", outcome(c.outcome))
        }
        other => outcome(other).to_owned(),
    };
    [
        Figure { text: unit.difference(c.difference), key: c.difference },
        interval,
        Figure { text: format::p_value(p), key: p },
        Figure { text: shows, key: c.difference },
    ]
}

/// What belongs below the table: what was decided by, the unit, and how many documents would decide.
pub(crate) fn notes(view: &View) -> Vec<String> {
    let Some(verdict) = &view.summary.verdict else { return Vec::new() };
    let primary = &verdict.primary;
    let unit = primary.metric.unit();
    let points = |x: f64| format!("{}{}", unit.difference(x).trim_start_matches('+'), unit.points());
    let mut found = Vec::new();
    let next = next(view, verdict);
    if verdict.possible.len() > 1
        && let Some((next, gap)) = next
    {
        let seen =
            verdict.documents_needed.map(|n| format!("{} at the {} that were seen", format::count(n), points(gap)));
        let least = verdict.documents_needed_for_margin.map(|n| {
            format!("{} at the smallest difference that matters, {}", format::count(n), points(primary.margin))
        });
        let needed: Vec<String> = seen.into_iter().chain(least).collect();
        if !needed.is_empty() {
            // Among all chunkers more are needed, and how many depends on the others.
            let alone = if primary.comparisons > 1 { ", were these two alone compared," } else { "" };
            found.push(format!(
                "Documents that would tell {} from {next}{alone} in 4 of 5 samples: {}. Here are {}.",
                verdict.best,
                needed.join("; "),
                format::count(primary.documents)
            ));
        }
    }
    let mut unit_of = format!(
        "The unit is the document: {} on {}",
        format::plural(primary.questions, "question"),
        format::plural(primary.documents, "document")
    );
    if let Some(effect) = primary.design_effect.filter(|effect| effect.is_finite() && *effect > 0.0) {
        let worth = (primary.questions as f64 / effect).round() as usize;
        unit_of.push_str(&format!(
            " (design effect {}: worth about {} independent ones)",
            format::decimal(effect, 1),
            format::count(worth)
        ));
    }
    found.push(format!("{unit_of}."));
    if primary.comparisons > 0 {
        found.push(format!(
            "Decided by {} at {}, {}, against {}: Holm’s correction over {}. Differences below {} do not matter. Everything \
             else in this report is exploratory.",
            primary.metric.label(),
            primary.cutoff.label(),
            primary.mode,
            primary.baseline,
            format::plural(primary.comparisons, "comparison"),
            points(primary.margin)
        ));
        found.extend(detectable(&view.summary.comparisons).map(|(least, most)| {
            let range = if points(least) == points(most) { points(most) } else { format!("{} to {}", points(least), points(most)) };
            format!("A true difference of {range}, by chunker, would be shown in 4 of 5 samples, at the level that the decision uses.")
        }));
    }
    found
}

/// The least and the greatest of the differences that the comparisons of the decision can be expected to show.
fn detectable(comparisons: &[Comparison]) -> Option<(f64, f64)> {
    let primary = comparisons.iter().filter(|c| c.family == Some(Family::Primary) && c.detectable.is_finite());
    primary.map(|c| (c.detectable, c.detectable)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

/// The chunker with the second highest mean of those that may be the best, and how far it lies below the highest.
fn next<'a>(view: &View<'a>, verdict: &Verdict) -> Option<(&'a str, f64)> {
    let setting = verdict.primary.setting();
    let value = |name: &str| view.value(name, &setting, &verdict.primary.metric);
    let best = value(&verdict.best)?;
    let others =
        view.summary.chunkers.iter().filter(|row| row.name != verdict.best && verdict.possible.contains(&row.name));
    let found = others.filter_map(|row| Some((row.name.as_str(), best - value(&row.name)?)));
    found.min_by(|x, y| x.1.total_cmp(&y.1))
}

#[cfg(test)]
mod tests {
    use pericope_eval::cell::Cutoff;
    use pericope_eval::record::{Cell, ChunkerRow, Comparison, Family, PrimaryRecord, RetrieverRow, Summary, Verdict};

    use super::{notes, table};
    use crate::run::view::View;

    /// Chunkers `a`, `b`, `c` with their means, and one that has no value.
    fn summary() -> Summary {
        let (mode, cutoff) = ("bm25".to_owned(), Cutoff::Tokens(512));
        let row = |name: &str, spec: &str| ChunkerRow { name: name.into(), spec: spec.into(), ..ChunkerRow::default() };
        let cell = |name: &str, mean: Option<f64>| Cell {
            chunker: name.into(),
            mode: mode.clone(),
            cutoff,
            metrics: mean.map(|mean| ("ndcg".into(), mean)).into_iter().collect(),
            ..Cell::default()
        };
        let of_others = ChunkerRow { retriever: Some(RetrieverRow::default()), ..row("mine", "http://h") };
        let primary = PrimaryRecord {
            baseline: "a".into(),
            metric: "ndcg".into(),
            mode: mode.clone(),
            cutoff,
            documents: 50,
            ..PrimaryRecord::default()
        };
        Summary {
            chunkers: vec![row("a", "sentence"), row("b", "paragraph"), row("c", "chunks:c.jsonl"), of_others],
            cells: vec![cell("a", Some(0.5)), cell("b", Some(0.4)), cell("c", Some(0.3)), cell("mine", None)],
            verdict: Some(Verdict {
                primary,
                best: "a".into(),
                recommended: "a".into(),
                possible: vec!["a".into(), "c".into()],
                documents_needed: Some(70),
                ..Verdict::default()
            }),
            ..Summary::default()
        }
    }

    #[test]
    fn what_is_not_known_is_a_dash() {
        let summary = summary();
        let view = View::new(&summary);
        let Some(table) = table(&view) else { unreachable!("there is a verdict") };
        let of = |head: &str| {
            let at = table.heads.iter().position(|(name, _)| name == head).unwrap_or(usize::MAX);
            let texts = ["a", "b", "c", "mine"].map(|name| {
                let row = table.rows.iter().find(|row| row.name == name);
                row.and_then(|row| row.figures.get(at)).map_or_else(String::new, |figure| figure.text.clone())
            });
            texts.map(|text| text.replace('\u{a0}', " "))
        };
        // A retriever of others has no value by this metric, which says nothing about whether it may be the best.
        assert_eq!(of("may be best"), ["yes", "no", "yes", "–"]);
        // What others cut took a time that nobody knows.
        assert_eq!(of("seconds"), ["< 0.01 s", "< 0.01 s", "–", "–"]);
        let order: Vec<&str> = table.rows.iter().map(|row| row.name).collect();
        assert_eq!(order, ["a", "b", "c", "mine"], "the highest first, and what has no value last");
    }

    #[test]
    fn what_is_told_from_the_best_may_be_the_best_itself() {
        let summary = summary();
        let notes = notes(&View::new(&summary)).join("\n").replace('\u{a0}', " ");
        assert!(
            notes.contains("Documents that would tell a from c in 4 of 5 samples: 70 at the 20.0 points"),
            "{notes}"
        );
        let mut among = summary;
        if let Some(verdict) = &mut among.verdict {
            verdict.primary.comparisons = 2;
        }
        let one = |detectable: f64| Comparison { family: Some(Family::Primary), detectable, ..Comparison::default() };
        let rest = Comparison { family: Some(Family::Exploratory), ..one(0.9) };
        among.comparisons = vec![one(0.07), one(0.05), one(f64::NAN), rest];
        let notes = super::notes(&View::new(&among)).join("\n").replace('\u{a0}', " ");
        assert!(notes.contains("tell a from c, were these two alone compared, in 4 of 5 samples"), "{notes}");
        assert!(notes.contains("A true difference of 5.0 points to 7.0 points, by chunker, would be shown"), "{notes}");
    }
}
