//! Parameters and bodies, with problems instead of the framework's own texts.

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use super::app::App;
use super::guard::Asked;
use crate::service::Problem;

/// The parameters of a query string; a name may be repeated where the field is a list.
pub(super) struct Params<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequestParts<App> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        // An empty parameter is one that was not given: forms send them all.
        let given = |query| form_urlencoded::parse(query).filter(|(_, value)| !value.is_empty());
        let query = parts.uri.query().unwrap_or("").as_bytes();
        let whole = form_urlencoded::Serializer::new(String::new()).extend_pairs(given(query)).finish();
        let read = serde_html_form::Deserializer::from_bytes(whole.as_bytes());
        serde_path_to_error::deserialize(read).map(Self).map_err(|error| {
            let name = error.path().to_string();
            let values: Vec<_> = given(query).filter(|(given, _)| *given == name).map(|(_, value)| value).collect();
            Problem::parameter(match values.as_slice() {
                [value] => format!("`{name}={value}`: {}", error.inner()),
                [] => {
                    let reason = error.inner().to_string();
                    // Of the missing one alone it is worth saying that it stands there.
                    let is_missing = |name: &str| reason == format!("missing field `{name}`");
                    let is_empty = form_urlencoded::parse(query).any(|(name, _)| is_missing(&name));
                    format!("the query string: {reason}{}", if is_empty { ", which is empty" } else { "" })
                }
                _ => format!("`{name}` is given {} times: {}", values.len(), error.inner()),
            })
        })
    }
}

/// The parameters of a path that takes none: a misspelt or misplaced one is refused, as everywhere.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoParams {}

/// A part of the path.
pub(super) struct Place(pub(super) String);

impl FromRequestParts<App> for Place {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let Path(place) = Path::<String>::from_request_parts(parts, app)
            .await
            .map_err(|e| Problem::parameter(format!("the path: {}", e.body_text())))?;
        Ok(Self(place))
    }
}

/// A body in JSON that says so.
pub(super) struct JsonBody<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<App> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("");
        let essence = kind.split(';').next().unwrap_or("").trim();
        if !(essence.eq_ignore_ascii_case("application/json") || essence.ends_with("+json")) {
            let detail = "send the body as JSON, with Content-Type: application/json";
            return Err(Problem::new(415, "not-json", "The body is not JSON", detail));
        }
        AnyJson::from_request(request, app).await.map(|AnyJson(value)| Self(value))
    }
}

/// A body in JSON, whatever it says of itself: widgets call it a form, so that browsers ask no leave first.
pub(super) struct AnyJson<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<App> for AnyJson<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let asked = request.extensions().get::<Asked>().cloned();
        let bytes = read(request, app).await?;
        if let Some(asked) = asked {
            asked.is(&bytes);
        }
        serde_json::from_slice(&bytes)
            .map(Self)
            .map_err(|e| Problem::new(400, "bad-body", "The body is wrong", format!("the body: {e}")))
    }
}

/// The whole body, within the limits of size and time.
async fn read(request: Request, app: &App) -> Result<Bytes, Problem> {
    let limit = app.limits.body;
    let too_large = || {
        let detail = format!("the body is larger than {limit} bytes");
        Problem::new(413, "body-too-large", "The body is too large", detail)
    };
    let said = request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if said.is_some_and(|length| length > limit) {
        return Err(too_large());
    }
    let body: Body = request.into_body();
    let read = tokio::time::timeout(app.limits.request, to_bytes(body, limit)).await;
    match read {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if is_limit(&error) => Err(too_large()),
        Ok(Err(error)) => {
            Err(Problem::new(400, "bad-body", "The body is wrong", format!("the body broke off: {error}")))
        }
        Err(_) => {
            let detail = format!("the body did not come within {} s", app.limits.request.as_secs_f64());
            Err(Problem::new(408, "slow-body", "The body came too slowly", detail))
        }
    }
}

/// Whether a body was refused for its size.
fn is_limit(error: &axum::Error) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = std::error::Error::source(error);
    while let Some(one) = cause {
        if one.is::<http_body_util::LengthLimitError>() {
            return true;
        }
        cause = one.source();
    }
    false
}
