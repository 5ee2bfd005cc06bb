use std::sync::Arc;

use pericope_api::Reranker;
use pericope_segment::registry::SettingKey;
use pericope_segment::spec::hint;

use super::args::RerankerArgs;
use super::error::RerankerSpecError;
use super::spec::{ADDRESS, RerankerSpec};

/// What a spec gives: a reranker, or nothing where the order of the search is to stay.
pub type BuiltReranker = Result<Option<Arc<dyn Reranker>>, RerankerSpecError>;

/// A reranker as help texts show it and specs name it.
#[derive(Debug, Clone, Copy)]
pub struct RerankerEntry {
    /// The name in a spec.
    pub name: &'static str,
    /// A description in one line, without a full stop.
    pub summary: &'static str,
    /// Its settings.
    pub keys: &'static [SettingKey],
    /// A spec that shows how it is used.
    pub example: &'static str,
    /// True where queries and passages are sent to another machine.
    pub sends: bool,
    /// Gives the SHA-256 of the weights that ship with the program, where a spec means these.
    pub weights: fn(&RerankerSpec) -> Option<&'static str>,
    /// Builds the reranker from a spec's settings.
    pub build: fn(&RerankerArgs<'_>) -> BuiltReranker,
}

/// The reranker `none`.
pub const NONE: RerankerEntry = RerankerEntry {
    name: "none",
    summary: "the order of the search stays",
    keys: &[],
    example: "none",
    sends: false,
    weights: |_| None,
    build: |_| Ok(None),
};

/// Builds the reranker of a spec; `None` for `none`.
///
/// # Errors
/// [`RerankerSpecError`] for unknown names and keys, values out of range, and what is missing.
pub fn build_from(entries: &[RerankerEntry], spec: &RerankerSpec) -> BuiltReranker {
    (check_in(entries, spec)?.build)(&RerankerArgs(spec))
}

/// Checks a spec's name and keys without building anything. Returns the entry of that name.
///
/// ```
/// use pericope_encode::rerankers::{RerankerSpec, check_in, list};
///
/// let error = check_in(list(), &RerankerSpec::parse("cros-encoder")?).unwrap_err();
/// assert!(error.to_string().contains("did you mean `cross-encoder`?"));
/// # Ok::<(), pericope_encode::rerankers::RerankerSpecError>(())
/// ```
///
/// # Errors
/// [`RerankerSpecError::UnknownName`] and [`RerankerSpecError::UnknownKey`], which list what is known.
pub fn check_in<'a>(entries: &'a [RerankerEntry], spec: &RerankerSpec) -> Result<&'a RerankerEntry, RerankerSpecError> {
    let Some(entry) = entries.iter().find(|entry| entry.name == spec.name()) else {
        let shown = |name: &'static str| if name == ADDRESS.0 { "http://..., https://..." } else { name };
        return Err(RerankerSpecError::UnknownName {
            name: spec.name().to_owned(),
            hint: hint(spec.name(), entries.iter().map(|entry| entry.name)),
            known: entries.iter().map(|entry| shown(entry.name)).collect::<Vec<_>>().join(", "),
        });
    };
    match spec.keys().find(|key| !entry.keys.iter().any(|known| known.name == *key)) {
        None => Ok(entry),
        Some(key) => {
            let known: Vec<&str> = entry.keys.iter().map(|key| key.name).collect();
            Err(RerankerSpecError::UnknownKey {
                name: entry.name.to_owned(),
                key: key.to_owned(),
                hint: hint(key, known.iter().copied()),
                known: if known.is_empty() { "none".to_owned() } else { known.join(", ") },
            })
        }
    }
}
