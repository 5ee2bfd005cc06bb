//! `segments.md`.

use pericope_eval::format;

use super::beside::{BESIDE, Beside, HEADS, against, beside};
use super::lines::{Line, lines};
use super::report::Report;
use super::text::{CAUTION, COLUMNS, facts, finding, heading, times, warnings};
use crate::kit::markdown::{Inline, Markdown, strong};

const HEAD: [&str; 14] = [
    "system",
    "Pk",
    "WD",
    "P",
    "R",
    "F1",
    "F1/doc",
    "B",
    "tiling",
    "tiling, pen.",
    "prop/true",
    "sentences/s",
    "tokens read",
    "source",
];

pub(super) fn markdown(report: &Report) -> String {
    let mut out = Markdown::default();
    out.heading(1, &report.name);
    let findings = report.sets.iter().filter_map(|set| finding(report, &set.name));
    let sets = report.sets.iter().filter_map(|set| against(report, &set.name));
    out.bullets(sets.chain(findings));
    out.paragraph(CAUTION);
    let warnings = warnings(report);
    if !warnings.is_empty() {
        out.paragraph(strong("Left out:"));
        out.bullets(warnings);
    }
    for set in &report.sets {
        out.heading(2, &set.name);
        out.paragraph(format!("{}.", facts(set)));
        for known in [false, true] {
            let lines = lines(report, &set.name, known);
            if !lines.is_empty() {
                out.paragraph(strong(heading(known)));
                out.table("lrrrrrrrrrrrrl", &HEAD, lines.iter().map(row));
            }
        }
        let rows = beside(report, &set.name);
        if let Some(first) = rows.first() {
            out.paragraph(strong(&format!("Beside {} by Pk, document by document", first.name)));
            out.table("lrrrlrrrl", &HEADS, rows.iter().map(compared));
        }
    }
    out.paragraph(COLUMNS);
    if !report.comparisons.is_empty() {
        out.paragraph(BESIDE);
    }
    if let Some(times) = times(report) {
        out.paragraph(format!("{times} Pericope {}.", env!("CARGO_PKG_VERSION")));
    }
    out.finish().replace('\u{a0}', " ")
}

fn compared(row: &Beside<'_>) -> Vec<Inline> {
    std::iter::once(strong(row.name)).chain(row.cells().iter().map(Inline::from)).collect()
}

fn row(line: &Line) -> Vec<Inline> {
    let shown = |x: Option<f64>, shown: fn(f64) -> String| x.map_or_else(|| format::ABSENT.to_owned(), shown);
    let percent = |x: Option<f64>| shown(x, |x| format::decimal(100.0 * x, 1));
    let spread = |x: Option<f64>, error: Option<f64>| match error {
        Some(error) => format!("{} ± {}", percent(x), format::decimal(100.0 * error, 1)),
        None => percent(x),
    };
    let failed = if line.failed > 0 { format!(" ({} failed)", line.failed) } else { String::new() };
    let name = format!("{}{failed}", line.name);
    let mut cells = vec![if line.source.is_some() { name.into() } else { strong(&name) }];
    let figures = [
        spread(line.pk, line.pk_error),
        spread(line.window_diff, line.window_diff_error),
        percent(line.precision),
        percent(line.recall),
        percent(line.f1),
        percent(line.macro_f1),
        percent(line.boundary_similarity),
        percent(line.tiling),
        percent(line.tiling_penalised),
        shown(line.proposed_over_true, |x| format::decimal(x, 2)),
        shown(line.sentences_per_second, format::mean),
        shown(line.tokens_read, format::mean),
    ];
    cells.extend(figures.iter().map(Inline::from));
    cells.push(line.source.as_deref().unwrap_or("this run").into());
    cells
}

#[cfg(test)]
mod tests {
    use crate::segmentation::samples::report;

    #[test]
    fn a_table_a_set_and_kind_with_all_cells() {
        let text = report().markdown();
        assert_eq!(text.matches("\n| system |").count(), 4);
        assert_eq!(text.matches("\n| segmenter |").count(), 2);
        for block in text.split("\n\n").filter(|block| block.starts_with('|')) {
            let cells = if block.starts_with("| segmenter |") { 9 } else { 14 };
            for row in block.lines() {
                assert_eq!(row.replace("\\|", "").matches('|').count(), cells + 1, "{row}");
            }
        }
        assert!(text.contains("Told \\| system") && text.contains("| **near** |") && !text.contains("NaN"));
    }
}
