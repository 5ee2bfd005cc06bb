use std::path::Path;
use std::sync::Arc;

use candle_core::Device;
use pericope_api::{RerankError, Reranker};
use rayon::prelude::*;

use super::head::Head;
use super::pair::Layout;
use crate::base::{Base, short};
use crate::batches::Batches;
use crate::encoders::{self, Embed};
use crate::models::{ModelError, one_line, sha256_file};
use crate::tokens::Subwords;

/// The name in specs.
pub(super) const NAME: &str = "cross-encoder";

/// Passages that are made into sequences together: bounds memory.
const GROUP: usize = 1_024;

/// The least number of tokens of a sequence: four special ones, and something of both texts.
const LEAST_TOKENS: usize = 8;

/// The files of a model.
const FILES: [&str; 3] = ["config.json", "tokenizer.json", "model.safetensors"];

/// A sequence classifier that reads a query and a passage together.
///
/// On a CPU, batches of sequences of like length run side by side on all threads of the current rayon pool, each on one
/// thread, so that the scores do not depend on their number.
pub struct CrossEncoder {
    encoder: Box<dyn Embed>,
    words: Arc<Subwords>,
    head: Head,
    layout: Layout,
    fingerprint: String,
}

impl CrossEncoder {
    /// Reads the model in a folder. Sequences have as many tokens as the model reads, or `max_tokens` where that is less.
    ///
    /// # Errors
    /// [`ModelError`], naming the file and the field or tensor.
    pub fn open(folder: &Path, max_tokens: Option<usize>, device: &Device) -> Result<Self, ModelError> {
        let shown = pericope_util::shown_path(folder);
        if let Some(missing) = FILES.iter().find(|file| !folder.join(file).is_file()) {
            let all = FILES.join(", ");
            return Err(ModelError::External(format!(
                "there is no {missing} in {shown}: a model's folder holds {all}"
            )));
        }
        let base = Base::open(&folder.join("").display().to_string())?;
        let most = base.config.max_tokens();
        let window = max_tokens.map_or(most, |tokens| tokens.min(most));
        let config = folder.join("config.json");
        if window < LEAST_TOKENS {
            let reason = format!("sequences of {window} tokens are too short: {LEAST_TOKENS} are needed");
            return Err(ModelError::unusable(&config, reason));
        }
        let head = Head::read(&config, &base.config, &base.weights)?;
        let encoder = encoders::build(&base.config, &base.weights, device)?;
        let layout = Layout::new(base.config.kind(), (base.tokens.start(), base.tokens.end()), window);
        let tokenizer = sha256_file(&folder.join("tokenizer.json"))?;
        let fingerprint =
            format!("cross-encoder:sha256={}:tokenizer={}:{window}", base.weights.sha256(), short(&tokenizer));
        Ok(Self { encoder, words: base.tokens, head, layout, fingerprint })
    }

    /// Returns what is read: the token ids of the query with each passage, and the place from which on tokens are of segment
    /// type 1. Only the passage is cut off (`only_second`), unless the query takes more than three quarters of a sequence.
    #[must_use]
    pub fn sequences(&self, query: &str, passages: &[&str]) -> Vec<(Vec<u32>, usize)> {
        let query = self.words.ids(query, self.layout.query());
        let room = self.layout.passage(query.len());
        let pair = |passage: &&str| self.layout.sequence(&query, &self.words.ids(passage, room));
        passages.par_iter().map(pair).collect()
    }

    fn group(&self, query: &str, passages: &[&str]) -> candle_core::Result<Vec<f32>> {
        let sequences = self.sequences(query, passages);
        let lengths: Vec<usize> = sequences.iter().map(|(ids, _)| ids.len()).collect();
        let batches = Batches::new(&lengths, self.encoder.batch_tokens());
        let done = batches.run(self.encoder.parallel(), |members| {
            let chosen = members.iter().filter_map(|&i| sequences.get(i));
            let (ids, second): (Vec<&[u32]>, Vec<usize>) = chosen.map(|(ids, at)| (ids.as_slice(), *at)).unzip();
            let rows = self.encoder.first_of_pairs(&ids, &second)?;
            Ok(members.iter().copied().zip(self.head.apply(&rows)).collect::<Vec<_>>())
        })?;
        let mut scores: Vec<(usize, f32)> = done.into_iter().flatten().collect();
        scores.sort_unstable_by_key(|(i, _)| *i);
        Ok(scores.into_iter().map(|(_, score)| score).collect())
    }
}

impl Reranker for CrossEncoder {
    fn name(&self) -> &str {
        NAME
    }

    fn fingerprint(&self) -> String {
        self.fingerprint.clone()
    }

    fn scores(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, RerankError> {
        let mut scores = Vec::with_capacity(passages.len());
        for group in passages.chunks(GROUP) {
            let failed = |e: candle_core::Error| RerankError::Run(one_line(&e.to_string()).into());
            scores.extend(self.group(query, group).map_err(failed)?);
        }
        Ok(scores)
    }
}

impl std::fmt::Debug for CrossEncoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CrossEncoder").field("fingerprint", &self.fingerprint).finish_non_exhaustive()
    }
}
