//! Segmentation experiments: what `pericope segment-eval CONFIG.toml` reads, as TOML.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pericope_segment::Limits;
use pericope_segment::registry::{SegmenterEntry, check_in};
use pericope_segment::spec::Spec;
use pericope_segment::split::Split;
use serde::{Deserialize, Serialize};

use pericope_eval::config::{ConfigError, Configuration, ExperimentKind, expanded_path};
use pericope_eval::resolved::{Resolved, Specified};

/// One experiment. Unknown keys are errors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SegmentationExperiment {
    /// `"segmentation"`, which says of which kind the file is.
    #[serde(default, skip_serializing)]
    pub kind: Option<ExperimentKind>,
    /// Name of the experiment; part of the default output folder.
    pub name: String,
    /// The data, at least one set.
    #[serde(rename = "set", default)]
    pub sets: Vec<SetConfig>,
    /// The segmenters, at least one. Each is compared with the first, document by document.
    #[serde(rename = "segmenter", default)]
    pub segmenters: Vec<SegmenterConfig>,
    /// Figures of others on the same sets, shown beside ours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<Published>,
}

/// `[[set]]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetConfig {
    /// Name in tables and charts.
    pub name: String,
    /// File or folder, relative to the working directory; `${VAR}` and `${VAR:-default}` are expanded.
    pub path: String,
    /// Most documents; default 0: all.
    #[serde(default)]
    pub documents: usize,
    /// Seed of the sampling; default 7.
    #[serde(default = "seed")]
    pub seed: u64,
    /// Only the documents of this split, as `pericope train` splits them: train, validation or test; default: all.
    #[serde(default, alias = "part", skip_serializing_if = "Option::is_none")]
    pub split: Option<Split>,
}

/// `[[segmenter]]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SegmenterConfig {
    /// Name in tables and charts.
    pub name: String,
    /// Segmenter spec.
    pub spec: Spec,
    /// Whether it also runs with the true number of segments given, as a row of its own; default false.
    #[serde(default)]
    pub known: bool,
}

/// `[[published]]`: a system's figures x 100, as papers print them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// What the source calls the system.
    pub system: String,
    /// The name of a set here.
    pub set: String,
    /// Pk x 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pk: Option<f64>,
    /// WindowDiff x 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_diff: Option<f64>,
    /// F1 of exact boundaries x 100, over all of the set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub f1: Option<f64>,
    /// Boundaries proposed over true boundaries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed_over_true: Option<f64>,
    /// Whether the system was told the true number of segments; default false.
    #[serde(default)]
    pub known: bool,
    /// Where the figures are from.
    pub source: String,
}

fn seed() -> u64 {
    7
}

impl Configuration for SegmentationExperiment {
    const KIND: ExperimentKind = ExperimentKind::Segmentation;

    fn finish(&mut self, segmenters: &[SegmenterEntry]) -> Result<(), String> {
        self.check(segmenters)
    }
}

impl SegmentationExperiment {
    /// The settings that the experiment comes down to. `segmenters` are those that specs may name, `models` the checksums of the
    /// model files that the program fetches, by name.
    ///
    /// # Errors
    /// [`ConfigError::Value`] for a spec whose values make no sense.
    pub fn resolved(
        &self,
        segmenters: &[SegmenterEntry],
        models: &BTreeMap<String, String>,
    ) -> Result<Resolved, ConfigError> {
        let config = serde_json::to_value(self).unwrap_or_default();
        // The segmentation itself is measured: no limit unless a spec names one.
        let specified: Vec<Specified<'_>> = (self.segmenters.iter())
            .map(|one| Specified { list: "segmenter", name: &one.name, spec: &one.spec, limits: Limits::NONE })
            .collect();
        Resolved::of(Self::KIND, &config, &specified, segmenters, models)
    }

    fn check(&self, segmenters: &[SegmenterEntry]) -> Result<(), String> {
        if self.sets.is_empty() {
            return Err("there is no [[set]] to evaluate on".into());
        }
        if self.segmenters.is_empty() {
            return Err("there is no [[segmenter]] to evaluate".into());
        }
        distinct("sets", self.sets.iter().map(|one| one.name.as_str()))?;
        distinct("segmenters", self.segmenters.iter().map(|one| one.name.as_str()))?;
        for one in &self.segmenters {
            check_in(segmenters, &one.spec).map_err(|e| format!("segmenter '{}': {e}", one.name))?;
        }
        self.published.iter().try_for_each(|row| self.check_published(row))
    }

    fn check_published(&self, row: &Published) -> Result<(), String> {
        let Published { system, set, .. } = row;
        if !self.sets.iter().any(|one| one.name == *set) {
            let names: Vec<&str> = self.sets.iter().map(|one| one.name.as_str()).collect();
            return Err(format!("published '{system}': there is no set '{set}' here, only {}", names.join(", ")));
        }
        let figures = [("pk", row.pk), ("window_diff", row.window_diff), ("f1", row.f1)];
        if figures.iter().all(|(_, value)| value.is_none()) {
            return Err(format!("published '{system}' on {set}: give pk, window_diff or f1"));
        }
        for (key, value) in figures {
            if value.is_some_and(|value| !(0.0..=100.0).contains(&value)) {
                return Err(format!("published '{system}' on {set}: {key} is given x 100, 0 to 100"));
            }
        }
        Ok(())
    }
}

