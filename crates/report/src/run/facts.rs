//! The record of a run as names and values.

use pericope_eval::format;
use pericope_eval::metric::Metric;
use pericope_eval::record::{JudgeIdentity, RunRecord};

/// The record's single values, those that are known.
pub(crate) fn facts(run: &RunRecord) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if !run.version.is_empty() {
        facts.push(("Version", format!("pericope {}", run.version)));
    }
    if !run.started.is_empty() {
        facts.push(("Started", run.started.clone()));
    }
    if !run.finished.is_empty() {
        facts.push(("Finished", run.finished.clone()));
    }
    if let Some(seconds) = run.seconds {
        facts.push(("Took", format::seconds(seconds)));
    }
    if let Some(paid) = run.paid {
        let all = "all sittings, failed items and checks of the judge included";
        let estimated = run.paid_estimated.map_or_else(String::new, |part| {
            format!(
                "; {} of it is an estimate, for calls that broke off or did not say what they used",
                format::decimal(part, 4)
            )
        });
        facts.push(("Paid for models", format!("{} ({all}{estimated})", format::decimal(paid, 4))));
    }
    for (metric, judge) in JudgeIdentity::of_run(&run.config, &run.checksums) {
        match metric.key() {
            "judge" => facts.push(("Judge", judge.to_string())),
            "judge_lexical" => facts.push(("Judge beside it", judge.to_string())),
            JudgeIdentity::PAIRWISE => facts.push(("Judge of pairs", judge.to_string())),
            _ => {}
        }
    }
    facts.extend(budgets(run).map(|rule| ("Token budgets", rule)));
    let mut machine = Vec::new();
    if !run.machine.os.is_empty() {
        machine.push(run.machine.os.clone());
    }
    if run.machine.cores > 0 {
        machine.push(format::plural(run.machine.cores, "core"));
    }
    if !machine.is_empty() {
        facts.push(("Machine", machine.join(", ")));
    }
    if !run.seeds.is_empty() {
        let seeds: Vec<String> = run.seeds.iter().map(|(name, seed)| format!("{name} {seed}")).collect();
        facts.push(("Seeds", seeds.join(", ")));
    }
    facts
}

/// Who made those of some scores that a judge makes, in a line to stand beside them; none where there are none.
pub(crate) fn judges(run: &RunRecord, shown: &[&Metric]) -> Option<String> {
    let of_run = JudgeIdentity::of_run(&run.config, &run.checksums);
    let by = |metric: &&Metric| Some(format!("{} by {}", metric.label(), of_run.get(*metric)?));
    let named: Vec<String> = shown.iter().filter_map(by).collect();
    (!named.is_empty()).then(|| format!("Judged: {}.", named.join("; ")))
}

/// How budgets of tokens end, where there are any.
fn budgets(run: &RunRecord) -> Option<String> {
    let budgets = run.config.pointer("/retrieval/token_budgets")?.as_array()?;
    let fill = run.config.pointer("/retrieval/budget_rule").and_then(serde_json::Value::as_str) == Some("fill");
    let rule = if fill { "filled to the token: the last chunk is cut" } else { "whole chunks that fit" };
    (!budgets.is_empty()).then(|| rule.to_owned())
}
