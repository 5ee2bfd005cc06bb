//! `pericope tune`

mod args;
mod segmenter;

pub use args::{TUNE_EXAMPLES, TuneArgs};

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pericope::experiments::segmentation::{Drawn, read_set};
use pericope::segmenters;
use pericope_encode::best_device;
use pericope_eval::config::{Configuration, ExperimentKind, expanded_path};
use pericope_eval::format::plural;
use pericope_eval::run::Estimate;
use pericope_learn::training::{Grid, LabelledDocument, Tried, tune};
use pericope_learn::weswin::{CHECKPOINT, WeSWin, open};
use pericope_segeval::read::{Segmented, Set};
use pericope_segment::registry::SegmenterEntry;
use pericope_segment::split::Split;
use serde::{Deserialize, Serialize};

use self::segmenter::{Wanted, shown_threshold};
use crate::commands::{dry_run, print_json, sweep};
use crate::input;
use crate::resources::{failure, shown};
use crate::session::{opened, tell_kind};
use crate::status::{Failure, Outcome, Status};

/// What is tuned, on what. Unknown keys are errors.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    /// `"tune"`, which says of which kind the file is.
    #[serde(default)]
    #[allow(dead_code)] // read by `ExperimentFile`
    kind: Option<ExperimentKind>,
    /// `shipped` (default), or the folder of a trained model.
    model: Option<String>,
    /// Instead of a model: a segmenter whose settings are tried.
    segmenter: Option<String>,
    /// With `segmenter`: values to try, by the setting's key.
    #[serde(default)]
    grid: BTreeMap<String, Vec<toml::Value>>,
    /// Files or folders of documents with known boundaries, relative to the working directory; `${VAR}` and
    /// `${VAR:-default}` are expanded.
    data: Vec<String>,
    /// Only the documents of this split, as `pericope train` splits them: train, validation or test; default: all.
    #[serde(alias = "part")]
    split: Option<Split>,
    /// Without `segmenter`: the partitions to try; default `cr-1`, `ss-6`, `ss-4` and `ss-2`.
    partitions: Option<Vec<String>>,
    /// Without `segmenter`: how the readings of a gap are weighed, as `mean:uniform` or `mean:lin_k5_e0.1`; default: 13 ways.
    weights: Option<Vec<String>>,
    /// The thresholds to try: lowest, highest, step; default 0.05, 0.8 and 0.01, with `segmenter` 0, 1 and 0.01.
    thresholds: Option<[f64; 3]>,
    /// Without `segmenter`: whether the best is written into the model's file, where that is not the shipped one; default false.
    #[serde(default)]
    write: bool,
}

impl Configuration for Config {
    const KIND: ExperimentKind = ExperimentKind::Tune;

    fn finish(&mut self, _: &[SegmenterEntry]) -> Result<(), String> {
        Ok(())
    }
}

#[derive(Serialize)]
struct Summary {
    model: String,
    documents: usize,
    best: Tried,
    tried: Vec<Tried>,
}

/// Runs the command.
pub fn run(args: TuneArgs, quiet: bool) -> Outcome {
    let path = &args.config;
    let wrong = |problem: String| Failure::usage(format!("{}: {problem}", shown(path)));
    let file = opened(path)?;
    match file.kind {
        ExperimentKind::Retrieval => return sweep::tune(&file, &args, quiet),
        ExperimentKind::Segmentation | ExperimentKind::Classification => {
            return Err(Failure::usage(file.unfit("kind = \"tune\", or \"retrieval\" with [sweep] and [tune]")));
        }
        ExperimentKind::Tune => {}
    }
    if args.out.is_some() || args.resume || args.offline {
        return Err(wrong("--out, --resume and --offline are for experiments; this is none".into()));
    }
    let config = Config::of_file(&file, &args.set, segmenters()).map_err(Failure::usage)?;
    tell_kind(&file, quiet);
    if let Some(segmenter) = &config.segmenter {
        if config.model.is_some() || config.partitions.is_some() || config.weights.is_some() || config.write {
            return Err(wrong("model, partitions, weights and write are for trained models, not for segmenter".into()));
        }
        let thresholds = thresholds(config.thresholds.unwrap_or([0.0, 1.0, 0.01])).map_err(wrong)?;
        let (grid, data, split) = (&config.grid, config.data.as_slice(), config.split);
        let (dry_run, json) = (args.dry_run, args.json);
        let wanted = Wanted { file: path, segmenter, grid, data, split, thresholds, dry_run, json };
        return segmenter::run(&wanted, quiet);
    }
    if !config.grid.is_empty() {
        return Err(wrong("[grid] holds settings of a segmenter: name it with segmenter = \"...\"".into()));
    }
    if args.dry_run {
        // A WeSWin runs in this process: nothing is paid, whatever the data are.
        let sets = config.data.iter().map(|data| set(path, data, config.split)).collect::<Result<Vec<_>, _>>()?;
        let documents = sets.iter().map(|set| set.documents.len()).sum();
        return dry_run::segmenting(Estimate { documents, chunkers: 1, ..Estimate::default() }, args.json);
    }
    let grid = grid(&config).map_err(wrong)?;
    let model_name = config.model.clone().unwrap_or_else(|| "shipped".to_owned());
    let file = (model_name != "shipped").then(|| {
        let path = PathBuf::from(&model_name);
        if path.is_dir() { path.join(CHECKPOINT) } else { path }
    });
    let mut checkpoint = open(&model_name).map_err(Failure::usage)?;
    if config.write && file.is_none() {
        return Err(wrong("write: the shipped model stays as it is".into()));
    }
    let base = checkpoint.base().map_err(Failure::usage)?;
    let model = WeSWin::on(&base, &checkpoint, &best_device()).map_err(Failure::usage)?;
    let mut documents: Vec<LabelledDocument> = Vec::new();
    let mut unreadable = 0;
    for data in &config.data {
        let set = set(path, data, config.split)?;
        unreadable += input::report(&set.skipped);
        let tokens = checkpoint.settings.tokens;
        let labelled = |one: &Segmented| LabelledDocument::new(&one.document, one.reference.after(), &base, tokens);
        documents.extend(set.documents.iter().map(labelled));
    }
    let tuning = tune(&model, &documents, &grid).map_err(|e| wrong(e.to_string()))?;
    if let (true, Some(file)) = (config.write, &file) {
        checkpoint.settings = tuning.applied(checkpoint.settings.clone());
        checkpoint.write(file, checkpoint.is_half()).map_err(Failure::runtime)?;
    }
    let summary = Summary { model: model_name, documents: documents.len(), best: tuning.best, tried: tuning.tried };
    if args.json {
        print_json(&summary)?;
    } else {
        show(&summary)?;
        if config.write && !quiet {
            say!(
                "Written into the model: {}, {}, tau {}",
                summary.best.partition,
                summary.best.weights,
                shown_threshold(summary.best.threshold)
            );
        }
    }
    Ok(if unreadable > 0 { Status::Incomplete } else { Status::Done })
}

