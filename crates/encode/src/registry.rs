//! Encoders and token counters by the names that the command line and configurations use.

use std::path::{MAIN_SEPARATOR, Path};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use pericope_api::{SentenceEncoder, TokenCounter};
use pericope_segment::counters::WordCounter;

use crate::encoders::LowRank;
use crate::models::{self, ModelDir, ModelError, embedder_by_name, prompts_of};
use crate::modules::transformer_folder;
use crate::prompts::Prompts;
use crate::sentence::{EmbedderSpec, Prompted};
use crate::tokens::{TOKENIZER_FILE, is_file};
use crate::{FileCounter, MiniLm, SentenceModel, StaticVectors, WordPieceCounter};

/// The reasons why a name gives no encoder or counter.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// Nothing has this name.
    #[error("there is no {kind} {name:?}; known: {known}")]
    Unknown {
        /// `embedder` or `tokenizer`.
        kind: &'static str,
        /// The name asked for.
        name: String,
        /// The names that there are, with commas.
        known: String,
    },
    /// The options behind an embedder are not its own, or mean nothing.
    #[error("embedder {spec}: {reason}")]
    Options {
        /// The embedder with its options.
        spec: String,
        /// The fault.
        reason: String,
    },
    /// The model is not installed or cannot be used.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// Names that [`embedder`] takes, with what they stand for.
pub const EMBEDDERS: &[(&str, &str)] = &[
    ("minilm", "all-MiniLM-L6-v2 on this machine, 384 numbers"),
    ("minilm:FILE", "the same with the low-rank changes (LoRA) of a safetensors file"),
    (
        "static",
        "token vectors made of all-MiniLM-L6-v2, 256 numbers: a hundred times as quick (pericope models pull static)",
    ),
    ("static:DIR", "a folder of static vectors: Model2Vec's, or one that `pericope models distil` made"),
    ("openai:MODEL", "a service with OpenAI's API for embeddings; openai:MODEL:DIMENSIONS"),
    ("fastembed:MODEL", "a model of fastembed's or a folder with one in ONNX (cargo feature fastembed)"),
    (
        "DIR",
        "a folder with an embedding model in the layout of sentence-transformers; options behind commas: dimensions=N, \
         max_tokens=N, prompts=NAME",
    ),
    ("NAME", "a model that `pericope models list` shows, with the same options"),
    ("none", "no vectors: BM25 search only"),
];

/// Names that [`counter`] takes, with what they stand for.
pub const COUNTERS: &[(&str, &str)] = &[
    ("minilm", "WordPiece tokens of all-MiniLM-L6-v2"),
    ("words", "words; needs no model"),
    ("DIR|FILE", "a tokenizer.json, or a folder with one"),
    ("NAME", "the tokenizer of a model that `pericope models list` shows"),
    ("cl100k", "OpenAI's tokens of GPT-4 and text-embedding-3 (cargo feature tiktoken)"),
    ("o200k", "OpenAI's tokens of GPT-4o and later (cargo feature tiktoken)"),
];

/// The encoder of a spec; `None` for `none`.
///
/// # Errors
/// [`RegistryError::Unknown`] and [`RegistryError::Options`]; [`RegistryError::Model`] where the model is not installed or
/// damaged.
pub fn embedder(spec: &str) -> Result<Option<Arc<dyn SentenceEncoder>>, RegistryError> {
    match spec {
        "none" => Ok(None),
        "minilm" => Ok(Some(minilm()?)),
        "static" => Ok(Some(Arc::new(StaticVectors::load(&models::static_vectors()?)?))),
        _ => {
            if let Some(file) = spec.strip_prefix(CHANGED) {
                let changes = LowRank::read(Path::new(file))?;
                return Ok(Some(Arc::new(MiniLm::changed(&models::locate("minilm")?, &changes)?)));
            }
            let served = Served::parse(spec)?;
            match served.options.base.split_once(':') {
                Some(("static", folder)) if !folder.is_empty() => {
                    if served.options.has_options() {
                        return Err(wrong(&served.options, "static:DIR takes no options".to_owned()));
                    }
                    let dir = ModelDir { name: spec.to_owned(), path: folder.into() };
                    Ok(Some(Arc::new(StaticVectors::load(&dir)?)))
                }
                Some(("fastembed", model)) => served.over_with(fastembed(model)?, folder_prompts(model)?).map(Some),
                _ => transformer(&served.options).map(|model| Some(Arc::new(model) as Arc<dyn SentenceEncoder>)),
            }
        }
    }
}

/// all-MiniLM-L6-v2, in memory once however many hold it: an index, a segmenter and a reranker may read with it at the same time.
fn minilm() -> Result<Arc<MiniLm>, ModelError> {
    static LOADED: Mutex<Weak<MiniLm>> = Mutex::new(Weak::new());
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(model) = loaded.upgrade() {
        return Ok(model);
    }
    let model = Arc::new(MiniLm::load(&models::locate("minilm")?)?);
    *loaded = Arc::downgrade(&model);
    Ok(model)
}

