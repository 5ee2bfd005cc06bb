//! `summary.md`: the report in short, for a pull request or a mail.

use pericope_eval::format;
use pericope_eval::metric::Metric;
use pericope_eval::record::{Cell, Comparison};

use super::facts::facts;
use super::report::{Contrast, Report};
use super::view::{View, decided};
use super::{headline, warnings};
use crate::kit::markdown::{Markdown, strong};

/// Comparisons that are listed; `summary.json` has them all.
const LISTED: usize = 60;

/// Returns the page.
pub(super) fn page(report: &Report) -> String {
    let view = View::new(&report.summary);
    let mut out = Markdown::default();
    out.heading(1, report.name());
    out.paragraph(strong(&headline::headline(&view)));
    out.bullets(headline::findings(&view));
    let warnings = warnings::of_report(report, &view);
    if !warnings.is_empty() {
        out.paragraph("Before you rely on this:");
        out.bullets(warnings);
    }
    for mode in &view.modes {
        scores(&mut out, &view, mode);
    }
    comparisons(&mut out, &view);
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

fn scores(out: &mut Markdown, view: &View, mode: &str) {
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
    head.extend(labels.iter().map(String::as_str).chain(failed.then_some("failed")));
    let mut rows = Vec::new();
    for setting in view.settings(mode) {
        for row in &view.summary.chunkers {
            let Some(cell) = view.cell(&row.name, &setting) else { continue };
            let mut values = vec![setting.label(), row.name.clone(), format::mean(cell.context_tokens)];
            values.extend(metrics.iter().map(|m| m.unit().bare(cell.metrics.get(*m).copied().unwrap_or(f64::NAN))));
            values.extend(failed.then(|| format::count(cell.failed)));
            rows.push(values);
        }
    }
    out.table("ll", &head, rows);
}

fn comparisons(out: &mut Markdown, view: &View) {
    let mut listed: Vec<(usize, &Comparison)> = Vec::new();
    for (order, metric) in view.chief_metrics().into_iter().enumerate() {
        listed.extend(view.comparisons.iter().filter(|c| c.metric == *metric).map(|c| (order, c)));
    }
    if listed.is_empty() {
        return;
    }
    listed.sort_by_key(|(order, c)| (*order, view.rank(c)));
    listed.truncate(LISTED);
    out.heading(2, "Differences");
    out.paragraph("Paired by question; Holm’s p is corrected for all comparisons by the same metric.");
    let head =
        ["chunkers", "mode", "at", "metric", "difference", "95 % interval", "p", "Holm’s p", "win/tie/loss", "n"];
    out.table("llll", &head, listed.into_iter().map(|(_, c)| comparison(c)));
}

fn comparison(c: &Comparison) -> Vec<String> {
    let unit = c.metric.unit();
    let difference = unit.difference(c.difference);
    vec![
        format!("{} − {}", c.a, c.b),
        c.mode.clone(),
        c.cutoff.label(),
        c.metric.label(),
        if decided(c) { format!("{difference} (holds)") } else { difference },
        format!("{} to {}", unit.difference(c.low), unit.difference(c.high)),
        format::p_value(c.p),
        format::p_value(c.p_holm),
        format!("{}/{}/{}", c.wins, c.ties, c.losses),
        format::count(c.n),
    ]
}

fn chunkers(out: &mut Markdown, view: &View) {
    if view.summary.chunkers.is_empty() {
        return;
    }
    out.heading(2, "Chunkers");
    let head = ["chunker", "spec", "limit", "chunks", "mean words", "mean tokens", "longest", "segmenting", "indexing"];
    let rows = view.summary.chunkers.iter().map(|row| {
        vec![
            row.name.clone(),
            row.shown_spec(),
            row.limit.map_or_else(|| "none".to_owned(), format::count),
            format::count(row.chunks),
            format::mean(row.mean_words),
            format::mean(row.mean_tokens),
            format::count(row.max_tokens),
            format::seconds(row.segment_seconds),
            format::seconds(row.index_seconds),
        ]
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
