#![allow(clippy::type_complexity, clippy::unwrap_used)]

use std::collections::HashMap;
use std::path::Path;

use candle_core::{Device, Tensor};

use super::{Packed, Plain};
use crate::encoders::{Config, Embed, Weights};
use crate::kernels::Precision;
use crate::models::ModelDir;

/// A small BERT whose weights are waves, written as the two files of a model.
fn tiny(dir: &Path) -> HashMap<String, Tensor> {
    let (hidden, wide, vocabulary) = (96, 192, 50);
    let config = r#"{"hidden_size":96,"num_hidden_layers":2,"num_attention_heads":3,"intermediate_size":192,
        "layer_norm_eps":1e-12,"max_position_embeddings":64,"vocab_size":50,"type_vocab_size":2,"hidden_act":"gelu"}"#;
    std::fs::write(dir.join("config.json"), config).unwrap();
    let mut tensors = HashMap::new();
    let mut add = |name: String, shape: &[usize], offset: f32, scale: f32| {
        let seed = tensors.len() as f32;
        let numbers: Vec<f32> =
            (0..shape.iter().product()).map(|i| offset + scale * ((i as f32 * 0.7 + seed) * 1.3).sin()).collect();
        tensors.insert(name, Tensor::from_vec(numbers, shape, &Device::Cpu).unwrap());
    };
    let norm = |add: &mut dyn FnMut(String, &[usize], f32, f32), name: String| {
        add(format!("{name}.weight"), &[hidden], 1.0, 0.2);
        add(format!("{name}.bias"), &[hidden], 0.0, 0.1);
    };
    for (name, rows) in [("word", vocabulary), ("position", 64), ("token_type", 2)] {
        add(format!("embeddings.{name}_embeddings.weight"), &[rows, hidden], 0.0, 0.5);
    }
    norm(&mut add, "embeddings.LayerNorm".into());
    for i in 0..2 {
        let layer = format!("encoder.layer.{i}");
        for (name, inputs, outputs) in [
            ("attention.self.query", hidden, hidden),
            ("attention.self.key", hidden, hidden),
            ("attention.self.value", hidden, hidden),
            ("attention.output.dense", hidden, hidden),
            ("intermediate.dense", hidden, wide),
            ("output.dense", wide, hidden),
        ] {
            add(format!("{layer}.{name}.weight"), &[outputs, inputs], 0.0, 0.2);
            add(format!("{layer}.{name}.bias"), &[outputs], 0.0, 0.1);
        }
        norm(&mut add, format!("{layer}.attention.output.LayerNorm"));
        norm(&mut add, format!("{layer}.output.LayerNorm"));
    }
    candle_core::safetensors::save(&tensors, dir.join("model.safetensors")).unwrap();
    tensors
}

/// The greatest difference between the fused path and candle's own operations.
fn difference(dir: &Path, sequences: &[&[u32]], precision: Precision) -> f32 {
    let config = Config::read(&dir.join("config.json")).unwrap();
    let weights = Weights::read(&dir.join("model.safetensors")).unwrap();
    assert!(Packed::fits(&config));
    let packed = Packed::new(&config, &weights, precision).unwrap();
    let plain = Plain::new(&config, &weights, &Device::Cpu).unwrap();
    let (a, b) = (packed.embed(sequences).unwrap(), plain.embed(sequences).unwrap());
    assert_eq!((a.len(), b.len()), (sequences.len() * config.hidden_size, a.len()));
    // A second pass with used buffers gives the same bits.
    assert_eq!(a, packed.embed(sequences).unwrap());
    let (tokens, plainly) = (packed.hidden(sequences).unwrap(), plain.hidden(sequences).unwrap());
    assert_eq!(tokens.len(), sequences.iter().map(|ids| ids.len()).sum::<usize>() * config.hidden_size);
    assert_eq!(tokens.len(), plainly.len());
    let off = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f32::max);
    // The vectors of tokens are not of norm 1: their error is to be small beside their size.
    let size = tokens.iter().map(|x| x.abs()).fold(1.0, f32::max);
    off(&a, &b).max(off(&tokens, &plainly) / size)
}

#[test]
fn the_fused_path_equals_candles_operations() {
    let dir = tempfile::tempdir().unwrap();
    tiny(dir.path());
    let sequences: Vec<Vec<u32>> =
        [1, 2, 17, 33, 64, 5, 64, 9].iter().map(|&n| (0..n).map(|i| (i * i + n) % 50).collect()).collect();
    let sequences: Vec<&[u32]> = sequences.iter().map(Vec::as_slice).collect();
    let off = difference(dir.path(), &sequences, Precision::Single);
    assert!(off < 1e-5, "differs by {off}");
    let off = difference(dir.path(), &sequences, Precision::Bf16);
    assert!((1e-5..5e-2).contains(&off), "differs by {off} in bfloat16");
}

#[test]
fn the_fused_path_equals_candles_operations_on_minilm() {
    let Some(model) = crate::testing::minilm() else { return };
    let sequences: Vec<Vec<u32>> =
        [2, 12, 40, 256].iter().map(|&n| (0..n).map(|i| 1_000 + i * 97 % 20_000).collect()).collect();
    let sequences: Vec<&[u32]> = sequences.iter().map(Vec::as_slice).collect();
    let off = difference(&model.path, &sequences, Precision::Single);
    assert!(off < 1e-5, "differs by {off}");
    let off = difference(&model.path, &sequences, Precision::Bf16);
    assert!(off < 2e-2, "differs by {off} in bfloat16");
}

fn load_error(dir: &Path) -> String {
    let model = ModelDir { name: "tiny".into(), path: dir.to_owned() };
    let text = crate::encoders::load(&model, &Device::Cpu).err().unwrap().to_string();
    assert!(!text.contains('\n'), "{text}");
    text
}

#[test]
fn damaged_weights_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let mut tensors = tiny(dir.path());
    let path = dir.path().join("model.safetensors");
    let whole = std::fs::read(&path).unwrap();
    for cut in [0, 5, 300, whole.len() - 1] {
        std::fs::write(&path, &whole[..cut]).unwrap();
        assert!(load_error(dir.path()).contains("model.safetensors"), "cut at {cut}");
    }

    let name = "encoder.layer.1.intermediate.dense.weight";
    let turned = tensors[name].t().unwrap().contiguous().unwrap();
    tensors.insert(name.into(), turned);
    candle_core::safetensors::save(&tensors, &path).unwrap();
    let text = load_error(dir.path());
    assert!(text.contains(name) && text.contains("[96, 192], expected [192, 96]"), "{text}");

    tensors.remove(name);
    candle_core::safetensors::save(&tensors, &path).unwrap();
    assert!(load_error(dir.path()).contains(&format!("there is no tensor {name}")));
}

#[test]
fn a_configuration_of_another_kind_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    tiny(dir.path());
    let path = dir.path().join("config.json");
    let text = std::fs::read_to_string(&path).unwrap();
    for (from, to, message) in [
        ("\"gelu\"", "\"relu\"", "hidden_act is \"relu\""),
        ("\"hidden_size\":96,", "", "hidden_size"),
        ("\"num_attention_heads\":3", "\"num_attention_heads\":5", "no multiple of num_attention_heads"),
        ("{", "", "config.json"),
    ] {
        std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let error = load_error(dir.path());
        assert!(error.contains("config.json") && error.contains(message), "{error}");
    }
}
