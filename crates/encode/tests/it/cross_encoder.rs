//! Cross-encoders against transformers, on the models that `scripts/golden/golden_rerankers.py` makes.

use std::path::{Path, PathBuf};

use pericope_api::Reranker;
use pericope_encode::kernels::Precision;
use pericope_encode::rerankers::{RerankerSpec, build_from, list};
use pericope_encode::{CrossEncoder, Device};
use serde::Deserialize;

const NAMES: [&str; 5] = ["bert", "bert-two", "distilbert", "roberta", "xlm-roberta"];

#[derive(Deserialize)]
struct Expected {
    window: usize,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    query: String,
    passages: Vec<String>,
    ids: Vec<Vec<u32>>,
    types: Vec<Vec<u32>>,
    scores: Vec<f32>,
}

impl Case {
    fn passages(&self) -> Vec<&str> {
        self.passages.iter().map(String::as_str).collect()
    }
}

/// A copy of a model, since checksums are kept beside the files, and what transformers made of it.
fn model(name: &str) -> (tempfile::TempDir, Expected) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("rerank-{name}"));
    let dir = tempfile::tempdir().unwrap();
    for file in ["config.json", "model.safetensors", "tokenizer.json"] {
        std::fs::copy(from.join(file), dir.path().join(file)).unwrap();
    }
    let expected = serde_json::from_slice(&std::fs::read(from.join("expected.json")).unwrap()).unwrap();
    (dir, expected)
}

fn open(folder: &Path) -> CrossEncoder {
    CrossEncoder::open(folder, None, &Device::Cpu).unwrap()
}

#[test]
fn scores_equal_those_of_transformers() {
    for name in NAMES {
        let (dir, expected) = model(name);
        let model = open(dir.path());
        assert!(model.fingerprint().ends_with(&format!(":{}", expected.window)), "{}", model.fingerprint());
        let mut worst = 0.0_f32;
        for case in &expected.cases {
            for ((ids, second), (wanted, types)) in
                model.sequences(&case.query, &case.passages()).iter().zip(case.ids.iter().zip(&case.types))
            {
                assert_eq!(ids, wanted, "{name}: {:?}", case.query);
                let own: Vec<u32> = (0..ids.len()).map(|place| u32::from(place >= *second)).collect();
                assert_eq!(own, *types, "{name}: {:?}", case.query);
            }
            let scores = model.scores(&case.query, &case.passages()).unwrap();
            assert_eq!(scores.len(), case.scores.len());
            worst = scores.iter().zip(&case.scores).map(|(a, b)| (a - b).abs()).fold(worst, f32::max);
        }
        println!("{name}: greatest difference {worst:e}");
        // Factors of few bits, rounded in every layer; shapes that the fused kernels do not fit are in single precision.
        let narrow = name != "bert-two" && Precision::of_machine() != Ok(Precision::Single);
        assert!(worst < if narrow { 5e-2 } else { 1e-4 }, "{name}: {worst}");
    }
}

#[test]
fn scores_are_the_same_bits_on_every_number_of_threads() {
    for name in ["bert", "roberta"] {
        let (dir, expected) = model(name);
        let model = open(dir.path());
        let passages: Vec<String> = (0..60).map(|i| format!("Bread {} needs time. ", i).repeat(i % 7)).collect();
        let passages: Vec<&str> = passages.iter().map(String::as_str).collect();
        let query = &expected.cases[1].query;
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| model.scores(query, &passages).unwrap())
        };
        let one = on(1);
        assert_eq!(one.len(), passages.len());
        assert!(one.iter().any(|score| *score != one[0]));
        assert_eq!(one, on(4));
        // Nor do they depend on the other passages.
        assert_eq!(model.scores(query, &passages[7..8]).unwrap(), one[7..8]);
        assert!(model.scores(query, &[]).unwrap().is_empty());
    }
}

#[test]
fn the_window_can_be_made_smaller() {
    let (dir, expected) = model("bert");
    let spec =
        |max: usize| RerankerSpec::parse(&format!("cross-encoder:model={},max_tokens={max}", dir.path().display()));
    let built = |max: usize| build_from(list(), &spec(max).unwrap()).unwrap().unwrap();
    let case = &expected.cases[1];
    let (small, large) = (built(24), built(1_000));
    assert!(small.fingerprint().ends_with(":24") && large.fingerprint().ends_with(":48"));
    let of = |model: &dyn Reranker| model.scores(&case.query, &case.passages()).unwrap();
    assert_ne!(of(small.as_ref()), of(large.as_ref()));
    let model = CrossEncoder::open(dir.path(), Some(24), &Device::Cpu).unwrap();
    let long = "bread ".repeat(50);
    for (ids, _) in model.sequences(&long, &[&long, "x"]) {
        assert!(ids.len() <= 24, "{ids:?}");
    }
}

#[test]
fn models_that_cannot_rerank_are_refused() {
    let (dir, _) = model("roberta");
    let path = dir.path().join("config.json");
    let whole = std::fs::read_to_string(&path).unwrap();
    let refused = |text: &str| {
        std::fs::write(&path, text).unwrap();
        let text = CrossEncoder::open(dir.path(), None, &Device::Cpu).unwrap_err().to_string();
        assert!(!text.contains('\n'), "{text}");
        text
    };
    for (from, to, says) in [
        ("RobertaForSequenceClassification", "RobertaModel", "the model is a RobertaModel"),
        ("\"0\": \"LABEL_0\"", "\"0\": \"a\", \"1\": \"b\", \"2\": \"c\"", "tells 3 labels apart"),
        (
            "\"0\": \"LABEL_0\"",
            "\"0\": \"a\", \"1\": \"b\"",
            "tensor classifier.out_proj.weight has shape [1, 96], expected [2, 96]",
        ),
        ("\"model_type\": \"roberta\"", "\"model_type\": \"bert\"", "there is no tensor roberta.pooler.dense.weight"),
    ] {
        let text = whole.replacen(from, to, 1);
        assert_ne!(text, whole, "{from}");
        let said = refused(&text);
        assert!(said.contains(says), "{said}");
    }
    std::fs::remove_file(dir.path().join("tokenizer.json")).unwrap();
    let said = refused(&whole);
    assert!(said.contains("there is no tokenizer.json in"), "{said}");
    let nowhere = PathBuf::from("none-such");
    let said = CrossEncoder::open(&nowhere, None, &Device::Cpu).unwrap_err().to_string();
    assert!(said.contains("there is no config.json in none-such: a model's folder holds"), "{said}");
}
