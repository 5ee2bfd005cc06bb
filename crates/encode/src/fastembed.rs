//! `fastembed:MODEL`: the embedding models of the fastembed crate, run by ONNX Runtime (cargo feature `fastembed`).
//!
//! MODEL is a folder with a model in ONNX, as Hugging Face's exporters write it, or the name of a model that fastembed
//! knows (`BAAI/bge-small-en-v1.5`), which [`pull`] fetches into `$PERICOPE_HOME/models/fastembed`; nothing else here uses
//! the network. ONNX Runtime is looked for when it is first needed: `$ORT_DYLIB_PATH` names its library, and the package
//! `onnxruntime` of PyPI has one.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use fastembed::{
    EmbeddingModel, InitOptionsUserDefined, ModelInfo, Pooling, QuantizationMode, TextEmbedding, TextInitOptions,
    TokenizerFiles, UserDefinedEmbeddingModel,
};
use pericope_api::{Embeddings, EncodeError, SentenceEncoder};
use pericope_util::to_length_one;
use serde_json::Value;

use crate::models::{self, ModelError, sha256_file};

/// Tokens that are read where the model's files name no fewer.
const MAX_TOKENS: usize = 512;
/// Texts of a batch: their vectors wait for the longest of them.
const BATCH: usize = 16;

/// A text embedding model on ONNX Runtime.
pub struct Fastembed {
    name: String,
    fingerprint: String,
    dimension: usize,
    max_tokens: usize,
    /// Vectors of a model whose quantisation looks at the whole batch depend on what stands beside a text.
    alone: bool,
    model: Mutex<TextEmbedding>,
}

impl Fastembed {
    /// The encoder of what stands after `fastembed:`.
    ///
    /// # Errors
    /// [`ModelError`]: ONNX Runtime's library is not found or cannot be loaded, the folder lacks a file or holds one that
    /// is not what it should be, the name is not known, or the model was never pulled.
    pub fn open(model: &str) -> Result<Self, ModelError> {
        let folder = Path::new(model);
        if folder.is_dir() { Self::of_folder(folder) } else { Self::of_name(model) }
    }

    fn of_folder(folder: &Path) -> Result<Self, ModelError> {
        runtime()?;
        let onnx = ["model.onnx", "onnx/model.onnx"].iter().map(|name| folder.join(name)).find(|path| path.is_file());
        let onnx = onnx.ok_or_else(|| unusable(folder, "there is no model.onnx in it"))?;
        let tokenizer = folder.join("tokenizer.json");
        let pooling = pooling(folder)?;
        let max_tokens = longest(folder)?;
        let files = TokenizerFiles {
            tokenizer_file: read(&tokenizer)?,
            config_file: read(&folder.join("config.json"))?,
            special_tokens_map_file: read_or(&folder.join("special_tokens_map.json"), "{}")?,
            tokenizer_config_file: read_or(
                &folder.join("tokenizer_config.json"),
                &format!("{{\"model_max_length\": {max_tokens}, \"pad_token\": \"[PAD]\"}}"),
            )?,
        };
        let (mut definition, mut sums) = (UserDefinedEmbeddingModel::new(read(&onnx)?, files), sha256_file(&onnx)?);
        definition.pooling = Some(pooling.clone());
        for path in external(&onnx)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            sums = format!("{sums}:{}", sha256_file(&path)?);
            let buffer = read(&path)?;
            definition = definition.with_external_initializer(name, buffer);
        }
        let options = InitOptionsUserDefined::new().with_max_length(max_tokens);
        let model =
            TextEmbedding::try_new_from_user_defined(definition, options).map_err(|error| unusable(folder, error))?;
        let fingerprint = format!("fastembed:sha256={sums}:{}:{pooling:?}:{max_tokens}", sha256_file(&tokenizer)?);
        Self::new(format!("fastembed:{}", folder.display()), fingerprint, max_tokens, false, model, folder)
    }

    fn of_name(name: &str) -> Result<Self, ModelError> {
        let (info, cache) = (known(name)?, cache()?);
        let folder = cache.join(format!("models--{}", info.model_code.replace('/', "--")));
        if !folder.is_dir() {
            let reason =
                format!("it is not installed; get it with: pericope models pull fastembed:{}", info.model_code);
            return Err(unusable(&folder, reason));
        }
        Self::load(&info, &cache, &folder, false)
    }

    fn load(info: &ModelInfo<EmbeddingModel>, cache: &Path, folder: &Path, progress: bool) -> Result<Self, ModelError> {
        runtime()?;
        let options = TextInitOptions::new(info.model.clone())
            .with_cache_dir(cache.to_owned())
            .with_show_download_progress(progress)
            .with_max_length(MAX_TOKENS);
        let model = TextEmbedding::try_new(options).map_err(|error| unusable(folder, chain(&error)))?;
        // The hub keeps a file under the name of its checksum: the revision tells what was fetched.
        let revision = std::fs::read_to_string(folder.join("refs/main")).unwrap_or_default();
        let fingerprint = format!("fastembed:{}:{}:{MAX_TOKENS}", info.model_code, revision.trim());
        let alone = TextEmbedding::get_quantization_mode(&info.model) == QuantizationMode::Dynamic;
        Self::new(format!("fastembed:{}", info.model_code), fingerprint, MAX_TOKENS, alone, model, folder)
    }

    fn new(
        name: String,
        fingerprint: String,
        max_tokens: usize,
        alone: bool,
        mut model: TextEmbedding,
        folder: &Path,
    ) -> Result<Self, ModelError> {
        // The graph does not say how long its vectors are: one text does.
        let probe = model.embed(["a"], None).map_err(|error| unusable(folder, chain(&error)))?;
        let dimension = probe.first().map_or(0, Vec::len);
        if dimension == 0 {
            return Err(unusable(folder, "the model gives no vectors"));
        }
        Ok(Self { name, fingerprint, dimension, max_tokens, alone, model: Mutex::new(model) })
    }
}

