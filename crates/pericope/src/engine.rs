//! Chunkers, encoders and token counters from their specs.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use pericope_api::{Segmenter, SentenceEncoder, ShiftFinder, TokenCounter};
use pericope_segment::fixed::match_bound;
use pericope_segment::llm::LanguageModel;
use pericope_segment::registry::{SegmenterEntry, build_custom, build_from, outside, takes_embedder};
use pericope_segment::spec::{Spec, SpecError};
use pericope_segment::{Chunker, Limits, LoadEncoder, Resources};
use pericope_store::{IndexSpec, ReferenceMeta, StoreMeta};

use crate::reference::{self, Corpus};
use crate::stores::kept_limits;
use crate::{EngineError, embedders, language_models};

/// The setting of segmenters that names their encoder.
const EMBEDDER: &str = "embedder";

/// Returns the segmenters that specs may name: with the feature `models` the trained ones too, and last those that read a
/// file, start a program or ask a service that the spec names ([`outside`]).
#[must_use]
pub fn segmenters() -> &'static [SegmenterEntry] {
    #[cfg(feature = "models")]
    return pericope_learn::registry::segmenters();
    #[cfg(not(feature = "models"))]
    {
        use std::sync::OnceLock;
        static ALL: OnceLock<Vec<SegmenterEntry>> = OnceLock::new();
        ALL.get_or_init(|| [pericope_segment::registry::list(), outside()].concat())
    }
}

/// Makes chunkers, encoders and token counters from specs, each when it is first needed.
///
/// ```
/// use pericope::Engine;
/// use pericope::read::{ReadOptions, read_text};
///
/// let engine = Engine::new().with_tokenizer("words");
/// let chunker = engine.chunker("paragraph:max_tokens=40")?;
/// let document = read_text("notes.md", "markdown", "# Tea\n\nBoil the water.\n\nWait four minutes.", &ReadOptions::default())?;
/// let chunks = chunker.chunks(&document)?;
/// assert_eq!(document.text(chunks[0].span).lines().last(), Some("Boil the water."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct Engine<'a> {
    tokenizer: Option<String>,
    overrides: Limits,
    defaults: Limits,
    corpus: Option<&'a Corpus<'a>>,
    reference: RefCell<Option<ReferenceMeta>>,
    /// Whether the reference is a store's: what was made with it holds.
    stored: Cell<bool>,
    counter: OnceCell<Result<Arc<dyn TokenCounter>, String>>,
    loading: Cell<Option<LoadingCounter>>,
    cached: Option<Arc<dyn SentenceEncoder>>,
    /// That of chunks under its name, which segmenters read with too.
    #[cfg_attr(not(feature = "models"), allow(dead_code))]
    shared: Option<(String, Arc<dyn SentenceEncoder>)>,
    /// Encoders that segmenters brought, with what they encoded, where the default one's is kept too.
    brought: Arc<Mutex<Vec<Arc<dyn SentenceEncoder>>>>,
    /// The caller's own, instead of the default one.
    own: Option<Arc<dyn SentenceEncoder>>,
    segment_embedder: Option<String>,
    custom: BTreeMap<String, Arc<dyn Segmenter>>,
    offline: bool,
}

/// A token counter that is being loaded on another thread, while the program does other things.
pub struct LoadingCounter(JoinHandle<Result<Arc<dyn TokenCounter>, String>>);

impl LoadingCounter {
    /// Begins to load the counter of a tokenizer; without a name that of words.
    #[must_use]
    pub fn begin(tokenizer: Option<String>) -> Self {
        Self(std::thread::spawn(move || embedders::counter(tokenizer.as_deref())))
    }
}

impl<'a> Engine<'a> {
    /// Returns an engine with the limits of an index: at most 256 tokens a chunk where the spec says nothing else.
    #[must_use]
    pub fn new() -> Self {
        Self { defaults: Limits::INDEX, ..Self::default() }
    }

    /// Sets the limits that outrank those of the spec.
    #[must_use]
    pub fn with_overrides(mut self, limits: Limits) -> Self {
        self.overrides = limits;
        self
    }

