//! `summary.md`.

use pericope_eval::format;

use super::Report;
use super::standings::{HEADS, standings};
use super::text::{ABOUT, facts, headline, notes, warnings};
use crate::kit::markdown::{Markdown, strong};
use crate::run::run_facts;

pub(super) fn page(report: &Report) -> String {
    let summary = &report.summary;
    let mut out = Markdown::default();
    out.heading(1, &summary.name);
    out.paragraph(strong(&headline(summary)));
    out.paragraph(format!("{}.", facts(summary)));
    let mut head = vec!["chunker"];
    head.extend(HEADS.iter().map(|(name, _)| name.trim_end()));
    let rows = standings(summary).into_iter().map(|one| {
        let name = if one.recommended { format!("{} (recommended)", one.name) } else { one.name.to_owned() };
        std::iter::once(name).chain(one.figures.into_iter().map(|figure| figure.text)).collect::<Vec<_>>()
    });
    out.table("l", &head, rows);
    out.bullets(notes(summary));
    let warnings = warnings(summary);
    if !warnings.is_empty() {
        out.paragraph("Before you rely on this:");
        out.bullets(warnings);
    }
    out.paragraph(ABOUT);
    if !summary.published.is_empty() {
        out.heading(2, "Figures of others");
        out.paragraph("Other documents, another encoder: differences within a source compare, levels do not.");
        let rows = summary.published.iter().map(|row| {
            vec![row.system.clone(), format::decimal(row.accuracy, 1), row.data.clone(), row.source.clone()]
        });
        out.table("lrll", &["system", "accuracy, %", "data", "source"], rows);
    }
    out.heading(2, "Chunkers");
    let rows = summary.chunkers.iter().map(|row| {
        let chunker = &row.chunker;
        vec![
            chunker.name.clone(),
            chunker.shown_spec(),
            chunker.limit.map_or_else(|| "none".to_owned(), format::count),
            format::count(chunker.chunks),
            format::mean(chunker.mean_words),
            format::count(chunker.max_tokens),
        ]
    });
    out.table("ll", &["chunker", "spec", "limit", "segments", "mean words", "longest, tokens"], rows);
    out.heading(2, "Classes");
    let rows = summary.classes.iter().map(|class| {
        vec![class.label.clone(), class.train.to_string(), class.validation.to_string(), class.test.to_string()]
    });
    out.table("l", &["class", "train", "validation", "test"], rows);
    out.heading(2, "What was run");
    out.bullets(run_facts(&report.run).iter().map(|(name, value)| format!("{name}: {value}")));
    let sums = &report.run.checksums;
    let rows: Vec<Vec<&String>> =
        [&sums.data, &sums.models].into_iter().flatten().map(|(name, sum)| vec![name, sum]).collect();
    // A folder of messages has thousands.
    if !rows.is_empty() && rows.len() <= 100 {
        out.table("ll", &["file", "SHA-256"], rows);
    }
    out.finish().replace('\u{a0}', " ")
}
