//! `summary.md`: the report in short, for a pull request or a mail.

use pericope_eval::record::{Cell, Comparison};

use super::html::facts;
use super::view::{View, decided};
use super::{Report, headline, warnings};
use pericope_eval::format;
use pericope_eval::metric::Metric;

/// Comparisons that are listed; `summary.json` has them all.
const LISTED: usize = 60;

/// The page.
pub(super) fn page(report: &Report) -> String {
    let view = View::new(&report.summary);
    let mut out = format!("# {}\n\n", escaped(report.name()));
    out.push_str(&format!("**{}**\n\n", escaped(&headline::headline(&view))));
    bullets(&mut out, &headline::findings(&view));
    let warnings = warnings::of_report(report, &view);
    if !warnings.is_empty() {
        out.push_str("Before you rely on this:\n\n");
        bullets(&mut out, &warnings);
    }
    for mode in &view.modes {
        scores(&mut out, &view, mode);
    }
    comparisons(&mut out, &view);
    chunkers(&mut out, &view);
    if !report.contrasts.is_empty() {
        out.push_str("## Where the chunkers differ most\n\n");
        let questions: Vec<String> = report.contrasts.iter().map(|c| question(&view, c)).collect();
        questions.iter().for_each(|q| out.push_str(&format!("- {q}\n")));
        out.push('\n');
    }
    out.push_str("## What was run\n\n");
    bullets(&mut out, &facts(&report.run).iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>());
    checksums(&mut out, report);
    out
}

fn bullets(out: &mut String, lines: &[String]) {
    for line in lines {
        out.push_str(&format!("- {}\n", escaped(line)));
    }
    if !lines.is_empty() {
        out.push('\n');
    }
}

fn question(view: &View, contrast: &super::Contrast) -> String {
    let scores: Vec<String> = contrast
        .sides
        .iter()
        .filter_map(|side| {
            let metric = view.metric.as_ref()?;
            Some(format!("{} {}", escaped(&side.chunker), metric.unit().value(*side.metrics.get(metric)?)))
        })
        .collect();
    format!("{} ({})", escaped(&format::clipped(&contrast.question, 200)), scores.join(", "))
}

fn scores(out: &mut String, view: &View, mode: &str) {
    let cells: Vec<&Cell> = view.summary.cells.iter().filter(|c| c.mode == mode).collect();
    if cells.is_empty() {
        return;
    }
    out.push_str(&format!("## Scores, {}\n\nShares in percent.\n\n", escaped(mode)));
    let metrics: Vec<&Metric> =
        view.metrics.iter().filter(|m| cells.iter().any(|c| c.metrics.contains_key(*m))).collect();
    let failed = cells.iter().any(|c| c.failed > 0);
    let mut head = vec!["at".to_owned(), "chunker".to_owned(), "context tokens".to_owned()];
    head.extend(metrics.iter().map(|m| m.label()));
    if failed {
        head.push("failed".to_owned());
    }
    let mut rows = Vec::new();
    for setting in view.settings(mode) {
        for row in &view.summary.chunkers {
            let Some(cell) = view.cell(&row.name, &setting) else { continue };
            let mut values = vec![setting.label(), row.name.clone(), format::mean(cell.context_tokens)];
            values.extend(metrics.iter().map(|m| m.unit().bare(cell.metrics.get(*m).copied().unwrap_or(f64::NAN))));
            if failed {
                values.push(format::count(cell.failed));
            }
            rows.push(values);
        }
    }
    table(out, 2, &head, &rows);
}

fn comparisons(out: &mut String, view: &View) {
    let mut listed: Vec<(usize, &Comparison)> = Vec::new();
    for (order, metric) in view.chief_metrics().into_iter().enumerate() {
        listed.extend(view.comparisons.iter().filter(|c| c.metric == *metric).map(|c| (order, c)));
    }
    if listed.is_empty() {
        return;
    }
    listed.sort_by_key(|(order, c)| (*order, view.rank(c)));
    listed.truncate(LISTED);
    out.push_str(
        "## Differences\n\nPaired by question; Holm’s p is corrected for all comparisons by the same metric.\n\n",
    );
    let head =
        ["chunkers", "mode", "at", "metric", "difference", "95 % interval", "p", "Holm’s p", "win/tie/loss", "n"];
    let rows: Vec<Vec<String>> = listed
        .iter()
        .map(|(_, c)| {
            let metric = &c.metric;
            let difference = metric.unit().difference(c.difference);
            vec![
                format!("{} − {}", c.a, c.b),
                c.mode.clone(),
                c.cutoff.label(),
                metric.label(),
                if decided(c) { format!("{difference} (holds)") } else { difference },
                format!("{} to {}", metric.unit().difference(c.low), metric.unit().difference(c.high)),
                format::p_value(c.p),
                format::p_value(c.p_holm),
                format!("{}/{}/{}", c.wins, c.ties, c.losses),
                format::count(c.n),
            ]
        })
        .collect();
    table(out, 4, &head.map(str::to_owned), &rows);
}

fn chunkers(out: &mut String, view: &View) {
    if view.summary.chunkers.is_empty() {
        return;
    }
    out.push_str("## Chunkers\n\n");
    let head = ["chunker", "spec", "limit", "chunks", "mean words", "mean tokens", "longest", "segmenting", "indexing"];
    let rows: Vec<Vec<String>> = view
        .summary
        .chunkers
        .iter()
        .map(|row| {
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
        })
        .collect();
    table(out, 2, &head.map(str::to_owned), &rows);
}

fn checksums(out: &mut String, report: &Report) {
    let sums = &report.run.checksums;
    let rows: Vec<Vec<String>> = [&sums.data, &sums.models, &sums.prompts]
        .into_iter()
        .flatten()
        .map(|(name, sum)| vec![name.clone(), sum.clone()])
        .collect();
    if !rows.is_empty() {
        table(out, 2, &["file".to_owned(), "SHA-256".to_owned()], &rows);
    }
}

/// A table whose first `words` columns are set to the left.
pub(super) fn table(out: &mut String, words: usize, head: &[String], rows: &[Vec<String>]) {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    out.push_str(&line(head));
    let rules: Vec<&str> = (0..head.len()).map(|i| if i < words { "---" } else { "--:" }).collect();
    out.push_str(&format!("| {} |\n", rules.join(" | ")));
    rows.iter().for_each(|row| out.push_str(&line(row)));
    out.push('\n');
}

/// Text that Markdown shows as it is, on one line: nothing in it becomes markup, HTML, or the end of a table's cell.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        match letter {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' => {
                out.push('\\');
                out.push(letter);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\t' | '\n' | '\r' => out.push(' '),
            other => match crate::kit::markup::replaced(other) {
                Some("\u{fffd}") => out.push('\u{fffd}'),
                _ => out.push(other),
            },
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{escaped, table};

    #[test]
    fn nothing_in_a_text_is_markup() {
        assert_eq!(escaped("a|b\n<script> *x* [y](z) \u{1b}"), "a\\|b &lt;script&gt; \\*x\\* \\[y\\](z) \u{fffd}");
    }

    #[test]
    fn a_table_has_one_line_a_row() {
        let mut out = String::new();
        table(&mut out, 1, &["a".into(), "b".into()], &[vec!["x|y".into(), "1\n2".into()]]);
        assert_eq!(out, "| a | b |\n| --- | --: |\n| x\\|y | 1 2 |\n\n");
    }
}
