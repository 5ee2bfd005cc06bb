//! `[[gate]]`: the checks of `pericope nightly`.

use std::fmt;
use std::str::FromStr;

use pericope_store::Mode;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Experiment;
use super::compare::{check_difference, measured, unfit};
use crate::cell::{CellKey, Cutoff};
use crate::metric::Metric;

/// Names of a chunker's times, of which lower is better: in seconds or milliseconds, as the name ends.
pub const TIMES: [&str; 4] = ["segment_seconds", "index_seconds", "query_p50_ms", "query_p95_ms"];

/// What a gate looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Measure {
    /// A metric of questions.
    Metric(Metric),
    /// A time, one of [`TIMES`].
    Time(&'static str),
    /// The share of items without a result.
    Failed,
    /// Parts of the data that could not be used. No gate names it: it is checked in any case.
    LeftOut,
}

impl Measure {
    /// Returns the name in files: `span_recall`, `index_seconds`, `failed`, `left_out`.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Measure::Metric(metric) => metric.key(),
            Measure::Time(name) => name,
            Measure::Failed => "failed",
            Measure::LeftOut => "left_out",
        }
    }

    /// Returns the metric of questions, where it is one.
    #[must_use]
    pub fn metric(&self) -> Option<&Metric> {
        match self {
            Measure::Metric(metric) => Some(metric),
            Measure::Time(_) | Measure::Failed | Measure::LeftOut => None,
        }
    }
}

impl FromStr for Measure {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        if name == "failed" {
            return Ok(Measure::Failed);
        }
        if let Some(time) = TIMES.into_iter().find(|time| *time == name) {
            return Ok(Measure::Time(time));
        }
        name.parse().map(Measure::Metric).map_err(|unknown| format!("{unknown}, {}, failed", TIMES.join(", ")))
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Default for Measure {
    fn default() -> Self {
        Measure::Metric(Metric::default())
    }
}

impl Serialize for Measure {
    fn serialize<S: Serializer>(&self, into: S) -> Result<S::Ok, S::Error> {
        into.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Measure {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        name.parse().map_err(|problem| serde::de::Error::custom(format!("metric = {problem}")))
    }
}

/// What `relative_to` may name beside a chunker: a fixed piece of work that is timed before and after the run.
pub const CALIBRATION: &str = "calibration";

/// One `[[gate]]`. What it checks follows from its keys: `max_drop` (and `max_drift`) compare with other nights, `min` is
/// a floor, `max_ratio` is about speed, and `metric = "failed"` with `max` counts items without a result.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    /// A metric of questions (`span_recall`), a time (`segment_seconds`), or `failed`.
    pub metric: Measure,
    /// Only this chunker; all where none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunker: Option<String>,
    /// Only this retrieval mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Only at this k.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k: Option<usize>,
    /// Only at this budget of tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_budget: Option<usize>,
    /// The mean may fall by so much against the last good night, in the metric's own unit (shares 0..1, judge 0..10).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_drop: Option<f64>,
    /// The same against the pinned baseline; default `max_drop`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_drift: Option<f64>,
    /// A fall counts where the permutation test's p-value (two-sided, Holm's correction over all comparisons of the
    /// night's gates) is below this; default 0.01.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// The mean must be at least this, whatever it was before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// With `failed`: the share of items that may fail, 0..1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// With a time: the chunker, or `calibration`, whose time on the same night it is divided by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relative_to: Option<String>,
    /// With a time: the quotient may be so many times its median over the last good nights; above 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_ratio: Option<f64>,
    /// With a time: shorter times than this are not judged, in the metric's own unit; default 0.5 (seconds) or 1 (ms).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least: Option<f64>,
}

impl Gate {
    /// The p-value below which a fall counts.
    #[must_use]
    pub fn alpha(&self) -> f64 {
        self.p.unwrap_or(0.01)
    }

    /// True where the gate speaks of this cell.
    #[must_use]
    pub fn covers(&self, cell: &CellKey) -> bool {
        let is = |wanted: &Option<String>, found: &str| wanted.as_deref().is_none_or(|w| w == found);
        is(&self.chunker, &cell.chunker)
            && self.mode.is_none_or(|mode| mode.to_string() == cell.mode)
            && self.k.is_none_or(|k| cell.cutoff == Cutoff::K(k))
            && self.token_budget.is_none_or(|budget| cell.cutoff == Cutoff::Tokens(budget))
    }

    /// Returns the time below which a time is not judged, in the measure's own unit.
    #[must_use]
    pub fn least(&self) -> f64 {
        self.least.unwrap_or(if self.metric.name().ends_with("_ms") { 1.0 } else { 0.5 })
    }

