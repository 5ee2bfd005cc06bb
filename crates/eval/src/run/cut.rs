use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

use pericope_api::{Chunk, Document, ModelUse, SegmentError, Segmenter, SentenceEncoder, ShiftFinder, TokenCounter};
use pericope_segment::fixed::{MeanWords, match_bound};
use pericope_segment::foreign::Originals;
use pericope_segment::llm::LanguageModel;
use pericope_segment::registry::{SegmenterEntry, build_from};
use pericope_segment::spec::Spec;
use pericope_segment::{Chunker, Limits, LoadEncoder, Resources};
use pericope_store::{Expand, Expansion};
use std::sync::Arc;

use super::done::Done;
use super::found::{Built, Hit};
use super::{Observer, RunError, Setup, contexts};
use crate::asking::Asking;
use crate::config::{ChunkerConfig, Experiment, GeneratorKind, shown_reranker};
use crate::record::{ChunkerRow, Histogram, SameSize};

/// A corpus cut by one chunker.
#[derive(Clone)]
pub(super) struct Cut {
    pub(super) name: String,
    /// Spec with the limit in force.
    pub(super) spec: String,
    /// What it came down to, where that is another segmenter.
    resolved: Option<String>,
    /// Chunks by document.
    pub(super) chunks: Arc<Vec<Vec<Chunk>>>,
    pub(super) mean_words: f64,
    seconds: f64,
    limit: Option<usize>,
    /// Documents that the chunker failed on, by index, with its reason: they are missing in its index.
    failed: BTreeMap<usize, String>,
    /// Says which weights it was cut with; empty where the spec says all.
    pub(super) fingerprint: String,
    /// For a retriever of others, of which only what it found is known: the texts that stand in no document. Its chunks come
    /// after those of the corpus.
    pub(super) lost: Option<Document>,
    /// What a `same-size` was sized by.
    pub(super) same_size: Option<SameSize>,
    /// What orders its hits anew, and how many of them.
    pub(super) reranking: Option<(String, usize)>,
    /// What is given back in place of its chunks.
    pub(super) expansion: Expansion,
    /// Whether its chunks are embedded behind their headings.
    pub(super) prefix_headings: bool,
    /// Whether its chunks are embedded within their documents.
    pub(super) late_chunking: bool,
    /// What its segmenter asked of a language model.
    asked: Option<ModelUse>,
    /// What answers from its chunks, where that is not what answers from all.
    pub(super) generator: Option<GeneratorKind>,
    /// Who wrote the contexts of its chunks, and what was asked for them.
    pub(super) contexts: Option<(String, ModelUse)>,
}

impl Cut {
    /// A cut that is nothing but its chunks.
    #[cfg(test)]
    pub(super) fn of_chunks(name: &str, chunks: Arc<Vec<Vec<Chunk>>>) -> Self {
        Self { lost: None, ..Self::of_passages(name, name, chunks, Document::from_sentences("", &[""; 0]), 0.0) }
    }

    /// What a retriever of others found, as if it had been cut.
    pub(super) fn of_passages(
        name: &str,
        spec: &str,
        chunks: Arc<Vec<Vec<Chunk>>>,
        lost: Document,
        mean_words: f64,
    ) -> Self {
        Self {
            name: name.to_owned(),
            spec: spec.to_owned(),
            resolved: None,
            chunks,
            mean_words,
            seconds: 0.0,
            limit: None,
            failed: BTreeMap::new(),
            fingerprint: String::new(),
            same_size: None,
            lost: Some(lost),
            reranking: None,
            expansion: Expansion::default(),
            prefix_headings: false,
            late_chunking: false,
            asked: None,
            generator: None,
            contexts: None,
        }
    }

    /// The document of a hit: one of the corpus, or the texts that stand in none.
    pub(super) fn document<'c>(&'c self, documents: &'c [Document], hit: &Hit) -> Option<&'c Document> {
        documents.get(hit.document).or(self.lost.as_ref())
    }

