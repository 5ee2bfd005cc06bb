//! `[compare]`: what the run is to decide.

use pericope_store::{Expand, Mode};
use serde::{Deserialize, Deserializer, Serialize};

use super::{Experiment, GeneratorKind, JudgeKind};
use crate::cell::{Cutoff, Setting};
use crate::metric::Metric;

/// The smallest difference that matters where none is named, as a share of the metric's scale: 2 points.
const MARGIN: f64 = 0.02;

/// `[compare]`: the one comparison that the run is to decide. Every other chunker is compared with the baseline by one
/// metric at one cutoff and mode, and p-values are corrected within these comparisons alone. Everything else is reported
/// as exploratory.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Compare {
    /// The chunker that the others are compared with; default: the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// Metric, cutoff and mode that decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary: Option<Primary>,
    /// The smallest difference that matters, in the metric's own unit (shares 0..1, judge 0..10); default 2 points of a
    /// share, 0.2 of the judge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
}

/// `compare.primary`, for example `{ metric = "span_recall", tokens = 1024, mode = "bm25" }`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Primary {
    /// The metric; default `span_recall`.
    #[serde(deserialize_with = "known")]
    pub metric: Metric,
    /// At this number of chunks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<usize>,
    /// At this budget of tokens; default, where neither is named: the largest budget, else the largest k.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<usize>,
    /// Retrieval mode; default: the first of `retrieval.modes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
}

/// A metric that this program computes.
fn known<'de, D: Deserializer<'de>>(from: D) -> Result<Metric, D::Error> {
    let name = String::deserialize(from)?;
    name.parse().map_err(|unknown| serde::de::Error::custom(format!("metric = {unknown}")))
}

/// What a run decides, all defaults in place.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// The chunker that the others are compared with.
    pub baseline: String,
    /// The metric.
    pub metric: Metric,
    /// Mode and cutoff.
    pub setting: Setting,
    /// The smallest difference that matters, in the metric's own unit.
    pub margin: f64,
}

impl Compare {
    /// Returns true where nothing is said.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Returns what the run decides: what is said here, and for the rest the first chunker as the baseline, span recall at
    /// the largest token budget (the largest k where there is no budget) in the first mode, and a margin of 2 points.
    ///
    /// # Errors
    /// In words, naming the key, where the baseline is no chunker, or the primary cell is not measured in the experiment.
    pub fn decision(&self, experiment: &Experiment) -> Result<Decision, String> {
        let names = experiment.names();
        let first = names.first().ok_or("there is no [[chunker]] and no [[retriever]] to evaluate")?;
        let baseline = self.baseline.as_ref().unwrap_or(first);
        if !names.contains(baseline) {
            return Err(format!(
                "compare.baseline = \"{baseline}\" is not among the chunkers here: {}",
                names.join(", ")
            ));
        }
        let primary = self.primary.clone().unwrap_or_default();
        let (metric, setting) = (primary.metric.clone(), primary.setting(experiment)?);
        measured(&metric, experiment).map_err(|why| format!("compare.primary: metric = \"{metric}\" {why}"))?;
        if let Some(why) = unfit(baseline, &metric, experiment) {
            return Err(format!(
                "compare.primary: metric = \"{metric}\" needs to know all chunks, and the baseline '{baseline}' {why}: \
                 name a chunker as compare.baseline, or another metric"
            ));
        }
        let margin = self.margin.unwrap_or(MARGIN * metric.scale());
        if !(margin.is_finite() && margin > 0.0) {
            return Err("compare.margin must be above 0: the smallest difference that matters".into());
        }
        check_difference("compare.margin", margin, &metric, "no difference would matter")?;
        Ok(Decision { baseline: baseline.to_owned(), metric, setting, margin })
    }
}

