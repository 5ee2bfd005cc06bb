//! Models of `topic` that bring an encoder of their own: a base, changed by tensors in the checkpoint.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

use candle_core::{Device, Tensor};
use pericope_api::SentenceEncoder;
use pericope_encode::encoders::{LowRank, low_rank};
use pericope_encode::{SentenceModel, models, registry as encoders};
use pericope_learn::corpus::Record;
use pericope_learn::registry;
use pericope_learn::topic::{Checkpoint, OwnEncoder, Sizes, shipped};
use pericope_learn::training::{TopicData, TopicOptions, VectorSource, train_topic};
use pericope_segment::Resources;
use pericope_segment::spec::Spec;

use super::hiercrf::fixtures::{Topics, record};
use super::topic::options;

const CHANGED: &str = "encoder.layer.5.output.dense";

/// Changes of one matrix of MiniLM, larger by `factor`.
fn changes(path: &Path, factor: f64) -> LowRank {
    let wave = |rows: usize, columns: usize| {
        let angles = Tensor::arange(0f32, (rows * columns) as f32, &Device::Cpu).unwrap();
        (angles.sin().unwrap().reshape((rows, columns)).unwrap() * factor).unwrap()
    };
    let tensors = [("lora_a", wave(2, 1536)), ("lora_b", wave(384, 2))];
    let tensors: HashMap<String, Tensor> =
        tensors.into_iter().map(|(end, t)| (format!("{CHANGED}.{end}"), t)).collect();
    candle_core::safetensors::save(&tensors, path).unwrap();
    LowRank::read(path).unwrap()
}

/// The vectors of an encoder under another name and fingerprint.
struct Named<'a> {
    encoder: &'a dyn SentenceEncoder,
    name: String,
    fingerprint: String,
}

impl VectorSource for Named<'_> {
    fn encoder(&self) -> (&str, &str) {
        (&self.name, &self.fingerprint)
    }

    fn dimension(&self) -> usize {
        self.encoder.dimension()
    }

    fn vectors(&self, texts: &[&str]) -> Result<Vec<f32>, String> {
        self.encoder.encode(texts).map(|found| found.values().to_vec()).map_err(|e| e.to_string())
    }
}

fn train(start: Option<&Checkpoint>, vectors: &Named<'_>, out: &Path) -> Result<Checkpoint, String> {
    let documents: Vec<Record> = (0..4).map(|i| record(&format!("d{i}"), 3 + i)).collect();
    let data = TopicData { train: &documents, validation: &documents, vectors };
    let sizes = Sizes { input: vectors.dimension(), ..options().sizes };
    let options = TopicOptions { sizes, max_steps: 1, ..options() };
    let go_on = &mut |_| ControlFlow::Continue(());
    train_topic(start, &data, &options, out, "", go_on).map_err(|e| e.to_string())?;
    Ok(Checkpoint::read(&out.join("topic.safetensors")).unwrap())
}

#[test]
fn the_changes_of_the_vectors_encoder_stand_in_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let file = at("changes.safetensors");
    let mark = low_rank::mark(&changes(&file, 0.1).checksum().unwrap());
    let topics = Topics::default();
    let named = |name: &str, fingerprint: &str| Named {
        encoder: &topics,
        name: name.to_owned(),
        fingerprint: fingerprint.to_owned(),
    };
    let (name, fingerprint) = (format!("minilm:{}", file.display()), format!("minilm:sha256=1{mark}:mean"));
    let vectors = named(&name, &fingerprint);
    let first = train(None, &vectors, &at("first")).unwrap();
    assert_eq!((&first.settings.encoder[..], &first.settings.encoder_fingerprint), ("minilm", &fingerprint));
    assert_eq!(first.low_rank().tensors().len(), 2);
    // One that goes on has them too, whatever became of the file.
    std::fs::remove_file(&file).unwrap();
    let second = train(Some(&first), &named("whatever", &fingerprint), &at("second")).unwrap();
    assert_eq!((&second.settings.encoder[..], second.low_rank().tensors().len()), ("minilm", 2));
    let said = train(Some(&first), &named("minilm", "minilm:sha256=1:mean"), &at("third")).unwrap_err();
    assert!(said.contains("embed the data for it (pericope train embed --for MODEL)"), "{said}");
    let said = train(None, &vectors, &at("fourth")).unwrap_err();
    assert!(said.contains("changes.safetensors"), "{said}");
    changes(&file, 0.2);
    let said = train(None, &vectors, &at("fifth")).unwrap_err();
    assert!(said.contains("changed since the vectors were made with it"), "{said}");
}

