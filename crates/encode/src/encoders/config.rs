use std::path::Path;

use serde::Deserialize;

use crate::models::ModelError;

/// The families of encoders that can be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// BERT: positions are counted from 0.
    Bert,
    /// RoBERTa: BERT's layers; positions are counted from behind the id of padding, and padding has none.
    Roberta,
    /// Longformer: RoBERTa's positions; attention inside a sliding window, and of a few global tokens.
    Longformer,
    /// DistilBERT: BERT without segment types, its tensors under names of their own.
    DistilBert,
    /// MPNet: RoBERTa's positions, no segment types, and a number that the distance of two tokens adds to their score.
    MpNet,
}

impl Kind {
    /// Whether positions are counted from behind the id of padding.
    fn counts_behind_padding(self) -> bool {
        matches!(self, Self::Roberta | Self::Longformer | Self::MpNet)
    }
}

/// Values of `model_type` and what they stand for.
const KINDS: &[(&str, Kind)] = &[
    ("bert", Kind::Bert),
    ("roberta", Kind::Roberta),
    ("xlm-roberta", Kind::Roberta),
    ("longformer", Kind::Longformer),
    ("distilbert", Kind::DistilBert),
    ("mpnet", Kind::MpNet),
];

/// Ranges of distances beyond which the logarithm that divides them means nothing.
const MOST_BUCKETS: usize = 256;

/// The fields of an encoder's `config.json` that matter here.
#[derive(Debug, Clone, Deserialize)]
pub struct Config {
    /// Numbers of a token's vector.
    pub hidden_size: usize,
    /// Layers.
    pub num_hidden_layers: usize,
    /// Attention heads of a layer.
    pub num_attention_heads: usize,
    /// Numbers between the two products of a feed-forward layer.
    pub intermediate_size: usize,
    /// Added to variances before the root.
    pub layer_norm_eps: f64,
    /// Positions that have an embedding; see [`Config::max_tokens`] for how many of them tokens can have.
    pub max_position_embeddings: usize,
    /// Tokens that have an embedding.
    pub vocab_size: usize,
    /// Segment types that have an embedding.
    pub type_vocab_size: usize,
    hidden_act: String,
    #[serde(default = "absolute")]
    position_embedding_type: String,
    pad_token_id: Option<u32>,
    attention_window: Option<Window>,
    relative_attention_num_buckets: Option<usize>,
    #[serde(skip, default = "bert")]
    kind: Kind,
}

/// Tokens that a token of Longformer sees, itself not counted: of all layers, or of each.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Window {
    All(usize),
    Each(Vec<usize>),
}

fn absolute() -> String {
    "absolute".to_owned()
}

fn bert() -> Kind {
    Kind::Bert
}

impl Config {
    /// Reads and checks a `config.json`.
    ///
    /// # Errors
    /// [`ModelError::Io`]; [`ModelError::Unusable`] for a model of another kind, or sizes that cannot be.
    pub fn read(path: &Path) -> Result<Self, ModelError> {
        let text = std::fs::read(path).map_err(ModelError::io(path))?;
        let unusable = |reason: String| ModelError::unusable(path, reason);
        let typed: Typed = serde_json::from_slice(&text).map_err(|e| unusable(e.to_string()))?;
        let kind = kind(typed.model_type.as_deref()).map_err(unusable)?;
        let read = match kind {
            Kind::DistilBert => serde_json::from_slice(&text).and_then(super::distil::config),
            Kind::MpNet => serde_json::from_slice(&text).and_then(super::mpnet::config),
            _ => serde_json::from_slice(&text),
        };
        let mut config: Self = read.map_err(|e| unusable(e.to_string()))?;
        config.kind = kind;
        config.problem().map_or(Ok(config), |reason| Err(unusable(reason)))
    }

    /// The first reason why the configuration cannot be run.
    fn problem(&self) -> Option<String> {
        if self.hidden_act != "gelu" {
            return Some(format!("hidden_act is {:?}; only \"gelu\" is supported", self.hidden_act));
        }
        if self.position_embedding_type != "absolute" {
            return Some(format!("position_embedding_type is {:?}", self.position_embedding_type));
        }
        for (name, size) in [
            ("hidden_size", self.hidden_size),
            ("num_hidden_layers", self.num_hidden_layers),
            ("intermediate_size", self.intermediate_size),
            ("vocab_size", self.vocab_size),
            ("type_vocab_size", self.type_vocab_size),
        ] {
            if size == 0 {
                return Some(format!("{name} is 0"));
            }
        }
        if self.num_attention_heads == 0 || !self.hidden_size.is_multiple_of(self.num_attention_heads) {
            return Some(format!(
                "hidden_size {} is no multiple of num_attention_heads {}",
                self.hidden_size, self.num_attention_heads
            ));
        }
        if self.padding() as usize >= self.vocab_size {
            return Some(format!("pad_token_id {} is not below vocab_size {}", self.padding(), self.vocab_size));
        }
        if self.max_tokens() == 0 {
            return Some(format!("max_position_embeddings {} leaves no position", self.max_position_embeddings));
        }
        if let Some(buckets) = self.buckets()
            && (buckets < 4 || !buckets.is_multiple_of(4) || buckets > MOST_BUCKETS)
        {
            return Some(format!(
                "relative_attention_num_buckets {buckets} is no multiple of 4 from 4 to {MOST_BUCKETS}"
            ));
        }
        self.window_problem()
    }