/// The documents of a path of the file.
///
/// # Errors
/// A usage failure that says where the path comes from, where a variable may name another.
pub fn set(file: &Path, data: &str, split: Option<Split>) -> Result<Set, Failure> {
    let path = expanded_path(&shown(file), data).map_err(Failure::usage)?;
    if data.contains("${") && !path.exists() {
        let problem = "there is no such file or folder, and another variable may name one";
        return Err(Failure::usage(format!("{}: data \"{data}\": {}: {problem}", shown(file), path.display())));
    }
    read_set(&path, None, Drawn { split, ..Drawn::default() }).map_err(failure)
}

fn grid(config: &Config) -> Result<Grid, String> {
    let mut grid = Grid::default();
    if let Some(names) = &config.partitions {
        grid.partitions = names.iter().map(|name| name.parse()).collect::<Result<_, String>>()?;
    }
    if let Some(names) = &config.weights {
        grid.weightings = names.iter().map(|name| name.parse()).collect::<Result<_, String>>()?;
    }
    if let Some(range) = config.thresholds {
        grid.thresholds = thresholds(range)?;
    }
    Ok(grid)
}

/// From the lowest to the highest, a step apart.
fn thresholds([low, high, step]: [f64; 3]) -> Result<Vec<f64>, String> {
    let is_step = step.is_finite() && step >= 1e-4;
    if !(0.0..=1.0).contains(&low) || !(low..=1.0).contains(&high) || !is_step {
        return Err("thresholds: lowest and highest in 0..=1, and a step of at least 0.0001".into());
    }
    let count = ((high - low) / step + 1e-9) as usize;
    Ok((0..=count).map(|i| low + step * i as f64).collect())
}

fn show(summary: &Summary) -> std::io::Result<()> {
    let documents = plural(summary.documents, "document");
    say!("{documents}; F1 of exact boundaries, at the threshold that suits each row best\n");
    say!("{:<10} {:<18} {:>5} {:>6} {:>12}", "partition", "weights", "tau", "F1", "tokens read");
    for row in &summary.tried {
        let best = if *row == summary.best { "  <- best" } else { "" };
        let Tried { partition, weights, threshold, f1, tokens } = row;
        let threshold = shown_threshold(*threshold);
        say!("{partition:<10} {weights:<18} {threshold:>5} {:>6.1} {tokens:>12}{best}", 100.0 * f1);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::thresholds;

    #[test]
    fn a_step_that_is_no_number_is_refused() {
        assert_eq!(thresholds([0.25, 0.75, 0.25]), Ok(vec![0.25, 0.5, 0.75]));
        for wrong in [
            [0.0, 1.0, f64::NAN],
            [0.0, 1.0, f64::INFINITY],
            [0.0, 1.0, 0.0],
            [0.0, 1.0, -0.1],
            [f64::NAN, 1.0, 0.1],
            [0.0, f64::NAN, 0.1],
            [0.5, 0.4, 0.1],
        ] {
            assert!(thresholds(wrong).is_err(), "{wrong:?}");
        }
    }
}
