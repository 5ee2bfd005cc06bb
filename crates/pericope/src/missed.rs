use std::collections::HashSet;
use std::path::Path;

use pericope_index::pipeline::{Report, is_under};
use pericope_read::{ReadError, document_id, reader};
use pericope_store::{Destination, Finished, RunSummary, StoreError};

/// What could not be read or looked for, by which a store that is built anew knows what it would lose.
///
/// ```
/// use std::path::Path;
///
/// use pericope::Missed;
///
/// let mut missed = Missed::default();
/// missed.note_place(Some(Path::new("manual/guide")));
/// assert!(missed.may_hold("manual/guide/start.md") && !missed.may_hold("manual/guides.md"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Missed {
    /// Names of failures of files that are not there, or hold nothing: their documents are gone.
    gone: HashSet<String>,
    /// Files and folders, as documents are called.
    places: Vec<String>,
    /// Any document may be among it.
    any: bool,
}

impl Missed {
    /// Notes a file or folder at which nobody could look; `None` where nobody knows which.
    pub fn note_place(&mut self, path: Option<&Path>) {
        match path {
            Some(path) => self.places.push(document_id(path)),
            None => self.any = true,
        }
    }

    /// Notes why a path could not be read, for documents that a store knows by their ids alone; `name` is what the
    /// [`Failure`](pericope_index::pipeline::Failure) is called. A file that is not there, or holds nothing, has no
    /// documents to lose. Those of a JSONL file have ids of their own: any document may be among them.
    pub fn note(&mut self, name: &str, path: &Path, error: &ReadError) {
        if matches!(error, ReadError::NotFound { .. } | ReadError::Empty { .. }) {
            self.gone.insert(name.to_owned());
            return;
        }
        let place = error.path().unwrap_or(path);
        let ending = place.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        self.any |= reader(&ending).is_some_and(|reader| reader.name() == "jsonl");
        self.note_place(Some(place));
    }

    /// Returns true where everything was read that is there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty() && !self.any
    }

    /// Returns true where a document or file of this name may be in what could not be read.
    #[must_use]
    pub fn may_hold(&self, name: &str) -> bool {
        self.any || self.places.iter().any(|place| is_under(name, place))
    }

    /// Finishes a store after a run that missed this. One that was built anew takes the place of the old one unless that
    /// would lose documents.
    ///
    /// # Errors
    /// As [`Destination::finish`].
    pub fn finish(&self, store: Box<dyn Destination>, report: &Report) -> Result<Finished, StoreError> {
        let failed: HashSet<String> = report.failed.difference(&self.gone).cloned().collect();
        let unseen = |name: &str| self.may_hold(name);
        let unseen: Option<&(dyn Fn(&str) -> bool + Sync)> = if self.is_empty() { None } else { Some(&unseen) };
        store.finish(&RunSummary { failed: Some(&failed), unseen, ..report.summary() })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use pericope_api::{Chunk, Document};
    use pericope_index::pipeline::{Failure, index_documents};
    use pericope_store::{IndexSpec, Publication};

    use super::*;
    use crate::stores;

    fn permission(path: &str) -> ReadError {
        ReadError::Permission { path: path.into() }
    }

    #[test]
    fn a_line_of_json_may_be_any_document() {
        let mut missed = Missed::default();
        missed.note("docs", Path::new("docs"), &permission("docs/./closed"));
        assert!(missed.may_hold("docs/closed/a.md") && !missed.may_hold("docs/a.md"));
        missed.note("rows.JSONL", Path::new("rows.JSONL"), &permission("rows.JSONL"));
        assert!(missed.may_hold("docs/a.md"));
        let mut anywhere = Missed::default();
        assert!(anywhere.is_empty());
        anywhere.note_place(None);
        assert!(!anywhere.is_empty() && anywhere.may_hold("docs/a.md"));
    }

    #[test]
    fn a_rebuild_is_published_where_nothing_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("i").display().to_string();
        let build = |rebuild: bool, given: &[&str], missed: &Missed| {
            let mut store = stores::create(&place, &IndexSpec::new("sentence", "words"), rebuild, u64::MAX).unwrap();
            let whole = |document: &Document| {
                let span = document.span_of(0..1);
                let (document, hash) = (document.id.clone(), Chunk::content_hash(document.text(span)));
                Ok(vec![Chunk { document, ordinal: 0, span, heading_path: vec![], tokens: 2, hash, context: None }])
            };
            let documents: Vec<_> = given
                .iter()
                .map(|&id| match id {
                    "b.md" if rebuild => Err(Failure::new(id, "it cannot be read")),
                    id => Ok(Document::from_sentences(id, &["Tides turn."])),
                })
                .collect();
            let report = index_documents(store.as_mut(), documents, whole, |_| {}).unwrap();
            missed.finish(store, &report).unwrap().publication
        };
        assert_eq!(build(false, &["a.md", "b.md"], &Missed::default()), Publication::InPlace);
        let mut closed = Missed::default();
        closed.note("b.md", Path::new("b.md"), &permission("b.md"));
        let kept = Publication::KeptOld { lost: vec!["b.md".to_owned()] };
        assert_eq!(build(true, &["a.md", "b.md"], &closed), kept);
        let mut gone = Missed::default();
        gone.note("b.md", Path::new("b.md"), &ReadError::NotFound { path: "b.md".into() });
        assert_eq!(build(true, &["a.md", "b.md"], &gone), Publication::Published);
    }
}
