use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use axum::Router;
use tokio_util::sync::CancellationToken;

use super::log::Logging;

/// The settings of a server.
#[derive(Clone)]
pub struct HttpOptions {
    /// The address that is listened at; port 0 takes a free one.
    pub bind: SocketAddr,
    /// The file of keys; without one everybody may ask everything, which is refused on an address that other machines reach.
    pub keys: Option<PathBuf>,
    /// Serve an address that other machines reach without keys.
    pub insecure_no_keys: bool,
    /// The certificate; without one the server speaks plain HTTP, which is refused on an address that other machines reach.
    pub tls: Option<TlsFiles>,
    /// Serve an address that other machines reach without TLS.
    pub insecure_no_tls: bool,
    /// Origins whose pages may read answers, as `https://example.org`; `*` is all of them.
    pub cors: Vec<String>,
    /// Names, beside those of this machine, under which a server on a loopback address may be asked: those that a proxy
    /// passes on.
    pub hosts: Vec<String>,
    /// The limits.
    pub limits: Limits,
    /// What is logged, and where it goes.
    pub log: Logging,
    /// More routes, for keys of the scope `search`: those of MCP.
    pub more: Option<Router>,
    /// Cancelled when the server takes no more requests, for routes whose answers have no end of their own.
    pub ending: CancellationToken,
}

impl HttpOptions {
    /// Returns the settings of a server at an address: no keys, no TLS, the default limits, no log.
    #[must_use]
    pub fn new(bind: SocketAddr) -> Self {
        Self {
            bind,
            keys: None,
            insecure_no_keys: false,
            tls: None,
            insecure_no_tls: false,
            cors: Vec::new(),
            hosts: Vec::new(),
            limits: Limits::default(),
            log: Logging::default(),
            more: None,
            ending: CancellationToken::new(),
        }
    }
}

/// The files of a certificate, in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, and those between it and the root.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// The limits of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Requests that are worked on at once; beside them half as many that cut texts or are reranked.
    pub workers: usize,
    /// Requests that wait for a worker, at most; one more is answered with 429 at once.
    pub queue: usize,
    /// Bytes of a request's body, at most.
    pub body: usize,
    /// The time that a request may take, waiting included.
    pub request: Duration,
    /// The time in which the head of a request must have come, and an idle connection is closed.
    pub head: Duration,
    /// The time in which a client must take some of an answer.
    pub write: Duration,
    /// Connections at once; further ones wait in the system's queue.
    pub connections: usize,
    /// The time that running requests have to finish when the server ends.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            workers: cores,
            queue: 32 * cores,
            body: 2 << 20,
            request: Duration::from_secs(30),
            head: Duration::from_secs(10),
            write: Duration::from_secs(30),
            connections: 1024,
            drain: Duration::from_secs(10),
        }
    }
}
