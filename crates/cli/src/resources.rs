//! What segmenters ask for (encoder, token counter, limits), made when it is first needed.

use std::cell::{Cell, OnceCell, RefCell};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use pericope_api::{Document, SentenceEncoder, TokenCounter};
use pericope_encode::CachedEncoder;
use pericope_learn::registry::build;
use pericope_segment::counters::WordCounter;
use pericope_segment::spec::Spec;
use pericope_segment::{Chunker, Limits, Resources};
use pericope_store::ReferenceMeta;

use crate::args::PolicyArgs;
use crate::status::Failure;

/// Visits the corpus once; `same-size` needs it to size itself by its reference.
pub type Corpus<'a> = dyn Fn(&mut dyn FnMut(&Document)) + 'a;

/// Resources of one command.
pub struct CommandResources<'a> {
    tokenizer: Option<String>,
    overrides: Limits,
    defaults: Limits,
    corpus: Option<&'a Corpus<'a>>,
    reference: RefCell<Option<ReferenceMeta>>,
    counter: OnceCell<Result<Arc<dyn TokenCounter>, String>>,
    loading: Cell<Option<Loading>>,
    remembered: Option<Arc<dyn SentenceEncoder>>,
}

/// A token counter on its way, while its command does other things.
pub struct Loading(JoinHandle<Result<Arc<dyn TokenCounter>, String>>);

impl Loading {
    /// Begins to load what counts the tokens where these flags hold.
    pub fn begin(policy: &PolicyArgs) -> Self {
        let name = policy.tokenizer.clone();
        Self(std::thread::spawn(move || counter(name.as_deref())))
    }
}

impl<'a> CommandResources<'a> {
    /// For the limits of the command line and those that hold where neither it nor the spec names any, and the
    /// tokenizer named, if one is.
    pub fn new(overrides: Limits, defaults: Limits, tokenizer: Option<String>) -> Self {
        Self {
            tokenizer,
            overrides,
            defaults,
            corpus: None,
            reference: RefCell::default(),
            counter: OnceCell::new(),
            loading: Cell::new(None),
            remembered: None,
        }
    }

    /// For flags that cut what is indexed.
    pub fn for_policy(policy: &PolicyArgs) -> Self {
        let flags = Limits {
            max_tokens: policy.max_tokens,
            min_tokens: policy.min_tokens,
            target_tokens: None,
            overlap: policy.overlap,
        };
        Self::new(flags, Limits::INDEX, policy.tokenizer.clone())
    }

    /// The same, with a counter that is being loaded.
    pub fn with_loading(self, loading: Loading) -> Self {
        self.loading.set(Some(loading));
        self
    }

    /// The same, with a corpus to size `same-size` by.
    pub fn with_corpus(mut self, corpus: &'a Corpus<'a>) -> Self {
        self.corpus = Some(corpus);
        self
    }

    /// The same, with the size of `same-size`'s reference as an index recorded it.
    pub fn with_reference(self, known: Option<ReferenceMeta>) -> Self {
        self.reference.replace(known);
        self
    }

    /// From here on the encoder remembers what it encoded; gives that encoder.
    pub fn remember(&mut self) -> Result<Arc<dyn SentenceEncoder>, String> {
        let encoder: Arc<dyn SentenceEncoder> = Arc::new(CachedEncoder::new(minilm()?, MEMORY));
        self.remembered = Some(encoder.clone());
        Ok(encoder)
    }

    /// The reference that was asked for, and its mean size.
    pub fn reference(&self) -> Option<ReferenceMeta> {
        self.reference.borrow().clone()
    }
}

/// The embedder of that name; `none` gives none. A missing model is the user's to mend.
pub fn embedder(name: &str) -> Result<Option<Arc<dyn SentenceEncoder>>, Failure> {
    embedder_where(name, false)
}

/// The same; `offline`, an endpoint's vectors come from its cache alone.
pub fn embedder_where(name: &str, offline: bool) -> Result<Option<Arc<dyn SentenceEncoder>>, Failure> {
    if name == DEFAULT_EMBEDDER {
        return minilm().map(Some).map_err(Failure::usage);
    }
    #[cfg(feature = "testing")]
    if name == crate::hashed::NAME {
        return Ok(Some(Arc::new(crate::hashed::Hashed)));
    }
    if name.starts_with("openai:") {
        return openai(name, offline).map(Some);
    }
    pericope_encode::registry::embedder(name).map_err(Failure::usage)
}

/// An embeddings endpoint, with its answers kept among the models, so that no text is paid for twice.
fn openai(name: &str, offline: bool) -> Result<Arc<dyn SentenceEncoder>, Failure> {
    let file = pericope_encode::models::home().map_err(Failure::usage)?.join("embeddings.sqlite");
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let cache = Arc::new(pericope_llm::Cache::open(&file).map_err(Failure::runtime)?);
    let encoder = pericope_llm::OpenAiEmbeddings::from_spec(name, cache, offline).map_err(Failure::usage)?;
    Ok(Arc::new(encoder))
}

