use std::sync::Arc;

use candle_core::Device;
use pericope_api::{Embeddings, EncodeError, SentenceEncoder, Span};

use crate::device::best_device;
use crate::encoders::{self, Changed, Config, Embed, LowRank, Weights, low_rank};
use crate::kernels::Precision;
use crate::models::{ModelDir, ModelError};
use crate::prompts::Prompts;
use crate::sentence::{Pooling, SentenceModel};
use crate::tokens::{Framed, WordPiece, WordPieceCounter};

/// Tokens that the model reads of a text, as published (`max_seq_length` of its sentence-transformers configuration).
const MAX_TOKENS: usize = 256;

/// all-MiniLM-L6-v2: mean-pooled BERT vectors of 384 numbers with L2 norm 1.
///
/// On a CPU, batches run side by side on all threads of the current rayon pool, each on one thread, so the result does
/// not depend on their number. With the cargo feature `cuda` and a GPU that works, the model runs there.
pub struct MiniLm {
    model: SentenceModel,
    words: Arc<WordPiece>,
}

impl MiniLm {
    /// Loads an installed model on the best device: a GPU with feature `cuda`, else the CPU.
    ///
    /// # Errors
    /// [`ModelError::Io`] or [`ModelError::Unusable`], naming the file and the field or tensor.
    pub fn load(dir: &ModelDir) -> Result<Self, ModelError> {
        Self::open(dir, || encoders::load(dir, &best_device()))
    }

    /// Loads an installed model with changes of its matrices. Its vectors are other ones than the model's own, of the same length.
    ///
    /// # Errors
    /// As [`MiniLm::load`], and where a change does not fit the model.
    pub fn changed(dir: &ModelDir, changes: &LowRank) -> Result<Self, ModelError> {
        let load = || {
            let config = Config::read(&dir.file("config.json"))?;
            let weights = Weights::read(&dir.file("model.safetensors"))?;
            let model = encoders::build(&config, &Changed { base: &weights, changes }, &best_device())?;
            let mark = format!("{}{}", weights.sha256(), low_rank::mark(&changes.checksum()?));
            Ok((model, config, mark))
        };
        let mut found = Self::open(dir, load)?;
        found.model.name = format!("{}:{}", found.model.name, changes.path().display());
        Ok(found)
    }

    /// Loads an installed model on the CPU, to multiply in `precision` whatever is quickest there.
    ///
    /// # Errors
    /// As [`MiniLm::load`].
    pub fn load_in(dir: &ModelDir, precision: Precision) -> Result<Self, ModelError> {
        Self::open(dir, || encoders::load_in(dir, &Device::Cpu, precision))
    }

    fn open(
        dir: &ModelDir,
        load: impl FnOnce() -> Result<(Box<dyn Embed>, Config, String), ModelError> + Send,
    ) -> Result<Self, ModelError> {
        let file = dir.file("tokenizer.json");
        // The tokenizer and the weights are about equally slow to read.
        let (tokens, model) = rayon::join(|| Framed::load(&file), load);
        let ((model, config, checksum), tokens) = (model?, tokens?);
        encoders::check_vocabulary(dir, tokens.vocabulary(), &config)?;
        let words = tokens.words().ok_or_else(|| ModelError::unusable(&file, "not a lower-casing BERT tokenizer"))?;
        let words = Arc::clone(words);
        let model = SentenceModel {
            name: "minilm".to_owned(),
            fingerprint: format!("{}:sha256={checksum}:mean:l2:{MAX_TOKENS}", dir.name),
            tokens,
            model,
            hidden: config.hidden_size,
            pooling: Pooling::Mean,
            window: MAX_TOKENS,
            dimension: config.hidden_size,
            prompts: Prompts::default(),
            is_lower: false,
        };
        Ok(Self { model, words })
    }

    /// A token counter that shares this model's tokenizer.
    #[must_use]
    pub fn counter(&self) -> WordPieceCounter {
        WordPieceCounter::new(Arc::clone(&self.words))
    }
}

impl std::fmt::Debug for MiniLm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MiniLm").field("fingerprint", &self.model.fingerprint).finish_non_exhaustive()
    }
}

impl SentenceEncoder for MiniLm {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn fingerprint(&self) -> String {
        self.model.fingerprint()
    }

    fn dimension(&self) -> usize {
        self.model.dimension()
    }

    fn max_tokens(&self) -> usize {
        self.model.max_tokens()
    }

    fn count_tokens(&self, text: &str) -> Option<usize> {
        self.model.count_tokens(text)
    }

    fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
        self.model.encode(texts)
    }

    fn encode_tokens(&self, texts: &[&str]) -> Result<Vec<Embeddings>, EncodeError> {
        self.model.encode_tokens(texts)
    }

    fn encode_spans(&self, documents: &[(&str, &[Span])]) -> Result<Embeddings, EncodeError> {
        self.model.encode_spans(documents)
    }
}
