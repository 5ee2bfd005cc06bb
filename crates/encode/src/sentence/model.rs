use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use pericope_api::{Embeddings, EncodeError, SentenceEncoder, Span};
use rayon::prelude::*;

use super::layout::Layout;
use super::pooling::{Pooling, normalise};
use super::settings::{check_room, prompts, window};
use super::spec::EmbedderSpec;
use crate::base::short;
use crate::batches::Batches;
use crate::device::best_device;
use crate::encoders::{self, Embed, Opened};
use crate::kernels::Precision;
use crate::models::{KnownEmbedder, ModelError, one_line, sha256_file};
use crate::prompts::{Prompts, prefixed};
use crate::tokens::Framed;

/// Texts that are tokenised and sorted together: bounds the memory for token ids to some 16 MB where texts are short.
const GROUP: usize = 16_384;

/// Members of a batch (indices into its texts), and what the model made of them, one after the other.
type Batch = (Vec<usize>, Vec<f32>);

/// An embedding model from a folder in the layout of sentence-transformers: BERT, RoBERTa, XLM-RoBERTa, DistilBERT, MPNet,
/// ModernBERT, Nomic's BERT or Qwen3, with its pooling, its prompts and its window. Vectors have L2 norm 1.
///
/// On a CPU, batches run side by side on all threads of the current rayon pool where the family has fused kernels, each on one
/// thread, so that the result does not depend on their number. With the cargo feature `cuda` and a GPU that works, the model
/// runs there.
pub struct SentenceModel {
    pub(crate) name: String,
    pub(crate) fingerprint: String,
    pub(crate) tokens: Framed,
    pub(crate) model: Box<dyn Embed>,
    pub(crate) hidden: usize,
    pub(crate) pooling: Pooling,
    /// Tokens of a text that are read, special tokens and prompt included.
    pub(crate) window: usize,
    /// Numbers of a vector that are kept, the first ones.
    pub(crate) dimension: usize,
    pub(crate) prompts: Prompts,
    /// Whether texts and prompts are read in lower case, where the tokenizer does not see to it.
    pub(crate) is_lower: bool,
}

impl SentenceModel {
    /// Reads the model in a folder; `spec` is its name, with options behind commas: `dimensions=N` keeps the first numbers of
    /// a vector (for models that were trained for it), `max_tokens=N` reads less of a text, `prompts=NAME` takes those of a
    /// known model, `prompts=none` none.
    ///
    /// # Errors
    /// [`ModelError`], naming the file and the field or tensor, or the option.
    pub fn open(spec: &str, folder: &Path) -> Result<Self, ModelError> {
        let options = EmbedderSpec::parse(spec).map_err(ModelError::Setting)?;
        Self::read(&options, options.named(options.base), folder, None)
    }

    /// The same for a model of the table, whose entry says what its folder does not.
    pub(crate) fn read(
        options: &EmbedderSpec<'_>,
        name: String,
        folder: &Path,
        known: Option<&KnownEmbedder>,
    ) -> Result<Self, ModelError> {
        let shown = folder.display();
        if !folder.is_dir() {
            return Err(ModelError::External(format!("{shown}: there is no such folder")));
        }
        let layout = Layout::read(folder)?;
        for file in ["config.json", "tokenizer.json"] {
            let path = layout.folder.join(file);
            if !path.is_file() {
                let reason =
                    "it is not there: an embedder's folder holds config.json, tokenizer.json and model.safetensors";
                return Err(ModelError::unusable(&path, reason));
            }
        }
        let precision = Precision::of_machine().map_err(ModelError::Setting)?;
        let tokenizer = layout.folder.join("tokenizer.json");
        let load = || encoders::open(&layout.folder, &best_device(), precision);
        // The tokenizer and the weights are about equally slow to read.
        let (tokens, model) = rayon::join(|| Framed::load(&tokenizer), load);
        let (tokens, model) = (tokens?, model?);
        model.check_vocabulary(&layout.folder, tokens.vocabulary())?;
        if let Some((path, width)) = layout.width.as_ref().filter(|(_, width)| *width != model.hidden) {
            let reason = format!("it pools rows of {width} numbers, and config.json has {}", model.hidden);
            return Err(ModelError::unusable(path, reason));
        }
        let window = window(&layout, &model, &tokens, options)?;
        let dimension = options.dimensions.unwrap_or(model.hidden);
        if dimension > model.hidden {
            return Err(ModelError::Setting(format!(
                "dimensions={dimension}: vectors of {name} have {}",
                model.hidden
            )));
        }
        let prompts = prompts(options, &layout, known)?;
        // BERT's tokenizer, where it is the fast one, does so itself (the models of bge say it twice): fingerprints stay.
        let is_lower = layout.is_lower && tokens.words().is_none();
        check_room(&name, &prompts, &tokens, is_lower, window)?;
        let named = known.and_then(|known| Pooling::by_name(known.pooling));
        let own = if model.is_causal { Pooling::Last } else { Pooling::Mean };
        let pooling = layout.pooling.or(named).unwrap_or(own);
        let sum = |file: &str| Ok::<_, ModelError>(short(&sha256_file(&layout.folder.join(file))?).to_owned());
        let fingerprint = format!(
            "transformer:sha256={}:tokenizer={}:config={}:{}:l2:{window}:{dimension}{}{}",
            model.checksum,
            sum("tokenizer.json")?,
            sum("config.json")?,
            pooling.name(),
            if is_lower { ":lower" } else { "" },
            prompts.mark()
        );
        let Opened { model, hidden, .. } = model;
        Ok(Self { name, fingerprint, tokens, model, hidden, pooling, window, dimension, prompts, is_lower })
    }

