//! The pages: search, document, compare, status, and the embeddable search box.

use axum::Router;

/// Returns the routes of the pages.
#[must_use]
pub fn router() -> Router {
    Router::new()
}
