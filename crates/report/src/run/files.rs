//! Writing the report's files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::error::ReportError;
use super::items::{self, Items};
use super::report::Report;
use super::{html, markdown, overview};
use pericope_util::{StagedFile, replace_file};

/// The files of a report that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The page to open.
    pub html: PathBuf,
    /// The same in short, as Markdown.
    pub markdown: PathBuf,
}

/// Writes `summary.md`, `index.html` and, where the report holds its items, `items.html` into `dir`, which is made where
/// it is missing. Each file appears whole or not at all. Nobody else may write into the folder at the same time
/// ([`pericope_util::FolderLock`]).
///
/// # Errors
/// [`ReportError::Write`] where the folder or a file cannot be written.
pub fn write(dir: &Path, report: &Report) -> Result<Written, ReportError> {
    fs::create_dir_all(dir).map_err(ReportError::write(dir))?;
    if let Some(all) = &report.items {
        let path = dir.join("items.html");
        items(&path, report.name(), all).map_err(ReportError::write(&path))?;
    }
    place(dir, &markdown::page(report), &html::page(report))
}

/// Writes an overview that sets several runs side by side into `out`, and each run's report into a folder below it.
/// A single run is written as [`write()`] would.
///
/// # Errors
/// As [`write()`].
pub fn write_many(out: &Path, reports: &[Report]) -> Result<Written, ReportError> {
    if let [report] = reports {
        return write(out, report);
    }
    let mut overview = Overview::new(out);
    reports.iter().try_for_each(|report| overview.add(report.clone()))?;
    overview.finish()
}

/// An overview on its way: the report of each run is written when it comes, and of its items nothing is kept.
#[derive(Debug)]
pub struct Overview {
    out: PathBuf,
    taken: BTreeSet<String>,
    folders: Vec<String>,
    reports: Vec<Report>,
}

impl Overview {
    /// Returns an overview of no run yet, to be written into `out`.
    #[must_use]
    pub fn new(out: &Path) -> Self {
        Self { out: out.to_owned(), taken: BTreeSet::new(), folders: Vec::new(), reports: Vec::new() }
    }

    /// Writes a run's report into a folder below and adds it.
    ///
    /// # Errors
    /// As [`write()`].
    pub fn add(&mut self, report: Report) -> Result<(), ReportError> {
        let folder = self.folder(report.title());
        write(&self.out.join(&folder), &report)?;
        self.folders.push(folder);
        self.reports.push(Report { items: None, contrasts: Vec::new(), ..report });
        Ok(())
    }

    /// Writes the overview itself.
    ///
    /// # Errors
    /// As [`write()`].
    pub fn finish(self) -> Result<Written, ReportError> {
        fs::create_dir_all(&self.out).map_err(ReportError::write(&self.out))?;
        let (reports, folders) = (&self.reports, &self.folders);
        place(&self.out, &overview::markdown(reports, folders), &overview::page(reports, folders))
    }

    /// A folder's name for a report: its title in plain letters, made unique by a number.
    fn folder(&mut self, title: &str) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
        let mut base: String = title.chars().map(plain).take(60).collect();
        // No name may be hidden, climb out of the folder, or be empty.
        if base.starts_with('.') || base.is_empty() {
            base.insert_str(0, "run");
        }
        let mut name = base.clone();
        let mut number = 2;
        while !self.taken.insert(name.to_ascii_lowercase()) {
            name = format!("{base}-{number}");
            number += 1;
        }
        name
    }
}

fn place(dir: &Path, markdown: &str, html: &str) -> Result<Written, ReportError> {
    let written = Written { html: dir.join("index.html"), markdown: dir.join("summary.md") };
    put(&written.markdown, markdown)?;
    put(&written.html, html)?;
    Ok(written)
}

/// Writes the page of the items piece by piece: it may be large.
fn items(path: &Path, name: &str, all: &Items) -> std::io::Result<()> {
    StagedFile::remove_left_over(path)?;
    let mut out = StagedFile::create(path)?;
    items::write(&mut out, name, all)?;
    out.commit()
}

/// What a killed process left of writing the file goes.
fn put(path: &Path, content: &str) -> Result<(), ReportError> {
    StagedFile::remove_left_over(path).and_then(|()| replace_file(path, content)).map_err(ReportError::write(path))
}

#[cfg(test)]
mod tests {
    use super::Overview;
    use std::path::Path;

    #[test]
    fn folder_names_are_safe_and_unique() {
        let mut overview = Overview::new(Path::new("out"));
        let names = ["../x", "a b", "A-B", "..", "Unnamed run"].map(|title| overview.folder(title));
        assert_eq!(names, ["run..-x", "a-b", "A-B-2", "run..", "Unnamed-run"]);
    }
}
