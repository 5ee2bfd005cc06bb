use axum::Json;
use axum::extract::{RawQuery, State};
use serde_json::Value;

use crate::http::app::{App, Weight};
use crate::http::extract::{AnyJson, Place};
use crate::http::problem::ProblemBody;
use crate::service::{DocsearchAnswer, DocsearchQuery, DocsearchRequest, DocsearchResults, Problem};

/// One query of a DocSearch widget
#[utoipa::path(
    get, path = "/v1/docsearch", tag = "search", operation_id = "docsearch",
    params(
        ("query" = Option<String>, Query, description = "What the user typed; nothing finds nothing"),
        ("hitsPerPage" = Option<usize>, Query, description = "1 to 100, 20 by default"),
        ("page" = Option<usize>, Query, description = "From 0"),
        ("indexName" = Option<String>, Query, description = "By default the first"),
        ("mode" = Option<String>, Query, description = "bm25, dense or hybrid"),
        ("highlightPreTag" = Option<String>, Query, description = "What stands before a word of the query"),
        ("highlightPostTag" = Option<String>, Query, description = "What stands behind it")
    ),
    security((), ("key" = [])),
    responses(
        (status = 200, description = "Hits in the shape of DocSearch", body = DocsearchAnswer),
        (status = "default", description = "Problem", body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(super) async fn one(State(app): State<App>, RawQuery(query): RawQuery) -> Result<Json<DocsearchAnswer>, Problem> {
    let pairs: Vec<(String, String)> =
        form_urlencoded::parse(query.unwrap_or_default().as_bytes()).into_owned().collect();
    let query = DocsearchQuery::from_pairs(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())))?;
    app.run(Weight::Search, move |service| service.docsearch(&query)).await.map(Json)
}

/// Several queries of a DocSearch widget
#[utoipa::path(
    post, path = "/v1/docsearch", tag = "search", operation_id = "docsearch_several", request_body = Value, security((), ("key" = [])),
    responses(
        (status = 200, description = "One answer a query", body = DocsearchResults),
        (status = "default", description = "Problem", body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(super) async fn several(
    State(app): State<App>,
    AnyJson(body): AnyJson<Value>,
) -> Result<Json<DocsearchResults>, Problem> {
    answer_all(app, body).await
}

/// The same at the path that Algolia's clients ask, with `*` as the name
#[utoipa::path(
    post, path = "/1/indexes/{name}/queries", tag = "search", operation_id = "algolia_queries", request_body = Value,
    params(("name" = String, Path, description = "`*`: the queries name their indexes")), security((), ("key" = [])),
    responses(
        (status = 200, description = "One answer a query", body = DocsearchResults),
        (status = "default", description = "Problem", body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(super) async fn of_all(
    State(app): State<App>,
    AnyJson(body): AnyJson<Value>,
) -> Result<Json<DocsearchResults>, Problem> {
    answer_all(app, body).await
}

/// One query at the path that Algolia's clients ask
#[utoipa::path(
    post, path = "/1/indexes/{name}/query", tag = "search", operation_id = "algolia_query", request_body = Value,
    params(("name" = String, Path, description = "The name of the index")), security((), ("key" = [])),
    responses(
        (status = 200, description = "Hits in the shape of DocSearch", body = DocsearchAnswer),
        (status = "default", description = "Problem", body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(super) async fn of_index(
    State(app): State<App>,
    Place(name): Place,
    AnyJson(body): AnyJson<Value>,
) -> Result<Json<DocsearchAnswer>, Problem> {
    let request = DocsearchRequest::from_json(&body)?;
    let query = request.queries.into_iter().next().unwrap_or_default();
    let query = DocsearchQuery { index: Some(name), ..query };
    app.run(Weight::Search, move |service| service.docsearch(&query)).await.map(Json)
}

async fn answer_all(app: App, body: Value) -> Result<Json<DocsearchResults>, Problem> {
    let request = DocsearchRequest::from_json(&body)?;
    app.run(Weight::Search, move |service| service.docsearch_all(&request)).await.map(Json)
}
