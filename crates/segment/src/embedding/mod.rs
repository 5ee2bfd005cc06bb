//! Segmenters that compare sentence embeddings.

mod cluster;
mod kamradt;
mod pooling;
mod reading;
mod variance;
mod vectors;
mod window;

pub(crate) use cluster::CLUSTER;
pub use cluster::{Cluster, clusters};
pub(crate) use kamradt::KAMRADT;
pub use kamradt::{DistanceThreshold, Kamradt};
pub use pooling::Pool;
pub use reading::readable;
pub(crate) use reading::{bytes_read, shortened};
pub(crate) use variance::VARIANCE;
pub use variance::Variance;
pub(crate) use vectors::Vectors;
pub(crate) use window::WINDOW;
pub use window::{EmbeddingWindow, ShiftScore};
