//! The settings that an experiment comes down to: every key with its default filled in, as one flat list with a checksum.
//!
//! They say what a configuration means to this version of the program: a default that changes changes them, though the file stays as
//! it is. They depend on the configuration and the program alone: nothing is opened, variables in paths stay as they
//! are written, and what may be secret is hidden as in `run.json`.

use std::collections::BTreeMap;

use pericope_segment::Limits;
use pericope_segment::registry::{SegmenterEntry, settings};
use pericope_segment::spec::{Spec, SpecError};
use pericope_util::sha256_hex;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::answer::ExtractiveOptions;
use crate::cell::Cutoff;
use crate::config::{ConfigError, Experiment, ExperimentKind, GeneratorKind, redacted};
use crate::run::normalised_config;
use crate::stats::{ALPHA, EXACT_UP_TO, RESAMPLES};

/// Settings by dotted key with their checksum. Tables of a list stand under their `name` (`chunker.fixed.words`), or under their
/// place where they have none. One that is read has the checksum of its settings.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "AnySettings")]
pub struct Resolved {
    /// SHA-256 of the settings as JSON without blanks, in the order of their keys; hexadecimal.
    settings_sha256: String,
    settings: BTreeMap<String, Value>,
}

/// Settings as a file says them.
#[derive(Deserialize)]
struct AnySettings {
    settings_sha256: String,
    settings: BTreeMap<String, Value>,
}

impl TryFrom<AnySettings> for Resolved {
    type Error = String;

    fn try_from(found: AnySettings) -> Result<Self, String> {
        let resolved = Self::new(found.settings);
        if resolved.settings_sha256 != found.settings_sha256 {
            return Err(format!(
                "settings_sha256 is {}, and the settings beside it have {}: the file was changed by hand",
                found.settings_sha256, resolved.settings_sha256
            ));
        }
        Ok(resolved)
    }
}

/// Something with a spec in an experiment: a chunker, a segmenter.
pub struct Specified<'a> {
    /// The key of its table in an experiment's list: `chunker`, `segmenter`.
    pub list: &'a str,
    /// Its name in that list.
    pub name: &'a str,
    /// Its spec.
    pub spec: &'a Spec,
    /// The limits that hold where the spec names none.
    pub limits: Limits,
}

impl Resolved {
    fn new(settings: BTreeMap<String, Value>) -> Self {
        // Values hold no tables, so that the order of keys is that of the map.
        let text = serde_json::to_string(&settings).unwrap_or_default();
        Self { settings_sha256: sha256_hex(text.as_bytes()), settings }
    }

    /// The settings of an experiment on retrieval. `models` are the checksums of the model files that the program fetches, by
    /// name; `segmenters` are those that specs may name.
    ///
    /// # Errors
    /// [`ConfigError::Value`] for a spec whose values make no sense.
    pub fn of_retrieval(
        experiment: &Experiment,
        segmenters: &[SegmenterEntry],
        models: &BTreeMap<String, String>,
    ) -> Result<Self, ConfigError> {
        let mut config = normalised_config(&redacted(experiment));
        let decision = experiment.compare.decision(experiment).map_err(ConfigError::Value)?;
        if let Some(config) = config.as_object_mut() {
            let mut compare = json!({
                "baseline": decision.baseline,
                "metric": decision.metric,
                "mode": decision.setting.mode,
                "margin": decision.margin,
            });
            match decision.setting.cutoff {
                Cutoff::K(k) => compare["k"] = json!(k),
                Cutoff::Tokens(tokens) => compare["tokens"] = json!(tokens),
            }
            config.insert("compare".into(), compare);
            let statistics = json!({ "resamples": RESAMPLES, "exact_up_to": EXACT_UP_TO, "level": ALPHA });
            config.insert("statistics".into(), statistics);
            if experiment.is_answered_by(GeneratorKind::Extractive) {
                config.insert("reader".into(), ExtractiveOptions::default().settings());
            }
        }
        let specified: Vec<Specified<'_>> = (experiment.chunkers.iter())
            .map(|chunker| Specified {
                list: "chunker",
                name: &chunker.name,
                spec: &chunker.spec,
                limits: experiment.below_headings(chunker, experiment.known_limits()),
            })
            .collect();
        Self::of(ExperimentKind::Retrieval, &config, &specified, segmenters, models)
    }

