//! `summary.md`: the report in short, for a pull request or a mail.

use pericope_eval::format;
use pericope_eval::metric::Metric;
use pericope_eval::record::{Cell, Comparison, Family};

use super::facts::{facts, judges};
use super::report::{Contrast, Report};
use super::view::{View, decided};
use super::{decision, headline, passages, warnings};
use crate::kit::markdown::{Markdown, strong};

/// Comparisons that are listed; `summary.json` has them all.
const LISTED: usize = 60;

/// Returns the page.
pub(super) fn page(report: &Report) -> String {
    let view = View::new(&report.summary);
    let mut out = Markdown::default();
    out.heading(1, report.name());
    out.paragraph(strong(&headline::headline(&view)));
    standings(&mut out, &view);
    out.bullets(headline::findings(&view));
    let warnings = warnings::of_report(report, &view);
    if !warnings.is_empty() {
        out.paragraph("Before you rely on this:");
        out.bullets(warnings);
    }
    for mode in &view.modes {
        scores(&mut out, report, &view, mode);
    }
    comparisons(&mut out, &view);
    pairwise(&mut out, &view);
    chunkers(&mut out, &view);
    if !report.contrasts.is_empty() {
        out.heading(2, "Where the chunkers differ most");
        out.bullets(report.contrasts.iter().map(|c| question(&view, c)));
    }
    out.heading(2, "What was run");
    out.bullets(facts(&report.run).iter().map(|(name, value)| format!("{name}: {value}")));
    checksums(&mut out, report);
    out.finish()
}

/// The table by chunker that the verdict rests on.
fn standings(out: &mut Markdown, view: &View) {
    let Some(decided) = decision::table(view) else { return };
    let mut head = vec!["chunker"];
    head.extend(decided.heads.iter().map(|(name, _)| name.as_str()));
    let rows = decided.rows.into_iter().map(|row| {
        let name = if row.recommended { format!("{} (recommended)", row.name) } else { row.name.to_owned() };
        std::iter::once(name).chain(row.figures.into_iter().map(|figure| figure.text)).collect()
    });
    out.table("l", &head, rows);
}

fn question(view: &View, contrast: &Contrast) -> String {
    let score = |metrics: &pericope_eval::record::Metrics| {
        let metric = view.metric.as_ref()?;
        Some(metric.unit().value(*metrics.get(metric)?))
    };
    let scores: Vec<String> = (contrast.sides.iter())
        .filter_map(|side| Some(format!("{} {}", side.chunker, score(&side.metrics)?)))
        .collect();
    format!("{} ({})", format::clipped(&contrast.question, 200), scores.join(", "))
}

fn scores(out: &mut Markdown, report: &Report, view: &View, mode: &str) {
    let cells: Vec<&Cell> = view.summary.cells.iter().filter(|c| c.mode == mode).collect();
    if cells.is_empty() {
        return;
    }
    out.heading(2, &format!("Scores, {mode}"));
    out.paragraph("Shares in percent.");
    let metrics: Vec<&Metric> =
        view.metrics.iter().filter(|m| cells.iter().any(|c| c.metrics.contains_key(*m))).collect();
    let labels: Vec<String> = metrics.iter().map(|m| m.label()).collect();
    let failed = cells.iter().any(|c| c.failed > 0);
    let mut head = vec!["at", "chunker", "context tokens"];
    let rest = cells.iter().any(|c| !c.metrics_without_failed.is_empty());
    let chief = view.metric.as_ref().map(|m| format!("{} without failed", m.label())).filter(|_| rest);
    head.extend(labels.iter().map(String::as_str).chain(chief.as_deref()).chain(failed.then_some("failed")));
    // Of one question: its search, and its answer where there is one.
    let timed = cells.iter().any(|c| c.query_p50_ms.is_some());
    let answered = cells.iter().any(|c| c.answer_seconds.is_some());
    head.extend([timed.then_some("query p50, ms"), answered.then_some("answer, ms")].into_iter().flatten());
    let mut rows = Vec::new();
    for setting in view.settings(mode) {
        for row in &view.summary.chunkers {
            let Some(cell) = view.cell(&row.name, &setting) else { continue };
            let mut values = vec![setting.label(), row.name.clone(), format::mean(cell.context_tokens)];
            values.extend(metrics.iter().map(|m| m.unit().bare(cell.metrics.get(*m).copied().unwrap_or(f64::NAN))));
            values.extend(view.metric.as_ref().filter(|_| rest).map(|m| m.unit().bare(view.without_failed(cell, m))));
            values.extend(failed.then(|| format::count(cell.failed)));
            let times = [(timed, cell.query_p50_ms), (answered, cell.answer_seconds.map(|seconds| 1e3 * seconds))];
            let shown = times.into_iter().filter(|(is_shown, _)| *is_shown);
            values.extend(shown.map(|(_, time)| format::decimal(time.unwrap_or(f64::NAN), 1)));
            rows.push(values);
        }
    }
    out.table("ll", &head, rows);
    if let Some(judges) = judges(&report.run, &metrics) {
        out.paragraph(judges);
    }
}

