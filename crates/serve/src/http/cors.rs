//! Which pages of other sites may read answers.

use std::time::Duration;

use axum::http::{HeaderName, HeaderValue, Method, header};
use tower_http::cors::{Any, CorsLayer};

/// The time for which a browser remembers the leave.
const REMEMBERED: Duration = Duration::from_secs(600);

/// The header that names the session of an agent.
pub(crate) const SESSION: &str = "mcp-session-id";

/// Every origin.
pub(crate) const EVERYBODY: &str = "*";

/// Returns the layer of a list of origins; none for an empty one.
///
/// # Errors
/// A sentence where an origin is none.
pub(super) fn layer(origins: &[String]) -> Result<Option<CorsLayer>, String> {
    if origins.is_empty() {
        return Ok(None);
    }
    let headers = [
        header::AUTHORIZATION,
        header::CONTENT_TYPE,
        HeaderName::from_static("x-request-id"),
        HeaderName::from_static("x-algolia-api-key"),
        HeaderName::from_static("x-algolia-application-id"),
        HeaderName::from_static("x-algolia-agent"),
        HeaderName::from_static(SESSION),
        HeaderName::from_static("mcp-protocol-version"),
        HeaderName::from_static("mcp-method"),
        HeaderName::from_static("mcp-name"),
        HeaderName::from_static("last-event-id"),
    ];
    let layer = CorsLayer::new()
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        .allow_headers(headers)
        .expose_headers([
            HeaderName::from_static("x-request-id"),
            HeaderName::from_static(SESSION),
            header::RETRY_AFTER,
        ])
        .max_age(REMEMBERED);
    if origins.iter().any(|origin| origin == EVERYBODY) {
        return Ok(Some(layer.allow_origin(Any)));
    }
    let known = origins.iter().map(|origin| parse(origin)).collect::<Result<Vec<HeaderValue>, String>>()?;
    Ok(Some(layer.allow_origin(known)))
}

/// Returns an origin as browsers write it: in small letters, without the port that its scheme has anyway.
pub(crate) fn normal(origin: &str) -> String {
    let origin = origin.to_ascii_lowercase();
    let port = match origin.split_once("://") {
        Some(("https", _)) => ":443",
        Some(("http", _)) => ":80",
        _ => "",
    };
    origin.strip_suffix(port).unwrap_or(&origin).to_owned()
}

fn parse(origin: &str) -> Result<HeaderValue, String> {
    let known = normal(origin);
    let host = ["https://", "http://"].iter().find_map(|scheme| known.strip_prefix(scheme));
    let is_host =
        |host: &str| !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || ".-:[]".contains(c));
    match host.filter(|host| is_host(host)).map(|_| HeaderValue::from_str(&known)) {
        Some(Ok(value)) => Ok(value),
        _ => {
            Err(format!("{} is no origin: scheme, host and port alone, as https://example.org", origin.escape_debug()))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn an_origin_is_scheme_and_host() {
        for good in ["https://example.org", "http://localhost:8000", "http://[::1]:80"] {
            assert!(parse(good).is_ok(), "{good}");
        }
        for (given, sent) in [
            ("HTTPS://Docs.Example.org", "https://docs.example.org"),
            ("https://example.org:443", "https://example.org"),
            ("http://[::1]:80", "http://[::1]"),
            ("http://example.org:443", "http://example.org:443"),
            ("https://example.org:8443", "https://example.org:8443"),
        ] {
            assert_eq!(parse(given).unwrap(), sent);
        }
        for bad in ["example.org", "https://example.org/", "https://a b", "https://", "null", "https://a\r\nb"] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
        assert!(layer(&[]).unwrap().is_none() && layer(&["*".into()]).unwrap().is_some());
    }
}
