//! Longformer beside the same layers with full attention, over sequences of 512 to 4,096 tokens: the time a token takes
//! should stay the same for the one and grow for the other.
#![allow(missing_docs, clippy::unwrap_used)]

use candle_core::{Device, Tensor};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use pericope_encode::ModelError;
use pericope_encode::encoders::{Config, Embed, Longformer, Plain, Tensors};

/// Tensors of any name and shape.
struct Waves;

impl Tensors for Waves {
    fn tensor(&self, name: &str, shape: &[usize], device: &Device) -> Result<Tensor, ModelError> {
        let size = shape.iter().product::<usize>();
        let numbers: Vec<f32> = (0..size).map(|i| ((i + name.len()) as f32 * 0.73).sin() * 0.1).collect();
        Tensor::from_vec(numbers, shape, device).map_err(|e| self.unusable(e.to_string()))
    }

    fn unusable(&self, reason: String) -> ModelError {
        ModelError::Unusable { file: "waves".into(), reason }
    }
}

fn config() -> Config {
    let text = r#"{"model_type":"longformer","hidden_size":128,"num_hidden_layers":2,"num_attention_heads":4,
        "intermediate_size":256,"layer_norm_eps":1e-5,"max_position_embeddings":4098,"vocab_size":1000,
        "type_vocab_size":1,"hidden_act":"gelu","attention_window":128}"#;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.json");
    std::fs::write(&path, text).unwrap();
    Config::read(&path).unwrap()
}

fn lengths(c: &mut Criterion) {
    let config = config();
    let models: [(&str, Box<dyn Embed>); 2] = [
        ("window of 128", Box::new(Longformer::new(&config, &Waves, &Device::Cpu).unwrap())),
        ("full attention", Box::new(Plain::new(&config, &Waves, &Device::Cpu).unwrap())),
    ];
    let mut group = c.benchmark_group("encoder");
    group.sample_size(10);
    for length in [512u32, 1_024, 2_048, 4_096] {
        let ids: Vec<u32> = (0..length).map(|i| 2 + i * 97 % 998).collect();
        group.throughput(Throughput::Elements(length.into()));
        for (name, model) in &models {
            group.bench_function(BenchmarkId::new(*name, length), |run| run.iter(|| model.embed(&[&ids]).unwrap()));
        }
    }
    group.finish();
}

criterion_group!(benches, lengths);
criterion_main!(benches);
