//! Many clients, over streamable HTTP.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use futures_util::StreamExt;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{SessionId, SessionManager};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::messages::{refusal, refused};
use super::server::{AT_ONCE, Server};
use crate::http::{EVERYBODY, SESSION, normal};
use crate::service::Service;

/// Sessions at once.
pub const MOST_SESSIONS: usize = 1024;
/// The time after which a session ends that is not used: an agent may think for long between two questions.
const IDLE: Duration = Duration::from_secs(3600);
/// The time after which the session that was not used for the longest makes room for a new one, where all are taken; longer than
/// any call takes.
const YIELDS: Duration = Duration::from_secs(60);
/// Bytes of a request.
const LARGEST: usize = 1 << 20;
/// Origins of pages that this machine serves itself, on any port.
const OF_THIS_MACHINE: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];

/// How agents are answered over HTTP.
#[derive(Debug, Clone)]
pub struct AgentOptions {
    /// Origins whose pages may ask (`https://example.org`), beside those of this machine.
    pub origins: Vec<String>,
    /// Calls that are worked on at once; others wait for their turn.
    pub calls: usize,
    /// The time that a call may take, waiting included.
    pub request: Duration,
    /// Cancelled when the server ends: streams that agents keep open end then.
    pub ending: CancellationToken,
}

impl Default for AgentOptions {
    fn default() -> Self {
        let (origins, ending) = (Vec::new(), CancellationToken::new());
        Self { origins, calls: AT_ONCE, request: Duration::from_secs(30), ending }
    }
}

/// Returns the routes of the protocol: `/mcp`, for [`HttpOptions::more`](crate::http::HttpOptions::more), whose server checks
/// keys and `Host`. Requests from web pages are refused, but for those of the origins and of this machine.
pub fn router(service: Arc<Service>, options: AgentOptions) -> Router {
    let mut manager = LocalSessionManager::default();
    manager.session_config.keep_alive = Some(IDLE);
    let AgentOptions { origins, calls, request, ending } = options;
    let yields = YIELDS.max(request.saturating_mul(2));
    let sessions = Sessions { manager: Arc::new(manager), used: Arc::default(), yields, request, ending };
    let origins = origins.iter().filter(|one| *one != EVERYBODY).map(|one| with_port(&normal(one)));
    let origins = OF_THIS_MACHINE.iter().map(ToString::to_string).chain(origins);
    // The server around it knows which hosts are ours.
    let config = StreamableHttpServerConfig::default()
        .with_max_request_body_bytes(LARGEST)
        .disable_allowed_hosts()
        .with_allowed_origins(origins);
    let server = Server::new(service).within(calls, request);
    let protocol = StreamableHttpService::new(move || Ok(server.clone()), Arc::clone(&sessions.manager), config);
    Router::new().route_service("/mcp", protocol).layer(middleware::from_fn_with_state(sessions, bounded))
}

/// An origin with its port: without one the protocol's own check takes every port of the host.
fn with_port(origin: &str) -> String {
    let Some((scheme, host)) = origin.split_once("://") else { return origin.to_owned() };
    // In brackets the colons are those of an address.
    let has_port = host.rsplit_once(']').map_or(host, |(_, rest)| rest).contains(':');
    match (has_port, scheme) {
        (false, "https") => format!("{origin}:443"),
        (false, "http") => format!("{origin}:80"),
        _ => origin.to_owned(),
    }
}

/// The sessions, and when each was used last.
#[derive(Clone)]
struct Sessions {
    manager: Arc<LocalSessionManager>,
    used: Arc<Mutex<HashMap<SessionId, Instant>>>,
    /// The time after which one makes room for another.
    yields: Duration,
    /// The time that a message may take to come.
    request: Duration,
    ending: CancellationToken,
}

impl Sessions {
    /// Notes that a session is used, where there is one of that id.
    async fn note(&self, id: &str) {
        let open = self.manager.sessions.read().await;
        if let Some((id, _)) = open.get_key_value(id) {
            let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
            used.retain(|id, _| open.contains_key(id));
            used.insert(Arc::clone(id), Instant::now());
        }
    }

    /// Returns whether there is room for another session; where there is none, the one that was not used for the longest
    /// makes room, unless it was used just now.
    async fn has_room(&self) -> bool {
        let open: Vec<SessionId> = self.manager.sessions.read().await.keys().cloned().collect();
        if open.len() < MOST_SESSIONS {
            return true;
        }
        let oldest = {
            let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
            // One that nobody has noted yet is being opened.
            let mut at = |id: &SessionId| *used.entry(Arc::clone(id)).or_insert_with(Instant::now);
            let oldest = open.into_iter().map(|id| (at(&id), id)).min();
            oldest.filter(|(at, _)| at.elapsed() >= self.yields)
        };
        match oldest {
            Some((_, id)) => self.manager.close_session(&id).await.is_ok(),
            None => false,
        }
    }
}