impl SetConfig {
    /// The path with its variables expanded.
    ///
    /// # Errors
    /// [`ConfigError::Value`] names the variable that is not set.
    pub fn expanded(&self) -> Result<PathBuf, ConfigError> {
        expanded_path(&format!("set '{}'", self.name), &self.path)
    }
}

fn distinct<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut seen: Vec<&str> = Vec::new();
    for name in names {
        if name.trim().is_empty() {
            return Err(format!("one of the {what} has an empty name"));
        }
        if seen.contains(&name) {
            return Err(format!("two {what} are named '{name}'"));
        }
        seen.push(name);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::path::Path;

    use super::*;

    const SMALL: &str = "name = \"n\"\n[[set]]\nname = \"choi\"\npath = \"${X:-a}/choi.jsonl\"\n\
        [[segmenter]]\nname = \"tt\"\nspec = \"texttiling:k=5\"\nknown = true\n\
        [[published]]\nsystem = \"U00\"\nset = \"choi\"\npk = 10.2\nsource = \"s\"\n";

    fn parse(text: &str, overrides: &[&str]) -> Result<SegmentationExperiment, String> {
        let overrides: Vec<String> = overrides.iter().map(|s| (*s).to_owned()).collect();
        SegmentationExperiment::parse(text, Path::new("x.toml"), &overrides, pericope_segment::registry::list())
            .map_err(|e| e.to_string())
    }

    #[test]
    fn defaults_and_round_trip() {
        let one = parse(SMALL, &[]).unwrap();
        assert_eq!((one.sets[0].documents, one.sets[0].seed, one.published[0].known), (0, 7, false));
        assert_eq!(one.sets[0].expanded().unwrap(), PathBuf::from("a/choi.jsonl"));
        assert_eq!(parse(&toml::to_string(&one).unwrap(), &[]).unwrap(), one);
        assert_eq!(parse(SMALL, &["name=other"]).unwrap().name, "other");
    }

    #[test]
    fn settings_have_every_default() {
        let of = |text: &str, overrides: &[&str]| {
            parse(text, overrides).unwrap().resolved(pericope_segment::registry::list(), &BTreeMap::new()).unwrap()
        };
        let found = of(SMALL, &[]);
        for (key, value) in [
            ("kind", "\"segmentation\""),
            ("set.choi.path", "\"${X:-a}/choi.jsonl\""),
            ("set.choi.seed", "7"),
            ("segmenter.tt.known", "true"),
            ("segmenter.tt.w", "\"20\""),
            ("segmenter.tt.k", "\"5\""),
            ("segmenter.tt.max_tokens", "\"0\""),
            ("published.1.pk", "10.2"),
            ("order", "[\"tt\"]"),
        ] {
            assert_eq!(found.settings().get(key).map(ToString::to_string).as_deref(), Some(value), "{key}");
        }
        assert_eq!(of(&SMALL.replace("k=5", "k=5,w=20"), &[]), found);
        let other = of(SMALL, &["segmenter.tt.spec=texttiling:k=6"]);
        assert_eq!(found.differences(&other), ["segmenter.tt.k: \"5\", now \"6\""]);
    }

    #[test]
    fn mistakes_are_one_line_errors() {
        let again = "[[segmenter]]\nname = \"tt\"\nspec = \"texttiling\"\n";
        for (text, says) in [
            (SMALL.replace("known = true", "knwon = true"), "knwon"),
            (SMALL.replace("spec = \"texttiling", "spec = \"texttling"), "segmenter 'tt': "),
            (SMALL.replace("set = \"choi\"", "set = \"choy\""), "no set 'choy' here, only choi"),
            (SMALL.replace("pk = 10.2", "pk = 1020.0"), "x 100"),
            (SMALL.replace("pk = 10.2\n", ""), "give pk"),
            (format!("{SMALL}{again}"), "two segmenters are named 'tt'"),
            ("name = \"n\"\n".to_owned(), "[[set]]"),
            ("name = \"n\"\n[[set\n".to_owned(), "line 2"),
        ] {
            let error = parse(&text, &[]).unwrap_err();
            assert!(error.contains(says) && !error.contains('\n'), "{error:?} does not say {says}");
        }
        assert!(parse(SMALL, &["nam=x"]).unwrap_err().contains("nam"));
    }

    #[test]
    fn unset_variables_are_named_with_their_set() {
        let set =
            SetConfig { name: "s".into(), path: "${PERICOPE_NOT_SET}/x".into(), documents: 0, seed: 7, split: None };
        let error = set.expanded().unwrap_err().to_string();
        assert!(error.contains("'s'") && error.contains("PERICOPE_NOT_SET"), "{error}");
    }
}
