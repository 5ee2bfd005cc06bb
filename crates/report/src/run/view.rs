//! The summary as the report looks at it: which comparison comes first, which way round, which metrics there are.

use pericope_eval::cell::{Cutoff, Setting};
use pericope_eval::record::{Cell, Comparison, Family, Outcome, Summary, Verdict};
use pericope_eval::stats::LeaveOneOut;

use pericope_eval::metric::{Metric, Unit};

/// The p-value below which a difference is called one.
pub(crate) const ALPHA: f64 = 0.05;

/// A summary with the choices that every part of the report shares.
#[derive(Debug)]
pub(crate) struct View<'a> {
    pub summary: &'a Summary,
    /// Modes in the order in which they first appear.
    pub modes: Vec<&'a str>,
    /// Metrics that at least one cell or comparison has, in the order of the columns.
    pub metrics: Vec<Metric>,
    /// The comparisons, turned so that the chunker under test is `a` and the baseline `b`.
    pub comparisons: Vec<Comparison>,
    /// The setting that the headline speaks of; none where nothing was measured.
    pub setting: Option<Setting>,
    /// The metric that the headline speaks of.
    pub metric: Option<Metric>,
    /// The pair that the headline speaks of, chunker under test first.
    pub pair: Option<(String, String)>,
}

impl<'a> View<'a> {
    pub fn new(summary: &'a Summary) -> Self {
        let mut modes: Vec<&str> = Vec::new();
        for mode in
            summary.cells.iter().map(|c| c.mode.as_str()).chain(summary.comparisons.iter().map(|c| c.mode.as_str()))
        {
            if !modes.contains(&mode) {
                modes.push(mode);
            }
        }
        let metrics = metrics_of(summary);
        let comparisons: Vec<Comparison> = summary.comparisons.iter().map(|c| oriented(summary, c)).collect();
        if let Some(verdict) = &summary.verdict {
            let (metric, setting) = (Some(verdict.primary.metric.clone()), Some(verdict.primary.setting()));
            return Self { summary, modes, metrics, comparisons, setting, metric, pair: decided_pair(verdict) };
        }
        let metric = chief_metric(&metrics);
        let setting = modes.first().and_then(|mode| chief_setting(summary, mode, metric.as_ref()));
        let pair = chief_pair(summary, &comparisons, setting.as_ref(), metric.as_ref());
        Self { summary, modes, metrics, comparisons, setting, metric, pair }
    }

    /// The metrics of answers, where answers were scored, the one to speak of first.
    pub fn answer_metrics(&self) -> Vec<&Metric> {
        let mut found: Vec<&Metric> = self.metrics.iter().filter(|metric| metric.answer_rank().is_some()).collect();
        found.sort_by_key(|metric| metric.answer_rank());
        found
    }

    /// The metric of answers to speak of, where answers were scored.
    pub fn answer_metric(&self) -> Option<&Metric> {
        self.answer_metrics().first().copied()
    }

    /// The cell of a chunker at a setting.
    pub fn cell(&self, chunker: &str, setting: &Setting) -> Option<&'a Cell> {
        self.summary.cells.iter().find(|c| c.chunker == chunker && setting.is(&c.mode, c.cutoff))
    }

    /// A chunker's mean of a metric at a setting.
    pub fn value(&self, chunker: &str, setting: &Setting, metric: &Metric) -> Option<f64> {
        self.cell(chunker, setting)?.metrics.get(metric).copied().filter(|x| x.is_finite())
    }

    /// A cell's mean over the items that did not fail; that over all where none did.
    pub fn without_failed(&self, cell: &Cell, metric: &Metric) -> f64 {
        cell.metrics_without_failed.get(metric).or(cell.metrics.get(metric)).copied().unwrap_or(f64::NAN)
    }

    /// The comparison of a pair, `a` first.
    pub fn comparison(&self, a: &str, b: &str, setting: &Setting, metric: &Metric) -> Option<&Comparison> {
        self.comparisons.iter().find(|c| c.a == a && c.b == b && c.metric == *metric && setting.is(&c.mode, c.cutoff))
    }

    /// The primary comparison of a chunker with the baseline.
    pub fn primary(&self, chunker: &str) -> Option<&Comparison> {
        self.comparisons.iter().find(|c| c.family == Some(Family::Primary) && c.a == chunker)
    }

    /// The settings of a mode, those by k first, each in rising order.
    pub fn settings(&self, mode: &str) -> Vec<Setting> {
        let cells = self.summary.cells.iter().filter(|c| c.mode == mode).map(Cell::setting);
        let comparisons = self.comparisons.iter().filter(|c| c.mode == mode).map(Comparison::setting);
        let mut found: Vec<Setting> = cells.chain(comparisons).collect();
        found.sort();
        found.dedup();
        found
    }

    /// The metrics whose comparisons come first: the headline's and that of the answers.
    pub fn chief_metrics(&self) -> Vec<&Metric> {
        let mut chosen: Vec<&Metric> = self.metric.iter().collect();
        chosen.extend(self.answer_metric().filter(|metric| Some(*metric) != self.metric.as_ref()));
        chosen.retain(|metric| self.comparisons.iter().any(|c| c.metric == **metric));
        chosen
    }

    /// The order of comparisons: the headline's pair first, then by mode, pair and setting as configured.
    pub fn rank(&self, c: &Comparison) -> impl Ord + use<> {
        let pair = self.pair.as_ref().is_some_and(|(a, b)| c.a == *a && c.b == *b);
        let mode = self.modes.iter().position(|mode| *mode == c.mode);
        (!pair, mode, self.place(&c.a), self.place(&c.b), c.cutoff)
    }

    /// Where a chunker stands in the configuration: the number of its colour and its marker.
    pub fn place(&self, chunker: &str) -> usize {
        place(self.summary, chunker)
    }
}

