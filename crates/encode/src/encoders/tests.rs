#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::path::Path;

use candle_core::{Device, Result, Tensor, Var};
use serde::Deserialize;

use super::{Config, LayerByLayer, Longformer, Plain, Tensors, Weights};
use crate::models::ModelError;

/// A model's tensors as variables.
struct Variables(HashMap<String, Var>);

impl Tensors for Variables {
    fn tensor(&self, name: &str, _: &[usize], _: &Device) -> std::result::Result<Tensor, ModelError> {
        Ok(self.0[name].as_tensor().clone())
    }

    fn unusable(&self, reason: String) -> ModelError {
        ModelError::unusable(Path::new("variables"), reason)
    }
}

fn folder(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{name}-tiny"))
}

fn variables(name: &str) -> (Config, Variables) {
    let config = Config::read(&folder(name).join("config.json")).unwrap();
    let tensors = candle_core::safetensors::load(folder(name).join("model.safetensors"), &Device::Cpu).unwrap();
    let variable = |tensor: Tensor| Var::from_tensor(&tensor.to_dtype(candle_core::DType::F32).unwrap()).unwrap();
    (config, Variables(tensors.into_iter().map(|(name, tensor)| (name, variable(tensor))).collect()))
}

#[derive(Deserialize)]
struct Expected {
    cases: Vec<Case>,
    gradients: Gradients,
}

#[derive(Deserialize)]
struct Case {
    ids: Vec<Vec<u32>>,
    globals: Vec<Vec<usize>>,
}

#[derive(Deserialize)]
struct Gradients {
    case: usize,
    norms: HashMap<String, f32>,
}

/// The sum over the tokens' rows of each number times the sine of its index, the sequences one after the other.
fn loss(x: &Tensor, sequences: &[&[u32]]) -> Result<Tensor> {
    let rows: Vec<Tensor> = sequences
        .iter()
        .enumerate()
        .map(|(i, ids)| x.get(i)?.narrow(0, 0, ids.len())?.flatten_all())
        .collect::<Result<_>>()?;
    let rows = Tensor::cat(&rows, 0)?;
    Tensor::arange(0f32, rows.elem_count() as f32, x.device())?.sin()?.mul(&rows)?.sum_all()
}

#[test]
fn gradients_equal_those_of_torch() {
    for name in ["bert", "roberta", "longformer"] {
        let (config, variables) = variables(name);
        let expected = std::fs::read(folder(name).join("expected.json")).unwrap();
        let Expected { cases, gradients } = serde_json::from_slice(&expected).unwrap();
        let case = &cases[gradients.case];
        let ids: Vec<&[u32]> = case.ids.iter().map(Vec::as_slice).collect();
        let globals: Vec<&[usize]> = case.globals.iter().map(Vec::as_slice).collect();
        let layers = 0..config.num_hidden_layers;
        let x = if name == "longformer" {
            let model = Longformer::new(&config, &variables, &Device::Cpu).unwrap();
            model.with_global(&ids, &globals).unwrap()
        } else {
            let model = Plain::new(&config, &variables, &Device::Cpu).unwrap();
            let (x, mask) = model.embed_tokens(&ids).unwrap();
            model.run_layers(&x, &mask, layers).unwrap()
        };
        let found = loss(&x, &ids).unwrap().backward().unwrap();
        assert_eq!(gradients.norms.len(), variables.0.len());
        let mut worst = 0.0f32;
        for (tensor, norm) in gradients.norms {
            let gradient = found.get(&variables.0[&tensor]).unwrap_or_else(|| panic!("{name}: none for {tensor}"));
            let own = gradient.sqr().unwrap().sum_all().unwrap().sqrt().unwrap().to_scalar::<f32>().unwrap();
            // A key's bias shifts all scores of a query alike: its gradient is nothing but rounding.
            let off = (own - norm).abs() / norm.max(1.0);
            assert!(off < 1e-3, "{name}: {tensor} has {own}, expected {norm}");
            worst = worst.max(off);
        }
        println!("{name}: gradients differ by {worst:e}");
    }
}

#[test]
fn layers_can_be_run_in_parts() {
    let (config, variables) = variables("longformer");
    let ids: [&[u32]; 2] = [&[0, 9, 30, 41, 12, 2], &[0, 8, 2]];
    let numbers = |x: Tensor| x.flatten_all().unwrap().to_vec1::<f32>().unwrap();

    let long = Longformer::new(&config, &variables, &Device::Cpu).unwrap();
    let (x, mask) = long.embed_tokens(&ids).unwrap();
    let run = |x: &Tensor, layers| long.run_layers(x, &mask, layers).unwrap();
    assert_eq!(numbers(run(&x, 0..2)), numbers(run(&run(&x, 0..1), 1..2)));
    assert_eq!(numbers(run(&x, 1..1)), numbers(x.clone()));
    assert_eq!(numbers(run(&x, 0..2)), numbers(long.with_global(&ids, &[&[0], &[0]]).unwrap()));
    assert!(long.run_layers(&x, &mask, 0..3).is_err());

    // Its first projections and feed-forward layers make a BERT.
    let plain = Plain::new(&config, &variables, &Device::Cpu).unwrap();
    let run = |x: &Tensor, layers| plain.run_layers(x, &mask, layers).unwrap();
    assert_eq!(numbers(run(&x, 0..2)), numbers(run(&run(&x, 0..1), 1..2)));
    assert!(plain.run_layers(&x, &mask, 2..3).is_err());
}

#[test]
fn a_model_follows_its_variables() {
    let (config, variables) = variables("bert");
    let ids: [&[u32]; 1] = [&[2, 9, 3]];
    let model = Plain::new(&config, &variables, &Device::Cpu).unwrap();
    let run = |model: &Plain| {
        let (x, mask) = model.embed_tokens(&ids).unwrap();
        loss(&model.run_layers(&x, &mask, 0..1).unwrap(), &ids).unwrap()
    };
    let before = run(&model);
    let gradients = before.backward().unwrap();
    for variable in variables.0.values() {
        let step = (gradients.get(variable).unwrap() * 1e-4).unwrap();
        variable.set(&(variable.as_tensor() - step).unwrap()).unwrap();
    }
    let numbers = |x: Tensor| x.to_scalar::<f32>().unwrap();
    let (before, after) = (numbers(before), numbers(run(&model)));
    assert!(after < before, "{before} {after}");
    assert_eq!(after, numbers(run(&Plain::new(&config, &variables, &Device::Cpu).unwrap())));
}

#[test]
fn what_is_not_in_a_file_is_found_by_its_whole_name() {
    let weights = |name: &str| {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("model.safetensors");
        let one = Tensor::new(&[1f32], &Device::Cpu).unwrap();
        let tensors = HashMap::from([(name, one.clone()), ("bert.embeddings.word_embeddings.weight", one)]);
        candle_core::safetensors::save(&tensors, &path).unwrap();
        Weights::read(&path).unwrap()
    };
    assert!(weights("head.weight").numbers("head.weight", &[1]).is_ok());
    assert!(weights("bert.head.weight").numbers("head.weight", &[1]).is_ok());
    assert!(weights("other.head.weight").numbers("head.weight", &[1]).is_err());
}