    /// Sets the limits where neither the spec nor the overrides name any.
    #[must_use]
    pub fn with_defaults(mut self, limits: Limits) -> Self {
        self.defaults = limits;
        self
    }

    /// Sets the limits where neither the spec nor the overrides name any to those of a store that was made `before`, else to what suits
    /// chunks that `encoder` embeds behind `room` further tokens ([`Limits::of_embedder`]), as this engine's tokenizer counts.
    #[must_use]
    pub fn with_limits_of(
        self,
        before: Option<&StoreMeta>,
        encoder: Option<&dyn SentenceEncoder>,
        room: usize,
    ) -> Self {
        // Where nothing counts, the chunker says so.
        let counter = self.counter();
        let own = counter.map_or(Limits::INDEX, |counter| Limits::of_embedder(encoder, counter.as_ref()));
        let kept = before.map_or(Limits::default(), kept_limits);
        self.with_defaults(kept.or(own.beside(room)))
    }

    /// Counts tokens with the tokenizer of that name (`minilm`, `words`, a known model, a `tokenizer.json` or its folder, `cl100k`, `o200k`).
    /// Without one, with words; [`tokenizer_for`] says what commands take.
    #[must_use]
    pub fn with_tokenizer(mut self, name: impl Into<String>) -> Self {
        self.tokenizer = Some(name.into());
        self
    }

    /// Takes a counter that is being loaded.
    #[must_use]
    pub fn with_loading(self, loading: LoadingCounter) -> Self {
        self.loading.set(Some(loading));
        self
    }

    /// Sizes `same-size` by its reference's chunks of this corpus.
    #[must_use]
    pub fn with_corpus(mut self, corpus: &'a Corpus<'a>) -> Self {
        self.corpus = Some(corpus);
        self
    }

    /// Takes the size of `same-size`'s reference as a store recorded it.
    #[must_use]
    pub fn with_reference(self, known: Option<ReferenceMeta>) -> Self {
        self.stored.set(known.is_some());
        self.reference.replace(known);
        self
    }

    /// Has segmenters read with the encoder of that name, where their spec names none.
    #[must_use]
    pub fn with_segment_embedder(mut self, name: Option<String>) -> Self {
        self.segment_embedder = name;
        self
    }

    /// Takes segmenters of one's own, which specs of experiments name `custom:name=NAME`.
    #[must_use]
    pub fn with_custom(mut self, segmenters: BTreeMap<String, Arc<dyn Segmenter>>) -> Self {
        self.custom = segmenters;
        self
    }

    /// Has segmenters read with this encoder, where their spec names none.
    #[must_use]
    pub fn with_encoder(mut self, encoder: Arc<dyn SentenceEncoder>) -> Self {
        self.own = Some(encoder);
        self
    }

    /// Takes the vectors of endpoints and the replies of language models from their caches alone.
    #[must_use]
    pub fn offline(mut self, offline: bool) -> Self {
        self.offline = offline;
        self
    }

    /// Remembers from here on what the default encoder encoded, and returns that encoder.
    ///
    /// # Errors
    /// [`EngineError::Usage`] where its model is not installed.
    #[cfg(feature = "models")]
    pub fn cache_encoder(&mut self) -> Result<Arc<dyn SentenceEncoder>, EngineError> {
        let encoder = cached(embedders::default_encoder().map_err(EngineError::usage)?);
        self.cached = Some(encoder.clone());
        Ok(encoder)
    }

    /// Has segmenters that read with the embedder of this name read with this one, which embeds their chunks too, and returns it
    /// remembering `bytes` of what it read last: a chunk that is one sentence is not read again, nor is a sentence that
    /// many documents hold.
    #[cfg(feature = "models")]
    pub fn share_encoder(
        &mut self,
        name: &str,
        encoder: Arc<dyn SentenceEncoder>,
        bytes: usize,
    ) -> Arc<dyn SentenceEncoder> {
        let encoder: Arc<dyn SentenceEncoder> = Arc::new(pericope_encode::CachedEncoder::recent(encoder, bytes));
        self.shared = Some((name.to_owned(), Arc::clone(&encoder)));
        encoder
    }

