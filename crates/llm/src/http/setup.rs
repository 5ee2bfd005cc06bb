use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Url, redirect};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;

use crate::config::{LlmConfig, expand};
use crate::error::{LlmError, short};
use crate::secret::Secret;

/// A server that does not accept a connection within this time is taken to be out of reach.
const CONNECT: Duration = Duration::from_secs(10);

/// What an API expects of every request.
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

/// The address of an endpoint, and the same without its query for messages.
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
    Ok((url, shown.into()))
}

/// The headers of every request, and what of them must not be seen.
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
        let value = expand(template, &|variable| std::env::var(variable).ok()).map_err(|e| wrong(&format!(": {e}")))?;
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

pub(crate) fn client(url: &Url, timeout: Duration) -> Result<Client, LlmError> {
    let failed = |e: &dyn std::error::Error| LlmError::Config(format!("no TLS: {}", short(&e.to_string(), 300)));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().map_err(|e| failed(&e))?;
    let tls = if url.scheme() == "https" {
        tls.with_platform_verifier().map_err(|e| failed(&e))?.with_no_client_auth()
    } else {
        // Machines without certificates can still talk to themselves.
        tls.with_root_certificates(RootCertStore::empty()).with_no_client_auth()
    };
    let mut builder = Client::builder()
        .tls_backend_preconfigured(tls)
        .user_agent(concat!("pericope/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT.min(timeout))
        .timeout(timeout)
        // A redirected request would carry the key elsewhere.
        .redirect(redirect::Policy::none());
    let host = url.host_str().unwrap_or_default();
    if host == "localhost" || host == "[::1]" || host.starts_with("127.") {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|e| failed(&e))
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
        for (wrong, says) in
            [("h:1/v1", "http"), ("ftp://h", "http"), ("", "expected"), ("http://me:pw123@h/v1", "credentials")]
        {
            let error = at(wrong).unwrap_err().to_string();
            assert!(error.contains(says) && !error.contains("pw123"), "{error}");
        }
    }
}
