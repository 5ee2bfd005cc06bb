use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;

use crate::http::app::{App, Weight};
use crate::http::extract::{NoParams, Params};
use crate::http::problem::ProblemBody;
use crate::service::{IndexesAnswer, Problem};

/// How long the figures wait for the sizes of the indexes.
const ASKED: Duration = Duration::from_secs(2);

/// Describe the indexes
#[utoipa::path(
    get, path = "/v1/indexes", tag = "service", security((), ("key" = [])),
    responses(
        (status = 200, description = "The indexes, the default one first", body = IndexesAnswer),
        (status = "default", description = "Problem", body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(super) async fn indexes(State(app): State<App>, _: Params<NoParams>) -> Result<Json<IndexesAnswer>, Problem> {
    app.run(Weight::Search, |service| service.indexes()).await.map(Json)
}

/// Whether the process is alive
#[utoipa::path(
    get, path = "/healthz", tag = "service",
    responses((status = 200, description = "It is", body = String, content_type = "text/plain"))
)]
pub(super) async fn healthz() -> &'static str {
    "ok\n"
}

/// Whether the server takes requests: not while it opens the indexes, and not while it ends
#[utoipa::path(
    get, path = "/readyz", tag = "service",
    responses(
        (status = 200, description = "It does", body = String, content_type = "text/plain"),
        (status = 503, description = "It does not", body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(super) async fn readyz(State(app): State<App>) -> Result<&'static str, Problem> {
    match app.unready() {
        None => Ok("ok\n"),
        Some(why) => Err(Problem::new(503, "not-ready", "Not ready", why)),
    }
}

/// Figures for Prometheus
#[utoipa::path(
    get, path = "/metrics", tag = "service", security((), ("key" = [])),
    responses(
        (status = 200, description = "Prometheus text", body = String, content_type = "text/plain"),
        (status = "default", description = "Problem", body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(super) async fn metrics(State(app): State<App>) -> Result<impl IntoResponse, Problem> {
    // Figures are wanted most when everything else is busy, or an index does not answer: they wait for no worker, and not
    // long for an index.
    let asking = app.clone();
    let asked = tokio::task::spawn_blocking(move || asking.metrics.ask(&asking.service));
    match tokio::time::timeout(ASKED, asked).await {
        Ok(Ok(())) => {}
        Ok(Err(_)) => return Err(Problem::internal("the figures could not be gathered")),
        Err(_) => app.metrics.gave_up(),
    }
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], app.metrics.text()?))
}

/// This document
#[utoipa::path(
    get, path = "/openapi.json", tag = "service", operation_id = "openapi",
    responses((status = 200, description = "The OpenAPI document", body = serde_json::Value))
)]
pub(super) async fn document() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "max-age=60")], super::openapi())
}
