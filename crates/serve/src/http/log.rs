use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use pericope_util::now_rfc3339;
use serde::Serialize;

/// The form of the lines that a server logs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// One JSON object a request.
    Json,
    /// One line of text a request.
    Text,
    /// No line for requests.
    #[default]
    None,
}

impl FromStr for LogFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "json" => Ok(Self::Json),
            "text" => Ok(Self::Text),
            "none" => Ok(Self::None),
            _ => Err(format!("there is no log format `{text}`; the formats are json, text and none")),
        }
    }
}

/// What is logged, and where it goes.
#[derive(Clone)]
pub struct Logging {
    /// The form of the lines for requests.
    pub format: LogFormat,
    /// Whether they hold what was asked: query strings, and the bodies of queries. Keys are never logged.
    pub queries: bool,
    /// Takes each line, without its end.
    pub sink: Arc<dyn Fn(&str) + Send + Sync>,
    /// Takes what happens beside requests, each in one line.
    pub notice: Arc<dyn Fn(&str) + Send + Sync>,
}

impl Default for Logging {
    fn default() -> Self {
        Self { format: LogFormat::None, queries: false, sink: Arc::new(|_| {}), notice: Arc::new(|_| {}) }
    }
}

impl fmt::Debug for Logging {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Logging").field("format", &self.format).field("queries", &self.queries).finish_non_exhaustive()
    }
}

/// A request that was answered.
#[derive(Debug, Serialize)]
pub(super) struct Line<'a> {
    pub(super) time: String,
    pub(super) request_id: &'a str,
    pub(super) remote: Option<SocketAddr>,
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) query: Option<&'a str>,
    pub(super) status: u16,
    pub(super) ms: f64,
    /// The name of the key, not the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) code: Option<&'a str>,
}

impl Logging {
    /// Whether a request's line says what was asked.
    pub(super) fn tells_queries(&self) -> bool {
        self.queries && self.format != LogFormat::None
    }

    pub(super) fn request(&self, mut line: Line<'_>, took: Duration) {
        if self.format == LogFormat::None {
            return;
        }
        line.time = now_rfc3339();
        line.ms = (took.as_secs_f64() * 1e6).round() / 1e3;
        match self.format {
            LogFormat::Json => (self.sink)(&serde_json::to_string(&line).unwrap_or_default()),
            LogFormat::Text => {
                let remote = line.remote.map_or_else(|| "-".to_owned(), |remote| remote.to_string());
                let query = line.query.map(|query| format!("?{}", query.escape_debug())).unwrap_or_default();
                (self.sink)(&format!(
                    "{} {remote} {} {}{query} {} {:.1} ms {} {}",
                    line.time,
                    line.method,
                    line.path.escape_debug(),
                    line.status,
                    line.ms,
                    line.request_id,
                    line.key.unwrap_or("-")
                ));
            }
            LogFormat::None => {}
        }
    }
}