    /// Why the chunker has no chunks of a document that a question's answer stands in.
    pub(super) fn failure(&self, documents: impl Iterator<Item = usize>) -> Option<&str> {
        documents.into_iter().find_map(|document| self.failed(document))
    }

    /// Why the chunker has no chunks of a document (its index).
    pub(super) fn failed(&self, document: usize) -> Option<&str> {
        self.failed.get(&document).map(String::as_str)
    }

    pub(super) fn chunk(&self, hit: &Hit) -> &Chunk {
        &self.chunks[hit.document][hit.ordinal]
    }

    pub(super) fn row(&self, built: &Built) -> ChunkerRow {
        let tokens: Vec<usize> = self.chunks.iter().flatten().map(|c| c.tokens).collect();
        let total: usize = tokens.iter().sum();
        ChunkerRow {
            name: self.name.clone(),
            spec: self.spec.clone(),
            resolved: self.resolved.clone(),
            retriever: None,
            chunks: tokens.len(),
            mean_words: self.mean_words,
            mean_tokens: if tokens.is_empty() { 0.0 } else { total as f64 / tokens.len() as f64 },
            max_tokens: tokens.iter().copied().max().unwrap_or(0),
            segment_seconds: self.seconds,
            index_seconds: built.seconds,
            truncated: built.truncated,
            limit: self.limit,
            fingerprint: self.fingerprint.clone(),
            same_size: self.same_size.clone(),
            rerank: self.reranking.as_ref().map(|(spec, _)| shown_reranker(spec)),
            rerank_depth: self.reranking.as_ref().map(|(_, depth)| *depth),
            expand: (self.expansion.expand != Expand::None).then_some(self.expansion.expand),
            expand_tokens: (self.expansion.expand != Expand::None).then_some(self.expansion.tokens),
            prefix_headings: self.prefix_headings,
            late_chunking: self.late_chunking,
            generator: self.generator,
            context: self.contexts.as_ref().map(|(writer, _)| writer.clone()),
            contexts: self.contexts.as_ref().map(|(_, used)| *used),
            asked: self.asked,
            index_bytes: built.bytes,
            token_histogram: Some(Histogram::of(tokens)),
            query_times: std::collections::BTreeMap::new(),
            answer_times: Vec::new(),
        }
    }
}

