#![allow(clippy::unwrap_used)]

use std::path::Path;

use candle_core::{Device, Tensor};
use pericope_util::cosine;

use super::{NAMES, Rotary};
use crate::encoders::embed::Embed;
use crate::encoders::weights::Tensors;
use crate::kernels::Precision;
use crate::models::ModelError;

/// Tensors that are waves, of whatever names and shapes are asked for; gains are near 1.
struct Waves;

impl Tensors for Waves {
    fn tensor(&self, name: &str, shape: &[usize], device: &Device) -> Result<Tensor, ModelError> {
        let seed = name.bytes().fold(0.0, |sum, byte| sum * 1.7 % 31.0 + f32::from(byte));
        let is_gain = shape.len() == 1 && name.ends_with("weight");
        let wave = |i: usize| 0.1 * ((i as f32 * 0.7 + seed) * 1.3).sin() + f32::from(u8::from(is_gain));
        let numbers: Vec<f32> = (0..shape.iter().product()).map(wave).collect();
        Ok(Tensor::from_vec(numbers, shape, device).unwrap())
    }

    fn unusable(&self, reason: String) -> ModelError {
        ModelError::unusable(Path::new("waves"), reason)
    }
}

/// A configuration of a small model. Of hidden rows of 64 numbers the last panel of weights holds one vector or two.
fn config(kind: &str) -> serde_json::Value {
    let mut config = serde_json::json!({
        "hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 80, "vocab_size": 50,
        "max_position_embeddings": 512,
    });
    let own = match kind {
        "modernbert" => serde_json::json!({"local_attention": 16, "hidden_activation": "gelu", "norm_eps": 1e-5}),
        "nomic_bert" => serde_json::json!({"type_vocab_size": 2, "layer_norm_eps": 1e-12}),
        _ => serde_json::json!({
            "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32, "rms_norm_eps": 1e-6, "hidden_act": "silu",
            "rope_theta": 10_000.0,
        }),
    };
    config.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
    config
}

/// The model as kernels run it, and in candle's operations.
fn both(kind: &str, precision: Precision) -> [Rotary; 2] {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.json");
    std::fs::write(&path, config(kind).to_string()).unwrap();
    let packed = Rotary::read(kind, &path, &Waves, &Device::Cpu, precision).unwrap();
    assert!(packed.parallel(), "{kind} is not packed");
    let plain = Rotary::read_by(kind, &path, &Waves, &Device::Cpu, None).unwrap();
    assert!(!plain.parallel());
    [packed, plain]
}

fn off(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f32::max)
}

#[test]
fn kernels_equal_candles_operations() {
    let ids = |n: u32| (0..n).map(|i| (i * i + n) % 50).collect::<Vec<u32>>();
    let sequences: Vec<Vec<u32>> = [1, 2, 17, 33, 64, 300, 9].into_iter().map(ids).collect();
    let sequences: Vec<&[u32]> = sequences.iter().map(Vec::as_slice).collect();
    for kind in NAMES {
        for precision in [Precision::Single, Precision::Bf16, Precision::Int16] {
            let [packed, plain] = both(kind, precision);
            let (a, b) = (packed.embed(&sequences).unwrap(), plain.embed(&sequences).unwrap());
            // A second pass with used buffers gives the same bits, and so does a sequence alone.
            assert_eq!(a, packed.embed(&sequences).unwrap());
            assert_eq!(a[5 * 64..6 * 64], packed.embed(&sequences[5..6]).unwrap());
            let (tokens, plainly) = (packed.hidden(&sequences).unwrap(), plain.hidden(&sequences).unwrap());
            let second = [1, 1, 3, 3, 3, 3, 3];
            let firsts = packed.first_of_pairs(&sequences, &second).unwrap();
            let first = tokens[64 * (1 + 2 + 17)..][..64].to_vec();
            assert_eq!(firsts[3 * 64..4 * 64], first, "{kind}");
            if precision == Precision::Single {
                let size = plainly.iter().map(|x| x.abs()).fold(1.0, f32::max);
                let apart = off(&a, &b).max(off(&tokens, &plainly) / size);
                assert!(apart < 2e-5, "{kind}: {apart}");
                continue;
            }
            // Waves are no trained weights: what rounding does to them grows from layer to layer.
            let near = tokens.chunks(64).zip(plainly.chunks(64)).map(|(a, b)| cosine(a, b)).fold(1.0, f64::min);
            assert!((0.98..0.999_999_9).contains(&near), "{kind}: {near} in {precision:?}");
        }
    }
}

#[test]
fn what_a_model_cannot_read_is_refused_by_both() {
    for model in both("nomic_bert", Precision::Single) {
        let too_long = vec![1; 513];
        for (sequence, said) in [(&[][..], "0 tokens"), (&too_long, "513 tokens"), (&[50], "token 50")] {
            let error = model.embed(&[sequence]).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        assert!(model.first_of_pairs(&[&[1, 2]], &[]).is_err());
        assert_eq!(model.embed(&[]).unwrap(), [0.0; 0]);
    }
}
