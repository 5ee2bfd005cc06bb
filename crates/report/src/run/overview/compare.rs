//! What runs have in common and what not.

use std::collections::{BTreeMap, BTreeSet};

use pericope_eval::format;
use pericope_eval::metric::Metric;
use pericope_eval::record::JudgeIdentity;
use serde_json::Value as Json;

use crate::run::report::Report;

/// Keys of the configuration that are listed where runs differ.
const KEYS: usize = 200;

/// Characters of a value that are shown.
const VALUE: usize = 120;

/// Why the figures of these runs may not be comparable.
pub(super) fn cautions(reports: &[Report]) -> Vec<String> {
    let mut found = Vec::new();
    let differ = |of: &dyn Fn(&Report) -> String| reports.iter().map(of).collect::<BTreeSet<String>>().len() > 1;
    if differ(&|r| format!("{:?}", r.run.checksums.data)) {
        found.push("The runs did not read the same data: their figures cannot be compared directly.".to_owned());
    } else if differ(&|r| format!("{} {}", r.summary.questions, r.summary.documents)) {
        found.push(
            "The runs did not ask the same number of questions over the same number of documents: their figures cannot \
             be compared directly."
                .to_owned(),
        );
    } else if differ(&|r| format!("{:?}", r.run.seeds)) {
        found.push("The runs were drawn with different seeds, so their questions may differ.".to_owned());
    }
    found.extend(judges(reports));
    if differ(&|r| format!("{:?}", r.run.checksums.models)) {
        found.push("The runs did not use the same models.".to_owned());
    }
    if differ(&|r| format!("{:?}", r.run.checksums.prompts)) {
        found.push("The runs did not use the same prompts.".to_owned());
    }
    if differ(&|r| r.run.version.clone()) {
        found.push("The runs come from different versions of the program.".to_owned());
    }
    found
}

/// Scores that another judge made than the first run's.
fn judges(reports: &[Report]) -> Vec<String> {
    let of = |report: &Report| JudgeIdentity::of_run(&report.run.config, &report.run.checksums);
    let Some((first, others)) = reports.split_first() else { return Vec::new() };
    let known = of(first);
    others
        .iter()
        .flat_map(|other| {
            let own = of(other);
            let line = |(metric, a, b): (&Metric, &JudgeIdentity, &JudgeIdentity)| {
                format!(
                    "Scores by {} cannot be compared: in {} they are by {a}, in {} by {b}.",
                    metric.label(),
                    first.title(),
                    other.title()
                )
            };
            JudgeIdentity::differing(&known, &own).into_iter().map(line).collect::<Vec<String>>()
        })
        .collect()
}

/// Keys (`retrieval.k`, `chunker.semantic.spec`) whose values are not the same in all runs, with the values as they are shown.
pub(super) fn differing(reports: &[Report]) -> Vec<(String, Vec<String>)> {
    let flat: Vec<BTreeMap<String, String>> = reports
        .iter()
        .map(|r| {
            let mut keys = BTreeMap::new();
            flatten("", &r.run.config, &mut keys);
            keys
        })
        .collect();
    let keys: BTreeSet<&String> = flat.iter().flat_map(BTreeMap::keys).collect();
    let value =
        |of: &BTreeMap<String, String>, key: &String| of.get(key).map_or(format::ABSENT, String::as_str).to_owned();
    keys.into_iter()
        .map(|key| (key.clone(), flat.iter().map(|of| value(of, key)).collect::<Vec<_>>()))
        .filter(|(_, values)| values.iter().any(|v| Some(v) != values.first()))
        .take(KEYS)
        .map(|(key, values)| (key, values.iter().map(|value| format::clipped(value, VALUE)).collect()))
        .collect()
}

/// Nested keys joined by points. Lists of tables that have names (chunkers) go by those, other lists stay whole.
fn flatten(prefix: &str, value: &Json, into: &mut BTreeMap<String, String>) {
    let under = |key: &str| if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
    let name = |entry: &Json| entry.get("name").and_then(Json::as_str).map(str::to_owned);
    match value {
        Json::Object(map) => map.iter().for_each(|(key, value)| flatten(&under(key), value, into)),
        Json::Array(list) if !list.is_empty() && list.iter().all(|entry| name(entry).is_some()) => {
            for entry in list {
                flatten(&under(&name(entry).unwrap_or_default()), entry, into);
            }
        }
        Json::Null => {}
        Json::String(text) => drop(into.insert(prefix.to_owned(), text.clone())),
        other => drop(into.insert(prefix.to_owned(), other.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::{cautions, differing};
    use crate::run::report::Report;
    use serde_json::json;

    fn run(config: serde_json::Value, data: &str) -> Report {
        let mut report = Report::default();
        report.run.config = config;
        report.run.checksums.data.insert("d.json".into(), data.into());
        report
    }

    #[test]
    fn differing_keys_are_found_by_name() {
        let a = json!({"retrieval": {"k": [1, 3]}, "chunker": [{"name": "x", "spec": "window"}], "seed": 7});
        let b = json!({"retrieval": {"k": [1]}, "chunker": [{"name": "y", "spec": "window"}], "seed": 7});
        let keys: Vec<String> = differing(&[run(a, "1"), run(b, "1")]).into_iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["chunker.x.name", "chunker.x.spec", "chunker.y.name", "chunker.y.spec", "retrieval.k"]);
    }

    #[test]
    fn runs_over_other_data_are_called_out() {
        let (a, b) = (run(json!({}), "1"), run(json!({}), "2"));
        assert!(cautions(&[a.clone(), a.clone()]).is_empty());
        assert!(cautions(&[a, b]).join(" ").contains("not read the same data"));
    }

    #[test]
    fn scores_of_two_judges_are_not_compared() {
        let judged = |model: &str| {
            let judge = json!({"kind": "llm", "votes": 1});
            run(json!({"judge": judge, "answer": {"generator": "llm"}, "llm": {"judge": {"model": model}}}), "1")
        };
        let found = cautions(&[judged("one"), judged("two"), judged("one")]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("by judge cannot be compared") && found[0].contains("by one, 1 vote"), "{found:?}");
        // A run of a version that kept no such record says it in its configuration.
        let lexical = run(json!({"judge": {"kind": "lexical"}, "answer": {"generator": "extractive"}}), "1");
        assert!(cautions(&[judged("one"), lexical]).join(" ").contains("the lexical judge"));
    }
}
