//! BERT, RoBERTa and Longformer against transformers, and what is said about files that cannot be used. The models are
//! those that `scripts/golden/golden_encoders.py` makes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use candle_core::{Device, Tensor};
use pericope_encode::encoders::{Config, Embed, Kind, Longformer, Packed, Plain, Weights, check_vocabulary, load};
use pericope_encode::kernels::Precision;
use pericope_encode::{ModelDir, ModelError, Subwords};
use serde::Deserialize;

const NAMES: [&str; 3] = ["bert-tiny", "roberta-tiny", "longformer-tiny"];

#[derive(Deserialize)]
struct Expected {
    tokens: Vec<Text>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Text {
    text: String,
    ids: Vec<u32>,
}

#[derive(Deserialize)]
struct Case {
    ids: Vec<Vec<u32>>,
    globals: Vec<Vec<usize>>,
    hidden: Vec<Vec<f32>>,
}

impl Case {
    fn ids(&self) -> Vec<&[u32]> {
        self.ids.iter().map(Vec::as_slice).collect()
    }

    fn globals(&self) -> Vec<&[usize]> {
        self.globals.iter().map(Vec::as_slice).collect()
    }

    /// The greatest difference from what transformers made of the case.
    fn off(&self, hidden: &[f32]) -> f32 {
        let expected: Vec<f32> = self.hidden.concat();
        assert_eq!(hidden.len(), expected.len());
        hidden.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    }
}

/// A copy of a model, and what transformers made of it. A copy, because checksums are kept beside the files.
fn model(name: &str) -> (tempfile::TempDir, ModelDir, Expected) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let dir = tempfile::tempdir().unwrap();
    for file in ["config.json", "model.safetensors", "tokenizer.json"] {
        std::fs::copy(from.join(file), dir.path().join(file)).unwrap();
    }
    let expected = serde_json::from_slice(&std::fs::read(from.join("expected.json")).unwrap()).unwrap();
    let model = ModelDir { name: name.into(), path: dir.path().to_owned() };
    (dir, model, expected)
}

fn parts(model: &ModelDir) -> (Config, Weights) {
    let weights = Weights::read(&model.file("model.safetensors")).unwrap();
    (Config::read(&model.file("config.json")).unwrap(), weights)
}

/// The tokenizer of a model, compared with its configuration.
fn tokenizer(model: &ModelDir, config: &Config) -> Result<Subwords, ModelError> {
    let tokens = Subwords::load(&model.file("tokenizer.json"))?;
    check_vocabulary(model, tokens.vocabulary(), config)?;
    Ok(tokens)
}

#[test]
fn bert_and_roberta_equal_transformers() {
    for (name, kind, tokens) in [("bert-tiny", Kind::Bert, 16), ("roberta-tiny", Kind::Roberta, 16)] {
        let (_dir, model, expected) = model(name);
        let (config, weights) = parts(&model);
        assert_eq!((config.kind(), config.max_tokens()), (kind, tokens));
        assert!(Packed::fits(&config));
        let models: [(&str, Box<dyn Embed>); 5] = [
            ("packed", Box::new(Packed::new(&config, &weights, Precision::Single).unwrap())),
            ("in bf16", Box::new(Packed::new(&config, &weights, Precision::Bf16).unwrap())),
            ("in int16", Box::new(Packed::new(&config, &weights, Precision::Int16).unwrap())),
            ("plain", Box::new(Plain::new(&config, &weights, &Device::Cpu).unwrap())),
            ("loaded", load(&model, &Device::Cpu).unwrap().0),
        ];
        for (way, model) in models {
            let off = expected.cases.iter().map(|case| case.off(&model.hidden(&case.ids()).unwrap()));
            let off = off.fold(0.0, f32::max);
            println!("{name}, {way}: greatest difference {off:e}");
            // Factors of few bits, rounded in every layer.
            let narrow =
                way.starts_with("in ") || (way == "loaded" && Precision::of_machine() != Ok(Precision::Single));
            assert!(off < if narrow { 5e-2 } else { 1e-4 }, "{name}, {way}: {off}");
        }
    }
}

