//! `pericope tune` on a file that names a segmenter: its settings and its threshold, on validation documents.

use std::collections::BTreeMap;
use std::path::Path;

use pericope::segment::Limits;
use pericope::{Engine, needs_encoder, segmenters, tokenizer_for};
use pericope_eval::format::plural;
use pericope_segeval::read::Set;
use pericope_segeval::tune::{Tuning, Way, tune};
use pericope_segment::registry::build_from;
use pericope_segment::spec::Spec;
use pericope_segment::split::Split;

use super::set;
use crate::commands::print_json;
use crate::commands::segment_eval::price;
use crate::resources::{failure, shown};
use crate::status::{Failure, Outcome, Status};
use crate::{input, progress};

/// The settings of `topic` with which it takes no threshold.
const FINDS_NUMBER: [&str; 2] = ["granularity", "objective"];

/// Most combinations of settings that are tried.
const MOST: usize = 10_000;

/// What is tuned, on what.
pub(super) struct Wanted<'a> {
    pub file: &'a Path,
    pub segmenter: &'a str,
    /// Values to try, by the setting's key.
    pub grid: &'a BTreeMap<String, Vec<toml::Value>>,
    pub data: &'a [String],
    pub split: Option<Split>,
    pub thresholds: Vec<f64>,
    pub dry_run: bool,
    pub json: bool,
}

pub(super) fn run(wanted: &Wanted<'_>, quiet: bool) -> Outcome {
    let wrong = |problem: String| Failure::usage(format!("{}: {problem}", shown(wanted.file)));
    let base = Spec::parse(wanted.segmenter).map_err(|e| wrong(format!("segmenter: {e}")))?;
    if base.get("tau").is_some() {
        return Err(wrong("segmenter: leave tau out; thresholds are tried".into()));
    }
    let specs = combinations(&base, wanted.grid).map_err(wrong)?;
    if wanted.dry_run {
        return price(&sets(wanted)?, &specs, wanted.json);
    }
    let mut engine = Engine::new().with_tokenizer(tokenizer_for("none", &specs)).with_defaults(Limits::NONE);
    if specs.iter().any(needs_encoder) {
        // Every sentence is embedded once for all settings.
        engine.cache_encoder().map_err(failure)?;
    }
    let build = |spec: &Spec| build_from(segmenters(), spec, &engine).map_err(|e| wrong(e.to_string()));
    let way = |spec: Spec| -> Result<(String, Way), Failure> {
        let way = match spec.name.as_str() {
            "topic" if FINDS_NUMBER.iter().any(|key| spec.get(key).is_some()) => Way::Cuts(vec![(None, build(&spec)?)]),
            // Its threshold is a price of the whole segmentation, and its scores are made for one number of segments.
            "topic" => {
                let at = |&tau: &f64| {
                    let with = spec.clone().with("tau", tau.to_string()).map_err(|e| wrong(e.to_string()))?;
                    Ok((Some(tau), build(&with)?))
                };
                Way::Cuts(wanted.thresholds.iter().map(at).collect::<Result<_, Failure>>()?)
            }
            _ => Way::Scores(build(&spec)?),
        };
        Ok((spec.to_string(), way))
    };
    let chunkers = specs.into_iter().map(way).collect::<Result<Vec<_>, _>>()?;
    let sets = sets(wanted)?;
    let unreadable: usize = sets.iter().map(|set| input::report(&set.skipped)).sum();
    let bar = progress::bar(chunkers.len() as u64, "tuning", quiet);
    let found = tune(&sets, &chunkers, &wanted.thresholds, &|| bar.inc(1)).map_err(|e| wrong(e.to_string()))?;
    bar.finish_and_clear();
    if wanted.json {
        print_json(&found)?;
    } else {
        show(&found)?;
    }
    Ok(if unreadable > 0 { Status::Incomplete } else { Status::Done })
}

