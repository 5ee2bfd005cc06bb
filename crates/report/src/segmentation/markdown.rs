//! `segments.md`.

use super::text::{CAUTION, COLUMNS, compared, facts, finding, heading, times, warnings};
use super::{Line, Report, lines};
use pericope_eval::format;

pub(super) fn markdown(report: &Report) -> String {
    let mut out = format!("# {}\n\n{CAUTION}\n\n", one_line(&report.name));
    for text in report.sets.iter().filter_map(|set| finding(report, &set.name)) {
        out.push_str(&format!("- {}\n", one_line(&text)));
    }
    for text in report.comparisons.iter().map(compared) {
        out.push_str(&format!("- {}\n", one_line(&text)));
    }
    let warnings = warnings(report);
    if !warnings.is_empty() {
        out.push_str("\n**Left out:**\n\n");
        warnings.iter().for_each(|text| out.push_str(&format!("- {}\n", one_line(text))));
    }
    for set in &report.sets {
        out.push_str(&format!("\n## {}\n\n{}.\n", one_line(&set.name), facts(set)));
        for known in [false, true] {
            table(&mut out, known, &lines(report, &set.name, known));
        }
    }
    out.push_str(&format!("\n{COLUMNS}\n"));
    if let Some(times) = times(report) {
        out.push_str(&format!("\n{times} Pericope {}.\n", env!("CARGO_PKG_VERSION")));
    }
    out.replace('\u{a0}', " ")
}

fn table(out: &mut String, known: bool, lines: &[Line]) {
    if lines.is_empty() {
        return;
    }
    out.push_str(&format!("\n**{}**\n\n", heading(known)));
    out.push_str("| system | Pk | WD | P | R | F1 | F1/doc | B | prop/true | sentences/s | tokens read | source |\n");
    out.push_str("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n");
    for line in lines {
        let percent = |x: Option<f64>| x.map_or_else(|| format::ABSENT.to_owned(), |x| format::decimal(100.0 * x, 1));
        let spread = |x: Option<f64>, error: Option<f64>| match error {
            Some(error) => format!("{} ± {}", percent(x), format::decimal(100.0 * error, 1)),
            None => percent(x),
        };
        let failed = if line.failed > 0 { format!(" ({} failed)", line.failed) } else { String::new() };
        let name = format!("{}{failed}", one_line(&line.name));
        let cells = [
            if line.source.is_some() { name } else { format!("**{name}**") },
            spread(line.pk, line.pk_error),
            spread(line.window_diff, line.window_diff_error),
            percent(line.precision),
            percent(line.recall),
            percent(line.f1),
            percent(line.macro_f1),
            percent(line.boundary_similarity),
            line.proposed_over_true.map_or_else(|| format::ABSENT.to_owned(), |x| format::decimal(x, 2)),
            line.sentences_per_second.map_or_else(|| format::ABSENT.to_owned(), format::mean),
            line.tokens_read.map_or_else(|| format::ABSENT.to_owned(), format::mean),
            line.source.as_deref().map_or_else(|| "this run".to_owned(), one_line),
        ];
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
}

/// Text that can neither end its line nor its cell, nor become markup.
fn one_line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.replace('\\', "\\\\").replace('|', "\\|").replace('<', "&lt;").replace('*', "\\*")
}

#[cfg(test)]
mod tests {
    use crate::segmentation::samples::report;

    #[test]
    fn a_table_a_set_and_kind_with_all_cells() {
        let text = report().markdown();
        assert_eq!(text.matches("\n| system |").count(), 4);
        for row in text.lines().filter(|line| line.starts_with('|')) {
            assert_eq!(row.replace("\\|", "").matches('|').count(), 13, "{row}");
        }
        assert!(text.contains("Told \\| system") && text.contains("| **near** |") && !text.contains("NaN"));
    }
}
