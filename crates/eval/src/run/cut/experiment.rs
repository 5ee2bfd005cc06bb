//! Cutting by the chunkers of an experiment.

use std::sync::Arc;

use pericope_segment::Limits;

use super::super::done::Done;
use super::super::{Corpus, Observer, RunError, Setup, contexts};
use super::Cut;
use super::resources::{CorpusResources, Mean, default_limits};
use crate::config::{ChunkerConfig, Experiment};

/// Cuts the corpus by every chunker that is not done (`None`); one that refers to another comes after it, whatever the order of the configuration.
/// `begin` is called once all of them are built, before the first cuts: what is wrong with a spec or a model is said while an
/// earlier run still stands in the folder.
pub(in crate::run) fn all(
    experiment: &Experiment,
    corpus: &Corpus,
    setup: &Setup<'_>,
    finished: &Done,
    observer: &dyn Observer,
    begin: impl FnOnce() -> Result<(), RunError>,
) -> Result<Vec<Option<Cut>>, RunError> {
    let cutting = Cutting::new(experiment, corpus, setup, finished, observer);
    cutting.try_all(finished)?;
    begin()?;
    cutting.all()
}

/// What the chunkers of an experiment cut with.
struct Cutting<'a> {
    experiment: &'a Experiment,
    setup: &'a Setup<'a>,
    observer: &'a dyn Observer,
    /// The limits of chunks where neither a spec nor a chunker says any.
    defaults: Limits,
    resources: CorpusResources<'a>,
    /// Whether each chunker is still to cut.
    open: Vec<bool>,
}

impl<'a> Cutting<'a> {
    fn new(
        experiment: &'a Experiment,
        corpus: &'a Corpus,
        setup: &'a Setup<'a>,
        finished: &Done,
        observer: &'a dyn Observer,
    ) -> Self {
        let chunkers = &experiment.chunkers;
        let (encoder, counter) = (setup.encoder.as_deref(), setup.counter.as_ref());
        let defaults = default_limits(experiment.max_tokens, setup.resources.defaults(), encoder, counter);
        let mut resources =
            CorpusResources::new(setup.resources, setup.segmenters, &corpus.documents, chunkers, defaults);
        resources.asking = setup.models.asking.as_deref();
        resources.originals = Arc::clone(&corpus.set.originals);
        for row in chunkers.iter().filter_map(|config| finished.row(&config.name)) {
            resources.means.get_mut().insert(row.name.clone(), Mean { words: row.mean_words, limit: row.limit });
        }
        let open = chunkers.iter().map(|config| finished.row(&config.name).is_none()).collect();
        Self { experiment, setup, observer, defaults, resources, open }
    }

    fn limits(&self, config: &ChunkerConfig) -> Limits {
        self.experiment.below_headings(config, self.defaults)
    }

    /// Whether two differ in nothing but what becomes of their chunks: they cut once.
    fn is_same(&self, one: &ChunkerConfig, other: &ChunkerConfig) -> bool {
        other.spec == one.spec
            && self.limits(other) == self.limits(one)
            && self.experiment.adds_context(other) == self.experiment.adds_context(one)
    }

    /// Builds every chunker that is to cut, and says what is wrong with any.
    fn try_all(&self, finished: &Done) -> Result<(), RunError> {
        let chunkers = &self.experiment.chunkers;
        for (i, config) in chunkers.iter().enumerate() {
            self.resources.defaults.set(self.limits(config));
            self.resources.check_same_model(config, finished)?;
            if let Some(encoder) = self.setup.encoder.as_ref().filter(|_| self.experiment.chunks_late(config)) {
                encoder
                    .encode_spans(&[])
                    .map_err(|error| RunError::Config(format!("chunker '{}': late_chunking: {error}", config.name)))?;
            }
            let mut before = chunkers.iter().zip(&self.open).take(i);
            let is_cut_before = before.any(|(other, open)| *open && self.is_same(config, other));
            let is_to_build = self.open.get(i).is_some_and(|open| *open) && !is_cut_before;
            // It is built again when it cuts: all at once, with their models, might take more memory than there is.
            if is_to_build {
                self.resources.try_to_build(config)?;
            }
        }
        Ok(())
    }

    /// Cuts by every chunker that is not done.
    fn all(&self) -> Result<Vec<Option<Cut>>, RunError> {
        let chunkers = &self.experiment.chunkers;
        let mut done: Vec<Option<Cut>> = chunkers.iter().map(|_| None).collect();
        let mut order: Vec<usize> = (0..chunkers.len()).collect();
        // A reference to another chunker is answered from its mean once that is known.
        order.sort_by_key(|&i| chunkers[i].spec.name == "same-size");
        for i in order.into_iter().filter(|&i| self.open[i]) {
            let config = &chunkers[i];
            let same = chunkers.iter().zip(&done).find(|(other, cut)| cut.is_some() && self.is_same(config, other));
            let same = same.and_then(|(_, cut)| cut.clone());
            done[i] = Some(self.one(config, same)?);
        }
        Ok(done)
    }

    /// The cut of a chunker; `same` is that of one with the same chunks.
    fn one(&self, config: &ChunkerConfig, same: Option<Cut>) -> Result<Cut, RunError> {
        let Self { experiment, setup, resources, .. } = self;
        let observer = self.observer;
        resources.limit_to(self.limits(config), &config.spec);
        let mut cut = match same {
            Some(cut) => Cut { name: config.name.clone(), ..cut },
            None => {
                observer.stage(&format!("{}: cutting", config.name), resources.documents.len());
                resources.cut(&config.name, &config.spec, observer)?
            }
        };
        let reranking = experiment.retrieval.reranking(config.rerank.as_deref());
        cut.reranking = reranking.map(|reranking| (reranking.spec.to_owned(), reranking.depth));
        if experiment.adds_context(config) && cut.contexts.is_none() {
            contexts::add(&mut cut, resources.documents, resources.asking, observer)?;
        }
        cut.expansion = experiment.retrieval.expansion(config.expand);
        cut.generator = experiment.own_generator(config.generator);
        cut.prefix_headings = setup.encoder.is_some() && experiment.prefixes_headings(config);
        cut.late_chunking = setup.encoder.is_some() && experiment.chunks_late(config);
        resources.size(&mut cut, &config.spec, observer)?;
        resources.learn(&cut);
        Ok(cut)
    }
}
