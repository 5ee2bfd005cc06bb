//! A generator of load for a server over HTTP: requests come at a constant rate, whatever the server does.
//!
//! A latency counts from the moment when the request was to be sent. A request that waits because all connections are busy
//! has waited: a server that stalls cannot make its own figures better by answering less.

mod http;
mod latencies;
mod run;

pub use latencies::Latencies;
pub use run::{Load, Outcome};
