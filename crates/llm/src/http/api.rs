use std::time::Duration;

use pericope_api::expand_variables;
use pericope_net::ureq::Agent;
use pericope_net::ureq::http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use url::Url;

use crate::config::LlmConfig;
use crate::error::LlmError;
use crate::secret::{Secret, looks_secret};

/// A server that does not accept a connection within this time is taken to be out of reach.
const CONNECT: Duration = Duration::from_secs(10);

/// The conventions of an API.
pub(crate) struct Api {
    /// Base URL of the service where none is configured.
    pub base: &'static str,
    /// Appended to the base URL.
    pub path: &'static str,
    /// Variable that holds the service's key where none is configured.
    pub key_env: &'static str,
    /// Header that takes the key; `None`: `authorization: Bearer`.
    pub key_header: Option<&'static str>,
    /// Headers with a fixed value.
    pub headers: &'static [(&'static str, &'static str)],
}

/// Returns the address of an endpoint, and the same for messages: without its query, and without parts of the path that
/// look like keys.
pub(crate) fn address(base: &str, path: &str) -> Result<(Url, String), LlmError> {
    // The URL itself is not repeated: it may hold a password.
    let wrong = |problem: &str| LlmError::Config(format!("base_url: {problem}"));
    let mut url =
        Url::parse(base.trim()).map_err(|e| wrong(&format!("{e}; expected for example http://host:8000/v1")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong("expected http:// or https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("holds a user name; put credentials into api_key_env or headers = {...}"));
    }
    let given = url.path().trim_end_matches('/').to_owned();
    // Some give the whole address.
    if !given.ends_with(path) {
        url.set_path(&format!("{given}{path}"));
    }
    url.set_fragment(None);
    let mut shown = url.clone();
    shown.set_query(None);
    let parts: Vec<&str> = url.path().split('/').map(|part| if looks_secret(part) { "hidden" } else { part }).collect();
    shown.set_path(&parts.join("/"));
    Ok((url, shown.into()))
}

/// Returns what an address holds that no message may repeat: the values of its query but for versions, and parts of its path
/// that look like keys.
pub(crate) fn secrets(url: &Url) -> Vec<Secret> {
    let parts = url.path().split('/').filter(|part| looks_secret(part)).map(Secret::new);
    let values = url.query_pairs().filter(|(name, value)| value.len() >= 8 && !name.to_lowercase().contains("version"));
    parts.chain(values.map(|(_, value)| Secret::new(value))).collect()
}

/// Returns the headers of every request, and the secrets in them.
pub(crate) fn headers(config: &LlmConfig, api: &Api, shown: &str) -> Result<(HeaderMap, Vec<Secret>), LlmError> {
    let mut headers = HeaderMap::new();
    let mut secrets = Vec::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for (name, value) in api.headers {
        headers.insert(*name, HeaderValue::from_static(value));
    }
    let variable = match (&config.api_key_env, &config.base_url) {
        (Some(name), _) => Some(name.as_str()),
        // Somebody's own server: no key unless one is named.
        (None, Some(_)) => None,
        (None, None) => Some(api.key_env),
    };
    if let Some(variable) = variable {
        let key = Secret::from_env(variable)
            .ok_or_else(|| LlmError::NoKey { variable: variable.to_owned(), endpoint: shown.to_owned() })?;
        let (name, value) = match api.key_header {
            Some(name) => (HeaderName::from_static(name), key.reveal().to_owned()),
            None => (AUTHORIZATION, format!("Bearer {}", key.reveal())),
        };
        headers.insert(name, hidden(&value).map_err(|e| LlmError::Config(format!("the key in {variable} {e}")))?);
        secrets.push(key);
    }
    for (name, template) in &config.headers {
        let wrong = |problem: &str| LlmError::Config(format!("headers.{name} {problem}"));
        let parsed: HeaderName = name.parse().map_err(|_| wrong("is no name of a header"))?;
        // White space around a key (the line end of a file that it was read from) is no part of it.
        let variable = |name: &str| std::env::var(name).ok().map(|value| value.trim().to_owned());
        let value = expand_variables(template, variable).map_err(|e| wrong(&format!(": {e}")))?;
        headers.insert(parsed, hidden(&value).map_err(wrong)?);
        // A server may repeat the key of "Bearer KEY" alone; short words are none.
        secrets.extend(value.split_whitespace().filter(|part| part.len() >= 8).map(Secret::new));
        secrets.push(Secret::new(value));
    }
    Ok((headers, secrets))
}

fn hidden(value: &str) -> Result<HeaderValue, &'static str> {
    let mut value = HeaderValue::from_str(value).map_err(|_| "holds characters that no header may have")?;
    value.set_sensitive(true);
    Ok(value)
}

/// Returns the HTTP client of an endpoint: no redirections, and at most `at_once` connections kept open.
pub(crate) fn agent(url: &Url, timeout: Duration, at_once: usize) -> Agent {
    let config = pericope_net::config()
        .timeout_global(Some(timeout))
        .timeout_connect(Some(CONNECT.min(timeout)))
        .max_idle_connections(at_once)
        .max_idle_connections_per_host(at_once)
        // A redirected request would carry the key elsewhere.
        .max_redirects(0);
    let host = url.host_str().unwrap_or_default();
    let local = host == "localhost" || host == "[::1]" || host.starts_with("127.");
    if local { config.proxy(None) } else { config }.build().new_agent()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let at = |base: &str| address(base, "/chat/completions").map(|(url, shown)| (url.to_string(), shown));
        for base in ["http://h:1/v1", "http://h:1/v1/", "http://h:1/v1/chat/completions"] {
            assert_eq!(at(base).unwrap().0, "http://h:1/v1/chat/completions");
        }
        let (url, shown) = at("https://h/deployments/m?api-version=1").unwrap();
        assert_eq!(url, "https://h/deployments/m/chat/completions?api-version=1");
        assert_eq!(shown, "https://h/deployments/m/chat/completions");
        assert_eq!(at("http://h").unwrap().0, "http://h/chat/completions");
        let (url, shown) = at("https://h/0123456789abcdef01/v1?api-version=2024-12-01&code=hush-hush").unwrap();
        assert_eq!(shown, "https://h/hidden/v1/chat/completions");
        assert_eq!(secrets(&Url::parse(&url).unwrap()), [Secret::new("0123456789abcdef01"), Secret::new("hush-hush")]);
        for (wrong, says) in
            [("h:1/v1", "http"), ("ftp://h", "http"), ("", "expected"), ("http://me:pw123@h/v1", "credentials")]
        {
            let error = at(wrong).unwrap_err().to_string();
            assert!(error.contains(says) && !error.contains("pw123"), "{error}");
        }
    }
}
