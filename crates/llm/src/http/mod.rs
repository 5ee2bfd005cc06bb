//! One endpoint over HTTP: what may be tried again is, at the right time, and the rest is a clear error.

mod api;
mod classify;
mod endpoint;
mod rate_limiter;

pub(crate) use api::{Api, address};
pub(crate) use classify::ApiError;
pub(crate) use endpoint::{Endpoint, Failed, Received};