    /// The ids that the model reads of each text, behind the prompt of queries or that of passages.
    #[doc(hidden)]
    #[must_use]
    pub fn ids(&self, texts: &[&str], is_query: bool) -> Vec<Vec<u32>> {
        let prompt = if is_query { &self.prompts.query } else { &self.prompts.passage };
        self.prepared(prompt, texts).iter().map(|text| self.tokens.encode(text, self.window)).collect()
    }

    /// The texts as the tokenizer gets them: behind a prompt, and in lower case where the model was trained so.
    fn prepared<'a>(&self, prompt: &str, texts: &[&'a str]) -> Vec<Cow<'a, str>> {
        let texts = prefixed(prompt, texts);
        match self.is_lower {
            true => texts.iter().map(|text| Cow::Owned(text.to_lowercase())).collect(),
            false => texts,
        }
    }

    /// The vectors of texts behind a prompt; of texts that are the same, one is read.
    fn run(&self, prompt: &str, texts: &[&str]) -> Result<Embeddings, EncodeError> {
        let mut places: HashMap<&str, usize> = HashMap::with_capacity(texts.len());
        let mut distinct = Vec::new();
        let mut place = Vec::with_capacity(texts.len());
        for &text in texts {
            place.push(*places.entry(text).or_insert_with(|| {
                distinct.push(text);
                distinct.len() - 1
            }));
        }
        let mut rows = vec![0.0; distinct.len() * self.dimension];
        for (texts, rows) in distinct.chunks(GROUP).zip(rows.chunks_mut(GROUP * self.dimension)) {
            self.run_group(prompt, texts, rows)?;
        }
        let rows = Embeddings::new(self.dimension, rows);
        if distinct.len() == texts.len() {
            return Ok(rows);
        }
        let values = place.into_iter().flat_map(|i| rows.row(i)).copied().collect();
        Ok(Embeddings::new(self.dimension, values))
    }

    /// Encodes texts that all differ, at most [`GROUP`] of them, into `rows`.
    fn run_group(&self, prompt: &str, texts: &[&str], rows: &mut [f32]) -> Result<(), EncodeError> {
        let texts = self.prepared(prompt, texts);
        let ids: Vec<Vec<u32>> = texts.par_iter().map(|text| self.tokens.encode(text, self.window)).collect();
        // The vector of a text without a token stays zeros.
        for (members, vectors) in self.in_batches(&ids, |sequences| self.pooled(sequences))? {
            for (i, vector) in members.into_iter().zip(vectors.chunks_exact(self.hidden)) {
                let Some(row) = rows.get_mut(i * self.dimension..(i + 1) * self.dimension) else { continue };
                row.copy_from_slice(vector.get(..self.dimension).unwrap_or_default());
                self.check_direction(row)?;
                // The mean of all numbers has norm 1 already.
                if self.pooling != Pooling::Mean || self.dimension < self.hidden {
                    normalise(row);
                }
            }
        }
        Ok(())
    }

    /// Refuses a vector of zeros, which would be near to every text or to none.
    pub(super) fn check_direction(&self, vector: &[f32]) -> Result<(), EncodeError> {
        match vector.iter().any(|x| *x != 0.0) {
            true => Ok(()),
            false => Err(EncodeError::Model(format!("{} gives vectors of zeros: its weights are damaged", self.name))),
        }
    }

    /// One vector a sequence, `[sequences, hidden]`.
    fn pooled(&self, sequences: &[&[u32]]) -> candle_core::Result<Vec<f32>> {
        match self.pooling {
            Pooling::Mean => self.model.embed(sequences),
            Pooling::First => {
                // All of a text is of one segment type.
                let ends: Vec<usize> = sequences.iter().map(|ids| ids.len()).collect();
                self.model.first_of_pairs(sequences, &ends)
            }
            Pooling::Max | Pooling::Weighted | Pooling::Last => {
                let rows = self.model.hidden(sequences)?;
                let mut rest = rows.as_slice();
                let mut pooled = vec![0.0; sequences.len() * self.hidden];
                for (ids, out) in sequences.iter().zip(pooled.chunks_exact_mut(self.hidden)) {
                    let (own, others) = rest.split_at((ids.len() * self.hidden).min(rest.len()));
                    rest = others;
                    self.pooling.pool(own, out);
                }
                Ok(pooled)
            }
        }
    }

    /// Runs batches of sequences of like length, side by side where the model can: for each batch its members (indices into
    /// `ids`, without those of no token) and what `run` made of them.
    fn in_batches(
        &self,
        ids: &[Vec<u32>],
        run: impl Fn(&[&[u32]]) -> candle_core::Result<Vec<f32>> + Sync,
    ) -> Result<Vec<Batch>, EncodeError> {
        let lengths: Vec<usize> = ids.iter().map(Vec::len).collect();
        let batches = Batches::new(&lengths, self.model.batch_tokens());
        let done = batches.run(self.model.parallel(), |members| {
            let held = |&i: &usize| ids.get(i).filter(|ids| !ids.is_empty()).map(|ids| (i, ids.as_slice()));
            let (members, sequences): (Vec<usize>, Vec<&[u32]>) = members.iter().filter_map(held).unzip();
            let vectors = if sequences.is_empty() { Vec::new() } else { run(&sequences)? };
            Ok((members, vectors))
        });
        done.map_err(|e| EncodeError::Run(one_line(&e.to_string()).into()))
    }

    /// The rows of a text's own tokens, each scaled to norm 1.
    fn without_ends(&self, rows: &[f32]) -> Embeddings {
        let count = (rows.len() / self.hidden).saturating_sub(self.tokens.around());
        let own = rows.get(self.tokens.before() * self.hidden..).unwrap_or_default();
        let kept =
            own.chunks_exact(self.hidden).take(count).flat_map(|row| row.get(..self.dimension).unwrap_or_default());
        let mut values: Vec<f32> = kept.copied().collect();
        for row in values.chunks_exact_mut(self.dimension) {
            let norm = row.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-12);
            row.iter_mut().for_each(|x| *x /= norm);
        }
        Embeddings::new(self.dimension, values)
    }
}