impl Primary {
    fn setting(&self, experiment: &Experiment) -> Result<Setting, String> {
        let retrieval = &experiment.retrieval;
        let cutoff = match (self.k, self.tokens) {
            (Some(_), Some(_)) => return Err("compare.primary: k and tokens exclude each other".into()),
            (Some(k), None) => Cutoff::K(k),
            (None, Some(tokens)) => Cutoff::Tokens(tokens),
            // Numbers of chunks come first, each in rising order.
            (None, None) => {
                retrieval.cutoffs().pop().ok_or("retrieval.k and retrieval.token_budgets are both empty")?
            }
        };
        if !retrieval.cutoffs().contains(&cutoff) {
            return Err(match cutoff {
                Cutoff::K(k) => format!("compare.primary: k = {k} is not among retrieval.k"),
                Cutoff::Tokens(tokens) => {
                    format!("compare.primary: tokens = {tokens} is not among retrieval.token_budgets")
                }
            });
        }
        let mode = self.mode.or(retrieval.modes.first().copied()).ok_or("retrieval.modes is empty")?;
        if !retrieval.modes.contains(&mode) {
            return Err(format!("compare.primary: mode = \"{mode}\" is not among retrieval.modes"));
        }
        Ok(Setting { mode: mode.to_string(), cutoff })
    }
}

/// Refuses a difference that is all of a metric's scale; `so` says what would follow.
pub(super) fn check_difference(key: &str, value: f64, metric: &Metric, so: &str) -> Result<(), String> {
    let (least, greatest) = metric.range();
    if value < greatest - least {
        return Ok(());
    }
    Err(format!(
        "{key} = {value} is all of the scale of {metric}, {least} to {greatest}: {so}; it is in the metric's own unit, so {} \
         is 2 of 100 parts",
        MARGIN * metric.scale()
    ))
}

/// Why a metric is not measured of a chunker or retriever, where others may have it: it needs to know all chunks.
pub(super) fn unfit(name: &str, metric: &Metric, experiment: &Experiment) -> Option<String> {
    if !metric.needs_all_chunks() {
        return None;
    }
    let chunker = experiment.chunkers.iter().find(|chunker| chunker.name == name);
    match chunker.map(|chunker| experiment.retrieval.expansion(chunker.expand).expand) {
        Some(Expand::None) => None,
        Some(expand) => Some(format!("gives other things (expand = \"{expand}\")")),
        None => Some("is a retriever".to_owned()),
    }
}

