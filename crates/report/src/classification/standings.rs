//! The chunkers with their figures, as all tables show them.

use pericope_eval::classification::ClassificationSummary;
use pericope_eval::format;
use pericope_eval::metric::Metric;
use pericope_eval::record::{Comparison, Family};

use crate::run::{Figure, outcome};

/// The columns behind the chunker's name, and what they mean.
pub(super) const HEADS: [(&str, &str); 15] = [
    ("accuracy, %", "Share of test documents that were given their class, over all trainings."),
    ("95\u{a0}% interval", "By document."),
    ("against baseline", "Difference from the baseline, in points."),
    ("95\u{a0}% interval ", "By document, not adjusted for the other comparisons."),
    ("Holm’s p", "Paired permutation test by document, corrected within this table."),
    ("shows", "What the comparison with the baseline shows."),
    ("P(best)", "Share of resamples of the documents in which it has the highest accuracy."),
    ("may be best", "Whether it is in the model confidence set at 90\u{a0}%."),
    ("validation, %", "Accuracy on the documents that trainings stop by."),
    ("segments", "Mean segments of a document that was cut."),
    ("tokens a segment", "Mean tokens of a segment."),
    (
        "tokens a document",
        "Mean tokens that the encoder was given of a document that was cut; overlapping text counts each time.",
    ),
    ("cut", "Seconds of cutting all documents."),
    ("encode", "Seconds of the encoder; a segment that another chunker made before is not read again."),
    ("train", "Seconds of all trainings."),
];

/// One chunker.
pub(super) struct Standing<'a> {
    pub(super) name: &'a str,
    /// Place in the configuration.
    pub(super) place: usize,
    pub(super) recommended: bool,
    pub(super) accuracy: f64,
    pub(super) figures: Vec<Figure>,
}

/// The chunkers, the highest accuracy first.
pub(super) fn standings(summary: &ClassificationSummary) -> Vec<Standing<'_>> {
    let unit = Metric::ACCURACY.unit();
    let figure = |text: String, key: f64| Figure { text, key };
    let absent = || figure(format::ABSENT.to_owned(), f64::NAN);
    let verdict = summary.verdict.as_ref();
    let mut found: Vec<Standing<'_>> = Vec::new();
    for (place, row) in summary.chunkers.iter().enumerate() {
        let name = row.chunker.name.as_str();
        let mut figures = vec![figure(unit.bare(row.accuracy), row.accuracy)];
        figures.push(
            row.interval
                .map_or_else(absent, |[low, high]| figure(format!("{} to {}", unit.bare(low), unit.bare(high)), low)),
        );
        figures.extend(against(summary, name));
        let best = verdict.and_then(|verdict| verdict.p_best.get(name)).copied();
        figures.push(best.map_or_else(absent, |p| figure(format::decimal(p, 2), p)));
        figures.push(verdict.map_or_else(absent, |verdict| {
            let may = verdict.possible.iter().any(|other| other == name);
            figure(if may { "yes" } else { "no" }.into(), f64::from(u8::from(may)))
        }));
        figures.push(row.validation_accuracy.map_or_else(absent, |x| figure(unit.bare(x), x)));
        for mean in [row.segments_per_document, row.chunker.mean_tokens, row.tokens_per_document] {
            figures.push(figure(format::mean(mean), mean));
        }
        for seconds in [row.chunker.segment_seconds, row.chunker.index_seconds, row.train_seconds] {
            figures.push(figure(format::seconds(seconds), seconds));
        }
        let recommended = verdict.is_some_and(|verdict| verdict.recommended == name);
        found.push(Standing { name, place, recommended, accuracy: row.accuracy, figures });
    }
    found.sort_by(|x, y| y.accuracy.total_cmp(&x.accuracy));
    found
}

/// The comparisons that decide.
pub(super) fn primary(summary: &ClassificationSummary) -> impl Iterator<Item = &Comparison> {
    summary.comparisons.iter().filter(|c| c.family == Some(Family::Primary))
}

/// Difference from the baseline, interval, p, and what they show.
fn against(summary: &ClassificationSummary, name: &str) -> [Figure; 4] {
    let unit = Metric::ACCURACY.unit();
    let figure = |text: String, key: f64| Figure { text, key };
    let Some(c) = primary(summary).find(|c| c.a == name) else {
        let is_baseline = summary.verdict.as_ref().is_some_and(|verdict| verdict.primary.baseline == name);
        let word = if is_baseline { "baseline" } else { format::ABSENT };
        let absent = || figure(format::ABSENT.to_owned(), f64::NAN);
        return [absent(), absent(), absent(), figure(word.to_owned(), f64::NAN)];
    };
    let p = c.p_holm.unwrap_or(c.p);
    [
        figure(unit.difference(c.difference), c.difference),
        figure(format!("{} to {}", unit.difference(c.low), unit.difference(c.high)), c.low),
        figure(format::p_value(p), p),
        figure(outcome(c.outcome).to_owned(), c.difference),
    ]
}
