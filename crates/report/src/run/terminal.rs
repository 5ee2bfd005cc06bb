//! The comparison as plain text for a terminal.

use pericope_eval::cell::Cutoff;
use pericope_eval::record::{Comparison, Family, Summary};

use super::decision;
use super::headline::headline;
use super::view::View;
use super::warnings::warnings;
use crate::text::{grid, paragraph, plain};
use pericope_eval::format;
use pericope_eval::metric::Metric;

/// Comparisons that are listed; the report has them all.
const LISTED: usize = 12;

/// What `pericope eval run` ends with: the verdict, the chunkers by what decides, scores by setting, all metrics at the
/// verdict's setting, exploratory differences, and warnings. Plain ASCII digits and signs, no colours, ends with a line end.
///
/// Lines have at most `width` columns, where names and single columns leave room: a table that is wider goes on below itself.
#[must_use]
pub fn table(summary: &Summary, width: usize) -> String {
    let view = View::new(summary);
    let name = if summary.name.is_empty() { "Unnamed run" } else { &summary.name };
    let mut out = String::new();
    // Sentences come out of files with plain spaces.
    paragraph(&mut out, "", &headline(&view).replace(" %", "\u{a0}%"), width);
    out.push_str(&format!(
        "\n{name}: {}, {}\n\n",
        format::plural(summary.questions, "question"),
        format::plural(summary.documents, "document")
    ));
    standings(&mut out, &view, width);
    if let Some(metric) = &view.metric {
        for mode in &view.modes {
            by_setting(&mut out, &view, metric, mode, width);
        }
        by_metric(&mut out, &view, width);
        differences(&mut out, &view, width);
    }
    for warning in warnings(&view) {
        paragraph(&mut out, "Note: ", &warning, width);
    }
    plain(&out)
}

/// The table by chunker that the verdict rests on, and what belongs beside it.
fn standings(out: &mut String, view: &View, width: usize) {
    let Some(decided) = decision::table(view) else { return };
    let mut head = vec!["chunker".to_owned()];
    head.extend(decided.heads.iter().map(|(name, _)| plain_mark(name)));
    let rows = decided.rows.into_iter().map(|row| {
        let figures = row.figures.into_iter().map(|figure| plain_mark(&figure.text));
        std::iter::once(row.name.to_owned()).chain(figures).collect()
    });
    grid(out, &head, &rows.collect::<Vec<Vec<String>>>(), width);
    for note in decision::notes(view) {
        paragraph(out, "", &plain_mark(&note), width);
    }
    out.push('\n');
}

/// As narrow as the keyboard has it.
fn plain_mark(text: &str) -> String {
    text.replace("<\u{a0}", "<").replace("Holm’s p", "Holm p").replace('’', "'")
}

fn by_setting(out: &mut String, view: &View, metric: &Metric, mode: &str, width: usize) {
    let settings = view.settings(mode);
    let mut head = vec![format!("{}, {mode}", metric.heading()), "chunks".to_owned(), "tokens".to_owned()];
    head.extend(settings.iter().map(|setting| match setting.cutoff {
        Cutoff::K(k) => format!("k={k}"),
        Cutoff::Tokens(budget) => format!("{budget} tok"),
    }));
    let rows = view.summary.chunkers.iter().map(|row| {
        let mut values = vec![row.name.clone(), format::count(row.chunks), format::mean(row.mean_tokens)];
        values
            .extend(settings.iter().map(|s| metric.unit().bare(view.value(&row.name, s, metric).unwrap_or(f64::NAN))));
        values
    });
    grid(out, &head, &rows.collect::<Vec<_>>(), width);
}