fn sets(wanted: &Wanted<'_>) -> Result<Vec<Set>, Failure> {
    wanted.data.iter().map(|data| set(wanted.file, data, wanted.split)).collect()
}

/// The spec with every combination of the grid's values.
fn combinations(base: &Spec, grid: &BTreeMap<String, Vec<toml::Value>>) -> Result<Vec<Spec>, String> {
    if grid.contains_key("tau") {
        return Err("grid.tau: leave tau out; thresholds are tried".into());
    }
    let mut specs = vec![base.clone()];
    for (key, values) in grid {
        if values.is_empty() {
            return Err(format!("grid.{key} is empty"));
        }
        if specs.len().saturating_mul(values.len()) > MOST {
            return Err(format!("the grid has more than {MOST} combinations"));
        }
        let mut next = Vec::with_capacity(specs.len() * values.len());
        for spec in &specs {
            for value in values {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                next.push(spec.clone().with(key, text).map_err(|e| format!("grid.{key}: {e}"))?);
            }
        }
        specs = next;
    }
    Ok(specs)
}

/// A threshold with all of its digits: steps of 0.0001 are the smallest.
pub(super) fn shown_threshold(tau: f64) -> String {
    let text = format!("{tau:.4}");
    let short = text.trim_end_matches('0');
    // Two digits at least, so that rows stand below each other.
    text.get(..short.len().max(text.len() - 2)).unwrap_or(&text).to_owned()
}

fn show(found: &Tuning) -> std::io::Result<()> {
    let documents = plural(found.documents, "document");
    say!("{documents}; F1 of exact boundaries, at the threshold that suits each row best\n");
    say!("{:>5} {:>6} {:>6} {:>6} {:>9}  segmenter", "tau", "F1", "P", "R", "prop/true");
    for row in &found.tried {
        let best = if *row == found.best { "  <- best" } else { "" };
        let percent = |x: f64| format!("{:.1}", 100.0 * x);
        say!(
            "{:>5} {:>6} {:>6} {:>6} {:>9.2}  {}{best}",
            row.tau.map_or_else(|| "-".to_owned(), shown_threshold),
            percent(row.f1),
            percent(row.precision),
            percent(row.recall),
            row.proposed_over_true,
            row.spec
        );
    }
    let joint = if found.best.spec.contains(':') { ',' } else { ':' };
    let threshold = found.best.tau.map_or_else(String::new, |tau| format!("{joint}tau={}", shown_threshold(tau)));
    say!("\nBest: {}{threshold}", found.best.spec);
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_threshold_is_shown_as_it_is() {
        for (tau, shown) in [(0.5, "0.50"), (0.57, "0.57"), (0.574, "0.574"), (0.269_000_000_1, "0.269"), (1.0, "1.00")]
        {
            assert_eq!(shown_threshold(tau), shown);
        }
    }

    #[test]
    fn every_combination_once() {
        let grid: BTreeMap<String, Vec<toml::Value>> = toml::from_str("k = [1, 2]\npool = ['mean', 'min']").unwrap();
        let specs = combinations(&Spec::parse("window:score=cosine").unwrap(), &grid).unwrap();
        let texts: Vec<String> = specs.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "window:k=1,pool=mean,score=cosine",
                "window:k=1,pool=min,score=cosine",
                "window:k=2,pool=mean,score=cosine",
                "window:k=2,pool=min,score=cosine"
            ]
        );
        let threshold: BTreeMap<String, Vec<toml::Value>> = toml::from_str("k = [1]\ntau = [0.4, 0.5]").unwrap();
        let problem = combinations(&Spec::parse("window").unwrap(), &threshold).unwrap_err();
        assert!(problem.contains("grid.tau: leave tau out"), "{problem}");
        let wide: BTreeMap<String, Vec<toml::Value>> =
            ["a", "b"].map(|key| (key.to_owned(), (0..200).map(toml::Value::Integer).collect())).into();
        assert!(combinations(&Spec::parse("window").unwrap(), &wide).unwrap_err().contains("combinations"));
    }
}
