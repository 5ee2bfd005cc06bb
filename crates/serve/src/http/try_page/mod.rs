//! The page on which requests are tried: `/docs`. It reads `/openapi.json` and needs nothing from elsewhere.

use axum::http::header;
use axum::response::IntoResponse;

/// What the page may load and run: its own files.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

/// The page to try requests
#[utoipa::path(
    get, path = "/docs", tag = "service", operation_id = "docs",
    responses((status = 200, description = "A page", body = String, content_type = "text/html"))
)]
pub(super) async fn page() -> impl IntoResponse {
    let kind = (header::CONTENT_TYPE, "text/html; charset=utf-8");
    (
        [kind, (header::CONTENT_SECURITY_POLICY, POLICY), (header::REFERRER_POLICY, "no-referrer")],
        include_str!("page.html"),
    )
}

/// The script of that page
#[utoipa::path(
    get, path = "/docs/page.js", tag = "service", operation_id = "docs_script",
    responses((status = 200, description = "A script", body = String, content_type = "text/javascript"))
)]
pub(super) async fn script() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], include_str!("page.js"))
}

/// The style of that page
#[utoipa::path(
    get, path = "/docs/page.css", tag = "service", operation_id = "docs_style",
    responses((status = 200, description = "A style sheet", body = String, content_type = "text/css"))
)]
pub(super) async fn style() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], include_str!("page.css"))
}