fn by_metric(out: &mut String, view: &View, width: usize) {
    let Some(setting) = &view.setting else { return };
    let measured =
        |metric: &&Metric| view.summary.chunkers.iter().any(|row| view.value(&row.name, setting, metric).is_some());
    let metrics: Vec<&Metric> = view.metrics.iter().filter(measured).collect();
    let mut head = vec![format!("{}, {}", setting.label(), setting.mode)];
    head.extend(metrics.iter().map(|metric| metric.label().clone()));
    head.push("context tokens".to_owned());
    let rows = view.summary.chunkers.iter().map(|row| {
        let mut values = vec![row.name.clone()];
        values.extend(metrics.iter().map(|m| m.unit().bare(view.value(&row.name, setting, m).unwrap_or(f64::NAN))));
        values.push(format::mean(view.cell(&row.name, setting).map_or(f64::NAN, |c| c.context_tokens)));
        values
    });
    grid(out, &head, &rows.collect::<Vec<_>>(), width);
}

fn differences(out: &mut String, view: &View, width: usize) {
    let mut left_out = 0;
    let mut room = LISTED;
    for metric in view.chief_metrics() {
        for mode in &view.modes {
            // The primary ones are in the table by chunker.
            let others = view.comparisons.iter().filter(|c| c.family != Some(Family::Primary));
            let mut listed: Vec<&Comparison> = others.filter(|c| c.metric == *metric && c.mode == *mode).collect();
            listed.sort_by_key(|c| view.rank(c));
            left_out += listed.len().saturating_sub(room);
            listed.truncate(room);
            room -= listed.len();
            if !listed.is_empty() {
                let exploratory = view.summary.verdict.is_some();
                let what = if exploratory { "exploratory" } else { "difference in" };
                let corner = format!("{what} {}, {mode}", metric.label());
                let mut head = vec![corner.as_str(), "at", "diff", "95 % interval", "p"];
                head.extend((!exploratory).then_some("Holm p"));
                head.push("win/tie/loss");
                let head: Vec<String> = head.into_iter().map(str::to_owned).collect();
                let rows: Vec<Vec<String>> = listed.iter().map(|c| difference(c, metric, exploratory)).collect();
                grid(out, &head, &rows, width);
            }
        }
    }
    if left_out > 0 {
        // The grid ends with an empty line; the remark belongs above it.
        out.truncate(out.trim_end().len());
        let more = if left_out == 1 { "comparison" } else { "comparisons" };
        out.push_str(&format!("\n({} more {more} in the report)\n\n", format::count(left_out)));
    }
}

fn difference(c: &Comparison, metric: &Metric, exploratory: bool) -> Vec<String> {
    let mut values = vec![
        format!("{} - {}", format::clipped(&c.a, 14), format::clipped(&c.b, 14)),
        c.cutoff.label().replace("\u{a0}=\u{a0}", "=").replace("tokens", "tok"),
        metric.unit().difference(c.difference),
        format!("{} to {}", metric.unit().difference(c.low), metric.unit().difference(c.high)),
        plain_mark(&format::p_value(c.p)),
    ];
    values.extend((!exploratory).then(|| plain_mark(&format::p_value(c.p_holm.unwrap_or(f64::NAN)))));
    values.push(format!("{}/{}/{}", c.wins, c.ties, c.losses));
    values
}

#[cfg(test)]
mod tests {
    use pericope_eval::cell::Cutoff;
    use pericope_eval::record::{Cell, ChunkerRow, Summary, Verdict};

    fn table(summary: &Summary) -> String {
        super::table(summary, 100)
    }

    #[test]
    fn a_number_and_its_sign_stay_on_one_line() {
        let sentence = format!("{} 100.0 % of it.", "a".repeat(94));
        let verdict = Some(Verdict { sentence, ..Verdict::default() });
        let text = table(&Summary { verdict, ..Summary::default() });
        assert!(text.contains("\n100.0 % of it."), "{text}");
    }

    #[test]
    fn absent_values_are_dashes() {
        let summary = Summary {
            chunkers: vec![ChunkerRow { name: "x".into(), mean_tokens: f64::NAN, ..ChunkerRow::default() }],
            cells: vec![Cell { chunker: "x".into(), mode: "dense".into(), cutoff: Cutoff::K(1), ..Cell::default() }],
            ..Summary::default()
        };
        let text = table(&summary);
        assert!(!text.contains("NaN") && text.is_ascii(), "{text}");
        assert!(table(&Summary::default()).contains("nothing to compare"));
    }
}
