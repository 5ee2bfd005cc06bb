use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Checksums;
use crate::config::{GeneratorKind, JudgeKind};
use crate::metric::Metric;

/// Characters of a checksum that people are shown.
const SHORT: usize = 12;

/// The key of the fingerprint of a judge that the program brought, among a run's checksums of models.
pub(crate) const JUDGE: &str = "judge";

/// Who made a score. Scores of two runs may be compared where these are the same.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct JudgeIdentity {
    /// `lexical` (a formula of this program), `llm`, or `custom` (of the program that ran the experiment).
    pub kind: String,
    /// `openai`, `anthropic` or `candle`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model as the configuration names it; of a `custom` judge its fingerprint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// SHA-256 of its weights, where it ran in this process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights_sha256: Option<String>,
    /// SHA-256 of the prompt template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_sha256: Option<String>,
    /// How often it was asked for each score; the mean counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub votes: Option<u64>,
    /// Sampling temperature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
}

impl JudgeIdentity {
    /// The metric under which pairwise judgements are named in [`Summary::judges`](super::Summary::judges).
    pub const PAIRWISE: &'static str = "pairwise";

    fn lexical() -> Self {
        Self { kind: "lexical".to_owned(), ..Self::default() }
    }

    /// A model of `[llm.judge]` with one of its prompts.
    fn asked(config: &Value, checksums: &Checksums, prompt: &str, votes: Option<u64>) -> Self {
        let of = |key: &str| config.pointer(&format!("/llm/judge/{key}"));
        let text = |key: &str| of(key).and_then(Value::as_str).map(str::to_owned);
        Self {
            kind: "llm".to_owned(),
            provider: text("provider"),
            model: text("model"),
            weights_sha256: checksums.models.get("llm.judge").cloned(),
            prompt_sha256: checksums.prompts.get(prompt).cloned(),
            votes,
            temperature: of("temperature").and_then(Value::as_f64),
        }
    }

    /// Who made each of a run's scores of answers, by metric, as its configuration and checksums say: runs of any version,
    /// and nights, can be asked.
    #[must_use]
    pub fn of_run(config: &Value, checksums: &Checksums) -> BTreeMap<Metric, Self> {
        let mut found = BTreeMap::new();
        let at = |pointer: &str| config.pointer(pointer).cloned().unwrap_or_default();
        let answered = serde_json::from_value::<GeneratorKind>(at("/answer/generator"));
        let Ok(kind) = serde_json::from_value::<JudgeKind>(at("/judge/kind")) else { return found };
        if matches!(answered, Ok(GeneratorKind::None)) {
            return found;
        }
        if let Some(name) = kind.lexical_metric() {
            found.insert(Metric::named(name), Self::lexical());
        }
        if kind == JudgeKind::Custom {
            let model = checksums.models.get(JUDGE).cloned();
            found.insert(Metric::JUDGE, Self { kind: "custom".to_owned(), model, ..Self::default() });
        }
        if kind.asks_model() {
            let votes = at("/judge/votes").as_u64();
            found.insert(Metric::JUDGE, Self::asked(config, checksums, "judge", votes));
            let more = [
                ("faithfulness", Metric::FAITHFULNESS, "faithfulness"),
                ("context_relevance", Metric::CONTEXT_RELEVANCE, "context relevance"),
                ("pairwise", Metric::named(Self::PAIRWISE), "pairwise"),
            ];
            for (key, metric, prompt) in more {
                if at(&format!("/judge/{key}")) == Value::Bool(true) {
                    found.insert(metric, Self::asked(config, checksums, prompt, None));
                }
            }
        }
        found
    }

    /// The metrics that two runs both have and that other judges made, with both judges.
    #[must_use]
    pub fn differing<'a>(
        one: &'a BTreeMap<Metric, Self>,
        other: &'a BTreeMap<Metric, Self>,
    ) -> Vec<(&'a Metric, &'a Self, &'a Self)> {
        one.iter()
            .filter_map(|(metric, judge)| Some((metric, judge, other.get(metric)?)))
            .filter(|(_, a, b)| a != b)
            .collect()
    }
}