#[test]
fn longformer_equals_transformers() {
    let (_dir, model, expected) = model("longformer-tiny");
    let (config, weights) = parts(&model);
    assert_eq!((config.kind(), config.max_tokens()), (Kind::Longformer, 100));
    assert_eq!([0, 1].map(|layer| config.reach(layer)), [2, 4]);
    let longformer = Longformer::new(&config, &weights, &Device::Cpu).unwrap();
    let (loaded, ..) = load(&model, &Device::Cpu).unwrap();
    let mut worst = 0.0f32;
    for case in &expected.cases {
        let off = case.off(&longformer.hidden_with_global(&case.ids(), &case.globals()).unwrap());
        assert!(off < 1e-4, "{off} with global tokens {:?}", case.globals);
        worst = worst.max(off);
        if case.globals.iter().all(|places| *places == [0]) {
            assert!(case.off(&loaded.hidden(&case.ids()).unwrap()) < 1e-4);
            let sequences = case.ids();
            let pooled = loaded.embed(&sequences).unwrap();
            assert_eq!(pooled.len(), sequences.len() * config.hidden_size);
        }
    }
    println!("longformer-tiny: greatest difference {worst:e}");
}

#[test]
fn sequences_that_cannot_be_read_are_refused() {
    for name in NAMES {
        let (_dir, model, _) = model(name);
        let (config, weights) = parts(&model);
        let (loaded, ..) = load(&model, &Device::Cpu).unwrap();
        let mut models = vec![loaded];
        if config.kind() != Kind::Longformer {
            models.push(Box::new(Plain::new(&config, &weights, &Device::Cpu).unwrap()));
        }
        for model in models {
            assert!(model.hidden(&[]).unwrap().is_empty() && model.embed(&[]).unwrap().is_empty());
            assert!(model.hidden(&[&vec![7; config.max_tokens()]]).is_ok());
            for ids in [vec![], vec![7; config.max_tokens() + 1], vec![config.vocab_size as u32]] {
                assert!(model.embed(&[&[7, 8], &ids]).is_err(), "{name}: {ids:?}");
            }
        }
    }
}

