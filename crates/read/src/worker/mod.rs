//! Files of formats whose parser cannot be trusted, read by another process: what such a file does to it costs that file
//! alone.
//!
//! [`WorkerPool`] starts a program as its worker, and the program calls [`serve`] when it is started so. They talk over the
//! worker's standard input and output; see `protocol`.

mod death;
mod gate;
mod limits;
mod pool;
mod process;
mod protocol;
mod serve;

pub use pool::{WorkerLimits, WorkerPool};
pub use serve::serve;
