use std::path::Path;

use serde::Deserialize;

use crate::models::ModelError;

/// The fields of a BERT `config.json` that matter here.
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
    /// Positions that have an embedding.
    pub max_position_embeddings: usize,
    /// Tokens that have an embedding.
    pub vocab_size: usize,
    /// Segment types that have an embedding.
    pub type_vocab_size: usize,
    hidden_act: String,
    #[serde(default = "absolute")]
    position_embedding_type: String,
}

fn absolute() -> String {
    "absolute".to_owned()
}

impl Config {
    /// Reads and checks a `config.json`.
    ///
    /// # Errors
    /// [`ModelError::Io`]; [`ModelError::Unusable`] for what is no BERT, or one of another kind.
    pub fn read(path: &Path) -> Result<Self, ModelError> {
        let text = std::fs::read(path).map_err(ModelError::io(path))?;
        let config: Self = serde_json::from_slice(&text).map_err(|e| ModelError::unusable(path, e))?;
        let wrong = |reason: String| Err(ModelError::unusable(path, reason));
        if config.hidden_act != "gelu" {
            return wrong(format!("hidden_act is {:?}; only \"gelu\" is supported", config.hidden_act));
        }
        if config.position_embedding_type != "absolute" {
            return wrong(format!("position_embedding_type is {:?}", config.position_embedding_type));
        }
        if config.num_attention_heads == 0 || !config.hidden_size.is_multiple_of(config.num_attention_heads) {
            return wrong(format!(
                "hidden_size {} is no multiple of num_attention_heads {}",
                config.hidden_size, config.num_attention_heads
            ));
        }
        Ok(config)
    }

    /// Numbers of an attention head.
    #[must_use]
    pub fn head_size(&self) -> usize {
        self.hidden_size / self.num_attention_heads
    }
}
