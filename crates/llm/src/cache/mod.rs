//! Every answer that a model gave, in one SQLite file.

mod key;
mod responses;
mod single_flight;
mod spending;
mod store;
mod vectors;

pub(crate) use key::CacheKey;
pub(crate) use responses::Outcome;
pub use store::Cache;
