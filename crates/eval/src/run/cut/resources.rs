//! What chunkers are built with where the corpus is known.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use pericope_api::{Document, Segmenter, SentenceEncoder, ShiftFinder, TokenCounter};
use pericope_segment::fixed::match_bound;
use pericope_segment::foreign::Originals;
use pericope_segment::llm::LanguageModel;
use pericope_segment::registry::{SegmenterEntry, build_from};
use pericope_segment::spec::Spec;
use pericope_segment::{Chunker, Limits, LoadEncoder, Resources};

use super::super::done::Done;
use super::super::{Observer, RunError};
use super::Cut;
use super::one::cut_by;
use crate::asking::Asking;
use crate::config::ChunkerConfig;
use crate::record::SameSize;

/// The limits of chunks where a spec says none: what the experiment says, else what suits its embedder, where there is any limit.
pub(super) fn default_limits(
    max_tokens: Option<usize>,
    base: Limits,
    encoder: Option<&dyn SentenceEncoder>,
    counter: &dyn TokenCounter,
) -> Limits {
    let own = encoder.filter(|_| base.max_tokens.is_some_and(|limit| limit > 0));
    let of_embedder = own.and_then(|encoder| Limits::of_embedder(Some(encoder), counter).max_tokens);
    Limits { max_tokens: max_tokens.or(of_embedder).or(base.max_tokens), ..base }
}

/// Resources that know the corpus: `same-size` asks them for the mean size of its reference.
pub(super) struct CorpusResources<'a> {
    base: &'a dyn Resources,
    segmenters: &'a [SegmenterEntry],
    pub(super) documents: &'a [Document],
    names: &'a [ChunkerConfig],
    /// Those of the chunker that is at work.
    pub(super) defaults: Cell<Limits>,
    pub(super) asking: Option<&'a Asking>,
    pub(super) means: RefCell<HashMap<String, Mean>>,
    /// Whether a `same-size` is built only to see that it can be: its reference is built, and cuts nothing.
    only_tried: Cell<bool>,
    pub(super) originals: Arc<Originals>,
}

/// What a `same-size` takes from its reference.
#[derive(Clone, Copy)]
pub(super) struct Mean {
    pub(super) words: f64,
    /// The most tokens of a chunk; `None`: no limit.
    pub(super) limit: Option<usize>,
}

impl Mean {
    /// Stands for a mean that is not known yet.
    const TRIED: Self = Self { words: 1.0, limit: None };

    fn of(cut: &Cut) -> Self {
        Self { words: cut.mean_words, limit: cut.limit }
    }
}

impl<'a> CorpusResources<'a> {
    /// Resources in which `names` may refer to one another; no model is asked.
    pub(super) fn new(
        base: &'a dyn Resources,
        segmenters: &'a [SegmenterEntry],
        documents: &'a [Document],
        names: &'a [ChunkerConfig],
        defaults: Limits,
    ) -> Self {
        Self {
            base,
            segmenters,
            documents,
            names,
            defaults: Cell::new(defaults),
            asking: None,
            means: RefCell::default(),
            only_tried: Cell::new(false),
            originals: Arc::default(),
        }
    }
}

impl CorpusResources<'_> {
    /// Cuts the corpus by a spec.
    pub(super) fn cut(&self, name: &str, spec: &Spec, observer: &dyn Observer) -> Result<Cut, RunError> {
        let chunker = self.build(name, spec)?;
        cut_by(&chunker, name, spec, self.documents, observer)
    }

    /// A chunker by its spec, which can cut the corpus.
    fn build(&self, name: &str, spec: &Spec) -> Result<Chunker, RunError> {
        let wrong = |e: String| RunError::Config(format!("chunker '{name}': {e}"));
        let chunker = build_from(self.segmenters, spec, self).map_err(|e| wrong(e.to_string()))?;
        let all: Vec<&Document> = self.documents.iter().collect();
        chunker.check_documents(&all).map_err(|e| wrong(e.to_string()))?;
        Ok(chunker)
    }

    /// Refuses to go on from what a chunker cut with other weights than it has now.
    pub(super) fn check_same_model(&self, config: &ChunkerConfig, finished: &Done) -> Result<(), RunError> {
        let ChunkerConfig { name, spec, .. } = config;
        let Some(row) = finished.row(name).filter(|row| !row.fingerprint.is_empty()) else { return Ok(()) };
        let chunker =
            build_from(self.segmenters, spec, self).map_err(|e| RunError::Config(format!("chunker '{name}': {e}")))?;
        if chunker.fingerprint() == row.fingerprint {
            return Ok(());
        }
        Err(RunError::Config(format!(
            "chunker '{name}' was run with another model ({}, now {}): --resume would mix two runs; start without it, or with another --out",
            row.fingerprint,
            chunker.fingerprint()
        )))
    }

    /// Takes down what a `same-size` was to be, and says so where it is not.
    pub(super) fn size(&self, cut: &mut Cut, spec: &Spec, observer: &dyn Observer) -> Result<(), RunError> {
        let Some(reference) = spec.get("reference").filter(|_| spec.name == "same-size") else { return Ok(()) };
        let reference_words = self.mean_words(reference).map_err(RunError::Config)?;
        let same = SameSize::new(reference, reference_words, cut.mean_words);
        if !same.is_equal() && spec.get("match") != Some("bound") {
            observer.note(&format!("{}: {same}; no bound that was tried comes nearer", cut.name));
        }
        cut.same_size = Some(same);
        Ok(())
    }

    /// Makes the size of a cut known to those that refer to it.
    pub(super) fn learn(&self, cut: &Cut) {
        self.means.borrow_mut().insert(cut.name.clone(), Mean::of(cut));
    }

    /// Puts limits in force for a spec that says none.
    pub(super) fn limit_to(&self, limits: Limits, spec: &Spec) {
        self.defaults.set(limits);
        self.defaults.set(self.sized(spec));
    }

    /// Says why the chunker of an experiment cannot be built, whose limits are in force. A `same-size` is built with any size: it
    /// takes its own from what is not cut yet.
    pub(super) fn try_to_build(&self, config: &ChunkerConfig) -> Result<(), RunError> {
        self.only_tried.set(config.spec.name == "same-size");
        let chunker = self.build(&config.name, &config.spec);
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
            let built = self.build(reference, &spec);
            return built.map(|_| Mean::TRIED).map_err(|e| e.to_string());
        }
        let cut = self.cut(reference, &spec, &()).map_err(|e| e.to_string())?;
        self.means.borrow_mut().insert(reference.to_owned(), Mean::of(&cut));
        Ok(Mean::of(&cut))
    }
}

impl Resources for CorpusResources<'_> {
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
            let cut = self.cut("same-size", &spec, &()).map_err(|e| e.to_string())?;
            Ok(cut.mean_words)
        })?;
        Ok(found.words)
    }
}
