//! Every answer that a model gave, in one SQLite file.

mod endpoints;
mod key;
mod responses;
mod single_flight;
mod spending;
mod store;
mod vectors;

pub(crate) use key::CacheKey;
pub(crate) use responses::Outcome;
pub(crate) use spending::{Charge, Room};
pub use store::Cache;