fn comparisons(out: &mut Markdown, view: &View) {
    let mut listed: Vec<(usize, &Comparison)> = Vec::new();
    // The primary ones are in the table by chunker.
    let others = || view.comparisons.iter().filter(|c| c.family != Some(Family::Primary));
    for (order, metric) in view.chief_metrics().into_iter().enumerate() {
        listed.extend(others().filter(|c| c.metric == *metric).map(|c| (order, c)));
    }
    if listed.is_empty() {
        return;
    }
    listed.sort_by_key(|(order, c)| (*order, view.rank(c)));
    listed.truncate(LISTED);
    let exploratory = view.summary.verdict.is_some();
    if exploratory {
        out.heading(2, "Exploratory differences");
        out.paragraph(
            "Paired by question, the unit is the document. Intervals and p are not adjusted: none of these decides.",
        );
    } else {
        out.heading(2, "Differences");
        out.paragraph("Paired by question; Holm’s p is corrected for all comparisons by the same metric.");
    }
    let mut head = vec!["chunkers", "mode", "at", "metric", "difference", "95 % interval", "p"];
    head.extend((!exploratory).then_some("Holm’s p"));
    head.extend(["win/tie/loss", "n"]);
    out.table("llll", &head, listed.into_iter().map(|(_, c)| comparison(c, exploratory)));
}

fn comparison(c: &Comparison, exploratory: bool) -> Vec<String> {
    let unit = c.metric.unit();
    let difference = unit.difference(c.difference);
    let mut values = vec![
        format!("{} − {}", c.a, c.b),
        c.mode.clone(),
        c.cutoff.label(),
        c.metric.label(),
        if decided(c) { format!("{difference} (holds)") } else { difference },
        format!("{} to {}", unit.difference(c.low), unit.difference(c.high)),
        format::p_value(c.p),
    ];
    values.extend((!exploratory).then(|| format::p_value(c.p_holm.unwrap_or(f64::NAN))));
    values.extend([format!("{}/{}/{}", c.wins, c.ties, c.losses), format::count(c.n)]);
    values
}

/// Answers that a model compared with the baseline's.
fn pairwise(out: &mut Markdown, view: &View) {
    if view.summary.pairwise.is_empty() {
        return;
    }
    out.heading(2, "Answers, pair by pair");
    out.paragraph(
        "Judged in both orders; a verdict that changed with the order is a tie. Ties count half in the win rate.",
    );
    let head = [
        "chunker",
        "against",
        "mode",
        "at",
        "win rate",
        "95 % interval",
        "win/tie/loss",
        "changed with the order",
        "failed",
    ];
    let rows = view.summary.pairwise.iter().map(|row| {
        vec![
            row.chunker.clone(),
            row.baseline.clone(),
            row.mode.clone(),
            row.cutoff.label(),
            format::percent(row.win_rate),
            format!("{} to {}", format::percent(row.low), format::percent(row.high)),
            format!("{}/{}/{}", row.wins, row.ties, row.losses),
            row.position_bias().map_or_else(|| format::ABSENT.to_owned(), format::percent),
            format::count(row.failed),
        ]
    });
    out.table("llll", &head, rows);
}

fn chunkers(out: &mut Markdown, view: &View) {
    if view.summary.chunkers.is_empty() {
        return;
    }
    out.heading(2, "Chunkers");
    let mut head =
        vec!["chunker", "spec", "limit", "chunks", "mean words", "mean tokens", "longest", "segmenting", "indexing"];
    let retrievers = passages::any(&view.summary.chunkers);
    head.extend(passages::HEADS.iter().filter(|_| retrievers).map(|(name, _)| *name));
    let rows = view.summary.chunkers.iter().map(|row| {
        let mut values = vec![
            row.name.clone(),
            row.shown_spec(),
            row.limit.map_or_else(|| "none".to_owned(), format::count),
            format::count(row.chunks),
            format::mean(row.mean_words),
            format::mean(row.mean_tokens),
            format::count(row.max_tokens),
            format::seconds(passages::seconds(row, row.segment_seconds)),
            format::seconds(passages::seconds(row, row.index_seconds)),
        ];
        values.extend(passages::figures(row).into_iter().filter(|_| retrievers).map(|(shown, _)| shown));
        values
    });
    out.table("ll", &head, rows);
}

fn checksums(out: &mut Markdown, report: &Report) {
    let sums = &report.run.checksums;
    let rows: Vec<Vec<&String>> =
        [&sums.data, &sums.models, &sums.prompts].into_iter().flatten().map(|(name, sum)| vec![name, sum]).collect();
    if !rows.is_empty() {
        out.table("ll", &["file", "SHA-256"], rows);
    }
}
