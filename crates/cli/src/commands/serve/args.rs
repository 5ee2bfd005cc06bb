use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use pericope::store::RERANK_DEPTH;

use crate::places;

pub const SERVE_EXAMPLES: &str = "Examples:
  pericope serve                        (in a project: see pericope init)
  pericope serve --in docs.idx
  pericope serve --in docs=docs.idx --in api=qdrant://localhost:6334/api --bind 127.0.0.1:0
  pericope serve --in docs.idx --rerank fast=cross-encoder:model=models/ms-marco-MiniLM-L6-v2 --rerank weswin
  pericope serve --in docs.idx --follow docs/ --url-prefix https://example.org/docs --url-root docs --url-strip md
  pericope keys add keys --name site --scope search
  pericope serve --in docs.idx --bind 0.0.0.0:443 --keys keys --tls-cert cert.pem --tls-key key.pem --cors https://example.org

  curl 'http://127.0.0.1:7700/v1/search?q=how+long+does+a+starter+keep&k=3'

The address is told on standard error. Pages are at /, the API is described at /docs and /openapi.json. SIGINT and SIGTERM
end the server when the requests that are running have finished, after 10 s at most. docs/service.md has more: keys, TLS,
limits, proxies, search boxes.";

/// `pericope serve`
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// An index: its folder, or a collection on a Qdrant server, with NAME= before it for a name of its own; may be given
    /// several times, and requests that name no index mean the first [default: the project's index]
    #[arg(long = "in", value_name = "[NAME=]DIR|URL")]
    pub indexes: Vec<String>,
    /// The address to listen at; port 0 takes a free one
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:7700")]
    pub bind: String,
    /// Keep an index up to date with these files while it is served, named as they were when it was made; may be given
    /// several times
    #[arg(long, value_name = "[NAME=]PATH")]
    pub follow: Vec<String>,
    #[command(flatten)]
    pub rerank: ServedRerankArgs,
    #[command(flatten)]
    pub addresses: AddressArgs,
    #[command(flatten)]
    pub server: ServerArgs,
}

/// The rerankers of a server.
#[derive(Debug, Args)]
pub struct ServedRerankArgs {
    /// A reranker that requests may name, as `pericope rerankers` lists them, with NAME= before it for a name of its own; may
    /// be given several times, and the first orders the hits of requests that name none
    #[arg(long, value_name = "[NAME=]SPEC")]
    pub rerank: Vec<String>,
    /// With --rerank: hits that are scored, at least as many as are asked for
    #[arg(long, value_name = "N", requires = "rerank", default_value_t = RERANK_DEPTH as u32, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub rerank_depth: u32,
}

/// Who may ask a server, and how much.
#[derive(Debug, Args)]
pub struct ServerArgs {
    /// File of keys that requests must bring; see `pericope keys`
    #[arg(long, value_name = "FILE", value_parser = places::path())]
    pub keys: Option<PathBuf>,
    /// Certificate in PEM, with those between it and the root
    #[arg(long, value_name = "FILE", requires = "tls_key", value_parser = places::path())]
    pub tls_cert: Option<PathBuf>,
    /// Private key of the certificate in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert", value_parser = places::path())]
    pub tls_key: Option<PathBuf>,
    /// Serve an address that other machines reach without keys: everybody may ask everything
    #[arg(long, conflicts_with = "keys")]
    pub insecure_no_keys: bool,
    /// Serve an address that other machines reach without TLS: for a proxy that does it
    #[arg(long, conflicts_with = "tls_cert")]
    pub insecure_no_tls: bool,
    /// Origin whose pages may read answers, as https://example.org; * for all; may be given several times
    #[arg(long, value_name = "ORIGIN")]
    pub cors: Vec<String>,
    /// Name under which a proxy on this machine passes requests on, without scheme and port, as docs.example.org; may be given several
    /// times
    #[arg(long, value_name = "NAME")]
    pub host: Vec<String>,
    #[command(flatten)]
    pub limits: LimitArgs,
    /// How requests are logged on standard error
    #[arg(long, value_enum, default_value_t = LogArg::Json)]
    pub log: LogArg,
    /// Log what was asked too
    #[arg(long)]
    pub log_queries: bool,
}