    fn window_problem(&self) -> Option<String> {
        if self.kind != Kind::Longformer {
            return None;
        }
        let wrong = |window: usize| window == 0 || !window.is_multiple_of(2);
        match &self.attention_window {
            None => Some("there is no attention_window".into()),
            Some(Window::All(window)) => {
                wrong(*window).then(|| format!("attention_window {window} is not even and above 0"))
            }
            Some(Window::Each(windows)) if windows.len() != self.num_hidden_layers => {
                Some(format!("attention_window has {} numbers for {} layers", windows.len(), self.num_hidden_layers))
            }
            Some(Window::Each(windows)) => windows
                .iter()
                .find(|&&window| wrong(window))
                .map(|window| format!("attention_window {window} is not even and above 0")),
        }
    }

    /// The family of the model.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Numbers of an attention head.
    #[must_use]
    pub fn head_size(&self) -> usize {
        self.hidden_size / self.num_attention_heads
    }

    /// Tokens of the longest sequence that the model reads, special tokens included.
    #[must_use]
    pub fn max_tokens(&self) -> usize {
        match self.kind.counts_behind_padding() {
            false => self.max_position_embeddings,
            true => self.max_position_embeddings.saturating_sub(self.padding() as usize + 1),
        }
    }

    /// The id of padding.
    #[must_use]
    pub fn padding(&self) -> u32 {
        self.pad_token_id.unwrap_or(u32::from(self.kind.counts_behind_padding()))
    }

    /// The number of ranges of distances that have a number of their own in the scores of attention (MPNet).
    #[must_use]
    pub fn buckets(&self) -> Option<usize> {
        self.relative_attention_num_buckets.filter(|_| self.kind == Kind::MpNet)
    }

    /// Tokens that a token sees on either side in a layer: half of `attention_window`; 0 for other models.
    #[must_use]
    pub fn reach(&self, layer: usize) -> usize {
        match &self.attention_window {
            Some(Window::All(window)) => window / 2,
            Some(Window::Each(windows)) => windows.get(layer).map_or(0, |window| window / 2),
            None => 0,
        }
    }

    /// The rows of the table of positions that a sequence's tokens get.
    pub(crate) fn positions(&self, ids: &[u32]) -> impl Iterator<Item = u32> {
        let (counted, padding) = (self.kind.counts_behind_padding(), self.padding());
        let mut next = if counted { padding.saturating_add(1) } else { 0 };
        ids.iter().map(move |&id| {
            // RoBERTa counts tokens that are not padding; the id of padding can stand in a text that spells it.
            if counted && id == padding {
                return padding;
            }
            next += 1;
            next - 1
        })
    }

    /// Refuses pairs that the model cannot read: sequences as [`check`](Self::check), and each with a place from which on
    /// its second part stands.
    ///
    /// # Errors
    /// As [`check`](Self::check), and for another number of places.
    pub(crate) fn check_pairs(&self, sequences: &[&[u32]], second: &[usize]) -> candle_core::Result<()> {
        if sequences.len() != second.len() {
            candle_core::bail!(
                "{} sequences, and {} places where their second parts begin",
                sequences.len(),
                second.len()
            );
        }
        self.check(sequences)
    }

    /// Refuses sequences that the model cannot read.
    ///
    /// # Errors
    /// For a sequence that is empty or longer than [`max_tokens`](Self::max_tokens), and for an id without embedding.
    pub(crate) fn check(&self, sequences: &[&[u32]]) -> candle_core::Result<()> {
        let limit = self.max_tokens();
        for ids in sequences {
            if ids.is_empty() || ids.len() > limit {
                candle_core::bail!("a sequence of {} tokens; the model reads 1 to {limit}", ids.len());
            }
            if let Some(id) = ids.iter().find(|&&id| id as usize >= self.vocab_size) {
                candle_core::bail!("there is no token {id}; the model has {}", self.vocab_size);
            }
        }
        Ok(())
    }
}

/// The one field that says how to read the others.
#[derive(Deserialize)]
pub(super) struct Typed {
    pub model_type: Option<String>,
}

/// The family of a `model_type`; BERT where there is none.
fn kind(name: Option<&str>) -> Result<Kind, String> {
    let Some(name) = name else { return Ok(Kind::Bert) };
    KINDS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|&(_, kind)| kind)
        .ok_or_else(|| format!("model_type is {name:?}; known: {}", names(&[])))
}

/// The known values of `model_type`, and `more`, with commas.
pub(super) fn names(more: &[&str]) -> String {
    KINDS.iter().map(|(known, _)| known).chain(more).copied().collect::<Vec<_>>().join(", ")
}
