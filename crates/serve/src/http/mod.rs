//! The service over HTTP: routes with their OpenAPI document, keys, limits, metrics, logs, TLS.

mod access;
mod app;
mod cors;
mod extract;
mod guard;
pub mod keys;
mod lanes;
mod log;
mod metrics;
mod options;
mod problem;
mod routes;
mod server;
mod tls;
mod try_page;

pub(crate) use cors::{EVERYBODY, SESSION, normal};
pub use log::{LogFormat, Logging};
pub use options::{HttpOptions, Limits, TlsFiles};
pub use routes::openapi;
pub use server::{ServeError, Server};
