//! The report's files.

use std::path::{Path, PathBuf};

use super::plot::{DocumentPlot, bars_svg, extremes, groups, speed_svg, speeds, tiles_svg};
use super::report::{Report, SegmentReportError};
use super::text::slugs;
use super::{markdown, page};
use pericope_util::{StagedFile, replace_file};

impl Report {
    /// `segments.md`.
    #[must_use]
    pub fn markdown(&self) -> String {
        markdown::markdown(self)
    }

    /// `index.html`.
    #[must_use]
    pub fn page(&self) -> String {
        page::page(self)
    }

    /// The plot of the documents on which the first segmenter does best, in the middle and worst, with all segmenters.
    #[must_use]
    pub fn tiles(&self, set: &str) -> String {
        let chosen = extremes(&self.evaluation, set);
        let plots: Vec<DocumentPlot<'_>> =
            chosen.iter().filter_map(|(_, id)| DocumentPlot::of(&self.evaluation, set, id, None)).collect();
        let first = self.evaluation.segmenters().first().copied().unwrap_or_default().to_owned();
        let which: Vec<&str> = chosen.iter().map(|(which, _)| *which).collect();
        tiles_svg(&format!("{set}: the {} of {first} by Pk", which.join(", ")), &plots)
    }

    /// Writes everything into `folder`, which is made where it is missing, and returns the files' paths: `summary.json`,
    /// `documents.jsonl`, `segments.md`, `index.html`, `f1.svg`, `speed.svg` and `tiles-SET.svg`.
    ///
    /// Nobody else may write into the folder at the same time ([`pericope_util::FolderLock`]).
    ///
    /// # Errors
    /// [`SegmentReportError`] where a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<Vec<PathBuf>, SegmentReportError> {
        std::fs::create_dir_all(folder).map_err(|source| SegmentReportError::Io { path: folder.to_owned(), source })?;
        let mut files = vec![
            ("summary.json".to_owned(), self.summary()?),
            ("documents.jsonl".to_owned(), self.documents()?),
            ("segments.md".to_owned(), self.markdown()),
            ("index.html".to_owned(), self.page()),
            ("f1.svg".to_owned(), bars_svg(&format!("{}: F1", self.name), "F1", &groups(&self.evaluation))),
            ("speed.svg".to_owned(), speed_svg(&format!("{}: F1 and speed", self.name), &speeds(&self.evaluation))),
        ];
        let tiles = self.sets.iter().zip(slugs(self));
        files.extend(tiles.map(|(set, slug)| (format!("tiles-{slug}.svg"), self.tiles(&set.name))));
        let mut written = Vec::with_capacity(files.len());
        for (name, text) in files {
            let path = folder.join(name);
            // What a killed process left of writing it goes.
            let written_file = StagedFile::remove_left_over(&path).and_then(|()| replace_file(&path, &text));
            written_file.map_err(|source| SegmentReportError::Io { path: path.clone(), source })?;
            written.push(path);
        }
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use crate::segmentation::samples::report;

    #[test]
    fn everything_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let written = report().write(&folder.path().join("new/run")).unwrap();
        let names: Vec<String> =
            written.iter().map(|p| p.file_name().unwrap().to_string_lossy().into_owned()).collect();
        assert_eq!(
            names,
            [
                "summary.json",
                "documents.jsonl",
                "segments.md",
                "index.html",
                "f1.svg",
                "speed.svg",
                "tiles-one.svg",
                "tiles-two.svg"
            ]
        );
    }

    #[test]
    fn every_set_has_a_file_and_an_address_of_its_own() {
        let mut report = report();
        for (set, name) in report.sets.iter_mut().zip(["日本", "中国"]) {
            name.clone_into(&mut set.name);
        }
        let folder = tempfile::tempdir().unwrap();
        report.write(folder.path()).unwrap();
        for file in ["tiles---.svg", "tiles----2.svg"] {
            assert!(folder.path().join(file).is_file(), "{file}");
        }
        let page = report.page();
        for id in ["set---", "set----2"] {
            assert_eq!(page.matches(&format!("id=\"{id}\"")).count(), 1, "{id}");
            assert_eq!(page.matches(&format!("href=\"#{id}\"")).count(), 1, "{id}");
        }
    }

    #[test]
    fn shares_are_shares_in_json() {
        let summary: serde_json::Value = serde_json::from_str(&report().summary().unwrap()).unwrap();
        assert_eq!(summary["published"][0]["pk"], 0.3);
        assert_eq!(summary["sets"][0]["documents"], 3);
        assert!(summary["results"][0]["f1"].as_f64().unwrap() <= 1.0);
        assert_eq!(report().documents().unwrap().lines().count(), report().evaluation.documents.len());
    }

    #[test]
    fn pages_hold_no_text_as_markup() {
        let page = report().page();
        assert!(page.contains("Old &lt;b&gt; system") && !page.contains("<b> system"));
        assert!(!page.contains("NaN") && !page.contains("http://") && !page.contains("https://"));
    }
}