impl SentenceEncoder for Fastembed {
    fn name(&self) -> &str {
        &self.name
    }

    fn fingerprint(&self) -> String {
        self.fingerprint.clone()
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
        // Neighbours by length: a batch is padded to its longest text.
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(texts.get(i).map_or(0, |text| text.len())));
        let mut values = vec![0.0_f32; texts.len() * self.dimension];
        let mut model = self.model.lock().unwrap_or_else(PoisonError::into_inner);
        for batch in order.chunks(if self.alone { 1 } else { BATCH }) {
            let members: Vec<&str> = batch.iter().filter_map(|&i| texts.get(i).copied()).collect();
            let vectors = model.embed(members, None).map_err(|error| EncodeError::Model(chain(&error)))?;
            for (&i, vector) in batch.iter().zip(&vectors) {
                let row = values.get_mut(i * self.dimension..(i + 1) * self.dimension);
                let Some(row) = row.filter(|row| row.len() == vector.len()) else {
                    return Err(EncodeError::Model(format!("no vector of {} numbers for a text", self.dimension)));
                };
                let Some(scaled) = to_length_one(vector) else {
                    return Err(EncodeError::Model(format!("{} gives a vector that is not finite", self.name)));
                };
                row.iter_mut().zip(vector).for_each(|(to, x)| *to = scaled(*x));
            }
        }
        Ok(Embeddings::new(self.dimension, values))
    }
}

/// Fetches a model that fastembed knows by name from the Hugging Face hub, and tries it.
///
/// # Errors
/// As [`Fastembed::open`], and where the hub cannot be reached.
pub fn pull(name: &str, progress: bool) -> Result<PathBuf, ModelError> {
    let (info, cache) = (known(name)?, cache()?);
    let folder = cache.join(format!("models--{}", info.model_code.replace('/', "--")));
    Fastembed::load(&info, &cache, &folder, progress)?;
    Ok(folder)
}

fn cache() -> Result<PathBuf, ModelError> {
    Ok(models::home()?.join("models/fastembed"))
}

