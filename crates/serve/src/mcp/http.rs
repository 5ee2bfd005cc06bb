//! Many clients, over streamable HTTP.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::server::Server;
use crate::service::Service;

/// Sessions at once.
pub const MOST_SESSIONS: usize = 1024;
/// The time after which a session ends that is not used: an agent may think for long between two questions.
const IDLE: Duration = Duration::from_secs(3600);
/// Bytes of a request.
const LARGEST: usize = 1 << 20;
/// Origins of pages that this machine serves itself, on any port.
const OF_THIS_MACHINE: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];

/// Returns the routes of the protocol: `/mcp`, for [`HttpOptions::more`](crate::http::HttpOptions::more), whose server checks
/// keys and `Host`. Requests from web pages are refused, but for those of `origins` (`https://example.org`) and of this
/// machine.
pub fn router(service: Arc<Service>, origins: &[String]) -> Router {
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(IDLE);
    let sessions = Arc::new(sessions);
    let origins =
        OF_THIS_MACHINE.iter().map(ToString::to_string).chain(origins.iter().filter(|one| *one != "*").cloned());
    // The server around it knows which hosts are ours.
    let config = StreamableHttpServerConfig::default()
        .with_max_request_body_bytes(LARGEST)
        .disable_allowed_hosts()
        .with_allowed_origins(origins);
    let server = Server::new(service);
    let protocol = StreamableHttpService::new(move || Ok(server.clone()), Arc::clone(&sessions), config);
    Router::new().route_service("/mcp", protocol).layer(middleware::from_fn_with_state(sessions, bounded))
}

/// Refuses a new session where there are too many, and says plainly that one was ended.
async fn bounded(State(sessions): State<Arc<LocalSessionManager>>, request: Request, next: Next) -> Response {
    let is_new = request.method() == Method::POST && !request.headers().contains_key("mcp-session-id");
    if is_new && sessions.sessions.read().await.len() >= MOST_SESSIONS {
        let said = "too many sessions: try again in a minute";
        return (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "60")], said).into_response();
    }
    let ends = request.method() == Method::DELETE;
    let mut response = next.run(request).await;
    // A session that was ended is ended: clients take "accepted" for a failure.
    if ends && response.status() == StatusCode::ACCEPTED {
        *response.status_mut() = StatusCode::NO_CONTENT;
    }
    response
}