    /// Returns the reference that `same-size` was sized by, and its mean size in words.
    #[must_use]
    pub fn reference(&self) -> Option<ReferenceMeta> {
        self.reference.borrow().clone()
    }

    /// Builds the chunker of a spec, such as `fusion` or `fixed:words=100,max_tokens=200`.
    ///
    /// # Errors
    /// [`EngineError::Usage`] for unknown names and keys, values out of range, and a model that is not installed.
    pub fn chunker(&self, spec: &str) -> Result<Chunker, EngineError> {
        let spec = Spec::parse(spec).and_then(|spec| self.with_own_embedder(spec)).map_err(EngineError::usage)?;
        build_from(segmenters(), &spec, self).map_err(EngineError::usage)
    }

    /// The spec with the embedder that segmenters are told to read with, where it takes one and names none. It stands in the
    /// spec so that an index remembers it.
    fn with_own_embedder(&self, spec: Spec) -> Result<Spec, SpecError> {
        let takes = || segmenters().iter().any(|entry| entry.name == spec.name && takes_embedder(entry));
        match self.segment_embedder.as_ref().filter(|_| spec.get(EMBEDDER).is_none() && takes()) {
            Some(name) => spec.with(EMBEDDER, name),
            None => Ok(spec),
        }
    }

    /// Builds the chunker of a segmenter of one's own, with this engine's counter and limits.
    ///
    /// # Errors
    /// [`EngineError::Usage`] for limits that make no sense.
    pub fn custom_chunker(&self, segmenter: Box<dyn Segmenter>) -> Result<Chunker, EngineError> {
        build_custom(segmenter, self).map_err(EngineError::usage)
    }

    /// Returns the embedder of a name (`minilm`, `openai:MODEL`, `fastembed:MODEL`); `None` for `none`.
    ///
    /// # Errors
    /// [`EngineError`] for an unknown name, a model that is not installed, or a cache that cannot be opened.
    pub fn embedder(&self, name: &str) -> Result<Option<Arc<dyn SentenceEncoder>>, EngineError> {
        embedders::embedder(name, self.offline)
    }

    /// Returns the reranker of a spec (`cogltx`, `maxsim`, `cross-encoder:model=DIR`, `weswin`, `https://HOST/PATH,model=NAME`);
    /// `None` for `none`. [`Reranked`](pericope_store::Reranked) puts it before a store.
    ///
    /// # Errors
    /// [`EngineError::Usage`] for unknown names and keys, values out of range, a model that cannot be used, and a key that
    /// is not set.
    #[cfg(feature = "models")]
    pub fn reranker(&self, spec: &str) -> Result<Option<Arc<dyn pericope_api::Reranker>>, EngineError> {
        crate::rerankers::reranker(spec)
    }

    /// Opens the language model that writes the contexts of chunks: that of the table `[llm.context]` in `file`. Its replies are
    /// kept among the models, where the file names no cache.
    ///
    /// # Errors
    /// [`EngineError::Usage`] for a file without such a table, and a model or key that is not there.
    #[cfg(feature = "eval")]
    pub fn context_writer(&self, file: &std::path::Path) -> Result<pericope_llm::LlmContextWriter, EngineError> {
        let cache = language_models::cache().map_err(EngineError::usage)?;
        pericope_eval::asking::lone_context_writer(file, &cache, self.offline).map_err(EngineError::usage)
    }

    /// Returns the ingredients of an index that is cut by this chunker and embedded by this encoder.
    ///
    /// # Errors
    /// [`EngineError::Usage`] where the tokenizer is not there.
    pub fn index_spec(
        &self,
        chunker: &Chunker,
        encoder: Option<Arc<dyn SentenceEncoder>>,
    ) -> Result<IndexSpec, EngineError> {
        let counter = self.counter().map_err(EngineError::usage)?;
        let fingerprint = Some(chunker.fingerprint()).filter(|fingerprint| !fingerprint.is_empty());
        let mut spec =
            IndexSpec::new(chunker.spec().to_string(), counter.name()).with_segmenter_fingerprint(fingerprint);
        spec.reference = self.reference();
        Ok(match encoder {
            Some(encoder) => spec.with_encoder(encoder),
            None => spec,
        })
    }
}