#[test]
fn global_tokens_are_checked() {
    let (_dir, model, _) = model("longformer-tiny");
    let (config, weights) = parts(&model);
    let longformer = Longformer::new(&config, &weights, &Device::Cpu).unwrap();
    let run = |globals: &[&[usize]]| longformer.hidden_with_global(&[&[0, 7, 8, 2], &[0, 2]], globals);
    assert_eq!(run(&[&[1, 0, 1], &[]]).unwrap(), run(&[&[0, 1], &[]]).unwrap());
    for wrong in [&[&[0][..]][..], &[&[4], &[]], &[&[0], &[2]], &[&[0], &[0], &[0]]] {
        assert!(run(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn tokens_are_those_of_the_tokenizers() {
    for (name, special) in [("bert-tiny", [2, 3, 0]), ("roberta-tiny", [0, 2, 1]), ("longformer-tiny", [0, 2, 1])] {
        let (_dir, model, expected) = model(name);
        let (config, _) = parts(&model);
        let tokens = tokenizer(&model, &config).unwrap();
        assert_eq!([tokens.start(), tokens.end(), tokens.pad()], special);
        assert_eq!(tokens.vocabulary(), config.vocab_size);
        assert!(expected.tokens.len() >= 20);
        for Text { text, ids } in &expected.tokens {
            assert_eq!(tokens.ids(text, usize::MAX), *ids, "{name}: {text:?}");
            for limit in [0, 1, 5] {
                assert_eq!(tokens.ids(text, limit), ids[..limit.min(ids.len())], "{name}: {text:?}");
            }
        }
    }
}

fn error(model: &ModelDir) -> String {
    let text = load(model, &Device::Cpu).err().unwrap().to_string();
    assert!(!text.contains('\n'), "{text}");
    text
}

fn tensors(model: &ModelDir) -> (PathBuf, HashMap<String, Tensor>) {
    let path = model.file("model.safetensors");
    let tensors = candle_core::safetensors::load(&path, &Device::Cpu).unwrap();
    (path, tensors)
}

#[test]
fn damaged_weights_are_named() {
    for name in NAMES {
        let (_dir, model, _) = model(name);
        let (path, mut tensors) = tensors(&model);
        let whole = std::fs::read(&path).unwrap();
        for cut in [0, 7, 200, whole.len() / 2, whole.len() - 1] {
            std::fs::write(&path, &whole[..cut]).unwrap();
            assert!(error(&model).contains("model.safetensors"), "{name} cut at {cut}");
        }
        let tensor = "encoder.layer.0.intermediate.dense.weight";
        let turned = tensors[tensor].t().unwrap().contiguous().unwrap();
        let dims = (tensors[tensor].dims().to_vec(), turned.dims().to_vec());
        tensors.insert(tensor.into(), turned);
        candle_core::safetensors::save(&tensors, &path).unwrap();
        let text = error(&model);
        let shapes = format!("tensor {tensor} has shape {:?}, expected {:?}", dims.1, dims.0);
        assert!(text.contains("model.safetensors") && text.contains(&shapes), "{text}");
        tensors.remove(tensor);
        candle_core::safetensors::save(&tensors, &path).unwrap();
        assert!(error(&model).contains(&format!("there is no tensor {tensor}")));
    }
}

#[test]
fn names_may_begin_with_that_of_the_encoder() {
    for (name, prefix) in NAMES.into_iter().zip(["bert.", "roberta.", "longformer."]) {
        let (_dir, model, expected) = model(name);
        let (path, mut tensors) = tensors(&model);
        let before = load(&model, &Device::Cpu).unwrap().0.embed(&expected.cases[1].ids()).unwrap();
        let renamed = |(tensor, value): (String, Tensor)| {
            let tensor =
                tensor.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta");
            (format!("{prefix}{tensor}"), value)
        };
        tensors = tensors.into_iter().map(renamed).collect();
        candle_core::safetensors::save(&tensors, &path).unwrap();
        assert_eq!(load(&model, &Device::Cpu).unwrap().0.embed(&expected.cases[1].ids()).unwrap(), before);
        tensors.remove(&format!("{prefix}embeddings.LayerNorm.gamma"));
        candle_core::safetensors::save(&tensors, &path).unwrap();
        assert!(error(&model).contains(&format!("there is no tensor {prefix}embeddings.LayerNorm.weight")));
    }
}

#[test]
fn configurations_that_cannot_be_are_refused() {
    let (_dir, model, _) = model("longformer-tiny");
    let path = model.file("config.json");
    let config: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    for (field, value, message) in [
        (
            "model_type",
            "\"t5\"",
            "model_type is \"t5\"; known: bert, roberta, xlm-roberta, longformer, distilbert, mpnet",
        ),
        ("attention_window", "[4, 7]", "attention_window 7 is not even and above 0"),
        ("attention_window", "0", "attention_window 0 is not even and above 0"),
        ("attention_window", "[4]", "attention_window has 1 numbers for 2 layers"),
        ("attention_window", "null", "there is no attention_window"),
        ("max_position_embeddings", "2", "max_position_embeddings 2 leaves no position"),
        ("pad_token_id", "288", "pad_token_id 288 is not below vocab_size 288"),
        ("hidden_size", "0", "hidden_size is 0"),
        ("hidden_act", "\"relu\"", "hidden_act is \"relu\""),
    ] {
        let mut changed = config.clone();
        changed[field] = serde_json::from_str(value).unwrap();
        std::fs::write(&path, changed.to_string()).unwrap();
        let text = error(&model);
        assert!(text.contains("config.json") && text.contains(message), "{text}");
    }
    let mut other = config.clone();
    other["model_type"] = "xlm-roberta".into();
    std::fs::write(&path, other.to_string()).unwrap();
    assert_eq!(Config::read(&path).unwrap().kind(), Kind::Roberta);
    other["attention_window"] = 6.into();
    other["model_type"] = "longformer".into();
    std::fs::write(&path, other.to_string()).unwrap();
    let config = Config::read(&path).unwrap();
    assert_eq!([0, 1].map(|layer| config.reach(layer)), [3, 3]);
}

#[test]
fn a_tokenizer_of_another_model_is_refused() {
    let refused = |model: &ModelDir, config: &Config| {
        let text = tokenizer(model, config).unwrap_err().to_string();
        assert!(!text.contains('\n'), "{text}");
        text
    };
    let (_bert_dir, bert, _) = model("bert-tiny");
    let (_roberta_dir, roberta, _) = model("roberta-tiny");
    let ((small, _), (large, _)) = (parts(&bert), parts(&roberta));
    let text = refused(&roberta, &small);
    assert!(text.contains("tokenizer.json has 288 tokens, the model's embedding 96 rows"), "{text}");
    let text = refused(&bert, &large);
    assert!(text.contains("tokenizer.json has 96 tokens, the model's embedding 288 rows"), "{text}");
    // Tables are often filled up to a round number of rows.
    std::fs::write(
        bert.file("config.json"),
        std::fs::read_to_string(bert.file("config.json")).unwrap().replace("\"vocab_size\": 96", "\"vocab_size\": 128"),
    )
    .unwrap();
    assert!(tokenizer(&bert, &Config::read(&bert.file("config.json")).unwrap()).is_ok());

    let path = roberta.file("tokenizer.json");
    let whole = std::fs::read_to_string(&path).unwrap();
    for text in [&whole[..whole.len() / 2], "", "{}"] {
        std::fs::write(&path, text).unwrap();
        assert!(refused(&roberta, &large).contains("tokenizer.json"));
    }
    std::fs::write(&path, whole.replace("</s>", "<end>")).unwrap();
    assert!(refused(&roberta, &large).contains("there is neither [SEP] nor </s>"));
}
