use axum::Json;
use axum::extract::State;

use crate::http::app::{App, Weight};
use crate::http::extract::{NoParams, Params, Place};
use crate::http::problem::ProblemBody;
use crate::service::{Problem, RefreshAnswer};

/// Look for a newer commit at once, and order a pass over the files that the index follows
#[utoipa::path(
    post, path = "/v1/indexes/{name}/refresh", tag = "service",
    params(("name" = String, Path, description = "The name of the index")), security((), ("key" = [])),
    responses(
        (status = 200, description = "What was done", body = RefreshAnswer),
        (status = "default", description = "Problem", body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(super) async fn refresh(
    State(app): State<App>,
    Place(name): Place,
    _: Params<NoParams>,
) -> Result<Json<RefreshAnswer>, Problem> {
    app.run(Weight::Search, move |service| service.refresh(&name)).await.map(Json)
}