/// The encoder, remembering what it encoded.
#[cfg(feature = "models")]
pub(crate) fn cached(encoder: Arc<dyn SentenceEncoder>) -> Arc<dyn SentenceEncoder> {
    /// Bytes of sentences and vectors: some half a million sentences.
    const MEMORY: usize = 1 << 30;
    Arc::new(pericope_encode::CachedEncoder::new(encoder, MEMORY))
}

#[cfg(not(feature = "models"))]
fn cached(encoder: Arc<dyn SentenceEncoder>) -> Arc<dyn SentenceEncoder> {
    encoder
}

impl Resources for Engine<'_> {
    fn encoder(&self) -> Result<Arc<dyn SentenceEncoder>, String> {
        self.own.clone().map_or_else(|| self.default_encoder(), Ok)
    }

    fn named_encoder(&self, name: &str) -> Result<Arc<dyn SentenceEncoder>, String> {
        if embedders::is_default(name) {
            return self.default_encoder();
        }
        if let Some(shared) = self.shared(name) {
            return Ok(shared);
        }
        let found = embedders::embedder(name, self.offline).map_err(|e| e.to_string())?;
        found.ok_or_else(|| format!("embedder={name}: it needs an encoder"))
    }

    fn changed_encoder(&self, _: &str, load: LoadEncoder<'_>) -> Result<Arc<dyn SentenceEncoder>, String> {
        Ok(self.remembering(load()?))
    }

    fn counter(&self) -> Result<Arc<dyn TokenCounter>, String> {
        let load = || match self.loading.take().map(|loading| loading.0.join()) {
            Some(Ok(loaded)) => loaded,
            _ => embedders::counter(self.tokenizer.as_deref()),
        };
        self.counter.get_or_init(load).clone()
    }

    fn overrides(&self) -> Limits {
        self.overrides
    }

    fn defaults(&self) -> Limits {
        self.defaults
    }

    fn custom(&self, name: &str) -> Result<Arc<dyn Segmenter>, String> {
        let found = self.custom.get(name).cloned();
        found.ok_or_else(|| format!("a program in Rust or Python brings it, and none named `{name}` was brought"))
    }

    fn shift_finder(&self, wanted: &LanguageModel) -> Result<Arc<dyn ShiftFinder>, String> {
        language_models::shift_finder(wanted, self.offline)
    }

    fn mean_words(&self, reference: &str) -> Result<f64, String> {
        let spec = Spec::parse(reference).map_err(|e| e.to_string())?;
        let name = spec.to_string();
        if let Some(known) = self.reference.borrow().as_ref().filter(|known| known.spec == name) {
            return Ok(known.mean_words);
        }
        let mean_words = self.mean_of(&spec)?;
        self.reference.replace(Some(ReferenceMeta { spec: name, mean_words, bound: None }));
        self.stored.set(false);
        Ok(mean_words)
    }

    fn matched_bound(&self, reference: &str, fixed: &Spec, most: usize) -> Result<usize, String> {
        let wanted = self.mean_words(reference)?;
        if self.stored.get() {
            let bound = self.reference.borrow().as_ref().and_then(|known| known.bound);
            return Ok(bound.unwrap_or((wanted.round() as usize).max(1)));
        }
        let found = match_bound(wanted, most, |words| {
            let spec = fixed.clone().with("words", words).map_err(|e| e.to_string())?;
            self.mean_of(&spec)
        })?;
        if let Some(known) = self.reference.borrow_mut().as_mut() {
            known.bound = Some(found.words);
        }
        Ok(found.words)
    }
}