/// Cuts the corpus by every chunker that is not done (`None`); one that refers to another comes after it, whatever the order of the configuration.
/// `begin` is called once all of them are built, before the first cuts: what is wrong with a spec or a model is said while an
/// earlier run still stands in the folder.
pub(super) fn all(
    experiment: &Experiment,
    corpus: &super::Corpus,
    setup: &Setup<'_>,
    finished: &Done,
    observer: &dyn Observer,
    begin: impl FnOnce() -> Result<(), RunError>,
) -> Result<Vec<Option<Cut>>, RunError> {
    let documents = corpus.documents.as_slice();
    let chunkers = &experiment.chunkers;
    let means = (chunkers.iter())
        .filter_map(|config| {
            let row = finished.row(&config.name)?;
            Some((config.name.clone(), Mean { words: row.mean_words, limit: row.limit }))
        })
        .collect();
    let encoder = setup.encoder.as_deref();
    let defaults = default_limits(experiment.max_tokens, setup.resources.defaults(), encoder, setup.counter.as_ref());
    let resources = Corpus {
        base: setup.resources,
        documents,
        names: chunkers,
        defaults: Cell::new(defaults),
        segmenters: setup.segmenters,
        asking: setup.models.asking.as_deref(),
        means: RefCell::new(means),
        only_tried: Cell::new(false),
        originals: Arc::clone(&corpus.set.originals),
    };
    let mut done: Vec<Option<Cut>> = chunkers.iter().map(|_| None).collect();
    let limits = |config: &ChunkerConfig| experiment.below_headings(config, defaults);
    // Two that differ in what becomes of their chunks cut once.
    let is_same = |one: &ChunkerConfig, other: &ChunkerConfig| {
        other.spec == one.spec
            && limits(other) == limits(one)
            && experiment.adds_context(other) == experiment.adds_context(one)
    };
    let open: Vec<bool> = chunkers.iter().map(|config| finished.row(&config.name).is_none()).collect();
    for (i, config) in chunkers.iter().enumerate() {
        resources.defaults.set(limits(config));
        check(config, setup.segmenters, &resources, finished)?;
        if let Some(encoder) = setup.encoder.as_ref().filter(|_| experiment.chunks_late(config)) {
            encoder
                .encode_spans(&[])
                .map_err(|error| RunError::Config(format!("chunker '{}': late_chunking: {error}", config.name)))?;
        }
        let is_cut_before = chunkers.iter().zip(&open).take(i).any(|(other, open)| *open && is_same(config, other));
        let is_to_build = open.get(i).is_some_and(|open| *open) && !is_cut_before;
        // It is built again when it cuts: all at once, with their models, might take more memory than there is.
        if is_to_build {
            resources.try_to_build(config)?;
        }
    }
    begin()?;
    let mut order: Vec<usize> = (0..chunkers.len()).collect();
    // A reference to another chunker is answered from its mean once that is known.
    order.sort_by_key(|&i| chunkers[i].spec.name == "same-size");
    for i in order.into_iter().filter(|&i| open[i]) {
        let config = &chunkers[i];
        let same = chunkers.iter().zip(&done).find(|(other, cut)| cut.is_some() && is_same(config, other));
        resources.defaults.set(limits(config));
        resources.defaults.set(resources.sized(&config.spec));
        let mut cut = match same.and_then(|(_, cut)| cut.clone()) {
            Some(cut) => Cut { name: config.name.clone(), ..cut },
            None => {
                observer.stage(&format!("{}: cutting", config.name), documents.len());
                one(&config.name, &config.spec, documents, setup.segmenters, &resources, observer)?
            }
        };
        let reranking = experiment.retrieval.reranking(config.rerank.as_deref());
        cut.reranking = reranking.map(|reranking| (reranking.spec.to_owned(), reranking.depth));
        if experiment.adds_context(config) && cut.contexts.is_none() {
            contexts::add(&mut cut, documents, resources.asking, observer)?;
        }
        cut.expansion = experiment.retrieval.expansion(config.expand);
        cut.generator = experiment.own_generator(config.generator);
        cut.prefix_headings = setup.encoder.is_some() && experiment.prefixes_headings(config);
        cut.late_chunking = setup.encoder.is_some() && experiment.chunks_late(config);
        size(&mut cut, &config.spec, &resources, observer)?;
        resources.means.borrow_mut().insert(config.name.clone(), Mean::of(&cut));
        done[i] = Some(cut);
    }
    Ok(done)
}

/// Cuts the corpus by specs that nothing else is asked of, in their order; `encoder` reads the chunks.
pub(super) fn plain(
    named: &[(&str, &Spec)],
    documents: &[Document],
    (segmenters, base): (&[SegmenterEntry], &dyn Resources),
    (max_tokens, encoder): (Option<usize>, &dyn SentenceEncoder),
    observer: &dyn Observer,
) -> Result<Vec<Cut>, RunError> {
    let counter = base.counter().map_err(RunError::Config)?;
    let defaults = default_limits(max_tokens, base.defaults(), Some(encoder), counter.as_ref());
    let names: Vec<ChunkerConfig> = named.iter().map(|(name, spec)| ChunkerConfig::plain(name, spec)).collect();
    let resources = Corpus {
        base,
        documents,
        names: &names,
        defaults: Cell::new(defaults),
        segmenters,
        asking: None,
        means: RefCell::default(),
        only_tried: Cell::new(false),
        originals: Arc::default(),
    };
    let mut order: Vec<(usize, &(&str, &Spec))> = named.iter().enumerate().collect();
    order.sort_by_key(|(_, (_, spec))| spec.name == "same-size");
    let mut done = Vec::with_capacity(named.len());
    for (at, (name, spec)) in order {
        observer.stage(&format!("{name}: cutting"), documents.len());
        resources.defaults.set(defaults);
        resources.defaults.set(resources.sized(spec));
        let mut cut = one(name, spec, documents, segmenters, &resources, observer)?;
        size(&mut cut, spec, &resources, observer)?;
        resources.means.borrow_mut().insert((*name).to_owned(), Mean::of(&cut));
        done.push((at, cut));
    }
    done.sort_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, cut)| cut).collect())
}

