//! Sweeps: one experiment with lists of values for some of its keys, and the choice among them on held-out questions.
//!
//! ```toml
//! [sweep]                       # every combination is a run of its own
//! "chunker.semantic.spec" = ["fusion", "window:k=2"]
//! "retrieval.k" = [[1], [3]]
//!
//! [tune]                        # read by `pericope tune`
//! chunker = "semantic"
//! metric = "span_recall"
//! mode = "dense"
//! k = 3
//! validation = 0.5              # share of the documents whose questions choose; the others only report
//! ```

use std::collections::{BTreeMap, HashMap};

use pericope_segment::registry::SegmenterEntry;
use pericope_util::one_line;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::config::{ConfigError, Experiment, TuneConfig, hide, set_value};
use crate::format::clipped;
use crate::record::{Item, Status};
use crate::stats;

/// Most combinations of a sweep: more is a mistake in the file.
const MOST: usize = 256;

/// One combination of a sweep's values.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// Its values as `key=value`, by commas; the experiment's name where nothing is swept.
    pub label: String,
    /// The experiment with these values in place.
    pub experiment: Experiment,
}

/// The combinations of an experiment's `[sweep]`, the last key changing fastest; the experiment itself where it has none.
///
/// # Errors
/// [`ConfigError::Value`] where a key does not exist, a value is none for it, or there are too many combinations.
pub fn variants(experiment: &Experiment, segmenters: &[SegmenterEntry]) -> Result<Vec<Variant>, ConfigError> {
    if experiment.sweep.is_empty() {
        return Ok(vec![Variant { label: experiment.name.clone(), experiment: experiment.clone() }]);
    }
    let wrong = |problem: String| ConfigError::Value(format!("[sweep]: {problem}"));
    let mut combinations: Vec<Vec<(&String, &toml::Value)>> = vec![Vec::new()];
    for (key, values) in &experiment.sweep {
        if values.is_empty() {
            return Err(wrong(format!("\"{key}\" has no values")));
        }
        combinations = (combinations.into_iter())
            .flat_map(|before| values.iter().map(move |value| [before.clone(), vec![(key, value)]].concat()))
            .collect();
        if combinations.len() > MOST {
            return Err(wrong(format!("more than {MOST} combinations")));
        }
    }
    let plain = Experiment { sweep: BTreeMap::new(), ..experiment.clone() };
    let table = toml::Table::try_from(&plain).map_err(|e| wrong(e.to_string()))?;
    (combinations.into_iter())
        .map(|values| {
            let mut table = table.clone();
            for (key, value) in &values {
                let named = |problem| wrong(format!("\"{}\": {problem}", clipped(key, 200)));
                set_value(&mut table, key, (*value).clone()).map_err(named)?;
            }
            let label: Vec<String> = values.iter().map(|(key, value)| format!("{key}={}", shown(key, value))).collect();
            let label = label.join(", ");
            let experiment: Experiment =
                table.try_into().map_err(|e: toml::de::Error| wrong(format!("{label}: {}", one_line(e.message()))))?;
            experiment.check(segmenters).map_err(|problem| wrong(format!("{label}: {problem}")))?;
            Ok(Variant { label, experiment })
        })
        .collect()
}

/// A value for a label, without what may be secret in it.
fn shown(key: &str, value: &toml::Value) -> String {
    let plain = serde_json::to_value(value).unwrap_or_default();
    let mut safe = plain.clone();
    hide(key, &mut safe);
    match (value, safe) {
        (toml::Value::String(_), serde_json::Value::String(safe)) => safe,
        (_, safe) if safe != plain => safe.to_string(),
        (value, _) => value.to_string(),
    }
}

/// What a variant scored on both parts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tried {
    /// The variant's label.
    pub label: String,
    /// Mean on the questions that choose; absent where none has a score.
    pub validation: Option<f64>,
    /// Mean on the others.
    pub held_out: Option<f64>,
    /// Questions of each part with a score.
    pub questions: (usize, usize),
}

/// The outcome of a choice.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chosen {
    /// What chose.
    pub by: TuneConfig,
    /// All variants in the order of the sweep.
    pub tried: Vec<Tried>,
    /// Index of the best on the questions that choose; the earlier of equals.
    pub best: usize,
    /// Questions that some variant has no score of (a failed answer), while others have: they count for none.
    pub left_out: usize,
    /// The best against the first variant on the held-out questions, paired by question, the documents being the units;
    /// absent where the first is the best.
    pub against_first: Option<stats::Paired>,
}

