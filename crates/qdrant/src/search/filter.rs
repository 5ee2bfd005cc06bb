use pericope_store::{Filter, canonical_type};
use qdrant_client::qdrant::{Condition, Filter as ServerFilter};

use crate::fields;
use crate::point::plain;

/// The conditions in the server's words; nothing where every chunk passes.
pub(crate) fn to_server(filter: &Filter) -> Option<ServerFilter> {
    let mut must: Vec<Condition> = Vec::new();
    // Every id begins with nothing, as in an embedded index.
    let is_everywhere = filter.paths.iter().any(|path| path.trim_start_matches("./").is_empty());
    if !filter.paths.is_empty() && !is_everywhere {
        let paths: Vec<String> = filter.paths.iter().map(|path| plain(path).to_owned()).collect();
        must.push(Condition::matches(fields::PATH, paths));
    }
    if !filter.file_types.is_empty() {
        let types: Vec<String> = filter.file_types.iter().map(|kind| canonical_type(kind)).collect();
        must.push(Condition::matches(fields::FILE_TYPE, types));
    }
    // A heading without a word in it is no condition.
    let headings = filter.headings.iter().filter(|heading| heading.contains(char::is_alphanumeric));
    let headings: Vec<Condition> =
        headings.map(|words| Condition::matches_text(fields::HEADING, words.as_str())).collect();
    if !headings.is_empty() {
        must.push(ServerFilter::should(headings).into());
    }
    (!must.is_empty()).then(|| ServerFilter::must(must))
}

/// A field that is exactly this value (or, being a list, holds it).
pub(crate) fn keyword(field: &str, value: &str) -> Condition {
    Condition::matches(field, value.to_owned())
}
