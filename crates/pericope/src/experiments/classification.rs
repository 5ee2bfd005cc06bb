//! Chunkers compared by how well the class of a document can be read from its segments.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use pericope_api::{Segmenter, SentenceEncoder};
use pericope_eval::classification::{ClassificationExperiment, ClassifierConfig};
use pericope_eval::run::{ClassifySetup, Observer, RunError, RunFolder, classify};
use pericope_learn::robert::Robert;
use pericope_report::classification::Report;
use pericope_segment::Resources;

use super::{ExperimentError, counting, digest, segmenters};
use crate::engine::cached;
use crate::{Engine, EngineError, embedders};

/// A run that is done, and its folder, which stays held until the report is written.
#[derive(Debug)]
pub struct Classified {
    /// What the report says.
    pub report: Report,
    /// The folder.
    pub folder: RunFolder,
}

/// Runs an experiment into a folder, which is made where it is missing; its report is not yet written ([`Report::write`]).
/// `custom` are segmenters of the caller's own, by the names that specs `custom:name=NAME` give; `encoder` takes the place of
/// the one that the experiment names.
///
/// # Errors
/// [`ExperimentError`].
pub fn classification(
    experiment: &ClassificationExperiment,
    out: &Path,
    custom: BTreeMap<String, Arc<dyn Segmenter>>,
    (encoder, offline): (Option<Arc<dyn SentenceEncoder>>, bool),
    observer: &dyn Observer,
) -> Result<Classified, ExperimentError> {
    let specs = experiment.chunkers.iter().map(|one| &one.spec);
    let counting = counting(experiment.tokenizer.as_ref(), &experiment.embedder, specs);
    let mut engine = Engine::new().with_tokenizer(counting).with_custom(custom).offline(offline);
    let encoder = match encoder {
        Some(encoder) => cached(encoder),
        None => named(&experiment.embedder, &mut engine, offline)?,
    };
    let setup = ClassifySetup {
        segmenters: segmenters(),
        counter: engine.counter().map_err(EngineError::usage)?,
        resources: &engine,
        model_checksums: BTreeMap::from([(encoder.name().to_owned(), digest(&encoder.fingerprint()))]),
        encoder,
        trainer: &robert(&experiment.classifier),
    };
    let folder = RunFolder::take(out).map_err(RunError::from)?;
    let (summary, run) = classify(experiment, &folder, &setup, observer)?;
    Ok(Classified { report: Report { summary, run }, folder })
}

/// An encoder that remembers what it read: segments are encoded once, however many chunkers make them, and segmenters share
/// the default one.
fn named(name: &str, engine: &mut Engine<'_>, offline: bool) -> Result<Arc<dyn SentenceEncoder>, EngineError> {
    if embedders::is_default(name) {
        return engine.cache_encoder();
    }
    let found = embedders::embedder(name, offline)?;
    let encoder = found.ok_or_else(|| EngineError::usage("embedder: a classifier reads vectors"))?;
    Ok(cached(encoder))
}

fn robert(config: &ClassifierConfig) -> Robert {
    let ClassifierConfig { hidden, head, learning_rate, epochs, patience, batch, .. } = *config;
    Robert { hidden, head, learning_rate, epochs, patience, batch }
}
