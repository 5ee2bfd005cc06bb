//! Segmenters against documents whose boundaries are known, as `pericope segment-eval` scores them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use pericope_api::{Document, Segmenter, SentenceEncoder};
use pericope_eval::run::Observer;
use pericope_report::segmentation::Report;
use pericope_segeval::config::SegmentationExperiment;
use pericope_segeval::evaluate::{Evaluation, System, evaluate};
use pericope_segeval::read::{Options, Set, read};
use pericope_segment::registry::build_from;
use pericope_segment::spec::Spec;
use pericope_segment::split::Split;
use pericope_segment::{Chunker, Limits};

use super::segmenters;
use crate::{Engine, EngineError, shares_encoder, tokenizer_for};

/// A segmenter that is to be scored, by its spec.
#[derive(Debug, Clone, PartialEq)]
pub struct SystemSpec {
    /// What tables call it.
    pub name: String,
    /// Its spec.
    pub spec: Spec,
    /// A row each: whether it is told the true number of segments.
    pub known_counts: Vec<bool>,
}

impl SystemSpec {
    /// Those of an experiment.
    #[must_use]
    pub fn all_of(experiment: &SegmentationExperiment) -> Vec<Self> {
        let counts = |known: bool| if known { vec![false, true] } else { vec![false] };
        let one = |given: &pericope_segeval::config::SegmenterConfig| Self {
            name: given.name.clone(),
            spec: given.spec.clone(),
            known_counts: counts(given.known),
        };
        experiment.segmenters.iter().map(one).collect()
    }
}

/// What a set is drawn from.
#[derive(Debug, Clone, Copy, Default)]
pub struct Drawn {
    /// Most documents; 0: all.
    pub documents: usize,
    /// Seed of the draw.
    pub seed: u64,
    /// Only the documents of this split.
    pub split: Option<Split>,
}

/// Reads a set of documents with their boundaries; without a name it is called by its path.
///
/// # Errors
/// [`EngineError::Usage`] where nothing can be read; single documents that cannot be are named in [`Set::skipped`].
pub fn read_set(path: &Path, name: Option<&str>, drawn: Drawn) -> Result<Set, EngineError> {
    let splitter = pericope_read::default_splitter();
    let split = |text: &str| {
        let mut found = Vec::new();
        splitter.split(text, &mut |span| found.push(span.start..span.end));
        found
    };
    let Drawn { documents, seed, split: part } = drawn;
    let options = Options { name, documents, seed, part, ..Options::new(&split) };
    read(path, &options).map_err(EngineError::usage)
}

/// Reads the sets of an experiment.
///
/// # Errors
/// As [`read_set`], and where a path holds a variable that is not set.
pub fn read_sets(experiment: &SegmentationExperiment) -> Result<Vec<Set>, EngineError> {
    let one = |set: &pericope_segeval::config::SetConfig| {
        let path = set.expanded().map_err(EngineError::usage)?;
        read_set(&path, Some(&set.name), Drawn { documents: set.documents, seed: set.seed, split: set.split })
    };
    experiment.sets.iter().map(one).collect()
}

/// How segmenters are scored.
#[derive(Default)]
pub struct Scoring {
    /// No network: language models are asked from their cache alone.
    pub offline: bool,
    /// Segmenters of the caller's own, by the names that specs `custom:name=NAME` give.
    pub custom: BTreeMap<String, Arc<dyn Segmenter>>,
}

impl std::fmt::Debug for Scoring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let custom: Vec<&String> = self.custom.keys().collect();
        f.debug_struct("Scoring").field("offline", &self.offline).field("custom", &custom).finish()
    }
}

/// What the segmenters came to.
#[derive(Debug)]
pub struct Scored {
    /// Rows and documents.
    pub evaluation: Evaluation,
    /// Seconds of embedding all sentences beforehand, where several segmenters share the vectors.
    pub embedding_seconds: Option<f64>,
}

impl Scored {
    /// The report of these scores.
    #[must_use]
    pub fn report(self, experiment: &SegmentationExperiment, sets: &[Set]) -> Report {
        let mut report = Report::new(&experiment.name, sets, self.evaluation, &experiment.published);
        report.embedding_seconds = self.embedding_seconds;
        report
    }
}

/// Scores every segmenter on every set.
///
/// # Errors
/// [`EngineError::Usage`] for a segmenter that cannot be made or cannot segment a document of two sentences, and
/// [`EngineError::Runtime`] where an encoder fails. Documents that a segmenter fails on are named in its row.
pub fn score(
    sets: &[Set],
    specs: &[SystemSpec],
    scoring: Scoring,
    observer: &dyn Observer,
) -> Result<Scored, EngineError> {
    let corpus = |visit: &mut dyn FnMut(&Document)| {
        sets.iter().flat_map(|set| &set.documents).for_each(|segmented| visit(&segmented.document));
    };
    // The segmentation itself is measured: no limit unless a spec names one.
    let tokenizer = tokenizer_for("none", specs.iter().map(|one| &one.spec));
    let engine = Engine::new().with_tokenizer(tokenizer).with_defaults(Limits::NONE);
    let has_custom = !scoring.custom.is_empty();
    let mut engine = engine.with_custom(scoring.custom).with_corpus(&corpus).offline(scoring.offline);
    let sharing = specs.iter().filter(|one| shares_encoder(&one.spec));
    let asking: usize = sharing.map(|one| one.known_counts.len()).sum();
    let mut embedding_seconds = None;
    if asking > 1 {
        let encoder = engine.cache_encoder()?;
        embedding_seconds = Some(warm(sets, encoder.as_ref(), observer)?);
    }
    let known = if has_custom { segmenters() } else { crate::segmenters() };
    let made = |one: &SystemSpec| {
        let chunker = build_from(known, &one.spec, &engine);
        chunker.map_err(|e| EngineError::usage(format!("segmenter {}: {e}", one.name)))
    };
    let chunkers = specs.iter().map(made).collect::<Result<Vec<Chunker>, EngineError>>()?;
    let systems: Vec<System<'_>> = (specs.iter().zip(&chunkers))
        .flat_map(|(one, chunker)| {
            let system = move |&known_count: &bool| System { name: one.name.clone(), chunker, known_count };
            one.known_counts.iter().map(system)
        })
        .collect();
    let documents: usize = sets.iter().map(|set| set.documents.len()).sum();
    observer.stage("segmenting", documents * systems.len());
    let evaluation = evaluate(sets, &systems, &|one: &System<'_>, _: &str| {
        observer.at(&one.name);
        observer.advance(1);
    });
    Ok(Scored { evaluation: evaluation.map_err(EngineError::usage)?, embedding_seconds })
}

/// Embeds every sentence once; gives the seconds that it took.
fn warm(sets: &[Set], encoder: &dyn SentenceEncoder, observer: &dyn Observer) -> Result<f64, EngineError> {
    /// Documents whose sentences are embedded at a time.
    const DOCUMENTS: usize = 16;
    let start = Instant::now();
    let documents: Vec<&Document> = sets.iter().flat_map(|set| &set.documents).map(|one| &one.document).collect();
    observer.stage("embedding", documents.len());
    for part in documents.chunks(DOCUMENTS) {
        let texts: Vec<_> =
            part.iter().flat_map(|d| d.sentences.iter().map(|sentence| d.visible(sentence.span))).collect();
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        encoder.encode(&texts).map_err(EngineError::runtime)?;
        observer.advance(part.len());
    }
    Ok(start.elapsed().as_secs_f64())
}
