//! Writing the report's files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Report, ReportError, browser, html, many, markdown};

/// Where a report was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The page to open.
    pub html: PathBuf,
    /// The same in short, as Markdown.
    pub markdown: PathBuf,
}

/// Writes `summary.md`, `index.html` and, where the items are in a file, `items.html` into `dir`, which is made where it is missing.
///
/// Each file appears whole or not at all: it is written beside its place and then moved there.
///
/// # Errors
/// [`ReportError::Write`] where the folder or a file cannot be written.
pub fn write(dir: &Path, report: &Report) -> Result<Written, ReportError> {
    if let Some(items) = &report.items {
        let page = browser::page(report, items)?;
        fs::create_dir_all(dir).map_err(|source| ReportError::Write { path: dir.to_owned(), source })?;
        put(&dir.join("items.html"), &page)?;
    }
    place_all(dir, &markdown::page(report), &html::page(report))
}

/// Writes an overview that sets several runs side by side into `out`, and each run's report into a folder below it.
/// A single run is written as [`write`] would.
///
/// # Errors
/// As [`write`].
pub fn write_many(out: &Path, reports: &[Report]) -> Result<Written, ReportError> {
    if let [report] = reports {
        return write(out, report);
    }
    let folders = folders(reports);
    for (report, folder) in reports.iter().zip(&folders) {
        write(&out.join(folder), report)?;
    }
    place_all(out, &many::markdown(reports, &folders), &many::page(reports, &folders))
}

/// A folder name for each report: its label in plain letters, made unique by a number.
fn folders(reports: &[Report]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    reports
        .iter()
        .map(|report| {
            let mut base: String = report
                .title()
                .chars()
                .map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' })
                .take(60)
                .collect();
            // No name may be hidden, climb out of the folder, or be empty.
            if base.starts_with('.') || base.is_empty() {
                base.insert_str(0, "run");
            }
            let mut name = base.clone();
            let mut number = 2;
            while !taken.insert(name.to_ascii_lowercase()) {
                name = format!("{base}-{number}");
                number += 1;
            }
            name
        })
        .collect()
}

fn place_all(dir: &Path, markdown: &str, html: &str) -> Result<Written, ReportError> {
    fs::create_dir_all(dir).map_err(|source| ReportError::Write { path: dir.to_owned(), source })?;
    let written = Written { html: dir.join("index.html"), markdown: dir.join("summary.md") };
    put(&written.markdown, markdown)?;
    put(&written.html, html)?;
    Ok(written)
}

fn put(path: &Path, content: &str) -> Result<(), ReportError> {
    let beside = path.with_extension("tmp");
    fs::write(&beside, content)
        .and_then(|()| fs::rename(&beside, path))
        .map_err(|source| ReportError::Write { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::folders;
    use crate::run::Report;

    #[test]
    fn folder_names_are_safe_and_unique() {
        let named = |label: &str| Report { label: Some(label.to_owned()), ..Report::default() };
        let names = folders(&[named("../x"), named("a b"), named("A-B"), named(".."), Report::default()]);
        assert_eq!(names, ["run..-x", "a-b", "A-B-2", "run..", "Unnamed-run"]);
    }
}
