use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Size;
use crate::models::ModelError;

/// The fields of ModernBERT's `config.json` that matter here, in the layouts of transformers 4 and 5.
#[derive(Debug, Deserialize)]
pub(super) struct ModernBert {
    pub hidden_size: usize,
    pub num_hidden_layers: usize,
    pub num_attention_heads: usize,
    pub intermediate_size: usize,
    pub vocab_size: usize,
    pub norm_eps: f64,
    max_position_embeddings: usize,
    local_attention: usize,
    hidden_activation: String,
    #[serde(default = "three")]
    global_attn_every_n_layers: usize,
    #[serde(default = "far")]
    global_rope_theta: f64,
    #[serde(default = "near")]
    local_rope_theta: Option<f64>,
    layer_types: Option<Vec<String>>,
    rope_parameters: Option<Value>,
    rope_scaling: Option<Value>,
    #[serde(default)]
    attention_bias: bool,
    #[serde(default)]
    mlp_bias: bool,
    #[serde(default)]
    norm_bias: bool,
}

/// The fields of Qwen3's `config.json` that matter here, in the layouts of transformers 4 and 5.
#[derive(Debug, Deserialize)]
pub(super) struct Qwen3 {
    pub hidden_size: usize,
    pub num_hidden_layers: usize,
    pub num_attention_heads: usize,
    pub num_key_value_heads: usize,
    pub head_dim: usize,
    pub intermediate_size: usize,
    pub vocab_size: usize,
    pub rms_norm_eps: f64,
    max_position_embeddings: usize,
    hidden_act: String,
    rope_theta: Option<f64>,
    rope_parameters: Option<Value>,
    rope_scaling: Option<Value>,
    #[serde(default)]
    attention_bias: bool,
    #[serde(default)]
    use_sliding_window: bool,
}

fn three() -> usize {
    3
}

fn far() -> f64 {
    160_000.0
}

#[allow(clippy::unnecessary_wraps)]
fn near() -> Option<f64> {
    Some(10_000.0)
}

/// Names of attention in `layer_types`.
const FULL: &str = "full_attention";
const LOCAL: &str = "sliding_attention";

impl ModernBert {
    /// # Errors
    /// [`ModelError`], naming the file and the field.
    pub(super) fn read(path: &Path) -> Result<Self, ModelError> {
        let read: Self = json(path)?;
        read.problem().map_or(Ok(read), |reason| Err(ModelError::unusable(path, reason)))
    }

    fn problem(&self) -> Option<String> {
        let sizes = [
            ("hidden_size", self.hidden_size),
            ("num_attention_heads", self.num_attention_heads),
            ("intermediate_size", self.intermediate_size),
            ("vocab_size", self.vocab_size),
            ("max_position_embeddings", self.max_position_embeddings),
            ("global_attn_every_n_layers", self.global_attn_every_n_layers),
        ];
        let biases = [self.attention_bias, self.mlp_bias, self.norm_bias];
        zero(&sizes)
            .or_else(|| bias("attention_bias, mlp_bias or norm_bias", biases.contains(&true)))
            .or_else(|| activation("hidden_activation", &self.hidden_activation, "gelu"))
            .or_else(|| head(self.hidden_size, self.num_attention_heads))
            .or_else(|| scaled(self.rope_scaling.as_ref()))
            .or_else(|| [FULL, LOCAL].iter().find_map(|kind| scaled(self.rotation(kind))))
            .or_else(|| match &self.layer_types {
                Some(types) if types.len() != self.num_hidden_layers => {
                    Some(format!("layer_types has {} entries for {} layers", types.len(), self.num_hidden_layers))
                }
                Some(types) => types
                    .iter()
                    .find(|kind| ![FULL, LOCAL].contains(&kind.as_str()))
                    .map(|kind| format!("layer_types names {kind:?}; known: {FULL}, {LOCAL}")),
                None => None,
            })
    }

    fn rotation(&self, kind: &str) -> Option<&Value> {
        self.rope_parameters.as_ref()?.get(kind)
    }

    /// The sizes of the model.
    pub(super) fn size(&self) -> Size {
        Size { hidden: self.hidden_size, max_tokens: self.max_position_embeddings, vocabulary: self.vocab_size }
    }

