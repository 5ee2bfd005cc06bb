//! Many clients, over streamable HTTP.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::server::Server;
use crate::service::Service;

/// Sessions at once. Each ends five minutes after its last request.
pub const MOST_SESSIONS: usize = 256;
/// Bytes of a request.
const LARGEST: usize = 1 << 20;
/// Origins of pages that this machine serves itself, on any port.
const OF_THIS_MACHINE: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];

/// Returns the routes of the protocol: `/mcp`, for [`HttpOptions::more`](crate::http::HttpOptions::more), whose server checks
/// keys and `Host`. Requests from web pages are refused, but for those of `origins` (`https://example.org`) and of this
/// machine.
pub fn router(service: Arc<Service>, origins: &[String]) -> Router {
    let sessions = Arc::new(LocalSessionManager::default());
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

/// Refuses a new session where there are too many.
async fn bounded(State(sessions): State<Arc<LocalSessionManager>>, request: Request, next: Next) -> Response {
    let is_new = request.method() == Method::POST && !request.headers().contains_key("mcp-session-id");
    if is_new && sessions.sessions.read().await.len() >= MOST_SESSIONS {
        let said = "too many sessions: try again in a minute";
        return (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "60")], said).into_response();
    }
    next.run(request).await
}
