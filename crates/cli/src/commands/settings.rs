//! `--settings`: what a configuration comes down to, printed instead of run. Nothing is opened beside the file.

use std::collections::BTreeMap;

use pericope::segmenters;
use pericope_eval::classification::ClassificationExperiment;
use pericope_eval::config::{Configuration, Experiment, ExperimentFile, ExperimentKind};
use pericope_eval::resolved::Resolved;
use pericope_eval::sweep::variants;
use pericope_segeval::config::SegmentationExperiment;

use crate::commands::print_json;
use crate::resources::reranker_spec;
use crate::session::tell_kind;
use crate::status::{Failure, Outcome};

/// The model that embeds and counts tokens where nothing else is said.
const MODEL: &str = "minilm";

/// Prints the settings of an experiment with `--set`'s overrides.
pub fn run(file: &ExperimentFile, set: &[String], quiet: bool) -> Outcome {
    let resolved = resolved(file, set)?;
    tell_kind(file, quiet);
    print_json(&resolved)
}

fn resolved(file: &ExperimentFile, set: &[String]) -> Result<Resolved, Failure> {
    let known = segmenters();
    if file.kind == ExperimentKind::Segmentation {
        let experiment = SegmentationExperiment::of_file(file, set, known);
        return experiment.and_then(|experiment| experiment.resolved(known, &published())).map_err(Failure::usage);
    }
    if file.kind == ExperimentKind::Classification {
        let experiment = ClassificationExperiment::of_file(file, set, known);
        return experiment.and_then(|experiment| experiment.resolved(known, &published())).map_err(Failure::usage);
    }
    let experiment = Experiment::of_file(file, set, known).map_err(Failure::usage)?;
    let mut models = published();
    // A name that no reranker has is refused where a run begins, as a model is that is not installed.
    for (spec, entry) in experiment.rerankers().into_iter().filter_map(|text| reranker_spec(text).ok()) {
        models.extend((entry.weights)(&spec).map(|sha256| (format!("rerank.{}", spec.shown()), sha256.to_owned())));
    }
    let reads_by_shipped = |experiment: &Experiment| {
        experiment.reads_spans() && experiment.answer.model.as_deref().is_none_or(|model| model == "shipped")
    };
    let variants = variants(&experiment, known).map_err(Failure::usage)?;
    if variants.iter().any(|variant| reads_by_shipped(&variant.experiment)) {
        models.insert("answer.cogltx".into(), pericope_learn::cogltx::shipped_sha256().into());
    }
    Resolved::of_retrieval(&experiment, known, &models).map_err(Failure::usage)
}

/// The checksums that the model's files are to have.
fn published() -> BTreeMap<String, String> {
    let model = pericope_encode::models::known().iter().find(|model| model.name == MODEL);
    let files = model.into_iter().flat_map(|model| model.files);
    files.map(|file| (format!("{MODEL}.{}", file.name), file.sha256.to_owned())).collect()
}