/// Takes down what a `same-size` was to be, and says so where it is not.
fn size(cut: &mut Cut, spec: &Spec, resources: &Corpus<'_>, observer: &dyn Observer) -> Result<(), RunError> {
    let Some(reference) = spec.get("reference").filter(|_| spec.name == "same-size") else { return Ok(()) };
    let reference_words = resources.mean_words(reference).map_err(RunError::Config)?;
    let same = SameSize::new(reference, reference_words, cut.mean_words);
    if !same.is_equal() && spec.get("match") != Some("bound") {
        observer.note(&format!("{}: {same}; no bound that was tried comes nearer", cut.name));
    }
    cut.same_size = Some(same);
    Ok(())
}

/// The limits of chunks where a spec says none: what the experiment says, else what suits its embedder, where there is any limit.
fn default_limits(
    max_tokens: Option<usize>,
    base: Limits,
    encoder: Option<&dyn SentenceEncoder>,
    counter: &dyn TokenCounter,
) -> Limits {
    let own = encoder.filter(|_| base.max_tokens.is_some_and(|limit| limit > 0));
    let of_embedder = own.and_then(|encoder| Limits::of_embedder(Some(encoder), counter).max_tokens);
    Limits { max_tokens: max_tokens.or(of_embedder).or(base.max_tokens), ..base }
}

/// Refuses to go on from what a chunker cut with other weights than it has now.
fn check(
    config: &ChunkerConfig,
    segmenters: &[SegmenterEntry],
    resources: &dyn Resources,
    finished: &Done,
) -> Result<(), RunError> {
    let ChunkerConfig { name, spec, .. } = config;
    let Some(row) = finished.row(name).filter(|row| !row.fingerprint.is_empty()) else { return Ok(()) };
    let chunker =
        build_from(segmenters, spec, resources).map_err(|e| RunError::Config(format!("chunker '{name}': {e}")))?;
    if chunker.fingerprint() == row.fingerprint {
        return Ok(());
    }
    Err(RunError::Config(format!(
        "chunker '{name}' was run with another model ({}, now {}): --resume would mix two runs; start without it, or with another --out",
        row.fingerprint,
        chunker.fingerprint()
    )))
}

fn one(
    name: &str,
    spec: &Spec,
    documents: &[Document],
    segmenters: &[SegmenterEntry],
    resources: &dyn Resources,
    observer: &dyn Observer,
) -> Result<Cut, RunError> {
    let chunker = build(name, spec, documents, segmenters, resources)?;
    cut_by(&chunker, name, spec, documents, observer)
}

/// A chunker by its spec, which can cut these documents.
fn build(
    name: &str,
    spec: &Spec,
    documents: &[Document],
    segmenters: &[SegmenterEntry],
    resources: &dyn Resources,
) -> Result<Chunker, RunError> {
    let chunker =
        build_from(segmenters, spec, resources).map_err(|e| RunError::Config(format!("chunker '{name}': {e}")))?;
    let all: Vec<&Document> = documents.iter().collect();
    chunker.check_documents(&all).map_err(|e| RunError::Config(format!("chunker '{name}': {e}")))?;
    Ok(chunker)
}

