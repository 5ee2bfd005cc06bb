//! Training on candle: AdamW with warm-up, frozen lower layers whose outputs are kept on disk, gradient accumulation,
//! early stopping, and a state on disk that an interrupted run goes on from.

mod adamw;
mod data;
mod feed;
mod frozen;
mod options;
mod state;
mod tune;
mod variables;
mod weswin;

pub use adamw::{AdamW, Moments, Schedule};
pub use data::{Asked, Labelled, Part, part_of};
pub use feed::Feed;
pub use options::{Options, TrainError};
pub use tune::{Grid, Tried, Tuning, tune};
pub use weswin::{Event, Report, Watch, train_weswin};