#[test]
fn a_model_from_the_beginning_takes_the_encoder_of_the_shipped_one() {
    let folder = tempfile::tempdir().unwrap();
    let shipped = shipped().unwrap();
    let topics = Topics::default();
    let vectors = |fingerprint: &str| Named {
        encoder: &topics,
        name: "minilm:topic.safetensors (shipped)".to_owned(),
        fingerprint: fingerprint.to_owned(),
    };
    let made = train(None, &vectors(&shipped.settings.encoder_fingerprint), &folder.path().join("own")).unwrap();
    assert_eq!(made.settings.encoder_fingerprint, shipped.settings.encoder_fingerprint);
    assert_eq!(made.low_rank().checksum().unwrap(), shipped.low_rank().checksum().unwrap());
    // Another program's model had other changes.
    let said = train(None, &vectors("minilm:sha256=1:lora=2:mean"), &folder.path().join("other")).unwrap_err();
    assert!(said.contains("changed since the vectors were made with it"), "{said}");
}

/// Resources that bring no encoder.
struct Nothing;

impl Resources for Nothing {}

#[test]
fn a_model_reads_with_the_encoder_that_it_brings() {
    let Ok(base) = models::locate("minilm") else {
        eprintln!("SKIPPED: the model is not installed (pericope models pull minilm)");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let changes = changes(&at("changes.safetensors"), 0.3);
    let spec = format!("minilm:{}", at("changes.safetensors").display());
    let changed = encoders::embedder(&spec).unwrap().unwrap();

    // Its vectors are those of the model with the sum in its file.
    let mut tensors = candle_core::safetensors::load(base.file("model.safetensors"), &Device::Cpu).unwrap();
    let matrix = tensors.get_mut(&format!("{CHANGED}.weight")).unwrap();
    *matrix = changes.changed(&format!("{CHANGED}.weight"), matrix.clone(), &Device::Cpu).unwrap();
    std::fs::create_dir(at("summed")).unwrap();
    candle_core::safetensors::save(&tensors, at("summed/model.safetensors")).unwrap();
    for file in ["config.json", "tokenizer.json"] {
        std::fs::copy(base.file(file), at("summed").join(file)).unwrap();
    }
    let summed = SentenceModel::open("summed", &at("summed")).unwrap();
    let texts = ["Boil the water.", "A gate opens at six."];
    let vectors = |encoder: &dyn SentenceEncoder| encoder.encode(&texts).unwrap();
    let as_it_is = encoders::embedder("minilm").unwrap().unwrap();
    let (own, summed, before) = (vectors(changed.as_ref()), vectors(&summed), vectors(as_it_is.as_ref()));
    for i in 0..texts.len() {
        let [same, other] = [&summed, &before].map(|all| pericope_util::cosine(own.row(i), all.row(i)));
        assert!(same > 0.9999 && other < 0.99, "{same} {other}");
    }
    assert_eq!(changed.name(), spec);
    assert!(changed.fingerprint().contains(":lora=") && changed.fingerprint() != as_it_is.fingerprint());

    // The model that learnt on them needs no other encoder.
    let (name, fingerprint) = (spec, changed.fingerprint());
    train(None, &Named { encoder: changed.as_ref(), name, fingerprint }, &at("model")).unwrap();
    let spec = Spec::parse(&format!("topic:model={}", at("model").display())).unwrap();
    let chunker = registry::build(&spec, &Nothing).unwrap();
    assert!(chunker.fingerprint().ends_with(&changed.fingerprint()), "{}", chunker.fingerprint());
    let document = pericope_api::Document::from_sentences("d", &texts);
    assert!(!chunker.chunks(&document).unwrap().is_empty());

    // Another base is refused, and changes of another encoder.
    let made = Checkpoint::read(&at("model/topic.safetensors")).unwrap();
    let mut settings = made.settings.clone();
    settings.encoder = "bge".into();
    let other = Checkpoint::new(settings.clone(), made.tensors().clone());
    let said = OwnEncoder::of(&other).unwrap().load().err().unwrap().to_string();
    assert!(said.contains("it changes the encoder bge: only minilm can be changed"), "{said}");
    settings.encoder = "minilm".into();
    settings.encoder_fingerprint = "minilm:sha256=other:mean".into();
    let file = at("other.safetensors");
    Checkpoint::new(settings, made.tensors().clone()).write(&file, true).unwrap();
    let spec = Spec::parse(&format!("topic:model={}", file.display())).unwrap();
    let said = registry::build(&spec, &Nothing).err().unwrap().to_string();
    assert!(said.contains("minilm:sha256=other:mean"), "{said}");

    // A change that does not fit is named.
    let misfit = HashMap::from([(
        format!("{CHANGED}.lora_a"),
        Tensor::zeros((2, 9), candle_core::DType::F32, &Device::Cpu).unwrap(),
    )]);
    candle_core::safetensors::save(&misfit, at("misfit.safetensors")).unwrap();
    let said = encoders::embedder(&format!("minilm:{}", at("misfit.safetensors").display())).err().unwrap().to_string();
    assert!(said.contains("misfit.safetensors") && said.contains("lora_a"), "{said}");
}
