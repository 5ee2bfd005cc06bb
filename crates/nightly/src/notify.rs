//! Telling people and programs how a night went.

use std::path::Path;
use std::time::Duration;

use pericope_api::expand_variables;
use serde_json::json;

use super::compare::run_folder;
use super::conclude::Conclusion;
use super::hook;
use super::latest::{Latest, base};
use super::night::Verdict;
use pericope_eval::config::{Experiment, Notify, Settings, WebhookBody};

/// What hooks are told.
struct Message {
    experiment: String,
    /// The night's number; empty where there is no night.
    night: String,
    verdict: &'static str,
    line: String,
    page: String,
    json: String,
}

impl Message {
    /// What the command finds in its environment.
    fn variables(&self) -> [(&'static str, &str); 5] {
        [
            ("PERICOPE_EXPERIMENT", &self.experiment),
            ("PERICOPE_NIGHT", &self.night),
            ("PERICOPE_VERDICT", self.verdict),
            ("PERICOPE_LINE", &self.line),
            ("PERICOPE_PAGE", &self.page),
        ]
    }
}

/// Calls the command and the webhook that `[nightly]` names, where the verdict is one to tell of. A hook that fails or
/// takes too long is a warning, and never changes the verdict.
#[must_use]
pub fn tell(conclusion: &Conclusion, settings: &Settings, dir: &Path) -> Vec<String> {
    let night = &conclusion.night;
    let wanted = match settings.notify {
        Notify::Always => true,
        Notify::Failure => night.verdict == Verdict::Failed,
        Notify::Change => conclusion.before.is_none_or(|before| before.is_good() != night.verdict.is_good()),
    };
    if !wanted {
        return Vec::new();
    }
    let base = base(settings.url.as_deref());
    let report = run_folder(dir, night.number).join("index.html").is_file();
    let json = serde_json::to_string(&Latest::of(conclusion, &base, report)).unwrap_or_default();
    let page = page(&base, dir);
    send(
        &Message {
            experiment: night.experiment.clone(),
            night: night.number.to_string(),
            verdict: night.verdict.name(),
            line: night.line.clone(),
            page,
            json,
        },
        settings,
    )
}

/// The same for a night that broke off with an error, whatever `notify` says: a night that is silently missing is the
/// worst of all.
#[must_use]
pub fn tell_error(problem: &str, experiment: &Experiment, dir: &Path) -> Vec<String> {
    let line = format!("{}: the night broke off: {problem}", experiment.name);
    let json = json!({"experiment": experiment.name, "verdict": "error", "text": line}).to_string();
    let page = page(&base(experiment.nightly.url.as_deref()), dir);
    let night = String::new();
    let message = Message { experiment: experiment.name.clone(), night, verdict: "error", line, page, json };
    send(&message, &experiment.nightly)
}

/// Where the page of all nights is: below the address that is configured, or else on this machine.
fn page(base: &str, dir: &Path) -> String {
    if base.is_empty() { dir.join("index.html").display().to_string() } else { format!("{base}index.html") }
}

fn send(message: &Message, settings: &Settings) -> Vec<String> {
    let limit = Duration::from_secs(settings.timeout_seconds);
    let mut warnings = Vec::new();
    if let Some((program, arguments)) = settings.on_finish.split_first() {
        let called = hook::call(program, arguments, &message.variables(), &message.json, limit);
        warnings.extend(called.err().map(|problem| format!("nightly.on_finish ({program}): {problem}")));
    }
    if let Some(url) = &settings.webhook {
        let expanded = expand_variables(url, |name| std::env::var(name).ok()).map_err(|problem| problem.to_string());
        let posted = expanded.and_then(|url| {
            let posted = post(&url, message, settings.webhook_body, limit);
            posted.map_err(|problem| problem.replace(&url, "the address"))
        });
        // The address may hold a secret: it is in no message.
        warnings.extend(posted.err().map(|problem| format!("nightly.webhook: {problem}")));
    }
    warnings
}

fn post(url: &str, message: &Message, body: WebhookBody, limit: Duration) -> Result<(), String> {
    let agent = pericope_net::config().timeout_global(Some(limit)).build().new_agent();
    let text = match body {
        WebhookBody::Full => message.json.clone(),
        WebhookBody::Text => {
            json!({"text": format!("{}: {}\n{}", message.experiment, message.line, message.page)}).to_string()
        }
    };
    let answer = agent.post(url).header("Content-Type", "application/json").send(text).map_err(|e| e.to_string())?;
    if answer.status().is_success() { Ok(()) } else { Err(format!("the server answered {}", answer.status())) }
}
