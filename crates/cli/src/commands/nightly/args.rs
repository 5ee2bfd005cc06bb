//! What `pericope nightly` is told.

use std::path::PathBuf;

use clap::Args;

use crate::places;

pub const NIGHTLY_EXAMPLES: &str = "Examples:
  pericope nightly eval/nightly.toml
  pericope nightly eval/nightly.toml --history /var/lib/pericope/nightly --quiet
  pericope nightly eval/nightly.toml --pin last          (compare with this night for good)
  pericope nightly eval/nightly.toml --accept last       (it failed, and that is how it should be)
  pericope nightly eval/nightly.toml --export nights.jsonl

Prints the verdict in one line; exit status 1 where a check does not hold. In the history's folder: index.html,
latest.json, feed.xml, summary.md, junit.xml, badge.svg, metrics.prom, history.db, and nights/NUMBER/ with each night's full
report. docs/nightly.md has more: scheduling, retention, notifications.";

/// `pericope nightly`
#[derive(Debug, Args)]
pub struct NightlyArgs {
    /// The experiment, with its [[gate]]s
    #[arg(value_name = "CONFIG.toml")]
    pub config: PathBuf,
    /// Folder of the history [default: nightly.history of the configuration, else reports/nightly]
    #[arg(long, value_name = "DIR", value_parser = places::path())]
    pub history: Option<PathBuf>,
    /// Override a key of the configuration: nightly.keep=10
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Use no network at all: the webhook is not called
    #[arg(long)]
    pub offline: bool,
    /// Only say what the night may ask of models and pay: calls, tokens, money; needs no key
    #[arg(long, conflicts_with_all = ["pin", "unpin", "accept", "export", "import", "page"])]
    pub dry_run: bool,
    /// What to do instead of running a night
    #[command(flatten)]
    pub action: NightlyAction,
    /// Print latest.json on standard output
    #[arg(long)]
    pub json: bool,
}

/// What `pericope nightly` does without running a night; one at a time.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct NightlyAction {
    /// Compare with this night for good, beside the last good one: a number, or last
    #[arg(long, value_name = "NIGHT")]
    pub pin: Option<WhichNight>,
    /// Forget the pinned night
    #[arg(long)]
    pub unpin: bool,
    /// A failed night is as it should be: compare later ones with it
    #[arg(long, value_name = "NIGHT")]
    pub accept: Option<WhichNight>,
    /// Write the whole history as JSON lines
    #[arg(long, value_name = "FILE.jsonl", value_parser = places::path())]
    pub export: Option<PathBuf>,
    /// Add the nights of such a file
    #[arg(long, value_name = "FILE.jsonl", value_parser = places::path())]
    pub import: Option<PathBuf>,
    /// Write page, feed and summaries of the last night again
    #[arg(long)]
    pub page: bool,
}

impl NightlyAction {
    /// True where one is asked for.
    pub fn is_some(&self) -> bool {
        self.pin.is_some()
            || self.unpin
            || self.accept.is_some()
            || self.export.is_some()
            || self.import.is_some()
            || self.page
    }
}

/// A night of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhichNight {
    /// The newest.
    Last,
    /// The one of this number.
    Number(u32),
}

impl std::str::FromStr for WhichNight {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "last" => Ok(WhichNight::Last),
            number => number
                .parse()
                .ok()
                .filter(|n| *n > 0)
                .map(WhichNight::Number)
                .ok_or_else(|| "a night's number from 1 on, or last".to_owned()),
        }
    }
}
