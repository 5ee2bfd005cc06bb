use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::service::Problem;

/// The body of every answer that is none, as RFC 9457 has it.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ProblemBody<'a> {
    /// Always `about:blank`: `code` says which problem it is.
    #[serde(rename = "type")]
    kind: &'a str,
    /// The kind of problem in a few words.
    title: &'a str,
    /// The HTTP status.
    status: u16,
    /// What failed, and what to do about it, in one sentence.
    detail: &'a str,
    /// A word for programs that never changes.
    code: &'a str,
    /// The id of the request, as logs have it.
    request_id: &'a str,
}

/// Seconds after which a request that was refused for want of workers may be tried again.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("1");

/// The head of the answer. Its body is written where the id of the request is known: [`write`].
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = status.into_response();
        let headers = response.headers_mut();
        match status {
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                headers.insert(header::RETRY_AFTER, RETRY_AFTER);
            }
            StatusCode::UNAUTHORIZED => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"pericope\""));
            }
            _ => {}
        }
        response.extensions_mut().insert(self);
        response
    }
}

/// Gives the answer of a problem its body.
pub(super) fn write(response: &mut Response, request_id: &str) -> Option<&'static str> {
    let problem = response.extensions_mut().remove::<Problem>()?;
    let body = ProblemBody {
        kind: "about:blank",
        title: &problem.title,
        status: problem.status,
        detail: &problem.detail,
        code: problem.code,
        request_id,
    };
    let json = serde_json::to_vec(&body).unwrap_or_default();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    response.headers_mut().remove(header::CONTENT_LENGTH);
    *response.body_mut() = Body::from(json);
    Some(problem.code)
}
