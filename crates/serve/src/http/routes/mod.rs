//! The routes. Each is in the OpenAPI document, since both are made from the same list.

mod admin;
mod cut;
mod docsearch;
mod read;
mod status;

use std::sync::OnceLock;

use axum::Router;
use axum::http::{HeaderValue, header};
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::Response;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::CorsLayer;
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::app::App;
use super::problem::ProblemBody;
use super::{access, guard, try_page};
use crate::service::Problem;

/// What the document says before its paths.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Pericope",
        description = "Search over indexes of documents. Every answer that is none is a problem as RFC 9457 has it: \
                       `code` is a word for programs, `request_id` is what the log calls the request."
    ),
    components(schemas(ProblemBody)),
    tags(
        (name = "search", description = "Searching and reading."),
        (name = "cut", description = "Cutting texts by segmenters."),
        (name = "service", description = "The indexes and the server itself.")
    )
)]
struct Head;

/// Routes that need a key of the scope `search` where there are keys.
fn searching() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(read::search))
        .routes(routes!(read::documents))
        .routes(routes!(read::document))
        .routes(routes!(read::chunk))
        .routes(routes!(cut::segment))
        .routes(routes!(cut::compare))
        .routes(routes!(cut::segmenters))
        .routes(routes!(status::indexes))
        .routes(routes!(docsearch::one, docsearch::several))
        .routes(routes!(docsearch::of_all))
        .routes(routes!(docsearch::of_index))
}

/// Routes that need a key of the scope `admin`.
fn administering() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(admin::refresh)).routes(routes!(status::metrics))
}

/// Routes for everybody.
fn public() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(status::healthz))
        .routes(routes!(status::readyz))
        .routes(routes!(status::document))
        .routes(routes!(try_page::page))
        .routes(routes!(try_page::script))
        .routes(routes!(try_page::style))
}

/// All routes, with what surrounds them.
pub(super) fn router(app: &App, cors: Option<CorsLayer>, more: Option<Router>) -> Router {
    let searching = Router::<App>::from(searching()).merge(more.unwrap_or_default().with_state(()));
    let searching = searching.route_layer(from_fn_with_state(app.clone(), access::search));
    let administering =
        Router::<App>::from(administering()).route_layer(from_fn_with_state(app.clone(), access::admin));
    let api = searching
        .merge(administering)
        .merge(public())
        .layer(map_response(unkept))
        .merge(crate::pages::router().with_state(()))
        .fallback(nowhere)
        .method_not_allowed_fallback(not_so);
    let api = api.layer(CatchPanicLayer::custom(guard::panicked)).layer(from_fn_with_state(app.clone(), access::host));
    let api = match cors {
        Some(cors) => api.layer(cors),
        None => api,
    };
    api.layer(from_fn_with_state(app.clone(), guard::around)).with_state(app.clone())
}

/// Answers of the API may be private: no cache on the way keeps them, unless they say themselves for how long.
async fn unkept(mut response: Response) -> Response {
    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

async fn nowhere() -> Problem {
    Problem::not_found("no-such-route", "there is nothing at this path; /openapi.json lists what there is")
}

async fn not_so() -> Problem {
    let detail = "this path is there for another method; /openapi.json lists what there is";
    Problem::new(405, "wrong-method", "The method is wrong", detail)
}

/// Returns the OpenAPI document of all routes, in JSON.
#[must_use]
pub fn openapi() -> &'static str {
    static DOCUMENT: OnceLock<String> = OnceLock::new();
    DOCUMENT.get_or_init(|| {
        let routes = OpenApiRouter::with_openapi(Head::openapi()).merge(searching()).merge(administering());
        let mut document = routes.merge(public()).into_openapi();
        // OpenAPI has no word for the rest of a path: a slash in an id is written %2F.
        let paths = std::mem::take(&mut document.paths.paths);
        document.paths.paths = paths.into_iter().map(|(path, item)| (path.replace("{*", "{"), item)).collect();
        let bearer = SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build());
        document.components.get_or_insert_default().add_security_scheme("key", bearer);
        document.to_json().unwrap_or_default()
    })
}
