//! What surrounds every request: its id, its line in the log, its place in the metrics, and a body for its problem.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use pericope_util::hex;

use super::access::{KeyName, without_key};
use super::app::App;
use super::log::Line;
use super::problem;
use crate::service::Problem;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Characters of an id that is taken from a request, at most.
const LONGEST_ID: usize = 64;
/// Bytes of a body that are logged, at most.
const LONGEST_BODY: usize = 2_000;

/// The address of the client.
#[derive(Debug, Clone, Copy)]
pub(super) struct Remote(pub(super) SocketAddr);

/// A request that is worked on, until it is answered or its client goes away.
struct InFlight(App);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.metrics.in_flight.dec();
    }
}

/// What a request asks in its body, where that is to be logged.
#[derive(Debug, Clone, Default)]
pub(super) struct Asked(Arc<OnceLock<String>>);

impl Asked {
    /// Takes a body.
    pub(super) fn is(&self, body: &[u8]) {
        let text = String::from_utf8_lossy(body);
        let end = text.floor_char_boundary(LONGEST_BODY);
        let _ = self.0.set(text.get(..end).unwrap_or_default().to_owned());
    }
}

/// Whether the body of a request to a path is what somebody looks for, rather than a text to cut.
fn asks_by_body(path: &str) -> bool {
    path.starts_with("/1/") || matches!(path, "/v1/docsearch" | "/v1/compare")
}

pub(super) async fn around(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let begun = Instant::now();
    app.metrics.in_flight.inc();
    let _in_flight = InFlight(app.clone());
    let id = id_of(request.headers());
    let remote = request.extensions().get::<Remote>().map(|remote| remote.0);
    let route = request.extensions().get::<MatchedPath>().map(|route| route.as_str().to_owned());
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let asked = app.log.tells_queries().then(Asked::default);
    if let Some(asked) = asked.clone().filter(|_| asks_by_body(uri.path())) {
        request.extensions_mut().insert(asked);
    }
    let mut response = next.run(request).await;
    let code = problem::write(&mut response, &id);
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(&id) {
        headers.insert(REQUEST_ID, value);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let status = response.status().as_u16();
    let took = begun.elapsed();
    app.metrics.answered(route.as_deref().unwrap_or("none"), status, took);
    let key = response.extensions().get::<KeyName>().map(|name| name.0.as_str());
    let query = asked.and_then(|asked| asked.0.get().map(String::as_str).or(uri.query()).map(without_key));
    let line = Line {
        time: String::new(),
        request_id: &id,
        remote,
        method: method.as_str(),
        path: uri.path(),
        query: query.as_deref(),
        status,
        ms: 0.0,
        key,
        code,
    };
    app.log.request(line, took);
    response
}

/// The id that a request brings, where it is one; else a new one.
fn id_of(headers: &HeaderMap) -> String {
    let is_id = |id: &&str| {
        (1..=LONGEST_ID).contains(&id.len()) && id.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
    };
    let given = headers.get(REQUEST_ID).and_then(|id| id.to_str().ok()).filter(is_id);
    given.map_or_else(fresh, str::to_owned)
}

fn fresh() -> String {
    let mut random = [0; 12];
    // Without random numbers ids repeat, which harms nobody.
    let _ = getrandom::fill(&mut random);
    hex(&random)
}

/// The answer to a handler that panicked. The panic itself is on standard error.
pub(super) fn panicked(_: Box<dyn std::any::Any + Send>) -> Response {
    Problem::internal("the request broke its handler").into_response()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn an_id_that_could_break_a_log_is_not_taken() {
        let with = |id: &[u8]| {
            let mut headers = HeaderMap::new();
            headers.insert(REQUEST_ID, HeaderValue::from_bytes(id).unwrap());
            id_of(&headers)
        };
        assert_eq!(with(b"abc-1.2_Z"), "abc-1.2_Z");
        for bad in [&b""[..], b"a b", b"a\tb", b"\xff", b"{\"a\":1}", &[b'a'; 65]] {
            let made = with(bad);
            assert!(made.len() == 24 && made.bytes().all(|b| b.is_ascii_hexdigit()), "{made}");
        }
        assert_ne!(fresh(), fresh());
    }
}