/// Why a metric is not measured in an experiment.
pub(super) fn measured(metric: &Metric, experiment: &Experiment) -> Result<(), String> {
    let judge = &experiment.judge;
    let missing = match metric.key() {
        "faithfulness" if !(judge.faithfulness && judge.kind.asks_model()) => "judge.faithfulness = true and a model",
        "context_relevance" if !(judge.context_relevance && judge.kind.asks_model()) => {
            "judge.context_relevance = true and a model"
        }
        "judge" if judge.kind == JudgeKind::None => "a judge: judge.kind",
        _ if metric.answer_rank().is_some() && experiment.answer.generator == GeneratorKind::None => {
            "answers: answer.generator"
        }
        "cosine" if experiment.retrieval.embedder == "none" => "an embedder: retrieval.embedder",
        _ => return Ok(()),
    };
    Err(format!("is not measured here: it needs {missing}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::path::Path;

    use pericope_segment::registry::list;

    use super::*;
    use crate::config::Configuration;

    const BASE: &str = "name = \"n\"\n[data]\nkind = \"squad\"\npath = \"q.json\"\n\
        [retrieval]\nmodes = [\"bm25\", \"dense\"]\nk = [5, 1]\ntoken_budgets = [1024, 512]\n\
        [[chunker]]\nname = \"fixed\"\nspec = \"fixed:words=100\"\n[[chunker]]\nname = \"blocks\"\nspec = \"paragraph\"\n";

    fn read(keys: &str, overrides: &[&str]) -> Result<Experiment, String> {
        let overrides: Vec<String> = overrides.iter().map(|s| (*s).to_owned()).collect();
        Experiment::parse(&format!("{BASE}{keys}"), Path::new("x.toml"), &overrides, list()).map_err(|e| e.to_string())
    }

    fn decided(keys: &str, overrides: &[&str]) -> Decision {
        let experiment = read(keys, overrides).unwrap();
        experiment.compare.decision(&experiment).unwrap()
    }

    #[test]
    fn without_a_table_the_first_chunker_and_the_largest_budget_decide() {
        let found = decided("", &[]);
        assert_eq!((found.baseline.as_str(), found.metric.clone(), found.margin), ("fixed", Metric::SPAN_RECALL, 0.02));
        assert_eq!(found.setting, Setting { mode: "bm25".into(), cutoff: Cutoff::Tokens(1024) });
        assert_eq!(decided("", &["retrieval.token_budgets=[]"]).setting.cutoff, Cutoff::K(5));
    }

    #[test]
    fn the_table_names_what_decides() {
        let keys =
            "[compare]\nbaseline = \"blocks\"\nmargin = 0.5\nprimary = { metric = \"judge\", k = 1, mode = \"dense\" }";
        let found = decided(keys, &[]);
        assert_eq!((found.baseline.as_str(), found.metric.key(), found.margin), ("blocks", "judge", 0.5));
        assert_eq!(found.setting, Setting { mode: "dense".into(), cutoff: Cutoff::K(1) });
        let judged = decided("[compare]\nprimary = { metric = \"judge\" }", &[]);
        assert!((judged.margin - 0.2).abs() < 1e-12, "2 of 100 parts of the scale");
        let experiment = read(keys, &[]).unwrap();
        let again: Experiment = toml::from_str(&toml::to_string(&experiment).unwrap()).unwrap();
        assert_eq!(again, experiment);
        assert_eq!(decided("", &["compare.primary.k=1"]).setting.cutoff, Cutoff::K(1));
    }

    #[test]
    fn a_primary_that_is_not_measured_is_refused_in_words() {
        for (keys, says) in [
            ("baseline = \"recursive\"", "not among the chunkers here: fixed, blocks"),
            ("primary = { k = 3 }", "k = 3 is not among retrieval.k"),
            ("primary = { tokens = 100 }", "tokens = 100 is not among retrieval.token_budgets"),
            ("primary = { k = 1, tokens = 512 }", "exclude each other"),
            ("primary = { mode = \"hybrid\" }", "mode = \"hybrid\" is not among"),
            ("primary = { metric = \"recall\" }", "choose from span_recall"),
            ("primary = { metric = \"faithfulness\" }", "judge.faithfulness = true"),
            ("margin = 0", "compare.margin must be above 0"),
            ("margin = -0.1", "compare.margin must be above 0"),
            ("margin = 2", "all of the scale of span_recall, 0 to 1"),
            ("margin = 10\nprimary = { metric = \"judge\" }", "so 0.2 is 2 of 100 parts"),
            ("level = 0.1", "level"),
        ] {
            let problem = read(&format!("[compare]\n{keys}\n"), &[]).unwrap_err();
            assert!(problem.contains(says) && !problem.contains('\n'), "{keys}: {problem}");
        }
        let of_others = "[[retriever]]\nname = \"mine\"\nspec = \"command:x\"\n[compare]\nbaseline = ";
        for metric in ["ndcg", "precision_omega"] {
            let primary = format!("primary = {{ metric = \"{metric}\" }}\n");
            let problem = read(&format!("{of_others}\"mine\"\n{primary}"), &[]).unwrap_err();
            assert!(problem.contains("the baseline 'mine' is a retriever"), "{problem}");
            assert!(read(&format!("{of_others}\"fixed\"\n{primary}"), &[]).is_ok());
            let expanded = ["retrieval.expand=parent"];
            let problem = read(&format!("{of_others}\"fixed\"\n{primary}"), &expanded).unwrap_err();
            assert!(problem.contains("expand = \"parent\""), "{problem}");
        }
        let silent = ["answer.generator=none", "judge.kind=none"];
        let problem = read("[compare]\nprimary = { metric = \"token_f1\" }", &silent).unwrap_err();
        assert!(problem.contains("answer.generator"), "{problem}");
        assert!(
            read("[compare]\nprimary = { metric = \"judge\" }", &["judge.kind=none"])
                .unwrap_err()
                .contains("judge.kind")
        );
        assert!(read("", &silent).is_ok());
        let cosine = "[compare]\nprimary = { metric = \"cosine\" }";
        assert!(read(cosine, &[]).is_ok());
        let problem = read(cosine, &["retrieval.embedder=none", "retrieval.modes=[\"bm25\"]"]).unwrap_err();
        assert!(problem.contains("it needs an embedder: retrieval.embedder"), "{problem}");
    }
}
