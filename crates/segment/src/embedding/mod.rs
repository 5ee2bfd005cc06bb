//! Segmenters that compare sentence embeddings.

mod kamradt;
mod pooling;
mod reading;
mod window;

pub(crate) use kamradt::KAMRADT;
pub use kamradt::{Kamradt, Threshold};
pub use pooling::Pool;
pub(crate) use window::WINDOW;
pub use window::Window;
