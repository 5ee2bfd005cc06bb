//! `pericope eval run` on experiments with `kind = "classification"`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use pericope::{Engine, segmenters};
use pericope_api::SentenceEncoder;
use pericope_encode::CachedEncoder;
use pericope_eval::classification::{ClassificationExperiment, ClassifierConfig, load};
use pericope_eval::config::ExperimentFile;
use pericope_eval::run::{ClassifySetup, RunFolder, TextSize, classify};
use pericope_learn::robert::Robert;
use pericope_report::classification::Report;
use pericope_segment::Resources;
use pericope_segment::spec::Spec;

use crate::args::EvalRunArgs;
use crate::commands::dry_run_segmenters;
use crate::commands::print_json;
use crate::resources::{embedder, failure, shown};
use crate::session::{Bars, by_kind, digest, not_held, not_written, run_folder, tell_kind};
use crate::status::{Failure, Outcome, Status};
use crate::terminal;

/// Bytes of segments and vectors that are remembered from one chunker to the next.
const MEMORY: usize = 1 << 30;

/// The embedder that segmenters read with too.
const DEFAULT: &str = "minilm";

/// Runs the experiment and writes its report.
pub fn run(file: &ExperimentFile, args: &EvalRunArgs, quiet: bool) -> Outcome {
    if args.limit.is_some() || args.trec.is_some() || args.resume {
        let flags = "--limit, --trec and --resume";
        return Err(Failure::usage(format!("{flags} are for experiments on retrieval; this is one on classification")));
    }
    let experiment = ClassificationExperiment::of_file(file, &args.set, segmenters()).map_err(Failure::usage)?;
    if args.dry_run {
        return price(&experiment, args.json);
    }
    tell_kind(file, quiet);
    let out = run_folder(args.out.as_deref(), &experiment.name)?;
    let mut resources = Engine::new().offline(args.offline);
    let encoder = encoder(&experiment.embedder, &mut resources, args.offline)?;
    let setup = ClassifySetup {
        segmenters: segmenters(),
        counter: resources.counter().map_err(Failure::usage)?,
        resources: &resources,
        model_checksums: BTreeMap::from([(encoder.name().to_owned(), digest(&encoder.fingerprint()))]),
        encoder,
        trainer: &robert(&experiment.classifier),
    };
    let folder = RunFolder::take(&out).map_err(not_held)?;
    let observer = Bars::new(quiet);
    observer.tell_what_models_wait_for();
    let found = classify(&experiment, &folder, &setup, &observer);
    observer.clear();
    let (summary, run) = found.map_err(by_kind)?;
    let report = Report { summary, run };
    report.write(&out).map_err(not_written(&out))?;
    drop(folder);
    if args.json {
        print_json(&report.summary)?;
    } else {
        say!("{}", report.table(terminal::width()));
        say!("Report: {}", shown(&out.join("index.html")));
    }
    Ok(if report.summary.failed > 0 { Status::Incomplete } else { Status::Done })
}

/// Says what the models of the segmenters and the embedder come to; nothing is asked, cut or trained.
fn price(experiment: &ClassificationExperiment, json: bool) -> Outcome {
    let path = experiment.data_path().map_err(Failure::usage)?;
    let set = load(&experiment.data, &path).map_err(Failure::usage)?;
    let documents: Vec<TextSize> = set.documents.iter().map(TextSize::of).collect();
    let specs: Vec<Spec> = experiment.chunkers.iter().map(|one| one.spec.clone()).collect();
    dry_run_segmenters::with_embedder(&specs, &documents, Some(&experiment.embedder), json)
}

/// Writes the report of a run again; nothing where the run is of another kind.
pub fn report(run: &Path, out: &Path) -> Result<bool, Failure> {
    let Some(report) = Report::load(run).map_err(not_written(run))? else { return Ok(false) };
    report.write(out).map_err(not_written(out))?;
    Ok(true)
}

/// An encoder that remembers what it read: segments are encoded once, however many chunkers make them, and segmenters share
/// the default one.
fn encoder(name: &str, engine: &mut Engine<'_>, offline: bool) -> Result<Arc<dyn SentenceEncoder>, Failure> {
    if name == DEFAULT {
        return engine.cache_encoder().map_err(failure);
    }
    let inner = embedder(name, offline)?.ok_or_else(|| Failure::usage("embedder: a classifier reads vectors"))?;
    Ok(Arc::new(CachedEncoder::new(inner, MEMORY)))
}

fn robert(config: &ClassifierConfig) -> Robert {
    let ClassifierConfig { hidden, head, learning_rate, epochs, patience, batch, .. } = *config;
    Robert { hidden, head, learning_rate, epochs, patience, batch }
}