/// The model of that name, as Hugging Face or fastembed calls it, in any case.
fn known(name: &str) -> Result<ModelInfo<EmbeddingModel>, ModelError> {
    let all = TextEmbedding::list_supported_models();
    let is = |info: &ModelInfo<EmbeddingModel>| {
        info.model_code.eq_ignore_ascii_case(name) || format!("{:?}", info.model).eq_ignore_ascii_case(name)
    };
    let listed = || {
        let mut names: Vec<String> = all.iter().map(|info| format!("{:?}", info.model)).collect();
        names.sort_unstable();
        names.join(", ")
    };
    all.iter().find(|info| is(info)).cloned().ok_or_else(|| {
        let reason = format!("is neither a folder with a model.onnx nor a model that fastembed knows: {}", listed());
        unusable(Path::new(name), reason)
    })
}

/// Loads ONNX Runtime's library, once; without this, what is missing would end the program.
fn runtime() -> Result<(), ModelError> {
    static LOADED: OnceLock<Result<(), (PathBuf, String)>> = OnceLock::new();
    let load = || {
        let path = std::env::var_os("ORT_DYLIB_PATH").filter(|path| !path.is_empty()).map(PathBuf::from);
        let path = path.ok_or_else(|| {
            let reason = "name ONNX Runtime's library with ORT_DYLIB_PATH; `pip install onnxruntime` puts one \
                          (libonnxruntime.so.* below onnxruntime/capi) on this machine";
            (PathBuf::from("ORT_DYLIB_PATH"), reason.to_owned())
        })?;
        match ort::init_from(&path) {
            // fastembed builds the environment; here it is enough that the library is there.
            Ok(_) => Ok(()),
            Err(error) => Err((path, chain(&error))),
        }
    };
    LOADED.get_or_init(load).clone().map_err(|(path, reason)| unusable(&path, reason))
}

/// The way from token vectors to one: that of sentence-transformers' `1_Pooling/config.json`, or the mean.
fn pooling(folder: &Path) -> Result<Pooling, ModelError> {
    let path = folder.join("1_Pooling/config.json");
    if !path.is_file() {
        return Ok(Pooling::Mean);
    }
    let config = json(&path)?;
    let is = |key: &str| config.get(key).and_then(Value::as_bool).unwrap_or(false);
    match (is("pooling_mode_mean_tokens"), is("pooling_mode_cls_token")) {
        (true, false) => Ok(Pooling::Mean),
        (false, true) => Ok(Pooling::Cls),
        _ => Err(unusable(&path, "only the mean or the first token's vector can be taken")),
    }
}

/// Tokens of a text that are read: what sentence-transformers or the tokenizer name, [`MAX_TOKENS`] at most.
fn longest(folder: &Path) -> Result<usize, ModelError> {
    for (file, key) in [("sentence_bert_config.json", "max_seq_length"), ("tokenizer_config.json", "model_max_length")]
    {
        let path = folder.join(file);
        // Some tokenizers write 1e30 for "no limit".
        if path.is_file()
            && let Some(limit) = json(&path)?.get(key).and_then(Value::as_f64)
            && limit >= 3.0
        {
            return Ok((limit as usize).min(MAX_TOKENS));
        }
    }
    Ok(MAX_TOKENS)
}

/// Weights that lie beside a graph of more than two gigabytes.
fn external(onnx: &Path) -> Result<Vec<PathBuf>, ModelError> {
    let folder = onnx.parent().unwrap_or(Path::new(""));
    let listed = std::fs::read_dir(folder).map_err(ModelError::io(folder))?;
    let mut found: Vec<PathBuf> = (listed.filter_map(Result::ok).map(|entry| entry.path()))
        .filter(|path| path.to_string_lossy().ends_with(".onnx_data") || path.to_string_lossy().ends_with(".onnx.data"))
        .collect();
    found.sort();
    Ok(found)
}

fn read(path: &Path) -> Result<Vec<u8>, ModelError> {
    std::fs::read(path).map_err(ModelError::io(path))
}

fn read_or(path: &Path, default: &str) -> Result<Vec<u8>, ModelError> {
    if path.is_file() { read(path) } else { Ok(default.as_bytes().to_vec()) }
}

fn json(path: &Path) -> Result<Value, ModelError> {
    serde_json::from_slice(&read(path)?).map_err(|error| unusable(path, error))
}

/// The error of a file or folder that is not one of this program's models.
fn unusable(path: &Path, reason: impl std::fmt::Display) -> ModelError {
    ModelError::External(format!("{}: {reason}", path.display()))
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}
