//! `index.html`.

use super::text::{CAUTION, COLUMNS, compared, facts, finding, heading, times, warnings};
use super::{Line, Report, SetFacts, lines, slug};
use crate::kit::markup::Markup;
use crate::kit::table::{Head, Row, Value, table};
use crate::kit::{section, shell};
use crate::segmentation::plot::{BARS_NOTE, DocumentPlot, bars, extremes, groups, speed, speeds, tiles};
use pericope_eval::format;

/// Warnings that are shown.
const WARNINGS: usize = 50;

pub(super) fn page(report: &Report) -> String {
    shell::document(&format!("{} – Pericope", report.name), |m| {
        header(m, report);
        m.element("main", &[("id", "main")], |m| {
            lead(m, report);
            scores(m, report);
            for set in &report.sets {
                one_set(m, report, set);
            }
            specs(m, report);
        });
    })
}

fn header(m: &mut Markup, report: &Report) {
    m.element("header", &[("class", "top")], |m| {
        m.leaf("p", &[("class", "eyebrow")], "Pericope · segmentation against known boundaries");
        m.leaf("h1", &[], &report.name);
        let segmenters = format::plural(report.evaluation.segmenters().len(), "segmenter");
        let documents: usize = report.sets.iter().map(|set| set.documents).sum();
        let sets = format::plural(report.sets.len(), "data set");
        m.leaf(
            "p",
            &[("class", "facts")],
            &format!("{segmenters} on {sets}, {}", format::plural(documents, "document")),
        );
        m.element("nav", &[("aria-label", "Sections")], |m| {
            m.leaf("a", &[("href", "#scores")], "Scores");
            for set in &report.sets {
                m.leaf("a", &[("href", &format!("#set-{}", slug(&set.name)))], &set.name);
            }
            m.leaf("a", &[("href", "#specs")], "Specs");
        });
    });
    m.line();
}

fn lead(m: &mut Markup, report: &Report) {
    let warnings = warnings(report);
    if !warnings.is_empty() {
        m.element("section", &[("class", "warnings"), ("aria-label", "Left out")], |m| {
            m.leaf("h2", &[], "Left out of the figures");
            let more = warnings.len().saturating_sub(WARNINGS);
            list(m, "", warnings.iter().take(WARNINGS).cloned());
            if more > 0 {
                m.leaf("p", &[("class", "note")], &format!("{} in summary.json.", format::plural(more, "more line")));
            }
        });
        m.line();
    }
    m.element("section", &[("class", "lead"), ("aria-label", "Findings")], |m| {
        list(m, "findings", report.sets.iter().filter_map(|set| finding(report, &set.name)));
        if !report.comparisons.is_empty() {
            m.leaf("p", &[("class", "prose")], "The first two segmenters, paired document by document:");
            list(m, "findings", report.comparisons.iter().map(compared));
        }
        m.leaf("p", &[("class", "prose")], CAUTION);
    });
    m.line();
}

fn list(m: &mut Markup, class: &str, lines: impl Iterator<Item = String>) {
    m.element("ul", &[("class", class)], |m| lines.for_each(|line| m.leaf("li", &[], &line)));
    m.line();
}

fn scores(m: &mut Markup, report: &Report) {
    section(m, "scores", "Exact boundaries: F1 × 100", |m| {
        m.element("div", &[("class", "charts")], |m| {
            for group in groups(&report.evaluation) {
                bars(m, &group.set, &group);
            }
        });
        if report.evaluation.rows.iter().any(|row| row.known_count) {
            m.leaf("p", &[("class", "note")], BARS_NOTE);
        }
    });
    let speeds = speeds(&report.evaluation);
    if !speeds.is_empty() {
        section(m, "speed", "F1 and speed", |m| {
            m.element("div", &[("class", "charts")], |m| {
                for (set, points) in &speeds {
                    speed(m, set, points);
                }
            });
            if report.embedding_seconds.is_some() {
                m.leaf(
                    "p",
                    &[("class", "note")],
                    "What shares the embeddings made beforehand is shown without their time.",
                );
            }
        });
    }
}