    /// Whether the gate can ever be judged in this experiment.
    pub(super) fn check(&self, experiment: &Experiment) -> Result<(), String> {
        self.check_place(experiment)?;
        let among = |name: &str, keys: &[(&str, bool)]| match keys.iter().find(|(_, there)| *there) {
            Some((key, _)) => Err(format!("{key} has no meaning for metric = \"{name}\"")),
            None => Ok(()),
        };
        let name = self.metric.name();
        let comparing = ("max_drop", self.max_drop.is_some());
        let drifting = ("max_drift", self.max_drift.is_some());
        let (alpha, floor, share) = (("p", self.p.is_some()), ("min", self.min.is_some()), ("max", self.max.is_some()));
        let speed = [("max_ratio", self.max_ratio.is_some()), ("relative_to", self.relative_to.is_some())];
        let least = ("least", self.least.is_some());
        match &self.metric {
            Measure::Metric(metric) => {
                among(name, &[share, speed[0], speed[1], least])?;
                if self.max_drop.is_none() && self.max_drift.is_none() && self.min.is_none() {
                    return Err(format!("metric = \"{name}\" needs max_drop, max_drift or min"));
                }
                self.check_metric(metric, experiment)?;
            }
            Measure::Time(_) => {
                among(name, &[comparing, drifting, alpha, floor, share])?;
                self.check_speed(experiment)?;
            }
            Measure::Failed => {
                among(name, &[comparing, drifting, alpha, floor, speed[0], speed[1], least])?;
                if !self.max.is_some_and(|max| (0.0..1.0).contains(&max)) {
                    return Err(
                        "metric = \"failed\" needs max, a share from 0 to below 1: at 1 nothing would fail".into()
                    );
                }
            }
            Measure::LeftOut => return Err(format!("metric = \"{name}\" is checked in any case")),
        }
        for (key, value) in [("max_drop", self.max_drop), ("max_drift", self.max_drift), ("least", self.least)] {
            if value.is_some_and(|x| !x.is_finite() || x < 0.0) {
                return Err(format!("{key} must be 0 or more"));
            }
        }
        if self.p.is_some_and(|p| !(p > 0.0 && p <= 1.0)) {
            return Err("p must be above 0 and at most 1".into());
        }
        if self.min.is_some_and(|min| !min.is_finite()) {
            return Err("min must be a number".into());
        }
        self.metric.metric().map_or(Ok(()), |metric| self.check_scale(metric))
    }

    /// The chunkers and retrievers that the gate speaks of.
    fn covered(&self, experiment: &Experiment) -> Vec<String> {
        let is_meant = |name: &String| self.chunker.as_ref().is_none_or(|wanted| wanted == name);
        experiment.names().into_iter().filter(is_meant).collect()
    }

    /// Whether a metric is measured of all that the gate speaks of.
    fn check_metric(&self, metric: &Metric, experiment: &Experiment) -> Result<(), String> {
        measured(metric, experiment).map_err(|why| format!("metric = \"{metric}\" {why}"))?;
        for name in self.covered(experiment) {
            if let Some(why) = unfit(&name, metric, experiment) {
                return Err(format!(
                    "metric = \"{metric}\" needs to know all chunks, and '{name}' {why}: name another as chunker, or another \
                     metric"
                ));
            }
        }
        Ok(())
    }

    /// Whether the time is known of all that the gate speaks of, and of what they are divided by.
    fn check_timed(&self, experiment: &Experiment) -> Result<(), String> {
        let time = self.metric.name();
        for name in self.covered(experiment).iter().chain(&self.relative_to).filter(|name| *name != CALIBRATION) {
            if let Some(why) = untimed(name, time, experiment) {
                return Err(format!("metric = \"{time}\" is not known of '{name}', {why}: name another chunker"));
            }
        }
        Ok(())
    }

    /// Whether a metric can break the gate at all, and hold it.
    fn check_scale(&self, metric: &Metric) -> Result<(), String> {
        for (key, value) in [("max_drop", self.max_drop), ("max_drift", self.max_drift)] {
            value.map_or(Ok(()), |value| check_difference(key, value, metric, "no fall would be too large"))?;
        }
        let (least, greatest) = metric.range();
        match self.min {
            Some(min) if min <= least => {
                Err(format!("min = {min} is the least that {metric} can be: nothing would be below it"))
            }
            Some(min) if min > greatest => Err(format!(
                "min = {min} is above the scale of {metric}, {least} to {greatest}: nothing could reach it"
            )),
            _ => Ok(()),
        }
    }