fn cut_by(
    chunker: &Chunker,
    name: &str,
    spec: &Spec,
    documents: &[Document],
    observer: &dyn Observer,
) -> Result<Cut, RunError> {
    let all: Vec<&Document> = documents.iter().collect();
    let start = Instant::now();
    let cut = chunker.chunks_all(&all, &|| observer.advance(1));
    let seconds = start.elapsed().as_secs_f64();
    let mut chunks = Vec::with_capacity(cut.len());
    let mut failed = BTreeMap::new();
    for (at, (document, result)) in documents.iter().zip(cut).enumerate() {
        if let Err(SegmentError::Model { problem, stops: true }) = &result {
            return Err(RunError::Stopped(format!("chunker '{name}': {problem}")));
        }
        let mut own = result.unwrap_or_else(|e| {
            let problem = format!("chunker '{name}' failed on document '{}': {e}", document.id);
            observer.note(&problem);
            failed.insert(at, problem);
            Vec::new()
        });
        // As stores leave them out: a hit's number is its place among these.
        own.retain(|chunk| document.shows(chunk.span));
        chunks.push(own);
    }
    if failed.len() == documents.len()
        && let Some(problem) = failed.values().next()
    {
        return Err(RunError::Stopped(format!("{problem} (and on every other)")));
    }
    let asked = chunker.segmenter().model_use();
    if let Some(used) = &asked {
        observer.note(&format!("{name}: groups of passages: {used}"));
    }
    // A same-size chunker resolves to the fixed one that it came down to.
    let found = chunker.spec();
    let (spec, resolved) = if found.name == spec.name {
        (found.to_string(), None)
    } else {
        let mut asked = spec.clone();
        asked.args.extend(found.get("max_tokens").map(|max| ("max_tokens".into(), max.to_owned())));
        (asked.to_string(), Some(found.to_string()))
    };
    Ok(Cut {
        name: name.to_owned(),
        spec,
        resolved,
        mean_words: mean_words(documents, &chunks),
        chunks: Arc::new(chunks),
        seconds,
        limit: chunker.policy().max_tokens,
        failed,
        fingerprint: chunker.fingerprint(),
        lost: None,
        same_size: None,
        reranking: None,
        expansion: Expansion::default(),
        prefix_headings: false,
        late_chunking: false,
        asked,
        generator: None,
        contexts: None,
    })
}

/// Mean words of a chunk over the corpus; 0 where there is none.
fn mean_words(documents: &[Document], chunks: &[Vec<Chunk>]) -> f64 {
    let mut mean = MeanWords::default();
    documents.iter().zip(chunks).for_each(|(document, chunks)| mean.add(document, chunks));
    mean.value().unwrap_or(0.0)
}

/// Resources that know the corpus: `same-size` asks them for the mean size of its reference.
struct Corpus<'a> {
    base: &'a dyn Resources,
    documents: &'a [Document],
    names: &'a [ChunkerConfig],
    /// Those of the chunker that is at work.
    defaults: Cell<Limits>,
    segmenters: &'a [SegmenterEntry],
    asking: Option<&'a Asking>,
    means: RefCell<HashMap<String, Mean>>,
    /// Whether a `same-size` is built only to see that it can be: its reference is built, and cuts nothing.
    only_tried: Cell<bool>,
    originals: Arc<Originals>,
}

/// What a `same-size` takes from its reference.
#[derive(Clone, Copy)]
struct Mean {
    words: f64,
    /// The most tokens of a chunk; `None`: no limit.
    limit: Option<usize>,
}

impl Mean {
    /// Stands for a mean that is not known yet.
    const TRIED: Self = Self { words: 1.0, limit: None };

    fn of(cut: &Cut) -> Self {
        Self { words: cut.mean_words, limit: cut.limit }
    }
}