    /// Tokens that a token of a layer sees on either side; `None` where it sees all.
    pub(super) fn reach(&self, layer: usize) -> Option<usize> {
        let sees_all = match &self.layer_types {
            Some(types) => types.get(layer).is_some_and(|kind| kind == FULL),
            None => layer.is_multiple_of(self.global_attn_every_n_layers),
        };
        (!sees_all).then_some(self.local_attention / 2)
    }

    /// The base of the angles in layers where tokens see all, and in the others.
    pub(super) fn bases(&self) -> (f64, f64) {
        let of = |kind: &str| self.rotation(kind).and_then(|one| one.get("rope_theta")).and_then(Value::as_f64);
        let all = of(FULL).unwrap_or(self.global_rope_theta);
        // Older files may leave out that of local layers: then there is one.
        (all, of(LOCAL).or(self.local_rope_theta).unwrap_or(all))
    }
}

impl Qwen3 {
    /// # Errors
    /// [`ModelError`], naming the file and the field.
    pub(super) fn read(path: &Path) -> Result<Self, ModelError> {
        let read: Self = json(path)?;
        read.problem().map_or(Ok(read), |reason| Err(ModelError::unusable(path, reason)))
    }

    fn problem(&self) -> Option<String> {
        let sizes = [
            ("hidden_size", self.hidden_size),
            ("num_attention_heads", self.num_attention_heads),
            ("num_key_value_heads", self.num_key_value_heads),
            ("head_dim", self.head_dim),
            ("intermediate_size", self.intermediate_size),
            ("vocab_size", self.vocab_size),
            ("max_position_embeddings", self.max_position_embeddings),
        ];
        zero(&sizes)
            .or_else(|| bias("attention_bias", self.attention_bias))
            .or_else(|| activation("hidden_act", &self.hidden_act, "silu"))
            .or_else(|| self.use_sliding_window.then(|| "use_sliding_window is true: it is not supported".to_owned()))
            .or_else(|| (!self.head_dim.is_multiple_of(2)).then(|| format!("head_dim {} is odd", self.head_dim)))
            .or_else(|| {
                let (heads, groups) = (self.num_attention_heads, self.num_key_value_heads);
                let fits = heads.is_multiple_of(groups);
                (!fits).then(|| format!("num_attention_heads {heads} is no multiple of num_key_value_heads {groups}"))
            })
            .or_else(|| scaled(self.rope_scaling.as_ref()).or_else(|| scaled(self.rope_parameters.as_ref())))
            .or_else(|| self.base().is_none().then(|| "there is no rope_theta".to_owned()))
    }

    /// The sizes of the model.
    pub(super) fn size(&self) -> Size {
        Size { hidden: self.hidden_size, max_tokens: self.max_position_embeddings, vocabulary: self.vocab_size }
    }

    /// The base of the angles.
    pub(super) fn base(&self) -> Option<f64> {
        let named = self.rope_parameters.as_ref().and_then(|one| one.get("rope_theta")).and_then(Value::as_f64);
        named.or(self.rope_theta)
    }
}

fn json<T: DeserializeOwned>(path: &Path) -> Result<T, ModelError> {
    let text = std::fs::read(path).map_err(ModelError::io(path))?;
    serde_json::from_slice(&text).map_err(|e| ModelError::unusable(path, e))
}

fn zero(sizes: &[(&str, usize)]) -> Option<String> {
    sizes.iter().find(|(_, size)| *size == 0).map(|(name, _)| format!("{name} is 0"))
}

fn bias(names: &str, is_there: bool) -> Option<String> {
    is_there.then(|| format!("{names} is true: it is not supported"))
}

fn activation(field: &str, found: &str, known: &str) -> Option<String> {
    (found != known).then(|| format!("{field} is {found:?}; only {known:?} is supported"))
}

fn head(hidden: usize, heads: usize) -> Option<String> {
    let fits = hidden.is_multiple_of(heads) && (hidden / heads).is_multiple_of(2);
    (!fits).then(|| format!("hidden_size {hidden} does not give num_attention_heads {heads} of an even size"))
}

/// Refuses angles that are stretched for longer texts.
fn scaled(parameters: Option<&Value>) -> Option<String> {
    let parameters = parameters.filter(|value| !value.is_null())?;
    let kind = parameters.get("rope_type").or_else(|| parameters.get("type")).and_then(Value::as_str)?;
    (kind != "default").then(|| format!("the rotation of places is {kind:?}: only \"default\" is supported"))
}