impl Engine<'_> {
    /// An encoder that a segmenter brought, remembering what it encoded where the default one does.
    fn remembering(&self, encoder: Arc<dyn SentenceEncoder>) -> Arc<dyn SentenceEncoder> {
        if self.cached.is_none() {
            return encoder;
        }
        let mut brought = self.brought.lock().unwrap_or_else(PoisonError::into_inner);
        let own = encoder.fingerprint();
        if let Some(known) = brought.iter().find(|known| known.fingerprint() == own) {
            return Arc::clone(known);
        }
        let encoder = cached(encoder);
        brought.push(Arc::clone(&encoder));
        encoder
    }

    fn default_encoder(&self) -> Result<Arc<dyn SentenceEncoder>, String> {
        let known = self.cached.clone().or_else(|| self.shared(embedders::DEFAULT_EMBEDDER));
        known.map_or_else(embedders::default_encoder, Ok)
    }

    fn shared(&self, name: &str) -> Option<Arc<dyn SentenceEncoder>> {
        self.shared.as_ref().filter(|(known, _)| known == name).map(|(_, encoder)| Arc::clone(encoder))
    }

    /// The mean words of a segmenter's chunks of the corpus.
    fn mean_of(&self, spec: &Spec) -> Result<f64, String> {
        let corpus = self.corpus.ok_or("same-size needs a corpus to size itself by")?;
        let inner = Engine {
            tokenizer: self.tokenizer.clone(),
            overrides: self.overrides,
            defaults: self.defaults,
            counter: OnceCell::from(self.counter()),
            offline: self.offline,
            cached: self.cached.clone(),
            shared: self.shared.clone(),
            own: self.own.clone(),
            brought: Arc::clone(&self.brought),
            ..Engine::default()
        };
        let spec = self.with_own_embedder(spec.clone()).map_err(|e| e.to_string())?;
        let chunker = build_from(segmenters(), &spec, &inner).map_err(|e| e.to_string())?;
        reference::mean_words(&chunker, corpus)
    }
}

/// Returns the tokenizer that commands count with where none is named: that of the model which embeds the chunks, else `minilm` where a
/// segmenter reads with it, else `words`. It does not depend on what is installed, so that a command cuts alike on every
/// machine, or says which model is missing.
#[must_use]
pub fn tokenizer_for<'s>(embedder: &str, specs: impl IntoIterator<Item = &'s Spec>) -> String {
    embedders::tokenizer_beside(embedder, specs.into_iter().any(cuts_by_encoder))
}

/// Returns whether it, or a segmenter that it refers to for its size, asks for the default encoder.
fn cuts_by_encoder(spec: &Spec) -> bool {
    needs_encoder(spec) || spec.references().iter().any(cuts_by_encoder)
}

/// Returns whether a segmenter of this spec asks for the default encoder, or for one that changes it; this may depend on its settings.
#[must_use]
pub fn needs_encoder(spec: &Spec) -> bool {
    let asked = asked(spec);
    asked.default.get() || asked.changed.get()
}

/// Returns whether a segmenter of this spec reads the vectors of the default encoder, which several may share.
#[must_use]
pub fn shares_encoder(spec: &Spec) -> bool {
    asked(spec).default.get()
}

/// Returns whether a segmenter of this spec reads the vectors of the embedder of this name.
#[must_use]
pub fn reads_with(spec: &Spec, embedder: &str) -> bool {
    asked(spec).named.borrow().iter().any(|name| name == embedder)
}

fn asked(spec: &Spec) -> Probe {
    let probe = Probe::default();
    // A file of chunks is read once, when they are wanted.
    if outside().iter().all(|entry| entry.name != spec.name) {
        let _ = build_from(segmenters(), spec, &probe);
    }
    probe
}

/// Resources that note whether the default encoder is asked for, as it is or changed.
#[derive(Default)]
struct Probe {
    default: Cell<bool>,
    changed: Cell<bool>,
    /// The names of the embedders that are asked for as they are.
    named: RefCell<Vec<String>>,
}

impl Resources for Probe {
    fn encoder(&self) -> Result<Arc<dyn SentenceEncoder>, String> {
        self.default.set(true);
        self.named.borrow_mut().push(embedders::DEFAULT_EMBEDDER.to_owned());
        Err("only asked whether it is needed".into())
    }

    fn named_encoder(&self, name: &str) -> Result<Arc<dyn SentenceEncoder>, String> {
        if embedders::is_default(name) {
            self.encoder()
        } else {
            self.named.borrow_mut().push(name.to_owned());
            Err("only asked whether the default is needed".into())
        }
    }

