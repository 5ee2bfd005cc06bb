//! MPNet (Song et al. 2020, arXiv:2004.09297) as the BERT that it is but for one table: what the distance of two tokens adds to
//! their score in every layer. It has no segment types, and other names.

use serde_json::Value;

use super::config::Config;
use super::renamed::part;

/// What MPNet calls the parts of a layer.
const PARTS: &[(&str, &str)] = &[
    ("attention.self.query", "attention.attn.q"),
    ("attention.self.key", "attention.attn.k"),
    ("attention.self.value", "attention.attn.v"),
    ("attention.output.dense", "attention.attn.o"),
    ("attention.output.LayerNorm", "attention.LayerNorm"),
];

/// The table of distances, `[buckets, heads]`.
pub(super) const DISTANCES: &str = "encoder.relative_attention_bias.weight";

/// The distance from which on all are alike.
const FARTHEST: f32 = 128.0;

/// Reads a configuration: MPNet's has no segment types.
pub(super) fn config(mut value: Value) -> Result<Config, serde_json::Error> {
    if let Some(fields) = value.as_object_mut() {
        fields.insert("type_vocab_size".into(), 1.into());
        fields.entry("relative_attention_num_buckets").or_insert_with(|| 32.into());
    }
    serde_json::from_value(value)
}

/// MPNet's name of a tensor of BERT's.
pub(super) fn own_name(name: &str) -> String {
    part(name, "encoder.layer", PARTS).unwrap_or_else(|| name.to_owned())
}

/// The row of the table for a token that stands `offset` places behind the one that looks: half of the rows for those behind,
/// half for those before; of each half the first half for one distance each, the others for ranges that widen by the
/// logarithm. In single precision, as transformers works it out.
pub(super) fn bucket(offset: isize, buckets: usize) -> usize {
    let half = buckets / 2;
    let exact = half / 2;
    let distance = offset.unsigned_abs();
    let within = if distance < exact {
        distance
    } else {
        let share = (distance as f32 / exact as f32).ln() / (FARTHEST / exact as f32).ln();
        (exact + (share * (half - exact) as f32) as usize).min(half - 1)
    };
    if offset > 0 { half + within } else { within }
}

#[cfg(test)]
mod tests {
    use super::{bucket, own_name};

    #[test]
    fn names_of_layers_are_translated_and_others_kept() {
        for (bert, own) in [
            ("encoder.layer.3.attention.self.key.bias", "encoder.layer.3.attention.attn.k.bias"),
            ("encoder.layer.0.attention.output.LayerNorm.weight", "encoder.layer.0.attention.LayerNorm.weight"),
            ("encoder.layer.11.output.dense.weight", "encoder.layer.11.output.dense.weight"),
            ("embeddings.LayerNorm.bias", "embeddings.LayerNorm.bias"),
        ] {
            assert_eq!(own_name(bert), own);
        }
    }

    #[test]
    fn near_distances_have_rows_of_their_own() {
        let of = |offset| bucket(offset, 32);
        assert_eq!([0, -1, -7, -8, -15, -16, -64, -127, -128, -9_000].map(of), [0, 1, 7, 8, 9, 10, 14, 15, 15, 15]);
        assert_eq!([1, 7, 8, 128].map(of), [17, 23, 24, 31]);
    }
}
