//! DistilBERT (Sanh et al. 2019, arXiv:1910.01108) as the BERT that it is: fewer layers, no segment types, other names.

use serde_json::Value;

use super::config::Config;
use super::renamed::part;

/// What DistilBERT's configuration calls the sizes of BERT's.
const FIELDS: &[(&str, &str)] = &[
    ("dim", "hidden_size"),
    ("n_layers", "num_hidden_layers"),
    ("n_heads", "num_attention_heads"),
    ("hidden_dim", "intermediate_size"),
    ("activation", "hidden_act"),
];

/// What DistilBERT calls the parts of a layer.
const PARTS: &[(&str, &str)] = &[
    ("attention.self.query", "attention.q_lin"),
    ("attention.self.key", "attention.k_lin"),
    ("attention.self.value", "attention.v_lin"),
    ("attention.output.dense", "attention.out_lin"),
    ("attention.output.LayerNorm", "sa_layer_norm"),
    ("intermediate.dense", "ffn.lin1"),
    ("output.dense", "ffn.lin2"),
    ("output.LayerNorm", "output_layer_norm"),
];

/// The number that DistilBERT's code adds to variances; its configuration does not say it.
const EPSILON: f64 = 1e-12;

/// Reads a configuration with DistilBERT's names of fields.
pub(super) fn config(mut value: Value) -> Result<Config, serde_json::Error> {
    if let Some(fields) = value.as_object_mut() {
        for (own, bert) in FIELDS {
            if let Some(found) = fields.remove(*own) {
                fields.insert((*bert).to_owned(), found);
            }
        }
        fields.insert("layer_norm_eps".into(), EPSILON.into());
        fields.insert("type_vocab_size".into(), 1.into());
    }
    serde_json::from_value(value)
}

/// DistilBERT's name of a tensor of BERT's.
pub(super) fn own_name(name: &str) -> String {
    part(name, "transformer.layer", PARTS).unwrap_or_else(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::own_name;

    #[test]
    fn names_of_layers_are_translated_and_others_kept() {
        for (bert, own) in [
            ("encoder.layer.3.attention.self.key.bias", "transformer.layer.3.attention.k_lin.bias"),
            ("encoder.layer.0.attention.output.LayerNorm.weight", "transformer.layer.0.sa_layer_norm.weight"),
            ("encoder.layer.11.output.dense.weight", "transformer.layer.11.ffn.lin2.weight"),
            ("embeddings.LayerNorm.bias", "embeddings.LayerNorm.bias"),
            ("classifier.weight", "classifier.weight"),
        ] {
            assert_eq!(own_name(bert), own);
        }
    }
}
