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

/// What matters here of the `config.json` of Nomic's BERT, by the names of transformers 5 or by those of the code that came
/// with the models, which are GPT-2's.
#[derive(Debug)]
pub(super) struct NomicBert {
    pub hidden_size: usize,
    pub num_hidden_layers: usize,
    pub num_attention_heads: usize,
    pub intermediate_size: usize,
    pub vocab_size: usize,
    pub type_vocab_size: usize,
    pub layer_norm_eps: f64,
    /// The base of the angles.
    pub base: f64,
    /// Tokens that it can read: places have no table, so that the larger number counts where a file has both names.
    positions: usize,
}

/// The base of the angles of Nomic's BERT where its configuration says none.
const NOMIC_BASE: f64 = 1_000.0;

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
            ("num_hidden_layers", self.num_hidden_layers),
            ("num_attention_heads", self.num_attention_heads),
            ("intermediate_size", self.intermediate_size),
            ("vocab_size", self.vocab_size),
            ("max_position_embeddings", self.max_position_embeddings),
            ("global_attn_every_n_layers", self.global_attn_every_n_layers),
        ];
        let biases = [self.attention_bias, self.mlp_bias, self.norm_bias];
        zero(&sizes)
            .or_else(|| unsupported("attention_bias, mlp_bias or norm_bias", biases.contains(&true)))
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
            ("num_hidden_layers", self.num_hidden_layers),
            ("num_attention_heads", self.num_attention_heads),
            ("num_key_value_heads", self.num_key_value_heads),
            ("head_dim", self.head_dim),
            ("intermediate_size", self.intermediate_size),
            ("vocab_size", self.vocab_size),
            ("max_position_embeddings", self.max_position_embeddings),
        ];
        zero(&sizes)
            .or_else(|| unsupported("attention_bias", self.attention_bias))
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

impl NomicBert {
    /// # Errors
    /// [`ModelError`], naming the file and the field.
    pub(super) fn read(path: &Path) -> Result<Self, ModelError> {
        let all: Value = json(path)?;
        Self::of(&all).map_err(|reason| ModelError::unusable(path, reason))
    }

    fn of(all: &Value) -> Result<Self, String> {
        let positions = ["max_position_embeddings", "n_positions"];
        let named = positions.into_iter().filter(|name| some(all, name).is_some());
        let named: Vec<usize> = named.map(|name| size(all, &[name])).collect::<Result<_, _>>()?;
        let rotation = some(all, "rope_parameters");
        let own_base = rotation.map_or(Ok(None), |rotation| number(rotation, &["rope_theta"]))?;
        let base = own_base.or(number(all, &["rope_theta", "rotary_emb_base"])?);
        let read = Self {
            hidden_size: size(all, &["hidden_size", "n_embd"])?,
            num_hidden_layers: size(all, &["num_hidden_layers", "n_layer"])?,
            num_attention_heads: size(all, &["num_attention_heads", "n_head"])?,
            intermediate_size: size(all, &["intermediate_size", "n_inner"])?,
            vocab_size: size(all, &["vocab_size"])?,
            type_vocab_size: size(all, &["type_vocab_size"])?,
            layer_norm_eps: number(all, &["layer_norm_eps", "layer_norm_epsilon"])?
                .ok_or_else(|| missing(&["layer_norm_eps", "layer_norm_epsilon"]))?,
            base: base.unwrap_or(NOMIC_BASE),
            positions: named.into_iter().max().ok_or_else(|| missing(&positions))?,
        };
        read.problem(all, rotation).map_or(Ok(read), Err)
    }

    fn problem(&self, all: &Value, rotation: Option<&Value>) -> Option<String> {
        let sizes = [
            ("hidden_size", self.hidden_size),
            ("num_attention_heads", self.num_attention_heads),
            ("intermediate_size", self.intermediate_size),
            ("vocab_size", self.vocab_size),
            ("type_vocab_size", self.type_vocab_size),
            ("num_hidden_layers", self.num_hidden_layers),
            ("max_position_embeddings", self.positions),
        ];
        let text = |name: &str| all.get(name).and_then(Value::as_str);
        let is_true = |name: &&str| all.get(name).and_then(Value::as_bool) == Some(true);
        // What other models of the same code have.
        let others = [
            "qkv_proj_bias",
            "mlp_fc1_bias",
            "mlp_fc2_bias",
            "prenorm",
            "use_rms_norm",
            "causal",
            "parallel_block",
            "rotary_emb_interleaved",
        ];
        zero(&sizes)
            .or_else(|| head(self.hidden_size, self.num_attention_heads))
            .or_else(|| activation("hidden_act", text("hidden_act").unwrap_or("silu"), "silu"))
            .or_else(|| activation("activation_function", text("activation_function").unwrap_or("swiglu"), "swiglu"))
            .or_else(|| others.iter().find(|name| is_true(name)).and_then(|name| unsupported(name, true)))
            .or_else(|| {
                let share = all.get("rotary_emb_fraction").and_then(Value::as_f64).filter(|&share| share != 1.0)?;
                Some(format!("rotary_emb_fraction is {share}: only 1 is supported"))
            })
            .or_else(|| {
                let names = ["rotary_scaling_factor", "rotary_emb_scale_base"];
                let (name, value) = names.iter().find_map(|name| Some((name, some(all, name)?)))?;
                Some(format!("{name} is {value}: only null is supported"))
            })
            .or_else(|| scaled(rotation))
            .or_else(|| scaled(all.get("rope_scaling")))
    }

    /// The sizes of the model.
    pub(super) fn size(&self) -> Size {
        Size { hidden: self.hidden_size, max_tokens: self.positions, vocabulary: self.vocab_size }
    }
}

/// A field, unless it is null.
fn some<'a>(all: &'a Value, name: &str) -> Option<&'a Value> {
    all.get(name).filter(|value| !value.is_null())
}

/// The field by the first of its names that there is.
fn first<'n, 'a>(all: &'a Value, names: &[&'n str]) -> Option<(&'n str, &'a Value)> {
    names.iter().find_map(|name| Some((*name, some(all, name)?)))
}

fn missing(names: &[&str]) -> String {
    format!("there is no {}", names.join(", and no "))
}

fn size(all: &Value, names: &[&str]) -> Result<usize, String> {
    let (name, value) = first(all, names).ok_or_else(|| missing(names))?;
    let whole = value.as_u64().and_then(|size| usize::try_from(size).ok());
    whole.ok_or_else(|| format!("{name} is {value}, no size"))
}

/// A number above 0, where there is one.
fn number(all: &Value, names: &[&str]) -> Result<Option<f64>, String> {
    let Some((name, value)) = first(all, names) else { return Ok(None) };
    let above = value.as_f64().filter(|number| *number > 0.0);
    above.map(Some).ok_or_else(|| format!("{name} is {value}, no number above 0"))
}

fn json<T: DeserializeOwned>(path: &Path) -> Result<T, ModelError> {
    let text = std::fs::read(path).map_err(ModelError::io(path))?;
    serde_json::from_slice(&text).map_err(|e| ModelError::unusable(path, e))
}

fn zero(sizes: &[(&str, usize)]) -> Option<String> {
    sizes.iter().find(|(_, size)| *size == 0).map(|(name, _)| format!("{name} is 0"))
}

/// Refuses what some models have and this code does not: biases, other orders of a layer.
fn unsupported(names: &str, is_there: bool) -> Option<String> {
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
