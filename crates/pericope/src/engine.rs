//! Chunkers, encoders and token counters from their specs.

mod resources;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use pericope_api::{Segmenter, SentenceEncoder, TokenCounter};
use pericope_segment::registry::{SegmenterEntry, build_custom, build_from, takes_embedder};
use pericope_segment::spec::{Spec, SpecError};
use pericope_segment::{Chunker, Limits, Resources};
use pericope_store::{IndexSpec, ReferenceMeta, StoreMeta};

use crate::reference::Corpus;
use crate::stores::kept_limits;
use crate::{EngineError, embedders};

/// The setting of segmenters that names their encoder.
const EMBEDDER: &str = "embedder";

/// Returns the segmenters that specs may name: with the feature `models` the trained ones too, and last those that read a
/// file, start a program or ask a service that the spec names ([`outside`](pericope_segment::registry::outside)).
#[must_use]
pub fn segmenters() -> &'static [SegmenterEntry] {
    #[cfg(feature = "models")]
    return pericope_learn::registry::segmenters();
    #[cfg(not(feature = "models"))]
    {
        use std::sync::OnceLock;
        static ALL: OnceLock<Vec<SegmenterEntry>> = OnceLock::new();
        ALL.get_or_init(|| [pericope_segment::registry::list(), pericope_segment::registry::outside()].concat())
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
    /// Without one, with words; [`tokenizer_for`](crate::tokenizer_for) says what commands take.
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
        let cache = crate::language_models::cache().map_err(EngineError::usage)?;
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::{Arc, Mutex};

    use pericope_api::{Document, Embeddings, EncodeError, SentenceEncoder};

    use super::Engine;

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
}
