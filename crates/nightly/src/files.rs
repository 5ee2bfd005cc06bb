//! The files that people and machines read: page, `latest.json`, `feed.xml`, `summary.md`, `junit.xml`, `badge.svg`,
//! `metrics.prom`.

use std::path::{Path, PathBuf};

use super::NightlyError;
use super::compare::run_folder;
use super::conclude::Conclusion;
use super::feed;
use super::history::History;
use super::latest::{Latest, base};
use super::outputs;
use super::pages::{PageParts, Pages};
use pericope_eval::config::Experiment;
use pericope_util::{StagedFile, replace_file};

/// Where the files were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The page to open.
    pub page: PathBuf,
    /// The night for machines.
    pub json: PathBuf,
    /// The feed.
    pub feed: PathBuf,
    /// The night in short.
    pub markdown: PathBuf,
    /// The checks as test cases.
    pub junit: PathBuf,
    /// The verdict as a picture.
    pub badge: PathBuf,
    /// The figures in the text format of OpenMetrics.
    pub metrics: PathBuf,
    /// The content of [`json`](Self::json): the file may be that of a later night by now.
    pub json_text: String,
    /// The content of [`markdown`](Self::markdown), likewise.
    pub markdown_text: String,
}

/// Writes all of them into the history's folder, each whole or not at all.
///
/// # Errors
/// [`NightlyError::Io`] where a file cannot be written, [`NightlyError::History`] where the history cannot be read,
/// [`NightlyError::Page`] where the page cannot be made.
pub fn write(
    history: &History,
    conclusion: &Conclusion,
    experiment: &Experiment,
    dir: &Path,
    pages: &dyn Pages,
) -> Result<Written, NightlyError> {
    let heads = history.heads()?;
    let base = base(experiment.nightly.url.as_deref());
    let has_report = |number: u32| run_folder(dir, number).join("index.html").is_file();
    let own_report = has_report(conclusion.night.number);
    let mut json_text = serde_json::to_string_pretty(&Latest::of(conclusion, &base, own_report)).unwrap_or_default();
    json_text.push('\n');
    let written = Written {
        page: dir.join("index.html"),
        json: dir.join("latest.json"),
        feed: dir.join("feed.xml"),
        markdown: dir.join("summary.md"),
        junit: dir.join("junit.xml"),
        badge: dir.join("badge.svg"),
        metrics: dir.join("metrics.prom"),
        json_text,
        markdown_text: pages.nightly_summary(conclusion, &base, own_report),
    };
    let pinned = history.pinned()?;
    let page =
        pages.nightly_page(&PageParts { conclusion, history, heads: &heads, pinned, has_report: &has_report })?;
    put(&written.page, &page)?;
    put(&written.json, &written.json_text)?;
    let name = &conclusion.night.experiment;
    put(&written.feed, &feed::feed(name, &history.id()?, &heads, &base, &has_report))?;
    put(&written.markdown, &written.markdown_text)?;
    put(&written.junit, &outputs::junit_xml(conclusion))?;
    put(&written.badge, &outputs::badge_svg(conclusion))?;
    put(&written.metrics, &outputs::metrics(conclusion))?;
    Ok(written)
}

/// Writes a file of the history's folder, which is held, whole or not at all. What a killed process left of it goes.
pub(super) fn put(path: &Path, content: &str) -> Result<(), NightlyError> {
    StagedFile::remove_left_over(path).and_then(|()| replace_file(path, content)).map_err(NightlyError::io(path))
}