    fn changed_encoder(&self, base: &str, _: LoadEncoder<'_>) -> Result<Arc<dyn SentenceEncoder>, String> {
        self.changed.set(self.changed.get() || embedders::is_default(base));
        Err("only asked whether it is needed".into())
    }

    fn mean_words(&self, _: &str) -> Result<f64, String> {
        Ok(1.0)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::{Arc, Mutex};

    use pericope_api::{Document, Embeddings, EncodeError, SentenceEncoder};
    use pericope_segment::spec::Spec;

    use super::{Engine, needs_encoder, reads_with, shares_encoder, tokenizer_for};

    /// Knows cats from ships, and what it was given.
    #[derive(Default)]
    struct Listening(Mutex<Vec<String>>);

    impl SentenceEncoder for Listening {
        fn name(&self) -> &str {
            "listening"
        }

        fn fingerprint(&self) -> String {
            "listening".into()
        }

        fn dimension(&self) -> usize {
            2
        }

        fn max_tokens(&self) -> usize {
            512
        }

        fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
            self.0.lock().unwrap().extend(texts.iter().map(|&text| text.to_owned()));
            let of = |text: &&str| if text.contains("cat") { [1.0, 0.0] } else { [0.0, 1.0] };
            Ok(Embeddings::new(2, texts.iter().flat_map(of).collect()))
        }
    }

    #[test]
    fn what_is_read_to_cut_is_not_read_again_to_embed() {
        let heard = Arc::new(Listening::default());
        let mut engine = Engine::new().with_tokenizer("words");
        let encoder = engine.share_encoder("listening", heard.clone(), 1 << 20);
        let sentences = ["A cat sleeps.", "The cat wakes.", "Ships sail.", "Masts creak.", "Ships sail."];
        let document = Document::from_sentences("page", &sentences);
        let chunker = engine.chunker("variance:embedder=listening").unwrap();
        let chunks = chunker.chunks(&document).unwrap();
        assert_eq!(chunks.len(), 2);
        let texts: Vec<&str> = chunks.iter().map(|chunk| document.text(chunk.span)).chain(["A cat sleeps."]).collect();
        encoder.encode_passages(&texts).unwrap();
        let heard = heard.0.lock().unwrap();
        assert_eq!(heard.iter().filter(|text| *text == "A cat sleeps.").count(), 1, "{heard:?}");
        assert_eq!(heard.len(), sentences.len() + chunks.len(), "{heard:?}");
    }

    #[test]
    fn tokens_are_those_of_the_model_that_a_segmenter_reads_with() {
        let counted = |embedder: &str, spec: &str| tokenizer_for(embedder, [&Spec::parse(spec).unwrap()]);
        for spec in ["fusion", "fusion:embedder=minilm", "topic", "same-size:reference=window"] {
            assert_eq!(
                (counted("none", spec), counted("e5-small", spec)),
                ("minilm".into(), "e5-small-v2".into()),
                "{spec}"
            );
        }
        for spec in ["fixed", "fusion:embedder=static", "window:embedder=openai:e"] {
            let counted = ["none", "static", "minilm", "minilm:changes", "e5-small", "openai:m"]
                .map(|embedder| counted(embedder, spec));
            assert_eq!(counted, ["words", "words", "minilm", "minilm", "e5-small-v2", "words"], "{spec}");
        }
    }

    #[test]
    fn a_model_with_an_encoder_of_its_own_shares_no_vectors() {
        let asked = |spec: &str| {
            let spec = Spec::parse(spec).unwrap();
            (needs_encoder(&spec), shares_encoder(&spec))
        };
        assert_eq!((asked("topic"), asked("fusion"), asked("fixed")), ((true, false), (true, true), (false, false)));
        let reads = |spec: &str, embedder: &str| reads_with(&Spec::parse(spec).unwrap(), embedder);
        assert!(reads("fusion", "minilm") && reads("window:embedder=e5", "e5"));
        assert!(!reads("fusion:embedder=static", "minilm") && !reads("topic", "minilm") && !reads("fixed", "minilm"));
    }
}
