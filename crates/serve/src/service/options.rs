use std::fmt;
use std::sync::Arc;

use pericope::api::{Reranker, SentenceEncoder};
use pericope::store::RERANK_DEPTH;
use pericope::{Engine, EngineError};

use super::addresses::AddressRules;

/// An index and the name that requests use for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedPlace {
    /// 1 to 64 letters, digits, `.`, `_`, `-`.
    pub name: String,
    /// A folder, or `qdrant://HOST:PORT/COLLECTION`.
    pub place: String,
}

impl NamedPlace {
    /// Reads `PLACE` or `NAME=PLACE`. Without a name the last part of the place is it, without `.idx`.
    ///
    /// # Errors
    /// A sentence that says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some((name, place)) = text.split_once('=')
            && is_name(name)
        {
            return match place.is_empty() {
                true => Err(format!("{text} names no folder after the equals sign")),
                false => Ok(Self { name: name.to_owned(), place: place.to_owned() }),
            };
        }
        let last = text.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or("");
        let last = last.split(['?', '#']).next().unwrap_or("");
        let kept: String = last.strip_suffix(".idx").unwrap_or(last).chars().filter(|c| is_name_char(*c)).collect();
        let name = kept.trim_start_matches('.').chars().take(LONGEST_NAME).collect::<String>();
        let name = if name.is_empty() { "index".to_owned() } else { name };
        Ok(Self { name, place: text.to_owned() })
    }
}

const LONGEST_NAME: usize = 64;

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

/// Returns whether a text can name an index or a key: 1 to 64 letters, digits, `.`, `_`, `-`.
#[must_use]
pub fn is_name(text: &str) -> bool {
    (1..=LONGEST_NAME).contains(&text.len()) && text.chars().all(is_name_char)
}

/// Makes the encoder of a name; `None` for `none`. It is asked again some time after an error.
pub type MakeEncoder = dyn Fn(&str) -> Result<Option<Arc<dyn SentenceEncoder>>, EngineError> + Send + Sync;

/// A reranker and the name that requests use for it.
#[derive(Clone)]
pub struct NamedReranker {
    /// 1 to 64 letters, digits, `.`, `_`, `-`; not `none`.
    pub name: String,
    /// The reranker.
    pub reranker: Arc<dyn Reranker>,
}

impl NamedReranker {
    /// Reads `SPEC` or `NAME=SPEC`; returns the name, where there is one, and the spec.
    #[must_use]
    pub fn parse(text: &str) -> (Option<&str>, &str) {
        match text.split_once('=') {
            Some((name, spec)) if is_name(name) => (Some(name), spec),
            _ => (None, text),
        }
    }
}

impl fmt::Debug for NamedReranker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NamedReranker").field("name", &self.name).field("is", &self.reranker.fingerprint()).finish()
    }
}

/// The settings of a service.
#[derive(Clone)]
pub struct ServiceOptions {
    /// Makes the encoders of queries by the names that indexes recorded.
    pub encoders: Arc<MakeEncoder>,
    /// The rerankers that requests may name. The first one orders the hits of requests that name none.
    pub rerankers: Vec<NamedReranker>,
    /// The hits that are scored, at least as many as are asked for.
    pub rerank_depth: usize,
    /// How documents get addresses.
    pub addresses: AddressRules,
    /// Hears what happens beside requests, each in one line: an index that was rebuilt, or that cannot be read.
    pub notice: Arc<dyn Fn(&str) + Send + Sync>,
}

impl Default for ServiceOptions {
    fn default() -> Self {
        Self {
            encoders: Arc::new(|name| Engine::new().embedder(name)),
            rerankers: Vec::new(),
            rerank_depth: RERANK_DEPTH,
            addresses: AddressRules::default(),
            notice: Arc::new(|_| {}),
        }
    }
}

impl fmt::Debug for ServiceOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceOptions").field("addresses", &self.addresses).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn places_have_names() {
        let read = |text: &str| {
            let NamedPlace { name, place } = NamedPlace::parse(text).unwrap();
            (name, place)
        };
        for (text, name, place) in [
            ("docs.idx", "docs", "docs.idx"),
            ("/srv/search/handbook.idx/", "handbook", "/srv/search/handbook.idx/"),
            ("api=/srv/api.idx", "api", "/srv/api.idx"),
            ("qdrant://localhost:6334/docs", "docs", "qdrant://localhost:6334/docs"),
            ("q=qdrant://localhost:6334/docs?x=1", "q", "qdrant://localhost:6334/docs?x=1"),
            ("qdrant://localhost:6334/docs?api_key=secret", "docs", "qdrant://localhost:6334/docs?api_key=secret"),
            (".", "index", "."),
            (".pericope", "pericope", ".pericope"),
            ("./a=b", "ab", "./a=b"),
        ] {
            assert_eq!(read(text), (name.to_owned(), place.to_owned()), "{text}");
        }
        assert!(NamedPlace::parse("name=").is_err());
        for (text, name, spec) in [
            ("weswin", None, "weswin"),
            ("fast=cross-encoder:model=a=b", Some("fast"), "cross-encoder:model=a=b"),
            ("cross-encoder:model=x", None, "cross-encoder:model=x"),
            ("https://h/r,model=m", None, "https://h/r,model=m"),
            ("tei=http://h/r?a=b", Some("tei"), "http://h/r?a=b"),
        ] {
            assert_eq!(NamedReranker::parse(text), (name, spec), "{text}");
        }
        assert!(is_name("a.b_c-9") && !is_name("") && !is_name("a b") && !is_name(&"a".repeat(65)));
    }
}
