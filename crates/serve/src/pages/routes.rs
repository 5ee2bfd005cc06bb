use axum::Router;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::assets::{self, Asset};

/// The content security policy of the pages: their own files and this server, nothing else, and no frame around them.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                          img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// A site may use the search box for an hour without asking again.
const BOX_AGE: &str = "public, max-age=3600";

/// Returns the routes of the pages: `/`, `/document`, `/compare`, `/status`, `/assets/...` and `/searchbox.js`.
///
/// Every answer has an entity tag. The files of the pages are asked for anew each time, so that no page mixes the files
/// of two versions; what has not changed is answered with 304. The search box may be kept for an hour, and any site may
/// load it: it holds no data.
pub fn router() -> Router {
    assets::all().iter().fold(Router::new(), |router, asset| {
        router.route(asset.path, get(move |headers: HeaderMap| answer(asset, headers)))
    })
}

async fn answer(asset: &'static Asset, asked: HeaderMap) -> Response {
    let shared = asset.path == "/searchbox.js";
    let mut response = match known(&asked, &asset.tag) {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => ([(CONTENT_TYPE, asset.kind)], asset.body.clone()).into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(ETAG, asset.tag.clone());
    for (name, value) in [
        (CACHE_CONTROL, if shared { BOX_AGE } else { "no-cache" }),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (RESOURCE_POLICY, if shared { "cross-origin" } else { "same-origin" }),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if shared {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    }
    response
}

/// Whether the client has this version. Tags are compared weakly, as RFC 9110 asks for.
fn known(asked: &HeaderMap, tag: &HeaderValue) -> bool {
    let lists = asked.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    lists.flat_map(|list| list.split(',')).any(|one| {
        let one = one.trim();
        one == "*" || one.strip_prefix("W/").unwrap_or(one).as_bytes() == tag.as_bytes()
    })
}