fn one_set(m: &mut Markup, report: &Report, set: &SetFacts) {
    section(m, &format!("set-{}", slug(&set.name)), &set.name, |m| {
        m.leaf("p", &[("class", "facts")], &facts(set));
        for known in [false, true] {
            let lines = lines(report, &set.name, known);
            if !lines.is_empty() {
                figures(m, heading(known), &lines);
            }
        }
        m.leaf("p", &[("class", "note")], COLUMNS);
        if let Some(times) = times(report) {
            m.leaf("p", &[("class", "note")], &times);
        }
        plots(m, report, &set.name);
    });
}

fn figures(m: &mut Markup, caption: &str, lines: &[Line]) {
    let heads = [
        Head::words("system"),
        Head::number("F1").explained("Exact boundaries, over all of the set."),
        Head::number("P"),
        Head::number("R"),
        Head::number("Pk").explained("Mean over documents; lower is better."),
        Head::number("WD").explained("WindowDiff, mean over documents; lower is better."),
        Head::number("prop/true").explained("Boundaries proposed over true boundaries."),
        Head::words("source"),
        Head::number("F1/doc"),
        Head::number("B").explained("Boundary similarity, mean over documents."),
        Head::number("sentences/s"),
        Head::number("tokens read").explained("By the segmenter's own model, special tokens included."),
    ];
    let rows: Vec<Row> = lines.iter().map(row).collect();
    table(m, caption, &heads, &rows);
}

fn row(line: &Line) -> Row {
    let percent = |x: Option<f64>| {
        let shown = x.map_or_else(|| format::ABSENT.to_owned(), |x| format::decimal(100.0 * x, 1));
        Value::number(shown, x.unwrap_or(f64::NAN))
    };
    let spread = |x: Option<f64>, error: Option<f64>| match (x, error) {
        (Some(x), Some(error)) => {
            Value::number(format!("{} ± {}", format::decimal(100.0 * x, 1), format::decimal(100.0 * error, 1)), x)
        }
        _ => percent(x),
    };
    let number = |x: Option<f64>, shown: fn(f64) -> String| {
        Value::number(x.map_or_else(|| format::ABSENT.to_owned(), shown), x.unwrap_or(f64::NAN))
    };
    let values = vec![
        percent(line.f1).strong(line.source.is_none()),
        percent(line.precision),
        percent(line.recall),
        spread(line.pk, line.pk_error),
        spread(line.window_diff, line.window_diff_error),
        number(line.proposed_over_true, |x| format::decimal(x, 2)),
        Value::words(line.source.as_deref().unwrap_or("this run")),
        percent(line.macro_f1),
        percent(line.boundary_similarity),
        number(line.sentences_per_second, format::mean),
        number(line.tokens_read, format::mean),
    ];
    let failed = if line.failed > 0 { format!(" ({} failed)", line.failed) } else { String::new() };
    let head = format!("{}{failed}", line.name);
    Row { head, place: line.place, values, opens: false, data: Vec::new() }
}

/// What the segmenters made of three documents; those that find the number of segments, where there are any.
fn plots(m: &mut Markup, report: &Report, set: &str) {
    let evaluation = &report.evaluation;
    let Some(first) = evaluation.rows.iter().find(|row| row.set == set) else { return };
    let known = evaluation.rows.iter().filter(|row| row.set == set).all(|row| row.known_count);
    let chosen = extremes(evaluation, set);
    if chosen.is_empty() {
        return;
    }
    m.element("details", &[("class", "plots"), ("open", "open")], |m| {
        m.leaf("summary", &[], &format!("Where the segments lie: documents chosen by the Pk of {}", first.segmenter));
        m.element("div", &[("class", "charts")], |m| {
            for (which, id) in chosen {
                if let Some(plot) = DocumentPlot::of(evaluation, set, id, Some(known)) {
                    tiles(m, &format!("{}: {}", format::capitalised(which), format::clipped(id, 60)), &plot);
                }
            }
        });
        let note = "A tile has the colour of the true segment that it covers most of; dashed lines stand at the true \
                    boundaries. Pk and F1 are of this document alone.";
        m.leaf("p", &[("class", "note")], note);
    });
    m.line();
}

fn specs(m: &mut Markup, report: &Report) {
    section(m, "specs", "Specs", |m| {
        m.element("dl", &[("class", "record")], |m| {
            for name in report.evaluation.segmenters() {
                let spec = report.evaluation.rows.iter().find(|row| row.segmenter == name).map(|row| row.spec.as_str());
                m.leaf("dt", &[], name);
                m.element("dd", &[], |m| m.leaf("code", &[], spec.unwrap_or_default()));
            }
        });
    });
}
