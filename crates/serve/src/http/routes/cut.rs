use axum::Json;
use axum::extract::State;

use crate::http::app::{App, Weight};
use crate::http::extract::{JsonBody, NoParams, Params};
use crate::http::problem::ProblemBody;
use crate::service::{CompareAnswer, CompareRequest, Problem, SegmentAnswer, SegmentRequest, SegmentersAnswer};

/// Cut a text by a segmenter
#[utoipa::path(
    post, path = "/v1/segment", tag = "cut", request_body = SegmentRequest, security((), ("key" = [])),
    responses(
        (status = 200, description = "Sentences, scores, boundaries and chunks", body = SegmentAnswer),
        (status = "default", description = "Problem", body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(super) async fn segment(
    State(app): State<App>,
    _: Params<NoParams>,
    JsonBody(request): JsonBody<SegmentRequest>,
) -> Result<Json<SegmentAnswer>, Problem> {
    app.run(Weight::Cut, move |service| service.segment(&request)).await.map(Json)
}

/// Cut the documents that a question finds by several segmenters, and rank their chunks
#[utoipa::path(
    post, path = "/v1/compare", tag = "cut", request_body = CompareRequest, security((), ("key" = [])),
    responses(
        (status = 200, description = "The best chunks of each segmenter", body = CompareAnswer),
        (status = "default", description = "Problem", body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(super) async fn compare(
    State(app): State<App>,
    _: Params<NoParams>,
    JsonBody(request): JsonBody<CompareRequest>,
) -> Result<Json<CompareAnswer>, Problem> {
    app.run(Weight::Cut, move |service| service.compare(&request)).await.map(Json)
}

/// List the segmenters that requests may name
#[utoipa::path(
    get, path = "/v1/segmenters", tag = "cut", security((), ("key" = [])),
    responses(
        (status = 200, description = "The segmenters", body = SegmentersAnswer),
        (status = "default", description = "Problem", body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(super) async fn segmenters(State(app): State<App>, _: Params<NoParams>) -> Json<SegmentersAnswer> {
    Json(app.service.segmenters())
}
