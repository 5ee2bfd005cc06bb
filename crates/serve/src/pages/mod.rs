//! The pages: search, document, compare, status, and the embeddable search box.
//!
//! They are files of this crate, written by hand and embedded as they are. They hold no data: what they show they ask
//! for at `/v1`, with the key that the reader gave, and put into the page as text. So they need no key themselves.
//! Their addresses are relative, and the service may stand under any path.

mod assets;
mod routes;
mod shell;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

pub use routes::{POLICY, router};