/// What a metric's values are multiplied by to be drawn: shares are drawn in percent.
pub(crate) fn factor(metric: &Metric) -> f64 {
    if metric.unit() == Unit::Share { 100.0 } else { 1.0 }
}

/// True where a comparison decides: the interval and the corrected p-value both say that the difference is not chance.
/// Exploratory comparisons never do. Runs of older versions corrected over all comparisons by a metric.
pub(crate) fn decided(c: &Comparison) -> bool {
    match c.family {
        Some(Family::Primary) => matches!(c.outcome, Some(Outcome::Better | Outcome::Worse)),
        Some(Family::Exploratory) => false,
        None => c.p_holm.unwrap_or(c.p) < ALPHA && (c.low > 0.0 || c.high < 0.0),
    }
}

/// The pair that a verdict speaks of: the recommended chunker, or the best where the baseline is recommended, and the
/// baseline.
fn decided_pair(verdict: &Verdict) -> Option<(String, String)> {
    let baseline = &verdict.primary.baseline;
    let other = [&verdict.recommended, &verdict.best].into_iter().find(|name| *name != baseline);
    let others = verdict.p_best.keys().chain(&verdict.possible);
    let other = other.or_else(|| others.into_iter().find(|name| *name != baseline))?;
    Some((other.clone(), baseline.clone()))
}

fn place(summary: &Summary, chunker: &str) -> usize {
    summary.chunkers.iter().position(|c| c.name == chunker).unwrap_or(summary.chunkers.len())
}

fn metrics_of(summary: &Summary) -> Vec<Metric> {
    let of_cells =
        summary.cells.iter().flat_map(|c| c.metrics.iter().filter(|(_, x)| x.is_finite()).map(|(metric, _)| metric));
    let mut metrics: Vec<Metric> = of_cells.chain(summary.comparisons.iter().map(|c| &c.metric)).cloned().collect();
    metrics.sort_unstable();
    metrics.dedup();
    metrics.sort_by_key(Metric::order);
    metrics
}

/// The name after `reference=` in a `same-size` spec.
fn reference_of(spec: &str) -> Option<&str> {
    let options = spec.strip_prefix("same-size")?.strip_prefix(':')?;
    options.split(',').find_map(|option| option.trim().strip_prefix("reference="))
}

/// Is `a` the chunker under test where it meets `b`? Where a run has a baseline, it is the other; else the one whose sizes the other copies is; else the one that the
/// configuration names later, since baselines come first there.
fn tests_against(summary: &Summary, a: &str, b: &str) -> bool {
    if let Some(verdict) = &summary.verdict
        && [a, b].contains(&verdict.primary.baseline.as_str())
    {
        return b == verdict.primary.baseline;
    }
    let spec = |name: &str| summary.chunkers.iter().find(|c| c.name == name).map_or("", |c| c.spec.as_str());
    if reference_of(spec(b)) == Some(a) {
        return true;
    }
    if reference_of(spec(a)) == Some(b) {
        return false;
    }
    place(summary, a) >= place(summary, b)
}

fn oriented(summary: &Summary, c: &Comparison) -> Comparison {
    if tests_against(summary, &c.a, &c.b) {
        return c.clone();
    }
    Comparison {
        a: c.b.clone(),
        b: c.a.clone(),
        difference: -c.difference,
        low: -c.high,
        high: -c.low,
        wins: c.losses,
        losses: c.wins,
        leave_one_out: (c.leave_one_out.clone()).map(|l| LeaveOneOut { low: -l.high, high: -l.low, ..l }),
        ..c.clone()
    }
}

/// Span recall where it was measured, else the first metric there is.
fn chief_metric(metrics: &[Metric]) -> Option<Metric> {
    metrics.iter().find(|m| **m == Metric::SPAN_RECALL).or(metrics.first()).cloned()
}