impl std::fmt::Debug for SentenceModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SentenceModel").field("fingerprint", &self.fingerprint).finish_non_exhaustive()
    }
}

impl SentenceEncoder for SentenceModel {
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
        self.window
    }

    fn passage_tokens(&self) -> usize {
        let prompt = self.count_tokens("").map_or(0, |around| around.saturating_sub(self.tokens.around()));
        self.window.saturating_sub(prompt)
    }

    fn count_tokens(&self, text: &str) -> Option<usize> {
        let texts = self.prepared(&self.prompts.passage, &[text]);
        texts.first().map(|text| self.tokens.encode(text, usize::MAX).len())
    }

    fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
        self.run(&self.prompts.passage, texts)
    }

    fn encode_queries(&self, queries: &[&str]) -> Result<Embeddings, EncodeError> {
        self.run(&self.prompts.query, queries)
    }

    /// Prompts stand before none of the texts.
    fn encode_tokens(&self, texts: &[&str]) -> Result<Vec<Embeddings>, EncodeError> {
        let own = self.prepared("", texts);
        let ids: Vec<Vec<u32>> = own.par_iter().map(|text| self.tokens.encode(text, self.window)).collect();
        let mut found: Vec<Embeddings> = texts.iter().map(|_| Embeddings::default()).collect();
        for (members, rows) in self.in_batches(&ids, |sequences| self.model.hidden(sequences))? {
            let mut rest = rows.as_slice();
            for i in members {
                let length = ids.get(i).map_or(0, Vec::len);
                let (own, others) = rest.split_at((length * self.hidden).min(rest.len()));
                rest = others;
                if let Some(place) = found.get_mut(i) {
                    *place = self.without_ends(own);
                }
            }
        }
        Ok(found)
    }

    fn encode_spans(&self, documents: &[(&str, &[Span])]) -> Result<Embeddings, EncodeError> {
        self.encode_late(documents)
    }
}
