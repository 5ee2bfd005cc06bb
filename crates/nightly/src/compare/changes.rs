use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::Pairing;
use crate::night::NightlyRun;
use pericope_eval::config::redact;
use pericope_eval::format;
use pericope_eval::record::JudgeIdentity;

/// Names shown of a list at most; the rest is counted.
const SHOWN: usize = 8;
/// Characters of one value of the configuration.
const VALUE: usize = 60;

/// Names that came, went or changed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Listing {
    /// Only the later night has them.
    pub added: Vec<String>,
    /// Both have them, not the same.
    pub changed: Vec<String>,
    /// Only the earlier night has them.
    pub removed: Vec<String>,
}

impl Listing {
    fn between(before: &BTreeMap<String, String>, tonight: &BTreeMap<String, String>) -> Self {
        let missing = |these: &BTreeMap<String, String>, there: &BTreeMap<String, String>| -> Vec<String> {
            these.keys().filter(|name| !there.contains_key(*name)).cloned().collect()
        };
        let changed = tonight.iter().filter(|(name, sum)| before.get(*name).is_some_and(|old| old != *sum));
        Self {
            added: missing(tonight, before),
            changed: changed.map(|(name, _)| name.clone()).collect(),
            removed: missing(before, tonight),
        }
    }

    /// True where nothing is listed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }

    /// `2 documents added: a, b`, a line each way.
    fn lines(&self, noun: &str) -> Vec<String> {
        let ways = [(&self.added, "added"), (&self.changed, "changed"), (&self.removed, "gone")];
        ways.into_iter()
            .filter(|(names, _)| !names.is_empty())
            .map(|(names, way)| {
                let mut shown: Vec<String> = names.iter().take(SHOWN).map(|n| format::clipped(n, VALUE)).collect();
                if names.len() > SHOWN {
                    shown.push(format!("{} more", format::count(names.len() - SHOWN)));
                }
                format!("{} {way}: {}", format::plural(names.len(), noun), shown.join(", "))
            })
            .collect()
    }
}

/// What else was different between two nights.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Changes {
    /// The program, in words.
    pub program: Option<String>,
    /// Keys of the configuration, with both values.
    pub configuration: Vec<String>,
    /// Scores that another judge made, with both judges: they are not compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub judges: Vec<String>,
    /// Models and prompts by name.
    pub models: Listing,
    /// Documents by id.
    pub documents: Listing,
    /// Questions by id.
    pub questions: Listing,
    /// The machine or the tokenizer, in words.
    pub machine: Vec<String>,
}

impl Changes {
    /// What changed from one night to a later one.
    #[must_use]
    pub fn between(before: &NightlyRun, tonight: &NightlyRun, pairing: &Pairing) -> Self {
        let mut machine = Vec::new();
        let (old, new) = (&before.machine, &tonight.machine);
        if old != new {
            machine.push(format!("the machine: {}, {} cores, now {}, {} cores", old.os, old.cores, new.os, new.cores));
        }
        if before.tokenizer != tonight.tokenizer {
            machine.push(format!("the tokenizer: {}, now {}", before.tokenizer, tonight.tokenizer));
        }
        let models = |night: &NightlyRun| -> BTreeMap<String, String> {
            let sums = &night.checksums;
            // A chunker's are of the model that it reads with.
            let named = |(k, v): (&String, &String)| (k.clone(), v.clone());
            let chunkers = sums.chunkers.iter().map(|(k, v)| (format!("of chunker {k}"), v.clone()));
            sums.models.iter().chain(&sums.prompts).map(named).chain(chunkers).collect()
        };
        Self {
            program: program(before, tonight),
            configuration: configuration(&before.config, &tonight.config),
            judges: judges(before, tonight),
            models: Listing::between(&models(before), &models(tonight)),
            documents: Listing::between(&before.documents, &tonight.documents),
            questions: Listing {
                added: pairing.added.clone(),
                changed: pairing.changed.clone(),
                removed: pairing.removed.clone(),
            },
            machine,
        }
    }

    /// True where nothing changed that is known of.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines().is_empty()
    }

    /// A line for each change, the likeliest reasons first.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.program.iter().cloned().collect();
        lines.extend(self.configuration.iter().take(SHOWN).map(|change| format!("configuration: {change}")));
        if self.configuration.len() > SHOWN {
            lines.push(format!("configuration: {} more keys", self.configuration.len() - SHOWN));
        }
        lines.extend(self.judges.iter().cloned());
        lines.extend(self.models.lines("model"));
        lines.extend(self.documents.lines("document"));
        lines.extend(self.questions.lines("question"));
        lines.extend(self.machine.iter().cloned());
        lines
    }
}