/// What stands before the file of changes in a spec.
pub const CHANGED: &str = "minilm:";

/// A model in a folder, or one of the table that is installed.
fn transformer(options: &EmbedderSpec<'_>) -> Result<SentenceModel, RegistryError> {
    let base = options.base;
    let holds = |file: &str| Path::new(base).join(file).is_file();
    if base.contains(MAIN_SEPARATOR) || holds("config.json") || holds("modules.json") {
        return Ok(SentenceModel::read(options, options.named(base), Path::new(base), None)?);
    }
    let Ok(known) = embedder_by_name(base) else {
        let taken = ["minilm", "static", "none"].contains(&base) && options.has_options();
        return Err(match taken {
            true => wrong(options, format!("{base} takes no options")),
            false => unknown("embedder", base, EMBEDDERS),
        });
    };
    let dir = models::locate(known.name)?;
    Ok(SentenceModel::read(options, options.named(known.name), &dir.path, Some(known))?)
}

/// The prompts of a folder that another library runs; none for a name.
fn folder_prompts(model: &str) -> Result<Option<Prompts>, RegistryError> {
    let folder = Path::new(model);
    Ok(if folder.is_dir() { Some(Prompted::of_folder(folder)?) } else { None })
}

/// An embedder that something else runs, with the prompts of its model: those that are known by its name, or those that the
/// option `prompts=NAME` names (`none`: none).
pub struct Served<'a> {
    options: EmbedderSpec<'a>,
}

impl<'a> Served<'a> {
    /// Splits a spec from its options.
    ///
    /// # Errors
    /// [`RegistryError::Options`].
    pub fn parse(spec: &'a str) -> Result<Self, RegistryError> {
        let told = |reason| RegistryError::Options { spec: spec.to_owned(), reason };
        Ok(Self { options: EmbedderSpec::parse(spec).map_err(told)? })
    }

    /// The spec without options.
    #[must_use]
    pub fn base(&self) -> &'a str {
        self.options.base
    }

    /// The encoder with the prompts of its model before its texts; the model's name is what stands behind the first colon of the
    /// encoder's, without the length of vectors that was asked for (`:256`).
    ///
    /// # Errors
    /// [`RegistryError::Options`] for options that it has not; [`RegistryError::Model`] for a name that `prompts` does not know.
    pub fn over(&self, encoder: Arc<dyn SentenceEncoder>) -> Result<Arc<dyn SentenceEncoder>, RegistryError> {
        self.over_with(encoder, None)
    }

    fn over_with(
        &self,
        encoder: Arc<dyn SentenceEncoder>,
        own: Option<Prompts>,
    ) -> Result<Arc<dyn SentenceEncoder>, RegistryError> {
        if self.options.dimensions.is_some() || self.options.max_tokens.is_some() {
            return Err(wrong(&self.options, "its only option is prompts".to_owned()));
        }
        let model = without_length(encoder.name().split_once(':').map_or(encoder.name(), |(_, model)| model));
        let prompts = match self.options.prompts {
            Some("none") => Prompts::default(),
            Some(name) => embedder_by_name(name)?.prompts(),
            None => own.unwrap_or_else(|| prompts_of(model)),
        };
        let name = self.options.named(encoder.name());
        Ok(Prompted::over(encoder, prompts, &name))
    }
}

/// The model of `MODEL:DIMENSIONS`, whose prompts are those of the model.
fn without_length(model: &str) -> &str {
    match model.rsplit_once(':') {
        Some((model, length)) if length.parse::<usize>().is_ok() => model,
        _ => model,
    }
}

fn wrong(options: &EmbedderSpec<'_>, reason: String) -> RegistryError {
    RegistryError::Options { spec: options.named(options.base), reason }
}

#[cfg(feature = "fastembed")]
fn fastembed(model: &str) -> Result<Arc<dyn SentenceEncoder>, ModelError> {
    Ok(Arc::new(crate::fastembed::Fastembed::open(model)?))
}

#[cfg(not(feature = "fastembed"))]
fn fastembed(model: &str) -> Result<Arc<dyn SentenceEncoder>, ModelError> {
    Err(ModelError::External(format!("fastembed:{model}: this program was built without it (cargo feature fastembed)")))
}

/// The name by which [`counter`] knows the tokenizer of an embedder on this machine; `None` for one that has none of its own in a
/// `tokenizer.json`. Nothing is loaded.
#[must_use]
pub fn tokenizer_of(embedder: &str) -> Option<String> {
    if embedder == "minilm" || embedder.starts_with(CHANGED) {
        return Some("minilm".to_owned());
    }
    let base = Served::parse(embedder).ok()?.base();
    let has_file = transformer_folder(Path::new(base)).join(TOKENIZER_FILE).is_file();
    match has_file {
        true => Some(base.to_owned()),
        false => embedder_by_name(base).ok().map(|known| known.name.to_owned()),
    }
}