impl Corpus<'_> {
    /// Says why the chunker of an experiment cannot be built, whose limits are in force. A `same-size` is built with any size: it
    /// takes its own from what is not cut yet.
    fn try_to_build(&self, config: &ChunkerConfig) -> Result<(), RunError> {
        self.only_tried.set(config.spec.name == "same-size");
        let chunker = build(&config.name, &config.spec, self.documents, self.segmenters, self);
        self.only_tried.set(false);
        chunker.map(drop)
    }

    /// The limits in force where this spec says none: a `same-size` has the limit of its reference, without which it could
    /// not have its size.
    fn sized(&self, spec: &Spec) -> Limits {
        let limits = self.defaults.get();
        let Some(reference) = spec.get("reference").filter(|_| spec.name == "same-size") else { return limits };
        // What is wrong with a reference is said where the chunker is built.
        match self.mean(reference) {
            Ok(mean) => Limits { max_tokens: Some(mean.limit.unwrap_or(0)), ..limits },
            Err(_) => limits,
        }
    }

    /// What is known of a reference, which is cut where it is none of the chunkers here.
    fn mean(&self, reference: &str) -> Result<Mean, String> {
        if let Some(mean) = self.means.borrow().get(reference) {
            return Ok(*mean);
        }
        let named = self.names.iter().find(|c| c.name == reference);
        if named.is_some_and(|c| c.spec.name != "same-size") && self.only_tried.get() {
            return Ok(Mean::TRIED);
        }
        if named.is_some() {
            return Err(format!("the reference '{reference}' is itself a same-size chunker; name one that is not"));
        }
        let spec = Spec::parse(reference)
            .map_err(|e| format!("the reference '{reference}' is neither a chunker here nor a spec: {e}"))?;
        if self.only_tried.get() {
            let built = build(reference, &spec, self.documents, self.segmenters, self);
            return built.map(|_| Mean::TRIED).map_err(|e| e.to_string());
        }
        let cut = one(reference, &spec, self.documents, self.segmenters, self, &()).map_err(|e| e.to_string())?;
        self.means.borrow_mut().insert(reference.to_owned(), Mean::of(&cut));
        Ok(Mean::of(&cut))
    }
}

impl Resources for Corpus<'_> {
    fn encoder(&self) -> Result<Arc<dyn SentenceEncoder>, String> {
        self.base.encoder()
    }

    fn named_encoder(&self, name: &str) -> Result<Arc<dyn SentenceEncoder>, String> {
        self.base.named_encoder(name)
    }

    fn changed_encoder(&self, base: &str, load: LoadEncoder<'_>) -> Result<Arc<dyn SentenceEncoder>, String> {
        self.base.changed_encoder(base, load)
    }

    fn counter(&self) -> Result<Arc<dyn TokenCounter>, String> {
        self.base.counter()
    }

    fn custom(&self, name: &str) -> Result<Arc<dyn Segmenter>, String> {
        self.base.custom(name)
    }

    fn originals(&self) -> Arc<Originals> {
        Arc::clone(&self.originals)
    }

    fn overrides(&self) -> Limits {
        self.base.overrides()
    }

    fn defaults(&self) -> Limits {
        self.defaults.get()
    }

    fn shift_finder(&self, wanted: &LanguageModel) -> Result<Arc<dyn ShiftFinder>, String> {
        match self.asking {
            Some(asking) => Ok(Arc::new(asking.shift_finder(wanted).map_err(|e| e.to_string())?)),
            None => self.base.shift_finder(wanted),
        }
    }

    fn mean_words(&self, reference: &str) -> Result<f64, String> {
        self.mean(reference).map(|mean| mean.words)
    }

    fn matched_bound(&self, reference: &str, fixed: &Spec, most: usize) -> Result<usize, String> {
        if self.only_tried.get() {
            return self.mean(reference).map(|_| 1);
        }
        let found = match_bound(self.mean_words(reference)?, most, |words| {
            let spec = fixed.clone().with("words", words).map_err(|e| e.to_string())?;
            let cut = one("same-size", &spec, self.documents, self.segmenters, self, &()).map_err(|e| e.to_string())?;
            Ok(cut.mean_words)
        })?;
        Ok(found.words)
    }
}