/// The session that a request or an answer names.
fn session(headers: &HeaderMap) -> Option<String> {
    headers.get(SESSION).and_then(|id| id.to_str().ok()).map(str::to_owned)
}

fn is_json(kind: &HeaderValue) -> bool {
    kind.as_bytes().starts_with(b"application/json")
}

/// Puts what an answer says of an error into the words of the protocol, which is all that clients read.
async fn worded(response: Response) -> Response {
    let status = response.status();
    let is_worded = response.headers().get(header::CONTENT_TYPE).is_some_and(is_json);
    if is_worded || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let said = to_bytes(body, LARGEST).await.unwrap_or_default();
    let answer = refused(status.is_server_error(), &String::from_utf8_lossy(&said));
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Response::from_parts(parts, Body::from(answer.to_string()))
}

/// Refuses a message that the protocol cannot read, that is too long, or that does not come.
async fn checked(request: Request, limit: Duration) -> Result<Request, Response> {
    if request.method() != Method::POST || !request.headers().get(header::CONTENT_TYPE).is_some_and(is_json) {
        return Ok(request);
    }
    let (parts, body) = request.into_parts();
    match tokio::time::timeout(limit, to_bytes(body, LARGEST)).await {
        Ok(Ok(bytes)) => match refusal(&bytes) {
            Some(answer) => Err((StatusCode::BAD_REQUEST, Json(answer)).into_response()),
            None => Ok(Request::from_parts(parts, Body::from(bytes))),
        },
        Ok(Err(_)) => {
            Err((StatusCode::PAYLOAD_TOO_LARGE, format!("a message has at most {LARGEST} bytes")).into_response())
        }
        Err(_) => {
            let said = format!("the message did not come within {} s", limit.as_secs_f64());
            Err((StatusCode::REQUEST_TIMEOUT, said).into_response())
        }
    }
}

/// Refuses a new session where there are too many, and says plainly that one was ended.
async fn bounded(State(sessions): State<Sessions>, request: Request, next: Next) -> Response {
    let named = session(request.headers());
    let is_new = request.method() == Method::POST && named.is_none();
    if is_new && !sessions.has_room().await {
        let said = "too many sessions: try again in a minute";
        return worded((StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "60")], said).into_response()).await;
    }
    let request = match checked(request, sessions.request).await {
        Ok(request) => request,
        Err(refused) => return worded(refused).await,
    };
    let (ends, listens) = (request.method() == Method::DELETE, request.method() == Method::GET);
    let mut response = worded(next.run(request).await).await;
    if let Some(id) = named.or_else(|| session(response.headers())) {
        sessions.note(&id).await;
    }
    // A session that was ended is ended: clients take "accepted" for a failure.
    if ends && response.status() == StatusCode::ACCEPTED {
        *response.status_mut() = StatusCode::NO_CONTENT;
    }
    match listens && response.status().is_success() {
        // What an agent listens to has no end of its own. Answers to calls have, and the server waits for them.
        true => response.map(|body| {
            Body::from_stream(body.into_data_stream().take_until(sessions.ending.clone().cancelled_owned()))
        }),
        false => response,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn an_origin_is_that_of_one_port() {
        for (origin, whole) in [
            ("https://example.org", "https://example.org:443"),
            ("http://example.org", "http://example.org:80"),
            ("http://[::1]", "http://[::1]:80"),
            ("http://[::1]:8000", "http://[::1]:8000"),
            ("https://example.org:8443", "https://example.org:8443"),
        ] {
            assert_eq!(with_port(origin), whole);
        }
    }

    #[tokio::test]
    async fn the_session_that_nobody_uses_makes_room() {
        let manager = Arc::new(LocalSessionManager::default());
        let (used, ending) = (Arc::default(), CancellationToken::new());
        let request = Duration::from_secs(30);
        let mut sessions = Sessions { manager: Arc::clone(&manager), used, yields: YIELDS, request, ending };
        let (mut ids, mut transports) = (Vec::new(), Vec::new());
        for _ in 0..MOST_SESSIONS {
            let (id, transport) = manager.create_session().await.unwrap();
            ids.push(id);
            transports.push(transport);
        }
        assert!(!sessions.has_room().await, "all are being opened");
        for id in ids.iter().skip(1) {
            sessions.note(id).await;
        }
        sessions.note("no session").await;
        assert_eq!(sessions.used.lock().unwrap().len(), MOST_SESSIONS);
        assert!(!sessions.has_room().await, "all were used just now");
        sessions.yields = Duration::ZERO;
        assert!(sessions.has_room().await);
        assert!(!manager.has_session(&ids[0]).await.unwrap() && manager.has_session(&ids[1]).await.unwrap());
    }
}