/// k = 3 where it was run, else the middle k, else the middle token budget.
fn chief_setting(summary: &Summary, mode: &str, metric: Option<&Metric>) -> Option<Setting> {
    let measured = |c: &&Cell| c.mode == mode && metric.is_none_or(|m| c.metrics.contains_key(m));
    let mut settings: Vec<Setting> = summary.cells.iter().filter(measured).map(Cell::setting).collect();
    if settings.is_empty() {
        settings.extend(summary.comparisons.iter().filter(|c| c.mode == mode).map(Comparison::setting));
    }
    settings.sort();
    settings.dedup();
    let by_k: Vec<&Setting> = settings.iter().filter(|s| s.cutoff.k().is_some()).collect();
    let middle = |n: usize| n.saturating_sub(1) / 2;
    by_k.iter()
        .find(|s| s.cutoff == Cutoff::K(3))
        .or_else(|| by_k.get(middle(by_k.len())))
        .map(|s| (*s).clone())
        .or_else(|| settings.get(middle(settings.len())).cloned())
}

/// A chunker against the one of its own size where there is such a pair: the fairest comparison. Else the last chunker
/// against the first.
fn chief_pair(
    summary: &Summary,
    comparisons: &[Comparison],
    setting: Option<&Setting>,
    metric: Option<&Metric>,
) -> Option<(String, String)> {
    let (setting, metric) = (setting?, metric?);
    let here: Vec<&Comparison> =
        comparisons.iter().filter(|c| c.metric == *metric && setting.is(&c.mode, c.cutoff)).collect();
    let copies = |c: &&&Comparison| {
        summary.chunkers.iter().any(|row| row.name == c.b && reference_of(&row.spec) == Some(c.a.as_str()))
    };
    let apart = |c: &&&Comparison| place(summary, &c.a) as i64 - place(summary, &c.b) as i64;
    let chosen = here.iter().find(copies).or_else(|| here.iter().max_by_key(apart))?;
    Some((chosen.a.clone(), chosen.b.clone()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::{Metric, View, reference_of};
    use pericope_eval::cell::Cutoff;
    use pericope_eval::record::{Cell, ChunkerRow, Comparison, Summary};

    fn summary() -> Summary {
        let chunker =
            |name: &str, spec: &str| ChunkerRow { name: name.into(), spec: spec.into(), ..Default::default() };
        let cell = |cutoff| Cell {
            mode: "dense".into(),
            cutoff,
            metrics: [("mrr".into(), 0.5), ("span_recall".into(), 0.5)].into(),
            ..Default::default()
        };
        let comparison = |a: &str, b: &str| Comparison {
            a: a.into(),
            b: b.into(),
            mode: "dense".into(),
            cutoff: Cutoff::K(5),
            metric: "span_recall".into(),
            difference: 0.1,
            low: -0.05,
            high: 0.25,
            wins: 3,
            losses: 1,
            ..Default::default()
        };
        Summary {
            chunkers: vec![
                chunker("fixed", "fixed:words=100"),
                chunker("semantic", "window"),
                chunker("same", "same-size:reference=semantic"),
            ],
            cells: vec![cell(Cutoff::Tokens(512)), cell(Cutoff::K(10)), cell(Cutoff::K(5)), cell(Cutoff::K(1))],
            comparisons: vec![comparison("fixed", "semantic"), comparison("same", "semantic")],
            ..Default::default()
        }
    }

    #[test]
    fn the_headline_is_the_middle_k_and_the_pair_of_equal_size() {
        let summary = summary();
        let view = View::new(&summary);
        assert_eq!(view.setting.as_ref().map(|s| s.cutoff), Some(Cutoff::K(5)));
        assert_eq!(view.metric, Some(Metric::SPAN_RECALL));
        assert_eq!(view.pair, Some(("semantic".into(), "same".into())));
        let labels: Vec<String> = view.settings("dense").iter().map(|s| s.label().replace('\u{a0}', " ")).collect();
        assert_eq!(labels, ["k = 1", "k = 5", "k = 10", "512 tokens"]);
    }

    #[test]
    fn a_comparison_that_is_turned_round_keeps_its_meaning() {
        let summary = summary();
        let turned = &View::new(&summary).comparisons[0];
        assert_eq!((turned.a.as_str(), turned.b.as_str()), ("semantic", "fixed"));
        assert_eq!((turned.difference, turned.low, turned.high), (-0.1, -0.25, 0.05));
        assert_eq!((turned.wins, turned.losses), (1, 3));
    }

    #[test]
    fn references_are_read_from_the_spec() {
        assert_eq!(reference_of("same-size:max=9,reference=a b"), Some("a b"));
        assert_eq!(reference_of("fixed:reference=x"), None);
    }

    #[test]
    fn an_empty_summary_has_nothing_to_speak_of() {
        let empty = Summary::default();
        let view = View::new(&empty);
        assert!(view.setting.is_none() && view.metric.is_none() && view.pair.is_none() && view.modes.is_empty());
    }
}
