//! Experiments with a `[sweep]`: run them all, or choose among them.

use std::path::Path;

use pericope::experiments::{self, Ran};
use pericope::segmenters;
use pericope_eval::config::{Configuration, Experiment, ExperimentFile};
use pericope_eval::record::{ITEMS, Item, ItemReader};
use pericope_eval::sweep::{Chosen, Variant, choose, variants};
use serde_json::json;

use crate::commands::eval::EvalRunArgs;
use crate::commands::tune::TuneArgs;
use crate::commands::{dry_run, print_json};
use crate::resources::shown;
use crate::session::{Session, check_parts, is_incomplete, not_run, one, run_folder, tell_kind};
use crate::status::{Failure, Outcome, Status};

/// `pericope eval run` on an experiment with a sweep: a folder a variant, and a report that sets them side by side.
pub fn run(experiment: &Experiment, out: &Path, args: &EvalRunArgs, quiet: bool) -> Outcome {
    let variants = variants(experiment, segmenters()).map_err(Failure::usage)?;
    if args.dry_run {
        return estimated(&variants, args.json);
    }
    let Some(ran) = all(&variants, out, args.session(), quiet)? else { return Ok(Status::Incomplete) };
    let status = status(&ran, experiment);
    if args.json {
        let shown =
            |Ran { label, folder, summary }: &Ran| json!({ "label": label, "folder": folder, "summary": summary });
        print_json(&json!({ "runs": ran.iter().map(shown).collect::<Vec<_>>() }))?;
    } else {
        for (number, ran) in ran.iter().enumerate() {
            say!("{:02}  {}", number + 1, ran.label);
        }
        say!("Report: {}", shown(&out.join("index.html")));
    }
    Ok(status)
}

/// `pericope tune` on an experiment with a sweep: the variant that does best on one half of the documents' questions, with
/// its figures on the other.
pub fn tune(file: &ExperimentFile, args: &TuneArgs, quiet: bool) -> Outcome {
    let experiment = Experiment::of_file(file, &args.set, segmenters()).map_err(Failure::usage)?;
    tell_kind(file, quiet);
    let wrong = |problem: &str| Failure::usage(format!("{}: {problem}", shown(&args.config)));
    let by = experiment.tune.clone().ok_or_else(|| wrong("there is no [tune]: chunker, metric, k"))?;
    if experiment.sweep.is_empty() {
        return Err(wrong("there is no [sweep] to choose from"));
    }
    let variants = variants(&experiment, segmenters()).map_err(Failure::usage)?;
    if !variants.iter().any(|variant| by.is_measured(&variant.experiment)) {
        return Err(wrong("no variant has the mode, k or token_budget of [tune]"));
    }
    if args.dry_run {
        return estimated(&variants, args.json);
    }
    let out = run_folder(args.out.as_deref(), &format!("{}-tune", experiment.name))?;
    let session = Session { resume: args.resume, offline: args.offline, ..Session::default() };
    let Some(ran) = all(&variants, &out, session, quiet)? else { return Ok(Status::Incomplete) };
    let mut items = Vec::with_capacity(ran.len());
    for ran in &ran {
        items.push((ran.label.clone(), read_items(&ran.folder.join(ITEMS))?));
    }
    let chosen = choose(&by, &items).map_err(|problem| wrong(&problem))?;
    let text = serde_json::to_string_pretty(&chosen).map_err(anyhow::Error::from)?;
    pericope_util::replace_file(&out.join("tune.json"), text + "\n")?;
    let status = status(&ran, &experiment);
    if args.json {
        print_json(&chosen)?;
    } else {
        table(&chosen)?;
        say!("Report: {}", shown(&out.join("index.html")));
    }
    Ok(status)
}

/// What all variants may ask of models.
fn estimated(variants: &[Variant], json: bool) -> Outcome {
    let runs: Vec<&Experiment> = variants.iter().map(|variant| &variant.experiment).collect();
    dry_run::experiments(&runs, None, json)
}

/// Says of which variants too much failed or was left out.
fn status(ran: &[Ran], experiment: &Experiment) -> Status {
    let failed = ran.iter().filter(|ran| is_incomplete(&ran.summary, experiment)).count();
    if failed > 0 { Status::Incomplete } else { Status::Done }
}

/// Runs the variants and writes the report that sets them side by side.
fn all(variants: &[Variant], out: &Path, session: Session<'_>, quiet: bool) -> Result<Option<Vec<Ran>>, Failure> {
    variants.iter().try_for_each(|variant| check_parts(&variant.experiment))?;
    let run = |number: usize, experiment: &Experiment, folder: &Path, session: Session<'_>, ledger| {
        if !quiet && let Some(variant) = variants.get(number) {
            tell!("{} of {}: {}", number + 1, variants.len(), variant.label);
        }
        one(experiment, folder, session, ledger, quiet)
    };
    experiments::sweep(variants, out, session, run, not_run)
}

fn read_items(path: &Path) -> Result<Vec<Item>, Failure> {
    let items = ItemReader::open(path).and_then(|items| items.map(|item| Ok(item?.0)).collect());
    items.map_err(Failure::runtime)
}

fn table(chosen: &Chosen) -> std::io::Result<()> {
    // The first may have no score at all, where it does not retrieve as [tune] says.
    let (to_choose, to_report) = chosen.tried.get(chosen.best).map_or((0, 0), |tried| tried.questions);
    say!("{} of {}; {to_choose} questions choose, {to_report} report", chosen.by.metric, chosen.by.chunker);
    if chosen.left_out > 0 {
        say!("{} questions that some variant has no score of count for none", chosen.left_out);
    }
    say!("{:>10} {:>10}  variant", "chooses", "held out");
    let figure = |x: Option<f64>| x.map_or_else(|| "–".to_owned(), |x| format!("{x:.4}"));
    for (i, tried) in chosen.tried.iter().enumerate() {
        let mark = if i == chosen.best { "  <- best" } else { "" };
        say!("{:>10} {:>10}  {}{mark}", figure(tried.validation), figure(tried.held_out), tried.label);
    }
    if let Some(paired) = &chosen.against_first {
        say!(
            "held out, against the first: {:+.4} ({:+.4} to {:+.4}, p = {:.3}, n = {})",
            paired.difference,
            paired.low,
            paired.high,
            paired.p,
            paired.n
        );
    }
    Ok(())
}