impl ServerArgs {
    /// Whether any flag says who may ask.
    pub fn is_about_access(&self) -> bool {
        let flags = [self.keys.is_some(), self.tls_cert.is_some(), self.insecure_no_keys, self.insecure_no_tls];
        flags.contains(&true) || !self.cors.is_empty() || !self.host.is_empty()
    }
}

/// How documents get addresses.
#[derive(Debug, Args)]
pub struct AddressArgs {
    /// What stands before the paths of documents in their addresses; may be given once for each index
    #[arg(long, value_name = "[NAME=]URL")]
    pub url_prefix: Vec<String>,
    /// The beginning of the documents' paths that the prefix stands for
    #[arg(long, value_name = "PATH", default_value = "", hide_default_value = true)]
    pub url_root: String,
    /// File ending that addresses leave out; index.EXT and README.EXT become their folder; may be given several times
    #[arg(long, value_name = "EXT")]
    pub url_strip: Vec<String>,
}

/// The limits of the server.
#[derive(Debug, Args)]
pub struct LimitArgs {
    /// Requests that are worked on at once [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub workers: Option<u16>,
    /// Requests that wait at most; one more is answered with 429 [default: 32 a core]
    #[arg(long, value_name = "N")]
    pub queue: Option<u16>,
    /// Seconds that a request may take
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = seconds)]
    pub timeout: f64,
    /// Largest body of a request, in kB
    #[arg(long, value_name = "KB", default_value_t = 2048, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub max_body: u32,
    /// Connections at once
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub connections: u32,
}

impl LimitArgs {
    /// The same for the server.
    pub fn limits(&self) -> pericope_serve::http::Limits {
        let defaults = pericope_serve::http::Limits::default();
        pericope_serve::http::Limits {
            workers: self.workers.map_or(defaults.workers, usize::from),
            queue: self.queue.map_or(defaults.queue, usize::from),
            body: (self.max_body as usize).saturating_mul(1000),
            request: Duration::from_secs_f64(self.timeout),
            connections: self.connections as usize,
            ..defaults
        }
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|n| (0.01..=3600.0).contains(n))
        .ok_or_else(|| "a number of seconds, 0.01 to 3600".to_owned())
}

/// How requests are logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogArg {
    /// One JSON object a request
    Json,
    /// One line of text a request
    Text,
    /// Not at all
    None,
}

/// `pericope keys`
#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Make a key and print it: it is shown this once, and the file holds its hash
    #[command(
        after_help = "Examples:\n  pericope keys add keys --name site --scope search\n  pericope keys add keys --name ops --scope admin"
    )]
    Add {
        /// The file of keys; it is made where there is none
        #[arg(value_name = "FILE", value_parser = places::path())]
        file: PathBuf,
        /// What logs call the key: letters, digits, `.`, `_`, `-`
        #[arg(long, value_name = "NAME")]
        name: String,
        /// What it allows: search and reading, or everything
        #[arg(long, value_enum, default_value_t = ScopeArg::Search)]
        scope: ScopeArg,
    },
    /// List names and scopes
    #[command(after_help = "Example:\n  pericope keys list keys")]
    List {
        /// The file of keys
        #[arg(value_name = "FILE", value_parser = places::path())]
        file: PathBuf,
        /// One JSON document on standard output
        #[arg(long)]
        json: bool,
    },
    /// Remove a key: a server that runs refuses it at once
    #[command(after_help = "Example:\n  pericope keys remove keys --name site")]
    Remove {
        /// The file of keys
        #[arg(value_name = "FILE", value_parser = places::path())]
        file: PathBuf,
        /// Its name
        #[arg(long, value_name = "NAME")]
        name: String,
    },
}

/// What a key allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScopeArg {
    /// Searching and reading
    Search,
    /// Everything
    Admin,
}