/// What semantic segmenters ask, and what embeds chunks where nothing else is named.
const DEFAULT_EMBEDDER: &str = "minilm";

/// Bytes of sentences and vectors that are remembered: some half a million sentences.
const MEMORY: usize = 1 << 30;

/// The default encoder, loaded once however many ask for it.
fn minilm() -> Result<Arc<dyn SentenceEncoder>, String> {
    static LOADED: OnceLock<Result<Arc<dyn SentenceEncoder>, String>> = OnceLock::new();
    LOADED
        .get_or_init(|| match pericope_encode::registry::embedder(DEFAULT_EMBEDDER) {
            Ok(Some(encoder)) => Ok(encoder),
            Ok(None) => Err("there is no encoder".into()),
            Err(e) => Err(e.to_string()),
        })
        .clone()
}

/// The token counter of that name; without a name MiniLM's where the model is installed, else plain words.
fn counter(name: Option<&str>) -> Result<Arc<dyn TokenCounter>, String> {
    match name {
        Some("words") => Ok(Arc::new(WordCounter)),
        Some(name) => pericope_encode::registry::counter(name).map_err(|e| e.to_string()),
        None if pericope_encode::models::locate("minilm").is_ok() => {
            pericope_encode::registry::counter("minilm").map_err(|e| e.to_string())
        }
        None => Ok(Arc::new(WordCounter)),
    }
}

impl Resources for CommandResources<'_> {
    fn encoder(&self) -> Result<Arc<dyn SentenceEncoder>, String> {
        self.remembered.clone().map_or_else(minilm, Ok)
    }

    fn counter(&self) -> Result<Arc<dyn TokenCounter>, String> {
        let load = || match self.loading.take().map(|loading| loading.0.join()) {
            Some(Ok(loaded)) => loaded,
            _ => counter(self.tokenizer.as_deref()),
        };
        self.counter.get_or_init(load).clone()
    }

    fn overrides(&self) -> Limits {
        self.overrides
    }

    fn defaults(&self) -> Limits {
        self.defaults
    }

    fn mean_words(&self, reference: &str) -> Result<f64, String> {
        let spec = Spec::parse(reference).map_err(|e| e.to_string())?;
        let name = spec.to_string();
        if let Some(known) = self.reference.borrow().as_ref().filter(|known| known.spec == name) {
            return Ok(known.mean_words);
        }
        let corpus = self.corpus.ok_or("same-size needs a corpus to size itself by")?;
        let inner = CommandResources {
            tokenizer: self.tokenizer.clone(),
            overrides: self.overrides,
            defaults: self.defaults,
            corpus: None,
            reference: RefCell::default(),
            counter: OnceCell::from(self.counter()),
            loading: Cell::new(None),
            remembered: self.remembered.clone(),
        };
        let chunker = build(&spec, &inner).map_err(|e| e.to_string())?;
        let (mut words, mut chunks, mut problem) = (0usize, 0usize, None);
        corpus(&mut |document| match chunker.chunks(document) {
            Ok(found) => {
                chunks += found.len();
                words += found.iter().map(|c| document.text(c.span).split_whitespace().count()).sum::<usize>();
            }
            Err(e) => problem = Some(format!("{}: {e}", document.id)),
        });
        match problem {
            Some(problem) => Err(problem),
            None if chunks == 0 => Err("the corpus is empty, so there is no mean size".into()),
            None => {
                let mean_words = words as f64 / chunks as f64;
                self.reference.replace(Some(ReferenceMeta { spec: name, mean_words }));
                Ok(mean_words)
            }
        }
    }
}

/// Whether a segmenter of this spec asks for an encoder, which may depend on its settings.
pub fn asks_for_encoder(spec: &Spec) -> bool {
    let probe = Probe { asked: Cell::new(false) };
    let _ = build(spec, &probe);
    probe.asked.get()
}

/// Resources that note whether the encoder is asked for.
struct Probe {
    asked: Cell<bool>,
}

impl Resources for Probe {
    fn encoder(&self) -> Result<Arc<dyn SentenceEncoder>, String> {
        self.asked.set(true);
        Err("only asked whether it is needed".into())
    }

    fn mean_words(&self, _: &str) -> Result<f64, String> {
        Ok(1.0)
    }
}

/// The chunker that the flags ask for.
pub fn chunker(policy: &PolicyArgs, resources: &CommandResources<'_>) -> Result<Chunker, Failure> {
    let spec = Spec::parse(&policy.segmenter).map_err(|e| Failure::usage(format!("--segmenter: {e}")))?;
    build(&spec, resources).map_err(|e| Failure::usage(format!("--segmenter: {e}")))
}

/// A path for messages and document ids: forward slashes on every system.
pub fn shown(path: &Path) -> String {
    path.display().to_string().replace('\\', "/")
}
