//! Late chunking against transformers, on the values that `scripts/golden/golden_late.py` makes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pericope_api::{SentenceEncoder, Span};
use pericope_encode::{CachedEncoder, SentenceModel, registry};
use serde::Deserialize;

use super::sentence::{bound, copy, cosine, open};

#[derive(Deserialize)]
struct Golden {
    models: BTreeMap<String, Vec<Embedded>>,
}

#[derive(Deserialize)]
struct Embedded {
    text: String,
    spans: Vec<[usize; 2]>,
    vectors: Vec<Vec<f32>>,
}

impl Embedded {
    fn spans(&self) -> Vec<Span> {
        self.spans.iter().map(|&[start, end]| Span::new(start, end)).collect()
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn golden() -> BTreeMap<String, Vec<Embedded>> {
    let read = std::fs::read(folder().join("late.json")).unwrap();
    serde_json::from_slice::<Golden>(&read).unwrap().models
}

/// A model in a folder of its own, since checksums are kept beside the files.
fn model(name: &str) -> (tempfile::TempDir, SentenceModel) {
    let dir = tempfile::tempdir().unwrap();
    copy(&folder().join(format!("embed-{name}")), dir.path());
    let model = open(dir.path());
    (dir, model)
}

#[test]
fn vectors_equal_those_of_transformers() {
    for (name, documents) in golden() {
        let (_dir, model) = model(&name);
        let spans: Vec<Vec<Span>> = documents.iter().map(Embedded::spans).collect();
        let asked: Vec<(&str, &[Span])> =
            documents.iter().zip(&spans).map(|(one, spans)| (one.text.as_str(), spans.as_slice())).collect();
        let longest = documents.iter().map(|one| model.count_tokens(&one.text).unwrap()).max().unwrap();
        assert!(longest > model.max_tokens(), "{name}: one of the documents is read in windows");
        let found = model.encode_spans(&asked).unwrap();
        let wanted: Vec<&Vec<f32>> = documents.iter().flat_map(|one| &one.vectors).collect();
        assert_eq!((found.len(), found.dimension()), (wanted.len(), model.dimension()), "{name}");
        for (i, (row, want)) in found.rows().zip(wanted).enumerate() {
            let norm = row.iter().map(|x| x * x).sum::<f32>();
            assert!((norm - 1.0).abs() < 1e-5, "{name}, span {i}: norm {norm}");
            let near = cosine(row, want);
            assert!(near > bound(&name), "{name}, span {i}: {near}");
        }
    }
}

#[test]
fn a_chunk_that_is_its_document_has_the_vector_of_its_text() {
    for name in ["bert-plain", "distilbert", "xlm-roberta", "mpnet", "mpnet-plain"] {
        let (_dir, model) = model(name);
        for text in ["Bread needs time.", "", " It's 10 plus 20. ", "café naïve"] {
            assert!(model.count_tokens(text).unwrap() <= model.max_tokens());
            let late = model.encode_spans(&[(text, &[Span::new(0, text.len())])]).unwrap();
            let plain = model.encode_passages(&[text]).unwrap();
            let near = cosine(late.row(0), plain.row(0));
            assert!(near > 0.99999, "{name}, {text:?}: {near}");
        }
    }
}

#[test]
fn a_chunk_depends_on_its_document_and_on_nothing_beside_it() {
    let (_dir, model) = model("distilbert");
    let long = "Bread needs time. ".repeat(40);
    let texts = ["Bread needs time. Water boils.", "Bread needs time. Nobody knew.", long.as_str()];
    let spans = [Span::new(0, 17)];
    let all: Vec<(&str, &[Span])> = texts.iter().map(|text| (*text, &spans[..])).collect();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| model.encode_spans(&all).unwrap())
    };
    let found = on(1);
    assert_eq!(found, on(3));
    assert!(cosine(found.row(0), found.row(1)) < 0.9999);
    for (i, one) in all.iter().enumerate() {
        let alone = model.encode_spans(&[*one]).unwrap();
        let off = alone.row(0).iter().zip(found.row(i)).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(off < 1e-5, "document {i}: {off}");
    }
    // A span without a token has zeros, and what lies beyond the text is left out.
    let odd = [Span::new(17, 18), Span::new(18, 5_000), Span::new(18, texts[0].len()), Span::new(9_000, 9_001)];
    let odd = model.encode_spans(&[(texts[0], &odd)]).unwrap();
    assert_eq!(odd.len(), 4);
    assert_eq!(odd.row(1), odd.row(2));
    for (row, expected) in odd.rows().zip([0.0, 1.0, 1.0, 0.0]) {
        assert!((row.iter().map(|x| x * x).sum::<f32>() - expected).abs() < 1e-5, "{row:?}");
    }
    let (inner, model) = (all[0], Arc::new(model));
    let cached = CachedEncoder::new(Arc::<SentenceModel>::clone(&model), 1 << 20);
    assert_eq!(cached.encode_spans(&[inner]).unwrap(), model.encode_spans(&[inner]).unwrap());
}

#[test]
fn shorter_vectors_are_the_first_numbers() {
    let (dir, model) = model("distilbert");
    let short = registry::embedder(&format!("{},dimensions=32", dir.path().display())).unwrap().unwrap();
    let asked: [(&str, &[Span]); 1] = [("Bread needs time. Water boils.", &[Span::new(0, 17), Span::new(18, 30)])];
    let (all, kept) = (model.encode_spans(&asked).unwrap(), short.encode_spans(&asked).unwrap());
    assert_eq!((kept.len(), kept.dimension()), (2, 32));
    for (all, kept) in all.rows().zip(kept.rows()) {
        assert!(cosine(&all[..32], kept) > 0.99999);
        assert!((kept.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-5);
    }
}

#[test]
fn chunks_are_found_in_texts_that_are_read_in_lower_case() {
    let (dir, _) = model("xlm-roberta");
    let path = dir.path().join("sentence_bert_config.json");
    let mut config: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    config["do_lower_case"] = true.into();
    std::fs::write(&path, config.to_string()).unwrap();
    let model = open(dir.path());
    // A letter that takes two bytes, and three in lower case.
    let upper = ["BREAD \u{130}S TIME.", " WATER BOILS."];
    let lower = upper.map(str::to_lowercase);
    let vectors = |parts: [&str; 2]| {
        let (text, first) = (parts.concat(), parts[0].len());
        let spans = [Span::new(0, first), Span::new(first, text.len())];
        model.encode_spans(&[(text.as_str(), &spans[..])]).unwrap()
    };
    let (found, wanted) = (vectors(upper), vectors([&lower[0], &lower[1]]));
    for (row, want) in found.rows().zip(wanted.rows()) {
        assert!(cosine(row, want) > 0.99999);
    }
}

#[test]
fn models_that_pool_otherwise_say_so() {
    for (name, pooling) in [("bert", "cls"), ("roberta", "max"), ("qwen3", "lasttoken")] {
        let (_dir, model) = model(name);
        let said = model.encode_spans(&[]).unwrap_err().to_string();
        assert!(
            said.contains(&format!(
                "cannot embed chunks late: a vector of it is no mean of its tokens' (its pooling is {pooling})"
            )),
            "{said}"
        );
        assert!(!said.contains('\n'));
    }
    let (_dir, mean) = model("mpnet");
    assert!(mean.encode_spans(&[]).unwrap().is_empty());
}
