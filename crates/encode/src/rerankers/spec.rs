use std::fmt;
use std::str::FromStr;

use pericope_segment::spec::Spec;

use super::error::RerankerSpecError;

/// The name of the reranker whose specs begin with its address, and the key of that.
pub const ADDRESS: (&str, &str) = ("http", "url");

/// A reranker's name and settings.
///
/// `name:key=value,key=value` as a segmenter's [`Spec`]; or an address, behind which settings may stand. The address ends where
/// a comma and `key=` follow.
///
/// ```
/// use pericope_encode::rerankers::RerankerSpec;
///
/// let spec = RerankerSpec::parse("https://api.example.com/v2/rerank,model=rerank-v4,key_env=RERANK_KEY")?;
/// assert_eq!((spec.name(), spec.get("model")), ("http", Some("rerank-v4")));
/// assert_eq!(spec.get("url"), Some("https://api.example.com/v2/rerank"));
/// assert_eq!(RerankerSpec::parse("cross-encoder:model=bge")?.get("model"), Some("bge"));
/// # Ok::<(), pericope_encode::rerankers::RerankerSpecError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RerankerSpec(Spec);

impl RerankerSpec {
    /// Reads a spec; names and keys are checked by [`check_in`](super::check_in).
    ///
    /// # Errors
    /// [`RerankerSpecError::Syntax`] with what is wrong.
    pub fn parse(text: &str) -> Result<Self, RerankerSpecError> {
        let text = text.trim();
        if !is_address(text) {
            let spec = Spec::parse(text).map_err(|e| RerankerSpecError::syntax(text, e))?;
            return Ok(Self(spec));
        }
        let end = settings_at(text).unwrap_or(text.len());
        let (url, settings) = text.split_at(end);
        let url = url.trim_end();
        let (name, key) = ADDRESS;
        let behind = settings.strip_prefix(',').map_or_else(String::new, |settings| format!(":{settings}"));
        let wrong = |e| RerankerSpecError::syntax(&without_secrets(url), e);
        let mut spec = Spec::parse(&format!("{name}{behind}")).map_err(wrong)?;
        spec.args.insert(key.to_owned(), url.to_owned());
        Ok(Self(spec))
    }

    /// The name: `http` for an address.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The value of a setting, if it is given.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)
    }

    /// The keys that are given.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.args.keys().map(String::as_str)
    }

    /// The spec as messages and answers may show it: of an address neither who logs in nor what follows `?`.
    #[must_use]
    pub fn shown(&self) -> String {
        self.written(without_secrets)
    }

    fn written(&self, address: impl Fn(&str) -> String) -> String {
        let (name, key) = ADDRESS;
        let own = |url: &&str| self.0.name == name && is_address(url) && settings_at(url).is_none();
        let Some(url) = self.0.get(key).filter(own) else { return self.0.to_string() };
        let settings = self.0.args.iter().filter(|(other, _)| *other != key);
        let setting = |(key, value): (&String, &String)| match value.contains(',') || value.starts_with('(') {
            true => format!(",{key}=({value})"),
            false => format!(",{key}={value}"),
        };
        address(url) + &settings.map(setting).collect::<String>()
    }
}

impl fmt::Display for RerankerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written(str::to_owned))
    }
}

impl FromStr for RerankerSpec {
    type Err = RerankerSpecError;

    fn from_str(text: &str) -> Result<Self, RerankerSpecError> {
        Self::parse(text)
    }
}

fn is_address(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

/// The place of the comma behind which settings stand.
fn settings_at(text: &str) -> Option<usize> {
    let begins_with_key = |rest: &str| {
        let key = rest.trim_start().split_once('=').map_or("", |(key, _)| key);
        !key.is_empty() && key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
    };
    text.match_indices(',').map(|(at, _)| at).find(|at| text.get(at + 1..).is_some_and(begins_with_key))
}

/// An address without who logs in, and without its query.
fn without_secrets(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::RerankerSpec;

    proptest! {
        #[test]
        fn printing_and_reading_are_inverse(
            start in "(https?://|http:|cross-encoder:|)[a-z0-9/.?=&@,:() -]{0,20}",
            settings in proptest::collection::vec("[a-z_]{1,4}=[a-zA-Z0-9().,:/-]{1,8}", 0..3),
        ) {
            let text = [vec![start], settings].concat().join(",");
            if let Ok(spec) = RerankerSpec::parse(&text) {
                prop_assert_eq!(RerankerSpec::parse(&spec.to_string()).unwrap(), spec);
            }
        }

        #[test]
        fn who_logs_in_is_not_shown(user in "[a-z]{4,8}", query in "[a-z]{4,8}") {
            let text = format!("https://{user}UU:pw@h.example/r?k={query}QQ,model=m");
            let shown = RerankerSpec::parse(&text).unwrap().shown();
            prop_assert_eq!(shown, "https://h.example/r,model=m");
        }
    }

    #[test]
    fn addresses_and_names_are_read_as_they_are_written() {
        for (text, name, written, shown) in [
            ("none", "none", "none", "none"),
            ("cross-encoder:model=a/b", "cross-encoder", "cross-encoder:model=a/b", "cross-encoder:model=a/b"),
            ("http://h:1/rerank", "http", "http://h:1/rerank", "http://h:1/rerank"),
            ("https://u:pw@h/r?k=hush,x", "http", "https://u:pw@h/r?k=hush,x", "https://h/r"),
            (
                "https://h/r?a,b=1,model=m:2, time=9",
                "http",
                "https://h/r?a,b=1,model=m:2,time=9",
                "https://h/r,b=1,model=m:2,time=9",
            ),
        ] {
            let spec = RerankerSpec::parse(text).unwrap();
            assert_eq!((spec.name(), spec.to_string().as_str(), spec.shown().as_str()), (name, written, shown));
            assert_eq!(RerankerSpec::parse(&spec.to_string()).unwrap(), spec);
        }
        for (wrong, says) in [
            ("", "the name is missing"),
            ("weswin:", "no key=value"),
            ("https://u:hush@h/r,model=", "`model` has no value"),
        ] {
            let text = RerankerSpec::parse(wrong).unwrap_err().to_string();
            assert!(text.contains(says) && !text.contains("hush") && !text.contains("segmenter"), "{text}");
        }
    }
}
