#![allow(clippy::type_complexity, clippy::unwrap_used)]

use std::collections::HashMap;
use std::path::Path;

use candle_core::{DType, Device, Tensor, Var};

use super::{Packed, Plain, Tuned};
use crate::encoders::{Config, Embed, LayerByLayer, LowRank, Tensors, Weights, low_rank};
use crate::kernels::Precision;
use crate::models::ModelDir;

/// The matrices of a layer, with inputs and outputs.
fn matrices(hidden: usize, wide: usize) -> [(&'static str, usize, usize); 6] {
    [
        ("attention.self.query", hidden, hidden),
        ("attention.self.key", hidden, hidden),
        ("attention.self.value", hidden, hidden),
        ("attention.output.dense", hidden, hidden),
        ("intermediate.dense", hidden, wide),
        ("output.dense", wide, hidden),
    ]
}

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
        for (name, inputs, outputs) in matrices(hidden, wide) {
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
    let off = difference(dir.path(), &sequences, Precision::Int16);
    assert!((1e-6..1e-2).contains(&off), "differs by {off} in whole numbers");
}

#[test]
fn the_fused_path_equals_candles_operations_on_minilm() {
    let Some(model) = crate::testing::minilm() else { return };
    let sequences: Vec<Vec<u32>> =
        [2, 12, 40, 256].iter().map(|&n| (0..n).map(|i| 1_000 + i * 97 % 20_000).collect()).collect();
    let sequences: Vec<&[u32]> = sequences.iter().map(Vec::as_slice).collect();
    let off = difference(&model.path, &sequences, Precision::Single);
    assert!(off < 1e-5, "differs by {off}");
    // Where the processor has no bfloat16 it is worked out number by number, and the longest takes most of the time.
    let some = if pericope_bf16::available() { &sequences[..] } else { &sequences[..3] };
    let off = difference(&model.path, some, Precision::Bf16);
    assert!(off < 2e-2, "differs by {off} in bfloat16");
    let off = difference(&model.path, &sequences, Precision::Int16);
    assert!(off < 2e-2, "differs by {off} in whole numbers");
}

/// A model's tensors with changes that are variables.
struct Following<'a> {
    weights: &'a Weights,
    changes: &'a HashMap<String, Var>,
}

impl Tensors for Following<'_> {
    fn tensor(&self, name: &str, shape: &[usize], device: &Device) -> Result<Tensor, crate::models::ModelError> {
        let base = self.weights.tensor(name, shape, device)?;
        let Some((a, b)) = low_rank::names(name).filter(|(a, _)| self.changes.contains_key(a)) else { return Ok(base) };
        Ok(low_rank::sum(&base, self.changes[&a].as_tensor(), self.changes[&b].as_tensor()).unwrap())
    }

    fn unusable(&self, reason: String) -> crate::models::ModelError {
        self.weights.unusable(reason)
    }
}

/// The changes of the matrices of the layers from `first` on.
fn changes(config: &Config, first: usize, rank: usize) -> HashMap<String, Var> {
    let (hidden, wide) = (config.hidden_size, config.intermediate_size);
    let mut all = HashMap::new();
    for layer in first..config.num_hidden_layers {
        for (name, inputs, outputs) in matrices(hidden, wide) {
            let stem = format!("encoder.layer.{layer}.{name}");
            for (end, shape) in [(low_rank::LORA_A, (rank, inputs)), (low_rank::LORA_B, (outputs, rank))] {
                let seed = all.len() as f32;
                let numbers: Vec<f32> =
                    (0..shape.0 * shape.1).map(|i| 0.1 * ((i as f32 * 0.9 + seed) * 1.7).sin()).collect();
                let tensor = Tensor::from_vec(numbers, shape, &Device::Cpu).unwrap();
                all.insert(format!("{stem}{end}"), Var::from_tensor(&tensor).unwrap());
            }
        }
    }
    all
}