/// Chooses among the variants' items: by the mean over the validation documents' questions, reported on the others'.
///
/// # Errors
/// In words, where no variant has a score on the questions that choose.
pub fn choose(by: &TuneConfig, runs: &[(String, Vec<Item>)]) -> Result<Chosen, String> {
    let mut scored: Vec<[BTreeMap<String, f64>; 2]> = runs.iter().map(|(_, items)| scores(by, items)).collect();
    let left_out = keep_shared(&mut scored);
    let mean = |scores: &BTreeMap<String, f64>| {
        (!scores.is_empty()).then(|| scores.values().sum::<f64>() / scores.len() as f64)
    };
    let tried: Vec<Tried> = (runs.iter().zip(&scored))
        .map(|((label, _), [validation, held_out])| Tried {
            label: label.clone(),
            validation: mean(validation),
            held_out: mean(held_out),
            questions: (validation.len(), held_out.len()),
        })
        .collect();
    let mut best: Option<(usize, f64)> = None;
    for (i, row) in tried.iter().enumerate() {
        if let Some(value) = row.validation
            && best.is_none_or(|(_, top)| value > top)
        {
            best = Some((i, value));
        }
    }
    let Some((best, _)) = best else {
        return Err(format!(
            "no question of the validation documents has a score \"{}\" of the chunker \"{}\"",
            by.metric, by.chunker
        ));
    };
    let against_first = match (scored.get(best), scored.first()) {
        (Some([_, of_best]), Some([_, of_first])) if best > 0 => {
            let items = runs.iter().flat_map(|(_, items)| items);
            let documents: HashMap<&str, &str> =
                items.map(|item| (item.question_id.as_str(), item.gold.document.as_str())).collect();
            let (mut a, mut b, mut of) = (Vec::new(), Vec::new(), Vec::new());
            for (question, score) in of_best {
                let Some(other) = of_first.get(question) else { continue };
                a.push(*score);
                b.push(*other);
                of.push(documents.get(question.as_str()).copied().unwrap_or(""));
            }
            stats::compare_by(&a, &b, &stats::numbered(&of), 7)
        }
        _ => None,
    };
    Ok(Chosen { by: by.clone(), tried, best, left_out, against_first })
}

/// Leaves the questions that all variants with any score have: a variant whose hard questions failed is not better for it.
/// Answers with the number of questions that went.
fn keep_shared(scored: &mut [[BTreeMap<String, f64>; 2]]) -> usize {
    let mut gone = 0;
    for part in 0..2 {
        let (mut times, mut variants) = (BTreeMap::<String, usize>::new(), 0);
        for scores in scored.iter().filter_map(|both| both.get(part)).filter(|scores| !scores.is_empty()) {
            variants += 1;
            scores.keys().for_each(|question| *times.entry(question.clone()).or_default() += 1);
        }
        gone += times.values().filter(|&&n| n < variants).count();
        for scores in scored.iter_mut().filter_map(|both| both.get_mut(part)) {
            scores.retain(|question, _| times.get(question) == Some(&variants));
        }
    }
    gone
}

/// The scores of the questions that choose and of the others, by question; the mean where several settings count.
fn scores(by: &TuneConfig, items: &[Item]) -> [BTreeMap<String, f64>; 2] {
    let mut sums: [BTreeMap<String, (f64, usize)>; 2] = Default::default();
    let first = || items.first().map(|item| item.mode.clone()).unwrap_or_default();
    let mode = by.mode.map_or_else(first, |mode| mode.to_string());
    let wanted = |item: &&Item| {
        item.chunker == by.chunker && item.mode == mode && item.status == Status::Ok && by.covers(item.cutoff)
    };
    for item in items.iter().filter(wanted) {
        let Some(value) = item.metrics.get(&by.metric) else { continue };
        let part = usize::from(!chooses(&item.gold.document, by.validation));
        if let Some(sums) = sums.get_mut(part) {
            let sum = sums.entry(item.question_id.clone()).or_default();
            *sum = (sum.0 + value, sum.1 + 1);
        }
    }
    sums.map(|sums| sums.into_iter().map(|(question, (sum, n))| (question, sum / n as f64)).collect())
}