/// `gpt-4o (openai), prompt 3f9c1a2b7d10, 3 votes`.
impl fmt::Display for JudgeIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(model) = &self.model else { return write!(f, "the {} judge", self.kind) };
        if self.kind == "custom" {
            return write!(f, "the custom judge {model}");
        }
        let short = |sum: &str| sum.chars().take(SHORT).collect::<String>();
        f.write_str(model)?;
        if let Some(provider) = &self.provider {
            write!(f, " ({provider})")?;
        }
        if let Some(sum) = &self.weights_sha256 {
            write!(f, ", weights {}", short(sum))?;
        }
        if let Some(sum) = &self.prompt_sha256 {
            write!(f, ", prompt {}", short(sum))?;
        }
        if let Some(votes) = self.votes {
            write!(f, ", {votes} {}", if votes == 1 { "vote" } else { "votes" })?;
        }
        match self.temperature.filter(|&t| t != 0.0) {
            Some(temperature) => write!(f, ", temperature {temperature}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    fn judges(kind: &str, model: &str, prompt: &str) -> BTreeMap<Metric, JudgeIdentity> {
        let config = json!({
            "answer": {"generator": "llm"},
            "judge": {"kind": kind, "votes": 3, "faithfulness": true, "context_relevance": false, "pairwise": true},
            "llm": {"judge": {"provider": "openai", "model": model, "temperature": 0.0}},
        });
        let prompts = ["judge", "faithfulness", "pairwise"].map(|name| (name.to_owned(), prompt.to_owned()));
        JudgeIdentity::of_run(&config, &Checksums { prompts: prompts.into(), ..Checksums::default() })
    }

    #[test]
    fn each_score_has_its_maker() {
        let both = judges("both", "gpt-4o", "3f9c1a2b7d10aaaa");
        let keys: Vec<&str> = both.keys().map(Metric::key).collect();
        assert_eq!(keys, ["faithfulness", "judge", "judge_lexical", "pairwise"]);
        assert_eq!(both["judge"].to_string(), "gpt-4o (openai), prompt 3f9c1a2b7d10, 3 votes");
        assert_eq!(both["pairwise"].to_string(), "gpt-4o (openai), prompt 3f9c1a2b7d10");
        assert_eq!(both["judge_lexical"].to_string(), "the lexical judge");
        assert!(judges("none", "m", "p").is_empty());
        let text = serde_json::to_string(&both).unwrap();
        assert_eq!(serde_json::from_str::<BTreeMap<Metric, JudgeIdentity>>(&text).unwrap(), both);
        let custom = |fingerprint: &str| {
            let config = json!({"answer": {"generator": "extractive"}, "judge": {"kind": "custom"}});
            let models = [("judge".to_owned(), fingerprint.to_owned())].into();
            JudgeIdentity::of_run(&config, &Checksums { models, ..Checksums::default() })
        };
        assert_eq!(custom("mine-2")["judge"].to_string(), "the custom judge mine-2");
        assert_eq!(JudgeIdentity::differing(&custom("mine-1"), &custom("mine-2")).len(), 1);
        // What a run without answers says of judges means nothing.
        let silent = json!({"answer": {"generator": "none"}, "judge": {"kind": "lexical"}});
        assert!(JudgeIdentity::of_run(&silent, &Checksums::default()).is_empty());
        assert!(JudgeIdentity::of_run(&json!({}), &Checksums::default()).is_empty());
    }

    #[test]
    fn another_model_or_prompt_is_another_judge() {
        let one = judges("llm", "m", "a");
        assert!(JudgeIdentity::differing(&one, &judges("llm", "m", "a")).is_empty());
        assert_eq!(JudgeIdentity::differing(&one, &judges("llm", "m", "b")).len(), 3);
        assert_eq!(JudgeIdentity::differing(&one, &judges("both", "n", "a")).len(), 3);
        // A metric that one run lacks is not compared anyway.
        let lexical = judges("lexical", "m", "a");
        let found = JudgeIdentity::differing(&one, &lexical);
        assert_eq!(found.iter().map(|(metric, ..)| metric.key()).collect::<Vec<_>>(), ["judge"]);
    }
}