fn program(before: &NightlyRun, tonight: &NightlyRun) -> Option<String> {
    let (old, new) = (&before.program, &tonight.program);
    if old.version != new.version {
        return Some(format!("the program: pericope {}, now {}", old.version, new.version));
    }
    // A history of the first schema does not know the file's checksum.
    let known = !old.sha256.is_empty() && !new.sha256.is_empty();
    (known && old.sha256 != new.sha256).then(|| format!("the program: another build of pericope {}", new.version))
}

/// `judge: scores by m (openai), 1 vote, now by n (openai), 1 vote: not compared`.
fn judges(before: &NightlyRun, tonight: &NightlyRun) -> Vec<String> {
    let [then, now] = [before, tonight].map(|night| JudgeIdentity::of_run(&night.config, &night.checksums));
    JudgeIdentity::differing(&then, &now)
        .into_iter()
        .map(|(metric, old, new)| format!("{}: scores by {old}, now by {new}: not compared", metric.label()))
        .collect()
}

/// Keys whose values differ: `chunker.semantic.spec: "fusion", now "fixed:words=20"`. Gates and the table `[nightly]`
/// have no part in what is measured.
fn configuration(before: &Value, tonight: &Value) -> Vec<String> {
    let (mut old, mut new) = (BTreeMap::new(), BTreeMap::new());
    for (config, keys) in [(before, &mut old), (tonight, &mut new)] {
        // A night of an older program may hold more of its configuration.
        let mut config = config.clone();
        redact(&mut config);
        flatten(&config, String::new(), keys);
    }
    let keys: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let shown = |value: Option<&String>| value.map_or_else(|| "nothing".into(), |v| format::clipped(v, VALUE));
    keys.into_iter()
        .filter(|key| old.get(*key) != new.get(*key))
        .map(|key| format!("{key}: {}, now {}", shown(old.get(key)), shown(new.get(key))))
        .collect()
}

fn flatten(value: &Value, path: String, into: &mut BTreeMap<String, String>) {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        Value::Object(map) => {
            for (key, inner) in
                map.iter().filter(|(key, _)| !(path.is_empty() && ["gate", "nightly"].contains(&key.as_str())))
            {
                flatten(inner, below(key), into);
            }
        }
        // Tables with a name are known by it, so that one more in between changes nothing else.
        Value::Array(list) if list.iter().any(|entry| entry.get("name").is_some()) => {
            for (i, entry) in list.iter().enumerate() {
                let name = entry.get("name").and_then(Value::as_str).map_or_else(|| i.to_string(), str::to_owned);
                flatten(entry, below(&name), into);
            }
        }
        Value::Null => {}
        other => {
            into.insert(path, other.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Changes, Pairing};
    use crate::night::{NightlyRun, Program};
    use pericope_eval::record::Checksums;

    #[test]
    fn what_changed_is_listed_by_name() {
        let sums = |list: &[(&str, &str)]| list.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        let before = NightlyRun {
            program: Program { version: "1".into(), sha256: "a".into() },
            config: json!({"retrieval": {"k": [1, 3]}, "chunker": [{"name": "a", "spec": "x"}], "gate": [1]}),
            documents: sums(&[("one", "1"), ("two", "2")]),
            checksums: Checksums { chunkers: sums(&[("a", "old weights")]), ..Checksums::default() },
            ..NightlyRun::default()
        };
        let tonight = NightlyRun {
            program: Program { version: "1".into(), sha256: "b".into() },
            config: json!({"retrieval": {"k": [1]}, "chunker": [{"name": "b", "spec": "y"}, {"name": "a", "spec": "z"}]}),
            documents: sums(&[("two", "3"), ("three", "4")]),
            checksums: Checksums { chunkers: sums(&[("a", "new weights")]), ..Checksums::default() },
            ..before.clone()
        };
        let changes = Changes::between(&before, &tonight, &Pairing::default());
        let lines = changes.lines().join("\n").replace('\u{a0}', " ");
        for line in [
            "the program: another build of pericope 1",
            "configuration: chunker.a.spec: \"x\", now \"z\"",
            "configuration: chunker.b.spec: nothing, now \"y\"",
            "configuration: retrieval.k: [1,3], now [1]",
            "1 model changed: of chunker a",
            "1 document added: three",
            "1 document changed: two",
            "1 document gone: one",
        ] {
            assert!(lines.contains(line), "{line} in\n{lines}");
        }
        assert!(!lines.contains("gate"));
        assert!(Changes::between(&before, &before, &Pairing::default()).is_empty());
    }

    #[test]
    fn scores_of_another_judge_are_named() {
        let night = |model: &str| NightlyRun {
            config: json!({"judge": {"kind": "llm", "votes": 1}, "answer": {"generator": "llm"}, "llm": {"judge": {"model": model}}}),
            ..NightlyRun::default()
        };
        let changes = Changes::between(&night("one"), &night("two"), &Pairing::default());
        assert!(changes.lines().contains(&"judge: scores by one, 1 vote, now by two, 1 vote: not compared".to_owned()));
        assert!(Changes::between(&night("one"), &night("one"), &Pairing::default()).is_empty());
    }
}
