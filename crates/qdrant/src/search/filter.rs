use qdrant_client::qdrant::{Condition, Filter as ServerFilter};

use crate::fields;
use crate::point::plain;

/// Which chunks may be found. Each list that is not empty must hold something that fits.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Documents and folders: `guide` fits `guide/start.md`, `gui` does not.
    pub paths: Vec<String>,
    /// Words of the headings above: each entry fits where all its words, in any order and case, stand in them.
    pub headings: Vec<String>,
    /// Endings of documents: `md`.
    pub file_types: Vec<String>,
}

impl Filter {
    /// True where it lets everything through.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.headings.is_empty() && self.file_types.is_empty()
    }

    pub(crate) fn to_server(&self) -> Option<ServerFilter> {
        let mut must: Vec<Condition> = Vec::new();
        if !self.paths.is_empty() {
            let paths: Vec<String> = self.paths.iter().map(|path| plain(path).to_owned()).collect();
            must.push(Condition::matches(fields::PATH, paths));
        }
        if !self.file_types.is_empty() {
            let types: Vec<String> =
                self.file_types.iter().map(|kind| kind.trim_start_matches('.').to_lowercase()).collect();
            must.push(Condition::matches(fields::FILE_TYPE, types));
        }
        if !self.headings.is_empty() {
            let any = self.headings.iter().map(|words| Condition::matches_text(fields::HEADING, words.as_str()));
            must.push(ServerFilter::should(any).into());
        }
        (!must.is_empty()).then(|| ServerFilter::must(must))
    }
}

/// A field that is exactly this value (or, being a list, holds it).
pub(crate) fn keyword(field: &str, value: &str) -> Condition {
    Condition::matches(field, value.to_owned())
}