/// Whether the questions of a document choose: all questions of a document are on one side.
fn chooses(document: &str, share: f64) -> bool {
    let hash = Sha256::digest(document.as_bytes());
    let number = hash.iter().take(4).fold(0_u32, |n, byte| (n << 8) | u32::from(*byte));
    f64::from(number) / (f64::from(u32::MAX) + 1.0) < share
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::cell::Cutoff;
    use crate::config::Configuration;
    use crate::record::Gold;
    use pericope_segment::registry::list;
    use std::path::Path;

    const SWEPT: &str = "name = \"n\"\n[data]\nkind = \"squad\"\npath = \"p\"\n\
        [[chunker]]\nname = \"a\"\nspec = \"fixed:words=100\"\n[[chunker]]\nname = \"b\"\nspec = \"fixed:words=50\"\n\
        [sweep]\n\"chunker.b.spec\" = [\"fixed:words=10\", \"fixed:words=20\"]\n\"retrieval.k\" = [[1], [3]]\n";

    fn parse(text: &str) -> Experiment {
        Experiment::parse(text, Path::new("x.toml"), &[], list()).unwrap()
    }

    #[test]
    fn every_combination_is_an_experiment() {
        let found = variants(&parse(SWEPT), list()).unwrap();
        assert_eq!(found.len(), 4);
        assert_eq!(found[1].label, "chunker.b.spec=fixed:words=10, retrieval.k=[3]");
        assert_eq!(found[1].experiment.chunkers[1].spec.to_string(), "fixed:words=10");
        assert_eq!(found[1].experiment.chunkers[0].spec.to_string(), "fixed:words=100");
        assert_eq!(
            (found[1].experiment.retrieval.k.clone(), found[2].experiment.retrieval.k.clone()),
            (vec![3], vec![1])
        );
        assert!(found.iter().all(|v| v.experiment.sweep.is_empty()));
    }

    #[test]
    fn wrong_keys_and_values_are_named() {
        for (from, to, says) in [
            ("chunker.b.spec", "chunker.c.spec", "\"c\""),
            ("chunker.b.spec", "retrieval.deep", "deep"),
            ("fixed:words=10\"", "fixd\"", "fixd"),
            ("[[1], [3]]", "[]", "no values"),
        ] {
            let error = variants(&parse(&SWEPT.replace(from, to)), list()).unwrap_err().to_string();
            assert!(error.contains("[sweep]") && error.contains(says), "{error} does not say {says}");
        }
    }

    fn item(q: usize, value: f64) -> Item {
        Item {
            question_id: format!("q{q}"),
            chunker: "b".into(),
            mode: "dense".into(),
            cutoff: Cutoff::K(3),
            gold: Gold { document: format!("d{}", q % 40), ..Gold::default() },
            metrics: [("span_recall".into(), value)].into(),
            ..Item::default()
        }
    }

    #[test]
    fn failing_at_hard_questions_does_not_win() {
        // Half of the questions are hard; the second variant scores less everywhere and failed at the hard ones.
        let value = |q: usize| if q.is_multiple_of(2) { 0.9 } else { 0.1 };
        let first = (0..80_usize).map(|q| item(q, value(q))).collect();
        let failed = |q: usize| Item { status: Status::Failed, ..item(q, 0.0) };
        let second = (0..80_usize).map(|q| if q.is_multiple_of(2) { item(q, 0.8) } else { failed(q) }).collect();
        let absent: Vec<Item> = Vec::new();
        let by: TuneConfig = toml::from_str("chunker = \"b\"\nk = 3\n").unwrap();
        let chosen = choose(&by, &[("one".into(), first), ("two".into(), second), ("none".into(), absent)]).unwrap();
        assert_eq!((chosen.best, chosen.left_out), (0, 40));
        assert!((chosen.tried[0].validation.unwrap() - 0.9).abs() < 1e-12);
        assert_eq!(chosen.tried[2].validation, None);
    }

    #[test]
    fn one_part_chooses_and_the_other_reports() {
        let chosen_by = |q: usize| chooses(&format!("d{}", q % 40), 0.5);
        // The second is better on the questions that choose, the first on the others.
        let first = (0..80).map(|q| item(q, if chosen_by(q) { 0.2 } else { 0.9 })).collect();
        let second = (0..80).map(|q| item(q, if chosen_by(q) { 0.6 } else { 0.4 })).collect();
        let by: TuneConfig = toml::from_str("chunker = \"b\"\nk = 3\n").unwrap();
        let chosen = choose(&by, &[("one".into(), first), ("two".into(), second)]).unwrap();
        assert_eq!(chosen.best, 1);
        assert!((chosen.tried[1].held_out.unwrap() - 0.4).abs() < 1e-12);
        let (validation, held_out) = chosen.tried[0].questions;
        assert!(validation > 20 && held_out > 20 && validation + held_out == 80);
        let paired = chosen.against_first.unwrap();
        assert!((paired.difference + 0.5).abs() < 1e-12 && paired.n == held_out);
        assert_eq!(chosen.left_out, 0);
        let nothing = TuneConfig { metric: crate::metric::Metric::JUDGE, ..by };
        assert!(choose(&nothing, &[("one".into(), vec![item(1, 0.1)])]).unwrap_err().contains("judge"));
    }
}