    fn check_speed(&self, experiment: &Experiment) -> Result<(), String> {
        let names = experiment.names();
        let named = |name: &str| names.iter().any(|known| known == name);
        match &self.relative_to {
            None => {
                return Err(format!("metric = \"{}\" needs relative_to: a chunker, or \"calibration\"", self.metric));
            }
            Some(name) if name == CALIBRATION && !named(name) => {}
            Some(name) if !named(name) => {
                return Err(format!("relative_to = \"{name}\" is neither a chunker here nor \"calibration\""));
            }
            Some(name) if self.chunker.as_ref() == Some(name) => {
                return Err(format!("relative_to = \"{name}\" is the chunker itself"));
            }
            Some(_) => {}
        }
        if self.k.is_some() || self.token_budget.is_some() {
            return Err(format!("metric = \"{}\" is not measured by k or token_budget", self.metric));
        }
        if self.mode.is_some() && !self.metric.name().starts_with("query") {
            return Err(format!("metric = \"{}\" is not measured by mode", self.metric));
        }
        self.check_timed(experiment)?;
        match self.max_ratio {
            Some(ratio) if ratio.is_finite() && ratio > 1.0 => Ok(()),
            _ => Err(format!("metric = \"{}\" needs max_ratio, above 1", self.metric)),
        }
    }