    /// The settings of a configuration as JSON, with those of its specs in place of them.
    ///
    /// # Errors
    /// [`ConfigError::Value`] for a spec whose values make no sense.
    pub fn of(
        kind: ExperimentKind,
        config: &Value,
        specified: &[Specified<'_>],
        segmenters: &[SegmenterEntry],
        models: &BTreeMap<String, String>,
    ) -> Result<Self, ConfigError> {
        let mut found = BTreeMap::new();
        flatten("", config, &mut found);
        found.insert("kind".into(), json!(kind));
        found.insert("order".into(), json!(specified.iter().map(|one| one.name).collect::<Vec<_>>()));
        found.extend(models.iter().map(|(name, sum)| (format!("model.{name}.sha256"), json!(sum))));
        for Specified { list, name, spec, limits } in specified {
            let wrong = |e: SpecError| ConfigError::Value(format!("{list} '{name}': {e}"));
            found.remove(&format!("{list}.{name}.spec"));
            let mut insert = |between: &str, spec: &Spec| -> Result<(), SpecError> {
                let of_spec = settings(segmenters, spec, *limits)?;
                let key = |key: String| format!("{list}.{name}.{between}{key}");
                found.extend(of_spec.into_iter().map(|(name, value)| (key(name), Value::String(value))));
                Ok(())
            };
            insert("", spec).map_err(wrong)?;
            // A reference may be the name of another chunker here, whose settings stand under its own.
            let is_named = specified.iter().any(|other| spec.get("reference") == Some(other.name));
            for reference in spec.references().iter().filter(|_| !is_named) {
                insert("reference.", reference).map_err(wrong)?;
            }
        }
        Ok(Self::new(found))
    }

    /// The checksum.
    #[must_use]
    pub fn sha256(&self) -> &str {
        &self.settings_sha256
    }

    /// The settings by dotted key. Values are texts, numbers, truths, or lists of these.
    #[must_use]
    pub fn settings(&self) -> &BTreeMap<String, Value> {
        &self.settings
    }

    /// Names what is other in `now`, a setting a line: `chunker.window.k: "4", now "5"`. Empty where both are the same.
    #[must_use]
    pub fn differences(&self, now: &Self) -> Vec<String> {
        let keys: std::collections::BTreeSet<&String> = self.settings.keys().chain(now.settings.keys()).collect();
        let shown = |value: Option<&Value>| value.map_or_else(|| "not there".to_owned(), Value::to_string);
        keys.into_iter()
            .map(|key| (key, self.settings.get(key), now.settings.get(key)))
            .filter(|(_, before, now)| before != now)
            .map(|(key, before, now)| format!("{key}: {}, now {}", shown(before), shown(now)))
            .collect()
    }
}

/// Every value of a configuration under its dotted key.
fn flatten(key: &str, value: &Value, found: &mut BTreeMap<String, Value>) {
    let below = |name: &str| if key.is_empty() { name.to_owned() } else { format!("{key}.{name}") };
    match value {
        Value::Object(table) => table.iter().for_each(|(name, inner)| flatten(&below(name), inner, found)),
        Value::Array(list) if list.iter().any(Value::is_object) => {
            for (place, inner) in list.iter().enumerate() {
                match inner.as_object().and_then(|table| Some((table, table.get("name")?.as_str()?))) {
                    Some((table, name)) => {
                        let rest: Map<String, Value> = table
                            .iter()
                            .filter(|(key, _)| *key != "name")
                            .map(|(k, v)| (k.clone(), v.clone()))
                            .collect();
                        flatten(&below(name), &Value::Object(rest), found);
                    }
                    None => flatten(&below(&(place + 1).to_string()), inner, found),
                }
            }
        }
        // A list of lists is shown as it is written.
        Value::Array(list) if list.iter().any(Value::is_array) => {
            found.insert(key.to_owned(), Value::String(value.to_string()));
        }
        value => {
            found.insert(key.to_owned(), value.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::path::Path;

    use pericope_segment::registry::{SettingKey, list};

    use super::*;
    use crate::config::Configuration;

    const BASE: &str = "name = \"n\"\n[data]\nkind = \"squad\"\npath = \"${X:-a}/q.json\"\n[retrieval]\ntoken_budgets = [512]\n\
        [[chunker]]\nname = \"semantic\"\nspec = \"window\"\n[[chunker]]\nname = \"same\"\nspec = \"same-size:reference=semantic\"\n\
        [[chunker]]\nname = \"other\"\nspec = \"same-size:reference=texttiling\"\n";

    fn read(overrides: &[&str]) -> Experiment {
        let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
        Experiment::parse(BASE, Path::new("x.toml"), &overrides, list()).unwrap()
    }

    fn resolved(overrides: &[&str]) -> Resolved {
        let models = BTreeMap::from([("minilm".to_owned(), "1234".to_owned())]);
        Resolved::of_retrieval(&read(overrides), list(), &models).unwrap()
    }

    #[test]
    fn defaults_are_filled_in() {
        let found = resolved(&[]);
        for (key, value) in [
            ("kind", json!("retrieval")),
            ("data.path", json!("${X:-a}/q.json")),
            ("data.seed", json!(7)),
            ("retrieval.budget_rule", json!("fill")),
            ("retrieval.k", json!([1, 3, 5])),
            ("judge.kind", json!("lexical")),
            ("order", json!(["semantic", "same", "other"])),
            ("compare.baseline", json!("semantic")),
            ("compare.metric", json!("span_recall")),
            ("compare.tokens", json!(512)),
            ("compare.margin", json!(0.02)),
            ("statistics.level", json!(0.05)),
            ("reader.edge", json!(12.0)),
            ("reader.version", json!(2)),
            ("model.minilm.sha256", json!("1234")),
            ("chunker.semantic.segmenter", json!("window")),
            ("chunker.semantic.depth", json!("0.18")),
            ("chunker.semantic.max_tokens", json!("256")),
            ("chunker.same.reference", json!("semantic")),
            ("chunker.other.reference.segmenter", json!("texttiling")),
            ("chunker.other.reference.w", json!("20")),
        ] {
            assert_eq!(found.settings().get(key), Some(&value), "{key} of {:#?}", found.settings());
        }
        assert!(!found.settings().keys().any(|key| key.ends_with(".spec") || key.starts_with("limits")));
        let other = resolved(&["answer.generator=none"]);
        assert!(!other.settings().keys().any(|key| key.starts_with("reader")), "it reads nothing");
        assert!(!found.settings().contains_key("chunker.same.reference.segmenter"), "its settings are the chunker's");
    }

    #[test]
    fn chunks_below_headings_leave_room_for_them() {
        let found = |overrides: &[&str]| resolved(overrides).settings()["chunker.semantic.max_tokens"].clone();
        assert_eq!(found(&["retrieval.prefix_headings=true"]), json!("224"));
        assert_eq!(found(&["chunker.semantic.prefix_headings=true"]), json!("224"));
        assert_eq!(found(&["chunker.other.prefix_headings=true"]), json!("256"));
        assert_eq!(found(&["retrieval.prefix_headings=true", "max_tokens=200"]), json!("200"));
        let words = ["retrieval.prefix_headings=true", "retrieval.embedder=none", "retrieval.modes=[\"bm25\"]"];
        assert_eq!(found(&words), json!("256"), "nobody reads them");
        // What is not asked for is in no record of before.
        assert!(!resolved(&[]).settings().keys().any(|key| key.contains("prefix") || key.contains("expand_tokens")));
    }

    #[test]
    fn what_means_the_same_is_the_same() {
        let base = resolved(&[]);
        for same in [
            &["retrieval.budget_rule=fill"][..],
            &["chunker.semantic.spec=window:k=4,pool=mean"],
            &["compare.margin=0.02"],
            &["max_tokens=256"],
            &["limits.max_failed=0.5"],
        ] {
            let mut found = resolved(same);
            // The one key of these that is not there where nothing is said; what it does is.
            found.settings.remove("max_tokens");
            assert_eq!(Resolved::new(found.settings).sha256(), base.sha256(), "{same:?}");
        }
        for (other, key) in [
            ("retrieval.budget_rule=whole", "retrieval.budget_rule: \"fill\", now \"whole\""),
            ("chunker.semantic.spec=window:k=4,pool=max", "chunker.semantic.pool: \"mean\", now \"max\""),
            ("compare.margin=0.03", "compare.margin: 0.02, now 0.03"),
            ("data.split=dev", "data.split: not there, now \"dev\""),
        ] {
            let found = resolved(&[other]);
            assert_ne!(found.sha256(), base.sha256(), "{other}");
            let named = base.differences(&found);
            assert!(named.iter().any(|line| line == key), "{other}: {named:?}");
        }
        assert!(base.differences(&base).is_empty());
    }

    #[test]
    fn a_default_that_the_program_changes_is_named() {
        let entries: Vec<SegmenterEntry> = (list().iter())
            .map(|entry| match entry.name {
                "window" => SegmenterEntry {
                    keys: &[SettingKey { name: "k", default: "5", doc: "" }],
                    build: |args, _| {
                        args.count("k", 5, 1)?;
                        args.settle("model_sha256", "other weights");
                        args.before_files()?;
                        Err(args.unavailable("never reached".into()))
                    },
                    ..*entry
                },
                _ => *entry,
            })
            .collect();
        let now = Resolved::of_retrieval(&read(&[]), &entries, &BTreeMap::new()).unwrap();
        let before = resolved(&[]);
        assert_ne!(before.sha256(), now.sha256());
        let named = before.differences(&now);
        for line in [
            "chunker.semantic.k: \"4\", now \"5\"",
            "chunker.semantic.model_sha256: not there, now \"other weights\"",
            "model.minilm.sha256: \"1234\", now not there",
        ] {
            assert!(named.iter().any(|found| found == line), "{line}: {named:?}");
        }
        assert!(
            !named.iter().any(|line| line.starts_with("chunker.other") || line.starts_with("retrieval")),
            "{named:?}"
        );
    }

    #[test]
    fn what_is_written_is_read_back_and_not_believed_blindly() {
        let found = resolved(&[]);
        let text = serde_json::to_string_pretty(&found).unwrap();
        assert_eq!(serde_json::from_str::<Resolved>(&text).unwrap(), found);
        let changed = text.replace("\"fill\"", "\"whole\"");
        let problem = serde_json::from_str::<Resolved>(&changed).unwrap_err().to_string();
        assert!(problem.contains(found.sha256()) && problem.contains("by hand"), "{problem}");
    }

    #[test]
    fn secrets_and_unknown_windows_are_left_out() {
        let found = resolved(&["retrieval.embedder=openai:m", "retrieval.retriever=https://h.example/hush-hush"]);
        assert!(!found.settings().contains_key("chunker.semantic.max_tokens"), "the embedder's window decides");
        assert!(!serde_json::to_string(&found).unwrap().contains("hush-hush"));
        let told = resolved(&["retrieval.embedder=openai:m", "max_tokens=0"]);
        assert_eq!(told.settings()["chunker.semantic.max_tokens"], json!("0"));
    }
}
