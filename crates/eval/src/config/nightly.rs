//! `[nightly]`: what is kept, what is compared with, who is told.

use serde::{Deserialize, Serialize};

use super::Experiment;

/// Good nights without which no time is judged.
pub const LEAST_NIGHTS: usize = 3;

/// `[nightly]` of an experiment; every key has the default shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Folder of the history; default `reports/nightly`. `--history` goes before it.
    pub history: Option<String>,
    /// Nights whose full run folders are kept, at least 1; default 30. The last good night's and the baseline's stay
    /// whatever their age, and the history itself keeps every night.
    pub keep: usize,
    /// The night that every night is compared with, beside the last good one: a number, or `"first"` for the oldest
    /// good night. What `--pin` says goes before it.
    pub baseline: Option<Baseline>,
    /// Good nights whose median performance gates compare with, at least 3; default 7.
    pub window: usize,
    /// Where the folder of the history can be read by a browser, for links in the feed and in messages.
    pub url: Option<String>,
    /// A command that gets the verdict in environment variables and as JSON on standard input.
    pub on_finish: Vec<String>,
    /// Where the verdict is sent by POST; `${VAR}` and `${VAR:-default}` are expanded.
    pub webhook: Option<String>,
    /// What is sent there: `full` (default, as `latest.json`) or `text`, one line as `{"text": ...}`.
    pub webhook_body: WebhookBody,
    /// When command and webhook are called: `always` (default), `failure`, or `change` of the verdict.
    pub notify: Notify,
    /// Seconds that each of them may take; default 60.
    pub timeout_seconds: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            history: None,
            keep: 30,
            baseline: None,
            window: 7,
            url: None,
            on_finish: Vec::new(),
            webhook: None,
            webhook_body: WebhookBody::Full,
            notify: Notify::Always,
            timeout_seconds: 60,
        }
    }
}

/// The night that is compared with for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "serde_json::Value", into = "serde_json::Value")]
pub enum Baseline {
    /// The oldest good night of the history.
    First,
    /// The night of this number.
    Run(u32),
}

impl TryFrom<serde_json::Value> for Baseline {
    type Error = String;

    fn try_from(value: serde_json::Value) -> Result<Self, Self::Error> {
        let number = value.as_u64().and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0);
        match (number, value.as_str()) {
            (Some(number), _) => Ok(Baseline::Run(number)),
            (None, Some("first")) => Ok(Baseline::First),
            _ => Err(format!("baseline = {value}: expected a night's number from 1 on, or \"first\"")),
        }
    }
}

impl From<Baseline> for serde_json::Value {
    fn from(baseline: Baseline) -> Self {
        match baseline {
            Baseline::First => "first".into(),
            Baseline::Run(number) => number.into(),
        }
    }
}

/// What a webhook is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WebhookBody {
    /// All of `latest.json`.
    #[default]
    Full,
    /// `{"text": "..."}`, which chat services take.
    Text,
}

/// When somebody is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Notify {
    /// After every night.
    #[default]
    Always,
    /// After a night that failed, or broke off with an error.
    Failure,
    /// Where the verdict is another than that of the night before; always where a night broke off with an error.
    Change,
}

impl Settings {
    /// True where the table says nothing.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Looks at `[nightly]` and every `[[gate]]` of an experiment.
///
/// # Errors
/// One sentence that names the key.
pub(super) fn check(experiment: &Experiment) -> Result<(), String> {
    let settings = &experiment.nightly;
    if settings.keep == 0 || settings.timeout_seconds == 0 {
        return Err("nightly.keep and nightly.timeout_seconds must be at least 1".into());
    }
    if settings.window < LEAST_NIGHTS {
        return Err(format!(
            "nightly.window = {}: times are judged from {LEAST_NIGHTS} good nights on, so with fewer they never would be",
            settings.window
        ));
    }
    if settings.on_finish.first().is_some_and(|program| program.trim().is_empty()) {
        return Err("nightly.on_finish begins with an empty program".into());
    }
    if let Some(url) = settings.url.as_deref().map(str::trim).filter(|url| !url.is_empty())
        && !is_web_address(url)
    {
        // It is not repeated: somebody's password may be in it.
        return Err(
            "nightly.url is no address that a browser reads: it begins with https:// or http://, names a host, and \
                    holds neither blanks nor any of <>\"\\^`{|}"
                .into(),
        );
    }
    if settings.webhook.as_deref().is_some_and(|url| !may_be_called(url)) {
        // Nor is this one: hooks are addresses that whoever knows them may call.
        return Err(
            "nightly.webhook is no address: it begins with https:// or http://, names a host and holds no blanks; \
                    a variable may stand for all of it or for parts, as in https://HOST/${VAR}"
                .into(),
        );
    }
    for (i, gate) in experiment.gates.iter().enumerate() {
        gate.check(experiment).map_err(|problem| format!("[[gate]] number {}: {problem}", i + 1))?;
    }
    Ok(())
}

/// True for an address that a request can be sent to, as far as that is known before its variables are expanded.
fn may_be_called(url: &str) -> bool {
    if url.starts_with("${") {
        return true;
    }
    behind_scheme(url).is_some_and(|rest| {
        !rest.is_empty()
            && !rest.starts_with(['/', ':', '?', '#'])
            && !rest.contains(|c: char| c.is_whitespace() || c.is_control())
    })
}

/// What stands behind `http://` or `https://`.
fn behind_scheme(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)).then_some(rest)
}

/// True for an address that can stand in a link as it is.
fn is_web_address(url: &str) -> bool {
    let Some(rest) = behind_scheme(url) else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let can_stand = |c: char| !c.is_whitespace() && !c.is_control() && !"<>\"\\^`{|}".contains(c);
    !host.is_empty() && !host.starts_with(':') && rest.chars().all(can_stand)
}
