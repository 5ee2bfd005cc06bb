//! Static vectors against Model2Vec (`scripts/golden/golden_static.py`), and those that are made of an encoder.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pericope_api::{SentenceEncoder, joined_windows};
use pericope_encode::{Base, CachedEncoder, DistilOptions, ModelDir, StaticVectors, distil};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde::Deserialize;

use super::sentence::{INFINITE, NONE, copy, fill};

#[derive(Deserialize)]
struct Expected {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    text: String,
    vector: Vec<f32>,
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn open(path: &Path) -> StaticVectors {
    StaticVectors::load(&ModelDir { name: "tiny".into(), path: path.to_owned() }).unwrap()
}

#[test]
fn vectors_are_those_of_model2vec() {
    let folder = golden("static-tiny");
    let expected: Expected = serde_json::from_slice(&std::fs::read(folder.join("expected.json")).unwrap()).unwrap();
    let model = open(&folder);
    assert_eq!((model.dimension(), model.max_tokens(), model.is_static()), (8, 512, true));
    // Whatever stands around it.
    assert!(CachedEncoder::new(Arc::new(open(&folder)), 1 << 20).is_static());
    let texts: Vec<&str> = expected.cases.iter().map(|case| case.text.as_str()).collect();
    let found = model.encode(&texts).unwrap();
    for (case, found) in expected.cases.iter().zip(found.rows()) {
        let apart = case.vector.iter().zip(found).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(apart < 1e-5, "{:?}: {apart}", case.text);
    }
}

#[test]
fn vectors_have_norm_1_or_zeros_and_do_not_depend_on_their_neighbours() {
    let model = open(&golden("static-tiny"));
    let texts = ["The river rose.", "", "   ", "bread", "今日は"];
    let together = model.encode(&texts).unwrap();
    for (i, text) in texts.iter().enumerate() {
        let norm: f32 = together.row(i).iter().map(|x| x * x).sum();
        // The table knows Latin letters alone.
        let expected = if text.is_ascii() && !text.trim().is_empty() { 1.0 } else { 0.0 };
        assert!((norm - expected).abs() < 1e-5, "{text:?}");
        assert_eq!(model.encode(&[text]).unwrap().row(0), together.row(i));
    }
    let many: Vec<String> = (0..1000).map(|i| format!("The river rose {i} times.")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| model.encode(&many).unwrap())
    };
    assert_eq!(on(1), on(3));
    // Each is read once, and the vectors are those of the joined texts, but for the order in which tokens are added.
    let windows: Vec<_> = (0..texts.len()).map(|i| i.saturating_sub(1)..(i + 2).min(texts.len())).collect();
    let joined = joined_windows(&texts, &windows);
    let joined: Vec<&str> = joined.iter().map(String::as_str).collect();
    let (found, joined) = (model.encode_windows(&texts, &windows).unwrap(), model.encode(&joined).unwrap());
    assert_eq!(found.len(), joined.len());
    assert!(found.values().iter().zip(joined.values()).all(|(a, b)| (a - b).abs() < 1e-6));
    let long = ["river ".repeat(400), "bread ".repeat(400)];
    let long = [long[0].as_str(), &long[1]];
    let read = model.encode_windows(&long, &[0..2, 1..2]).unwrap();
    assert_eq!(read, model.encode(&[&long.join(" "), long[1]]).unwrap());
    let tokens = model.encode_tokens(&["the river", ""]).unwrap();
    assert_eq!((tokens[0].len() >= 2, tokens[1].len()), (true, 0));
}

#[test]
fn an_encoder_gives_a_table_that_is_read_back() {
    let out = tempfile::tempdir().unwrap();
    let base = Base::open(&golden("bert-tiny").display().to_string()).unwrap();
    let made = distil(&base, &DistilOptions { dimension: 6 }, out.path(), &|_, _| ()).unwrap();
    assert_eq!((made.tokens, made.dimension), (base.tokens.vocabulary(), 6));
    let model = open(out.path());
    let found = model.encode(&["The river rose in the night.", "the river rose", "bread needs salt"]).unwrap();
    let cosine = |a: usize, b: usize| found.row(a).iter().zip(found.row(b)).map(|(x, y)| x * y).sum::<f32>();
    assert!(cosine(0, 1) > cosine(0, 2), "{} {}", cosine(0, 1), cosine(0, 2));
    // The same table again, byte for byte; and no more numbers than the encoder has.
    let again = tempfile::tempdir().unwrap();
    distil(&base, &DistilOptions { dimension: 6 }, again.path(), &|_, _| ()).unwrap();
    let bytes = |folder: &Path| std::fs::read(folder.join("model.safetensors")).unwrap();
    assert_eq!(bytes(out.path()), bytes(again.path()));
    let wide = distil(&base, &DistilOptions { dimension: 9_999 }, again.path(), &|_, _| ()).unwrap();
    assert_eq!(wide.dimension, base.config.hidden_size);
}

