//! Next-sentence prediction against transformers on the tiny model that `scripts/golden/golden_training.py` makes, and what is
//! said about models that cannot be used.

use std::collections::HashMap;
use std::path::Path;

use crate::support::{copied, golden, path};
use candle_core::{Device, Tensor};
use pericope_encode::encoders::{Config, Embed, Packed, Plain, Weights, load};
use pericope_encode::kernels::Precision;
use pericope_encode::{Base, ModelDir};
use pericope_learn::nsp::{Checkpoint, Nsp, Settings, Threshold, pair};
use serde::Deserialize;

#[derive(Deserialize)]
struct Expected {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    texts: (String, String),
    ids: Vec<u32>,
    second: usize,
    first: Vec<f32>,
    logits: [f32; 2],
}

fn off(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

/// The number of tokens that a model reads of a pair that is longer.
fn longest_pair(model: &Nsp) -> u64 {
    let (before, long) = (model.tokens_read(), [7; 600]);
    model.logits(&[(&long, &long)]).unwrap();
    model.tokens_read() - before
}

#[test]
fn logits_and_hidden_states_equal_transformers() {
    let dir = copied("nsp");
    let base = Base::open(&path(&dir)).unwrap();
    let Expected { cases } =
        serde_json::from_slice(&std::fs::read(golden("nsp").join("expected.json")).unwrap()).unwrap();
    let ids = |text: &str| base.tokens.ids(text, usize::MAX);
    let special = (base.tokens.start(), base.tokens.end());
    let texts: Vec<(Vec<u32>, Vec<u32>)> = cases.iter().map(|c| (ids(&c.texts.0), ids(&c.texts.1))).collect();
    for (case, (first, second)) in cases.iter().zip(&texts) {
        assert_eq!(pair(first, second, 32, special), (case.ids.clone(), case.second), "{:?}", case.texts);
    }

    let pairs: Vec<(&[u32], &[u32])> = texts.iter().map(|(a, b)| (a.as_slice(), b.as_slice())).collect();
    let model = Nsp::open(&path(&dir), &Device::Cpu).unwrap();
    assert_eq!(model.threshold(), None);
    let logits = off(&model.logits(&pairs).unwrap().concat(), &cases.iter().flat_map(|c| c.logits).collect::<Vec<_>>());
    assert_eq!(model.tokens_read(), cases.iter().map(|c| c.ids.len() as u64).sum::<u64>());
    assert_eq!(longest_pair(&model), 32);
    println!("logits differ by {logits:e}");
    // Factors of eight bits, rounded in every layer, where the processor multiplies so.
    let most = if Precision::of_machine() != Ok(Precision::Single) { 5e-2 } else { 1e-4 };
    assert!(logits < most, "{logits}");

    let (sequences, second): (Vec<&[u32]>, Vec<usize>) = cases.iter().map(|c| (c.ids.as_slice(), c.second)).unzip();
    let expected: Vec<f32> = cases.iter().flat_map(|c| c.first.clone()).collect();
    assert!(Packed::fits(&base.config));
    let models: [Box<dyn Embed>; 2] = [
        Box::new(Packed::new(&base.config, &base.weights, Precision::Single).unwrap()),
        Box::new(Plain::new(&base.config, &base.weights, &Device::Cpu).unwrap()),
    ];
    for model in models {
        let hidden = off(&model.first_of_pairs(&sequences, &second).unwrap(), &expected);
        println!("hidden states differ by {hidden:e}");
        assert!(hidden < 1e-4, "{hidden}");
        assert!(model.first_of_pairs(&sequences, &second[1..]).is_err());
        assert!(model.first_of_pairs(&[], &[]).unwrap().is_empty());
    }
}

#[test]
fn without_a_second_type_the_first_row_is_that_of_all_rows() {
    for name in ["bert-tiny", "roberta-tiny", "longformer-tiny"] {
        let dir = copied(name);
        let model = ModelDir { name: name.into(), path: dir.path().to_owned() };
        let config = Config::read(&model.file("config.json")).unwrap();
        let weights = Weights::read(&model.file("model.safetensors")).unwrap();
        let mut models = vec![load(&model, &Device::Cpu).unwrap().0];
        if name != "longformer-tiny" {
            models.push(Box::new(Plain::new(&config, &weights, &Device::Cpu).unwrap()));
        }
        let sequences: [&[u32]; 3] = [&[2, 9, 11, 3, 8, 3], &[2], &[5, 6, 7]];
        for model in models {
            let all = model.hidden(&sequences).unwrap();
            let row = |token: usize| &all[token * config.hidden_size..(token + 1) * config.hidden_size];
            let expected = [row(0), row(6), row(7)].concat();
            // Beyond the sequence nothing is of the second type; a model of one type has it nowhere.
            let second = if config.type_vocab_size == 1 { [3, 0, 1] } else { [6, 1, usize::MAX] };
            let found = model.first_of_pairs(&sequences, &second).unwrap();
            assert!(off(&found, &expected) < 1e-5, "{name}");
            if config.type_vocab_size > 1 {
                assert!(off(&model.first_of_pairs(&sequences, &[3, 0, 1]).unwrap(), &expected) > 1e-3);
            }
        }
    }
}

fn error(name: &Path) -> String {
    let text = Nsp::open(&name.display().to_string(), &Device::Cpu).unwrap_err().to_string();
    assert!(!text.contains('\n'), "{text}");
    text
}

#[test]
fn what_cannot_be_used_is_named() {
    // A BERT without the classifier, or with one of another shape.
    let text = error(copied("bert-tiny").path());
    assert!(text.contains("model.safetensors") && text.contains("no tensor cls.seq_relationship.weight"), "{text}");
    let dir = copied("nsp");
    let file = dir.path().join("model.safetensors");
    let mut tensors = candle_core::safetensors::load(&file, &Device::Cpu).unwrap();
    let ones = |shape: &[usize]| Tensor::ones(shape, candle_core::DType::F32, &Device::Cpu).unwrap();
    let save = |tensors: &HashMap<String, Tensor>| candle_core::safetensors::save(tensors, &file).unwrap();
    let own = tensors.insert("cls.seq_relationship.weight".into(), ones(&[3, 96])).unwrap();
    save(&tensors);
    let text = error(dir.path());
    assert!(text.contains("cls.seq_relationship.weight has shape [3, 96], expected [2, 96]"), "{text}");
    tensors.insert("cls.seq_relationship.weight".into(), own);
    tensors.remove("bert.pooler.dense.bias");
    save(&tensors);
    let text = error(dir.path());
    assert!(text.contains("model.safetensors") && text.contains("no tensor bert.pooler.dense.bias"), "{text}");
    assert!(error(&dir.path().join("nowhere")).contains("nowhere"));

    // Checkpoints.
    let dir = copied("nsp");
    let base = Base::open(&path(&dir)).unwrap();
    let file = dir.path().join("nsp.safetensors");
    let settings = Settings {
        base: path(&dir),
        base_sha256: base.weights.sha256().into(),
        tokens: 24,
        threshold: Some(1.5),
        notes: String::new(),
    };
    let head: HashMap<String, Tensor> = [
        ("pooler.dense.weight", &[96, 96][..]),
        ("pooler.dense.bias", &[96]),
        ("cls.seq_relationship.weight", &[2, 96]),
        ("cls.seq_relationship.bias", &[2]),
    ]
    .into_iter()
    .map(|(name, shape)| (name.to_owned(), ones(shape)))
    .collect();
    let write = |settings: &Settings, head: &HashMap<String, Tensor>| {
        Checkpoint::new(settings.clone(), head.clone()).write(&file, false).unwrap();
    };
    write(&settings, &head);
    // The folder, the file: the same model.
    for name in [dir.path(), &file] {
        let model = Nsp::open(&name.display().to_string(), &Device::Cpu).unwrap();
        assert_eq!((longest_pair(&model), model.threshold()), (24, Some(Threshold::of_odds(1.5))));
        assert!(model.fingerprint().starts_with("nsp:"));
    }
    for (name, shape) in [("pooler.dense.weight", &[96, 95][..]), ("cls.seq_relationship.bias", &[1])] {
        let mut other = head.clone();
        other.insert(name.into(), ones(shape));
        write(&settings, &other);
        let text = error(dir.path());
        assert!(text.contains("nsp.safetensors") && text.contains(&format!("{name} has shape {shape:?}")), "{text}");
        // The base model's own is not taken instead: it belongs to another head.
        other.remove(name);
        write(&settings, &other);
        let text = error(dir.path());
        assert!(text.contains("nsp.safetensors") && text.contains(&format!("no tensor {name}")), "{text}");
    }
    write(&Settings { base_sha256: "0123456789abcdef".into(), ..settings.clone() }, &head);
    assert!(error(dir.path()).contains("trained on a base model with checksum 0123456789ab"));
    write(&Settings { tokens: 33, ..settings.clone() }, &head);
    assert!(error(dir.path()).contains("its base model reads 8 to 32"));
    write(&Settings { base: path(&dir) + "/gone", ..settings }, &head);
    assert!(error(dir.path()).contains("gone"));
    // No checkpoint of this kind; cut off.
    std::fs::copy(dir.path().join("model.safetensors"), &file).unwrap();
    assert!(error(dir.path()).contains("has no \"nsp\": it is no NSP checkpoint"));
    std::fs::write(&file, b"short").unwrap();
    assert!(error(dir.path()).contains("nsp.safetensors"));
}