    /// Whether chunker, mode, k and budget are measured at all.
    fn check_place(&self, experiment: &Experiment) -> Result<(), String> {
        let retrieval = &experiment.retrieval;
        let names = experiment.names();
        if let Some(name) = self.chunker.as_ref().filter(|name| !names.contains(name)) {
            return Err(format!("chunker = \"{name}\" is not among the chunkers here: {}", names.join(", ")));
        }
        if let Some(mode) = self.mode.filter(|mode| !retrieval.modes.contains(mode)) {
            return Err(format!("mode = \"{mode}\" is not among retrieval.modes"));
        }
        if self.k.is_some() && self.token_budget.is_some() {
            return Err("k and token_budget exclude each other".into());
        }
        if let Some(k) = self.k.filter(|k| !retrieval.k.contains(k)) {
            return Err(format!("k = {k} is not among retrieval.k"));
        }
        if let Some(budget) = self.token_budget.filter(|b| !retrieval.token_budgets.contains(b)) {
            return Err(format!("token_budget = {budget} is not among retrieval.token_budgets"));
        }
        Ok(())
    }
}

/// Why a time is not known of a chunker or retriever; `None` where it is, or where there is none of that name.
fn untimed(name: &str, time: &str, experiment: &Experiment) -> Option<&'static str> {
    if time.starts_with("query") {
        return None;
    }
    match experiment.chunkers.iter().find(|chunker| chunker.name == name) {
        None => Some("a retriever, which others cut and index for"),
        Some(chunker) if time == "segment_seconds" && chunker.spec.name == "chunks" => {
            Some("whose chunks come out of a file")
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::path::Path;

    use crate::config::{Configuration, Experiment};
    use pericope_segment::registry::{list, outside};

    const BASE: &str = "name = \"n\"\n[data]\nkind = \"squad\"\npath = \"q.json\"\n[retrieval]\ntoken_budgets = [512]\n\
        [[chunker]]\nname = \"fixed\"\nspec = \"fixed:words=100\"\n[[chunker]]\nname = \"blocks\"\nspec = \"paragraph\"\n";

    /// A model that says more of an answer than how good it is.
    const JUDGED: &str = "[judge]\nkind = \"llm\"\nfaithfulness = true\ncontext_relevance = true\n\
        [llm.judge]\nprovider = \"openai\"\nmodel = \"m\"";

    fn gate(keys: &str) -> Result<Experiment, String> {
        Experiment::parse(&format!("{BASE}[[gate]]\n{keys}\n"), Path::new("x.toml"), &[], &[list(), outside()].concat())
            .map_err(|e| e.to_string())
    }

    #[test]
    fn gates_of_every_kind_are_read() {
        for keys in [
            "metric = \"span_recall\"\nchunker = \"fixed\"\nk = 3\nmax_drop = 0.02\np = 0.01",
            "metric = \"judge\"\nmax_drop = 0.2\nmax_drift = 0.5\nmode = \"dense\"",
            "metric = \"iou\"\ntoken_budget = 512\nmin = 0.1",
            &format!("metric = \"faithfulness\"\nmin = 0.8\n{JUDGED}"),
            &format!("metric = \"context_relevance\"\nmax_drop = 0.05\n{JUDGED}"),
            "metric = \"iou\"\nmin = 1",
            "metric = \"judge\"\nmin = 8\nmax_drop = 5.0",
            "metric = \"failed\"\nmax = 0.01",
            "metric = \"segment_seconds\"\nchunker = \"blocks\"\nrelative_to = \"fixed\"\nmax_ratio = 1.5",
            "metric = \"query_p50_ms\"\nrelative_to = \"calibration\"\nmax_ratio = 2\nmode = \"dense\"\nleast = 5",
        ] {
            let read = gate(keys).unwrap();
            let again: Experiment = toml::from_str(&toml::to_string(&read).unwrap()).unwrap();
            assert_eq!(again, read, "{keys}");
        }
    }

    #[test]
    fn a_gate_that_could_never_be_judged_is_refused_in_words() {
        for (keys, word) in [
            ("metric = \"recall\"\nmax_drop = 0.1", "choose from span_recall"),
            ("metric = \"iou\"", "needs max_drop"),
            ("metric = \"iou\"\nmax_drop = -0.1", "max_drop must be 0 or more"),
            ("metric = \"iou\"\nmax_drop = 0.1\np = 0", "p must be above 0"),
            ("metric = \"iou\"\nmax_drop = 0.1\nmax_ratio = 2.0", "max_ratio has no meaning"),
            ("metric = \"iou\"\nmax_drop = 0.1\nchunker = \"x\"", "not among the chunkers here: fixed, blocks"),
            ("metric = \"iou\"\nmax_drop = 0.1\nk = 4", "k = 4 is not among retrieval.k"),
            ("metric = \"iou\"\nmax_drop = 0.1\nmode = \"bm25\"", "not among retrieval.modes"),
            ("metric = \"iou\"\nmax_drop = 0.1\ntoken_budget = 9", "token_budget = 9"),
            ("metric = \"failed\"\nmax = 2", "a share"),
            ("metric = \"segment_seconds\"\nmax_ratio = 2.0", "needs relative_to"),
            ("metric = \"segment_seconds\"\nmax_ratio = 2.0\nrelative_to = \"x\"", "neither a chunker"),
            ("metric = \"segment_seconds\"\nmax_ratio = 0.5\nrelative_to = \"fixed\"", "above 1"),
            ("metric = \"iou\"\nmax_dorp = 0.1", "max_dorp"),
            ("metric = \"iou\"\nmax_drop = 5.0", "max_drop = 5 is all of the scale of iou, 0 to 1"),
            ("metric = \"iou\"\nmax_drift = 1", "max_drift = 1 is all of the scale"),
            ("metric = \"iou\"\nmin = 80", "min = 80 is above the scale of iou, 0 to 1"),
            ("metric = \"iou\"\nmin = 0", "nothing would be below it"),
            ("metric = \"judge\"\nmin = 80", "above the scale of judge, 0 to 10"),
            ("metric = \"judge\"\nmin = 5\n[judge]\nkind = \"none\"", "needs a judge: judge.kind"),
            ("metric = \"token_f1\"\nmin = 0.5\n[answer]\ngenerator = \"none\"", "needs answers: answer.generator"),
            ("metric = \"faithfulness\"\nmin = 0.8", "judge.faithfulness = true"),
        ] {
            let problem = gate(keys).unwrap_err();
            assert!(problem.contains(word), "{keys}: {problem}");
        }
        let twice = "[[gate]]\nmetric = \"iou\"\nmin = 0.1\n[[gate]]\nmetric = \"iou\"";
        assert!(gate(&format!("metric = \"iou\"\nmin = 0.1\n{twice}")).unwrap_err().contains("number 3"));
    }

    #[test]
    fn a_gate_on_what_some_rows_do_not_have_is_refused() {
        let mine = "[[retriever]]\nname = \"mine\"\nspec = \"command:x\"\n";
        let expanded = "[[chunker]]\nname = \"whole\"\nspec = \"sentence\"\nexpand = \"parent\"\n";
        let of_file = "[[chunker]]\nname = \"theirs\"\nspec = \"chunks:theirs.jsonl\"\n";
        let speed = "max_ratio = 2\nrelative_to";
        for (rows, keys, word) in [
            (
                expanded,
                "metric = \"ndcg\"\nmax_drop = 0.1".to_owned(),
                "'whole' gives other things (expand = \"parent\")",
            ),
            (expanded, "metric = \"precision_omega\"\nmin = 0.1\nchunker = \"whole\"".into(), "expand = \"parent\""),
            (mine, "metric = \"ndcg\"\nmax_drop = 0.1".into(), "'mine' is a retriever"),
            (mine, format!("metric = \"index_seconds\"\n{speed} = \"fixed\""), "is not known of 'mine', a retriever"),
            (mine, format!("metric = \"segment_seconds\"\nchunker = \"fixed\"\n{speed} = \"mine\""), "of 'mine'"),
            (of_file, format!("metric = \"segment_seconds\"\n{speed} = \"calibration\""), "chunks come out of a file"),
            ("", "metric = \"failed\"\nmax = 1".into(), "at 1 nothing would fail"),
        ] {
            let problem = gate(&format!("{keys}\n{rows}")).unwrap_err();
            assert!(problem.contains(word), "{keys}: {problem}");
        }
        for (rows, keys) in [
            (expanded, "metric = \"ndcg\"\nmax_drop = 0.1\nchunker = \"fixed\"".to_owned()),
            (expanded, "metric = \"iou\"\nmax_drop = 0.1".into()),
            (mine, "metric = \"span_recall\"\nmax_drop = 0.1".into()),
            (mine, format!("metric = \"index_seconds\"\nchunker = \"blocks\"\n{speed} = \"fixed\"")),
            (mine, format!("metric = \"query_p95_ms\"\n{speed} = \"calibration\"")),
            (of_file, format!("metric = \"index_seconds\"\n{speed} = \"calibration\"")),
        ] {
            gate(&format!("{keys}\n{rows}")).unwrap();
        }
    }

    #[test]
    fn the_shipped_experiment_is_sound() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../eval/nightly.toml");
        let shipped = Experiment::load(&path, &[], list()).unwrap();
        assert!(shipped.gates.len() >= 6 && shipped.unused().is_empty());
        // A sample would be another one with every question that is added.
        assert_eq!((shipped.data.questions, shipped.data.documents), (0, 0));
    }

    #[test]
    fn addresses_of_the_history_are_taken_as_they_are() {
        for url in ["https://ci.example", "HTTP://127.0.0.1:8080/nights", "https://me:word@ci.example/n%20x/?a=1", ""] {
            gate(&format!("metric = \"iou\"\nmin = 0.1\n[nightly]\nurl = \"{url}\"")).unwrap();
        }
    }

    #[test]
    fn a_hook_may_stand_in_the_environment() {
        for url in ["${HOOK}", "https://${HOST}/x", "https://hooks.example/${HOOK:-none}", "HTTP://127.0.0.1:1/x"] {
            gate(&format!("metric = \"iou\"\nmin = 0.1\n[nightly]\nwebhook = \"{url}\"")).unwrap();
        }
        // What stands there may be a secret.
        let table = "metric = \"iou\"\nmin = 0.1\n[nightly]\nwebhook = \"hush.example/hush\"";
        assert!(!gate(table).unwrap_err().contains("hush"));
    }

    #[test]
    fn the_nightly_table_is_read() {
        let read = gate("metric = \"iou\"\nmin = 0.1\n[nightly]\nkeep = 5\nbaseline = \"first\"").unwrap();
        assert_eq!((read.nightly.keep, read.nightly.baseline), (5, Some(super::super::Baseline::First)));
        let again: Experiment = toml::from_str(&toml::to_string(&read).unwrap()).unwrap();
        assert_eq!(again, read);
        for (keys, word) in [
            ("keep = 0", "nightly.keep"),
            ("window = 2", "nightly.window = 2: times are judged from 3 good nights on"),
            ("baseline = 0", "baseline = 0"),
            ("baseline = \"last\"", "\\\"last\\\""),
            ("on_finish = [\"\"]", "empty program"),
            ("keeep = 1", "keeep"),
            ("url = \"javascript:alert(1)\"", "nightly.url is no address"),
            ("url = \"https://ci.example/my nights/\"", "nightly.url is no address"),
            ("url = \"https:///nights/\"", "nightly.url is no address"),
            ("url = \"//ci.example/nights/\"", "nightly.url is no address"),
            ("url = \"https://ci.example/\\\"onclick=\"", "nightly.url is no address"),
            ("webhook = \"notaurl\"", "nightly.webhook is no address: it begins with https:// or http://"),
            ("webhook = \"\"", "nightly.webhook is no address"),
            ("webhook = \"ftp://ci.example/x\"", "nightly.webhook is no address"),
            ("webhook = \"https://:80/x\"", "nightly.webhook is no address"),
            ("webhook = \"https://ci.example/a b\"", "nightly.webhook is no address"),
        ] {
            let problem = gate(&format!("metric = \"iou\"\nmin = 0.1\n[nightly]\n{keys}")).unwrap_err();
            assert!(problem.contains(&word.replace('\\', "")), "{keys}: {problem}");
        }
    }
}