/// The token counter of a name.
///
/// # Errors
/// [`RegistryError::Unknown`], or [`RegistryError::Model`] where the model is not installed or damaged.
pub fn counter(name: &str) -> Result<Arc<dyn TokenCounter>, RegistryError> {
    match name {
        "minilm" => Ok(Arc::new(WordPieceCounter::load(&models::locate("minilm")?)?)),
        "words" => Ok(Arc::new(WordCounter)),
        "cl100k" | "o200k" => tiktoken(name).map_err(RegistryError::Model),
        _ if is_file(name) => Ok(Arc::new(FileCounter::load(name)?)),
        _ => Err(unknown("tokenizer", name, COUNTERS)),
    }
}

#[cfg(feature = "tiktoken")]
fn tiktoken(name: &str) -> Result<Arc<dyn TokenCounter>, ModelError> {
    match crate::TiktokenCounter::named(name) {
        Some(counter) => Ok(Arc::new(counter)),
        None => Err(ModelError::External(format!("there is no vocabulary {name}"))),
    }
}

#[cfg(not(feature = "tiktoken"))]
fn tiktoken(name: &str) -> Result<Arc<dyn TokenCounter>, ModelError> {
    Err(ModelError::External(format!("tokenizer {name}: this program was built without it (cargo feature tiktoken)")))
}

fn unknown(kind: &'static str, name: &str, known: &[(&str, &str)]) -> RegistryError {
    let known = known.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    RegistryError::Unknown { kind, name: name.into(), known }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use pericope_api::{Embeddings, EncodeError, SentenceEncoder};

    use super::{Served, counter, embedder};

    /// Something that an endpoint runs, by its name.
    struct Named(&'static str);

    impl SentenceEncoder for Named {
        fn name(&self) -> &str {
            self.0
        }

        fn fingerprint(&self) -> String {
            "named".into()
        }

        fn dimension(&self) -> usize {
            1
        }

        fn max_tokens(&self) -> usize {
            9
        }

        fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
            Ok(Embeddings::new(1, vec![1.0; texts.len()]))
        }
    }

    #[test]
    fn prompts_do_not_depend_on_the_length_that_is_asked_for() {
        const NOMIC: &str = "named:query=\"search_query: \":passage=\"search_document: \"";
        for (spec, name, fingerprint) in [
            ("openai:nomic-embed-text:256", "openai:nomic-embed-text:256", NOMIC),
            ("openai:nomic-embed-text:v1.5:256", "openai:nomic-embed-text:v1.5:256", NOMIC),
            ("openai:ok:4", "openai:ok:4", "named"),
            ("openai:ok:4,prompts=none", "openai:ok:4", "named"),
            ("openai:ok:4,prompts=nomic-embed-text-v1.5", "openai:ok:4", NOMIC),
        ] {
            let served = Served::parse(spec).unwrap();
            assert_eq!(served.base(), name);
            let over = served.over(Arc::new(Named(name))).unwrap();
            assert_eq!((over.name(), over.fingerprint().as_str()), (spec, fingerprint));
        }
    }

    #[test]
    fn unknown_names_list_the_known_ones() {
        assert!(embedder("none").unwrap().is_none());
        let text = embedder("word2vec").err().unwrap().to_string();
        assert_eq!(
            text,
            "there is no embedder \"word2vec\"; known: minilm, minilm:FILE, static, static:DIR, openai:MODEL, fastembed:MODEL, DIR, NAME, none"
        );
        assert_eq!(
            embedder("minilm,dimensions=3").err().unwrap().to_string(),
            "embedder minilm,dimensions=3: minilm takes no options"
        );
        assert_eq!(
            embedder("static:table,dimensions=2").err().unwrap().to_string(),
            "embedder static:table,dimensions=2: static:DIR takes no options"
        );
        let text = embedder("bge-m3,size=3").err().unwrap().to_string();
        assert!(text.contains("there is no option \"size\""), "{text}");
        let text = embedder("no/such/folder").err().unwrap().to_string();
        assert_eq!(text, "no/such/folder: there is no such folder");
        #[cfg(not(feature = "fastembed"))]
        assert!(embedder("fastembed:x").err().unwrap().to_string().contains("cargo feature fastembed"));
        assert_eq!(counter("words").unwrap().count("two words"), 2);
        let text = counter("letters").err().unwrap().to_string();
        assert!(
            text.contains("no tokenizer \"letters\"") && text.contains("minilm, words, DIR|FILE, NAME, cl100k, o200k"),
            "{text}"
        );
    }
}
