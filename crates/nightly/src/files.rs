//! The files that people and machines read: page, `latest.json`, `feed.xml`, `summary.md`.

use std::path::{Path, PathBuf};

use super::NightlyError;
use super::compare::run_folder;
use super::conclude::Conclusion;
use super::feed;
use super::history::History;
use super::latest::{Latest, base};
use super::pages::{PageParts, Pages};
use pericope_eval::config::Experiment;
use pericope_util::replace_file;

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
    let written = Written {
        page: dir.join("index.html"),
        json: dir.join("latest.json"),
        feed: dir.join("feed.xml"),
        markdown: dir.join("summary.md"),
    };
    let pinned = history.pinned()?;
    let page =
        pages.nightly_page(&PageParts { conclusion, history, heads: &heads, pinned, has_report: &has_report })?;
    put(&written.page, &page)?;
    let mut json = serde_json::to_string_pretty(&Latest::of(conclusion, &base, own_report)).unwrap_or_default();
    json.push('\n');
    put(&written.json, &json)?;
    let name = &conclusion.night.experiment;
    put(&written.feed, &feed::feed(name, &history.id()?, &heads, &base, &has_report))?;
    put(&written.markdown, &pages.nightly_summary(conclusion, &base, own_report))?;
    Ok(written)
}

fn put(path: &Path, content: &str) -> Result<(), NightlyError> {
    replace_file(path, content).map_err(NightlyError::io(path))
}
