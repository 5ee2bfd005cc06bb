use axum::Json;
use axum::extract::State;

use crate::http::app::{App, Weight};
use crate::http::extract::{Params, Place};
use crate::http::problem::ProblemBody;
use crate::service::{
    ChunkAnswer, ChunkRequest, DocumentAnswer, DocumentRequest, DocumentsAnswer, ListRequest, Problem, SearchAnswer,
    SearchRequest,
};

/// Search an index
#[utoipa::path(
    get, path = "/v1/search", tag = "search", params(SearchRequest), security((), ("key" = [])),
    responses(
        (status = 200, description = "The hits, best first", body = SearchAnswer),
        (status = "default", description = "Problem", body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(super) async fn search(
    State(app): State<App>,
    Params(request): Params<SearchRequest>,
) -> Result<Json<SearchAnswer>, Problem> {
    let weight = if app.service.reranks(&request) { Weight::Cut } else { Weight::Search };
    app.run(weight, move |service| service.search(&request)).await.map(Json)
}

/// List documents by their ids
#[utoipa::path(
    get, path = "/v1/documents", tag = "search", params(ListRequest), security((), ("key" = [])),
    responses(
        (status = 200, description = "The documents, in the order of their ids", body = DocumentsAnswer),
        (status = "default", description = "Problem", body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(super) async fn documents(
    State(app): State<App>,
    Params(request): Params<ListRequest>,
) -> Result<Json<DocumentsAnswer>, Problem> {
    app.run(Weight::Search, move |service| service.documents(&request)).await.map(Json)
}

/// Read a document or a range of it
#[utoipa::path(
    get, path = "/v1/documents/{*id}", tag = "search",
    params(("id" = String, Path, description = "The id of the document"), DocumentRequest),
    security((), ("key" = [])),
    responses(
        (status = 200, description = "The text and the chunks of the range", body = DocumentAnswer),
        (status = "default", description = "Problem", body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(super) async fn document(
    State(app): State<App>,
    Place(id): Place,
    Params(request): Params<DocumentRequest>,
) -> Result<Json<DocumentAnswer>, Problem> {
    let request = DocumentRequest { id, ..request };
    app.run(Weight::Search, move |service| service.document(&request)).await.map(Json)
}

/// Read a chunk with its neighbours
#[utoipa::path(
    get, path = "/v1/chunks/{id}", tag = "search",
    params(("id" = uuid::Uuid, Path, description = "The id of the chunk"), ChunkRequest),
    security((), ("key" = [])),
    responses(
        (status = 200, description = "The chunk", body = ChunkAnswer),
        (status = "default", description = "Problem", body = ProblemBody, content_type = "application/problem+json")
    )
)]
pub(super) async fn chunk(
    State(app): State<App>,
    Place(id): Place,
    Params(request): Params<ChunkRequest>,
) -> Result<Json<ChunkAnswer>, Problem> {
    let id = id.parse().map_err(|_| Problem::parameter("the id of a chunk is a UUID, as hits have it in `id`"))?;
    let request = ChunkRequest { id, ..request };
    app.run(Weight::Search, move |service| service.chunk(&request)).await.map(Json)
}
