//! One endpoint over HTTP: what may be tried again is, at the right time, and the rest is a clear error.

mod api;
mod body;
mod classify;
mod endpoint;
mod failure;
mod rate_limiter;
mod usage;

pub(crate) use api::{Api, address};
pub(crate) use classify::ApiError;
pub use endpoint::IN_A_ROW;
pub(crate) use endpoint::{Call, Endpoint, Failed, Received};