/// As Model2Vec writes it with `quantize_to="int8"`: whole numbers up to 127, and their scale nowhere.
#[test]
fn a_table_in_bytes_gives_nearly_the_same_vectors() {
    let folder = tempfile::tempdir().unwrap();
    copy(&golden("static-tiny"), folder.path());
    let file = folder.path().join("model.safetensors");
    let bytes = std::fs::read(&file).unwrap();
    let whole = SafeTensors::deserialize(&bytes).unwrap();
    let table = whole.tensor("embeddings").unwrap();
    let numbers: Vec<f32> = table.data().as_chunks::<4>().0.iter().map(|number| f32::from_le_bytes(*number)).collect();
    let most = numbers.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
    let small: Vec<u8> = numbers.iter().map(|x| ((x / most * 127.0).round() as i8).cast_unsigned()).collect();
    let view = TensorView::new(Dtype::I8, table.shape().to_vec(), &small).unwrap();
    let others = whole.tensors().into_iter().filter(|(name, _)| name != "embeddings");
    let tensors = others.chain([("embeddings".to_owned(), view)]);
    std::fs::write(&file, safetensors::serialize(tensors, None).unwrap()).unwrap();
    let texts = ["The river rose in the night.", "bread needs salt", ""];
    let (exact, rounded) = (open(&golden("static-tiny")), open(folder.path()));
    let (exact, rounded) = (exact.encode(&texts).unwrap(), rounded.encode(&texts).unwrap());
    for (text, (a, b)) in texts.iter().zip(exact.rows().zip(rounded.rows())) {
        let near: f32 = a.iter().zip(b).map(|(x, y)| x * y).sum();
        // A text without a word has zeros.
        assert!(if text.is_empty() { near == 0.0 } else { near > 0.999 }, "{text}: {near}");
    }
}

#[test]
fn an_encoder_is_not_overwritten_by_what_is_made_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let [own, other] = ["own", "other"].map(|name| folder.path().join(name));
    copy(&golden("bert-tiny"), &own);
    copy(&golden("embed-distilbert"), &other);
    let bytes = |folder: &Path| std::fs::read(folder.join("model.safetensors")).unwrap();
    let before = [bytes(&own), bytes(&other)];
    let base = Base::open(&own.display().to_string()).unwrap();
    let encoded = AtomicUsize::new(0);
    let count = |_: usize, _: usize| {
        encoded.fetch_add(1, Ordering::Relaxed);
    };
    let into = |out: &Path| distil(&base, &DistilOptions::default(), out, &count);
    for (out, says) in [
        (own.clone(), "the folder of the encoder itself"),
        (folder.path().join("other/../own"), "the folder of the encoder itself"),
        (other.clone(), "it holds another model (model_type of its config.json is \"distilbert\")"),
    ] {
        let text = into(&out).unwrap_err().to_string();
        assert!(text.contains(says), "{text}");
    }
    assert_eq!(encoded.load(Ordering::Relaxed), 0, "nothing is encoded in vain");
    assert_eq!([bytes(&own), bytes(&other)], before);
    // A table gives way to a newer one.
    for _ in 0..2 {
        into(&folder.path().join("table")).unwrap();
    }
}

#[test]
fn of_an_encoder_whose_weights_are_no_numbers_nothing_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let (own, out) = (folder.path().join("own"), folder.path().join("out"));
    for (name, number, says) in [
        ("embeddings.word_embeddings.weight", NONE, "its vectors of tokens are not finite"),
        ("encoder.layer.0.output.LayerNorm.weight", INFINITE, "its vectors of tokens are not finite"),
    ] {
        copy(&golden("bert-tiny"), &own);
        fill(&own, name, &number);
        let base = Base::open(&own.display().to_string()).unwrap();
        let text = distil(&base, &DistilOptions::default(), &out, &|_, _| ()).unwrap_err().to_string();
        assert!(text.contains(says) && !out.exists(), "{text}");
    }
    copy(&golden("bert-tiny"), &own);
    for part in ["weight", "bias"] {
        fill(&own, &format!("encoder.layer.0.output.LayerNorm.{part}"), &[0, 0]);
    }
    let base = Base::open(&own.display().to_string()).unwrap();
    let text = distil(&base, &DistilOptions::default(), &out, &|_, _| ()).unwrap_err().to_string();
    assert!(text.contains("its vectors of tokens are zeros alone") && !out.exists(), "{text}");
}

#[test]
fn what_cannot_be_used_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let load = || {
        let dir = ModelDir { name: "x".into(), path: folder.path().to_owned() };
        StaticVectors::load(&dir).unwrap_err().to_string()
    };
    assert!(load().contains("model.safetensors"));
    // An encoder is no table.
    for file in ["model.safetensors", "tokenizer.json"] {
        std::fs::copy(golden("bert-tiny").join(file), folder.path().join(file)).unwrap();
    }
    assert!(load().contains("holds no static vectors"), "{}", load());
    let table = std::fs::read(golden("static-tiny/model.safetensors")).unwrap();
    std::fs::write(folder.path().join("model.safetensors"), &table[..table.len() / 2]).unwrap();
    assert!(load().contains("model.safetensors"));
    std::fs::write(folder.path().join("model.safetensors"), &table).unwrap();
    fill(folder.path(), "embeddings", &[0]);
    assert!(load().contains("tensor embeddings holds zeros alone"), "{}", load());
}