/// The greatest differences of rows and of gradients between [`Tuned`] and candle's, each by the greatest number of its tensor.
fn gradient_difference(
    dir: &Path,
    lengths: &[usize],
    (first, rank): (usize, usize),
    precision: Precision,
) -> (f32, f32) {
    let config = Config::read(&dir.join("config.json")).unwrap();
    let weights = Weights::read(&dir.join("model.safetensors")).unwrap();
    let sequences: Vec<Vec<u32>> = lengths
        .iter()
        .map(|&n| (0..n).map(|i| ((i * i + n) % config.vocab_size.min(30_000)) as u32).collect())
        .collect();
    let sequences: Vec<&[u32]> = sequences.iter().map(Vec::as_slice).collect();
    let changes = changes(&config, first, rank);
    let values: HashMap<String, Tensor> =
        changes.iter().map(|(name, var)| (name.clone(), var.as_detached_tensor())).collect();

    let plain = Plain::new(&config, &Following { weights: &weights, changes: &changes }, &Device::Cpu).unwrap();
    let (x, mask) = plain.embed_tokens(&sequences).unwrap();
    let x = plain.run_layers(&x, &mask, 0..config.num_hidden_layers).unwrap();
    let rows: Vec<Tensor> =
        sequences.iter().enumerate().map(|(i, ids)| x.get(i).unwrap().narrow(0, 0, ids.len()).unwrap()).collect();
    let rows = Tensor::cat(&rows, 0).unwrap();
    // Any loss that weighs every number otherwise.
    let factors: Vec<f32> = (0..rows.elem_count()).map(|i| (i as f32 * 0.37).cos()).collect();
    let by = Tensor::from_vec(factors.clone(), rows.dims(), &Device::Cpu).unwrap();
    let store = (&rows * by).unwrap().sum_all().unwrap().backward().unwrap();

    let mut tuned = Tuned::new(&config, &weights, first, precision).unwrap();
    tuned.set(&values).unwrap();
    let tape = tuned.forward(&sequences).unwrap();
    let flat = |tensor: &Tensor| tensor.flatten_all().unwrap().to_vec1::<f32>().unwrap();
    let off = |found: &[f32], want: &[f32]| {
        assert_eq!(found.len(), want.len());
        let size = want.iter().map(|x| x.abs()).fold(1e-9, f32::max);
        found.iter().zip(want).map(|(x, y)| (x - y).abs()).fold(0.0, f32::max) / size
    };
    let rows_off = off(tape.rows(), &flat(&rows));
    let found = tuned.backward(tape, &factors).unwrap();
    assert_eq!(found.len(), changes.len());
    let gradient_off = changes.iter().map(|(name, var)| {
        assert_eq!(found[name].dims(), var.dims());
        off(&flat(&found[name]), &flat(store.get(var).unwrap()))
    });
    (rows_off, gradient_off.fold(0.0, f32::max))
}

#[test]
fn gradients_of_changes_are_those_of_candle() {
    let dir = tempfile::tempdir().unwrap();
    tiny(dir.path());
    for (first, rank) in [(0, 16), (1, 3), (0, 50)] {
        let (rows, gradients) =
            gradient_difference(dir.path(), &[1, 2, 17, 33, 64, 5], (first, rank), Precision::Single);
        assert!(rows < 1e-5 && gradients < 1e-4, "layers from {first}, rank {rank}: {rows}, {gradients}");
    }
    let (rows, gradients) = gradient_difference(dir.path(), &[40, 3], (0, 16), Precision::Bf16);
    assert!((1e-5..0.05).contains(&rows) && (1e-5..0.2).contains(&gradients), "{rows}, {gradients} in bfloat16");
    let (rows, gradients) = gradient_difference(dir.path(), &[40, 3], (0, 16), Precision::Int16);
    assert!((1e-6..0.05).contains(&rows) && (1e-6..0.2).contains(&gradients), "{rows}, {gradients} in whole numbers");
}

#[test]
fn gradients_of_changes_are_those_of_candle_on_minilm() {
    let Some(model) = crate::testing::minilm() else { return };
    let (rows, gradients) = gradient_difference(&model.path, &[2, 70, 300], (0, 8), Precision::Single);
    assert!(rows < 1e-4 && gradients < 1e-3, "{rows}, {gradients}");
    let some: &[usize] = if pericope_bf16::available() { &[2, 70, 300] } else { &[2, 70] };
    let (rows, gradients) = gradient_difference(&model.path, some, (4, 8), Precision::Bf16);
    assert!(rows < 0.1 && gradients < 0.2, "{rows}, {gradients} in bfloat16");
}

#[test]
fn changes_that_do_not_fit_are_named() {
    let dir = tempfile::tempdir().unwrap();
    tiny(dir.path());
    let config = Config::read(&dir.path().join("config.json")).unwrap();
    let weights = Weights::read(&dir.path().join("model.safetensors")).unwrap();
    let mut tuned = Tuned::new(&config, &weights, 0, Precision::Single).unwrap();
    let values: HashMap<String, Tensor> =
        changes(&config, 0, 4).iter().map(|(name, var)| (name.clone(), var.as_detached_tensor())).collect();
    let ids: &[u32] = &[3, 4, 5, 6];
    let before = tuned.forward(&[ids]).unwrap().rows().to_vec();
    tuned.set(&values).unwrap();
    let changed = tuned.forward(&[ids]).unwrap().rows().to_vec();
    assert_ne!(before, changed);
    // The same file of changes gives the encoder that is used afterwards.
    let used = crate::encoders::Changed { base: &weights, changes: &LowRank::among(dir.path(), &values) };
    let used = Packed::new(&config, &used, Precision::Single).unwrap().hidden(&[ids]).unwrap();
    assert!(changed.iter().zip(&used).all(|(a, b)| (a - b).abs() < 1e-4));
    tuned.set(&HashMap::new()).unwrap();
    assert_eq!(tuned.forward(&[ids]).unwrap().rows(), before);
    let gone = "encoder.layer.1.intermediate.dense.lora_b";
    let mut fewer = values.clone();
    fewer.remove(gone);
    assert!(tuned.set(&fewer).unwrap_err().to_string().contains(gone));
    fewer.insert(gone.into(), Tensor::zeros((3, 4), DType::F32, &Device::Cpu).unwrap());
    assert!(tuned.set(&fewer).unwrap_err().to_string().contains("[3, 4]"));
    let first = "encoder.layer.0.attention.self.query.lora_a";
    let mut fewer = values.clone();
    fewer.remove(first);
    assert!(tuned.set(&fewer).unwrap_err().to_string().contains(first));
    assert!(tuned.forward(&[&[]]).is_err());
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
