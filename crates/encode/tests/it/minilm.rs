//! The encoder against sentence-transformers and against itself. Skipped, with a line on standard error, where the
//! model is not installed under `$PERICOPE_HOME`.

use std::sync::OnceLock;

use pericope_api::{SentenceEncoder, TokenCounter};
use pericope_encode::{MiniLm, ModelDir, WordPieceCounter};
use pericope_util::cosine;
use serde::Deserialize;

use crate::testing::minilm;

/// The model and its folder, loaded once.
#[track_caller]
fn model() -> Option<&'static (ModelDir, MiniLm)> {
    static MODEL: OnceLock<(ModelDir, MiniLm)> = OnceLock::new();
    let dir = minilm()?;
    Some(MODEL.get_or_init(|| {
        let model = MiniLm::load(&dir).unwrap();
        (dir, model)
    }))
}

#[derive(Deserialize)]
struct Golden {
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    text: String,
    tokens: usize,
    vector: Vec<f32>,
}

/// Written by `scripts/golden/golden_minilm.py`.
fn golden() -> Vec<Row> {
    serde_json::from_str::<Golden>(include_str!("../golden/minilm.json")).unwrap().rows
}

#[test]
fn equals_sentence_transformers() {
    let Some((dir, model)) = model() else { return };
    let rows = golden();
    assert!(rows.len() >= 60);
    let texts: Vec<&str> = rows.iter().map(|row| row.text.as_str()).collect();
    let found = model.encode(&texts).unwrap();
    assert_eq!((found.len(), found.dimension()), (texts.len(), 384));
    let tokenizer = pericope_encode::WordPiece::load(&dir.file("tokenizer.json")).unwrap();
    let mut least = f64::MAX;
    for (row, vector) in rows.iter().zip(found.rows()) {
        assert_eq!(tokenizer.encode(&row.text, model.max_tokens()).len(), row.tokens, "tokens of {:?}", row.text);
        let same = cosine(vector, &row.vector);
        assert!(same > 0.9999, "cosine {same} for {:?}", row.text);
        assert!((cosine(vector, vector) - 1.0).abs() < 1e-6);
        let norm: f32 = vector.iter().map(|v| v * v).sum();
        assert!((norm - 1.0).abs() < 1e-5, "norm {norm}");
        least = least.min(same);
    }
    println!("least cosine {least:.7} over {} texts", rows.len());
}

#[test]
fn counts_are_those_of_the_model_where_it_reads_everything() {
    let Some((dir, _)) = model() else { return };
    let counter = WordPieceCounter::load(dir).unwrap();
    for row in golden().iter().filter(|row| row.tokens < 256) {
        // A word beyond 100 characters is one unknown token for the model and many for the counter.
        if row.text.split_whitespace().all(|word| word.chars().count() <= 100) {
            assert_eq!(counter.count(&row.text) + counter.special_tokens(), row.tokens, "{:?}", row.text);
        } else {
            assert!(counter.count(&row.text) > row.tokens + 50, "{:?}", row.text);
        }
    }
}

#[test]
fn a_text_does_not_depend_on_its_company() {
    let Some((_, model)) = model() else { return };
    let rows = golden();
    let texts: Vec<&str> = rows.iter().map(|row| row.text.as_str()).collect();
    let together = model.encode(&texts).unwrap();
    let backwards: Vec<&str> = texts.iter().rev().copied().collect();
    let backwards = model.encode(&backwards).unwrap();
    for (i, text) in texts.iter().enumerate() {
        let alone = model.encode(&[text]).unwrap();
        assert!(cosine(alone.row(0), together.row(i)) > 0.999_999, "{text:?}");
        assert!(cosine(together.row(i), backwards.row(texts.len() - 1 - i)) > 0.999_999, "{text:?}");
    }
}

#[test]
fn bits_are_the_same_for_every_thread_count() {
    let Some((_, model)) = model() else { return };
    let rows = golden();
    let texts: Vec<&str> = rows.iter().map(|row| row.text.as_str()).collect();
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| model.encode(&texts).unwrap())
    };
    let one = run(1);
    for threads in [2, 3, 8] {
        let many = run(threads);
        let bits = |v: &pericope_api::Embeddings| v.values().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert!(bits(&one) == bits(&many), "{threads} threads");
    }
}

#[test]
fn repeated_and_missing_texts() {
    let Some((_, model)) = model() else { return };
    assert!(model.encode(&[]).unwrap().is_empty());
    let found = model.encode(&["b", "a", "b", "", "a", ""]).unwrap();
    assert_eq!(found.len(), 6);
    assert_eq!(found.row(0), found.row(2));
    assert_eq!(found.row(1), found.row(4));
    assert_eq!(found.row(3), found.row(5));
    assert_ne!(found.row(0), found.row(1));
    assert_eq!(found.row(1), model.encode(&["a"]).unwrap().row(0));
}

#[test]
fn what_lies_beyond_the_limit_is_not_read() {
    let Some((_, model)) = model() else { return };
    let start = "word ".repeat(254);
    let long = format!("{start}and something quite different {}", "x y z ".repeat(1_000_000));
    let found = model.encode(&[&start, &long]).unwrap();
    assert_eq!(found.row(0), found.row(1));
}

#[test]
fn the_fingerprint_names_weights_pooling_and_limit() {
    let Some((dir, model)) = model() else { return };
    let text = model.fingerprint();
    assert!(text.contains("53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"), "{text}");
    assert!(text.contains("mean") && text.contains("256"), "{text}");
    assert_eq!(MiniLm::load(dir).unwrap().fingerprint(), text);
}

#[test]
fn token_vectors_are_those_of_the_pieces() {
    let Some((dir, model)) = model() else { return };
    let tokenizer = pericope_encode::WordPiece::load(&dir.file("tokenizer.json")).unwrap();
    let long = "many words ".repeat(300);
    let texts = ["A bat flew out of the cave.", "", "He hit the ball with a bat.", "Bats are mammals that fly.", &long];
    let found = model.encode_tokens(&texts).unwrap();
    for (text, rows) in texts.iter().zip(&found) {
        assert_eq!(rows.len(), tokenizer.encode(text, model.max_tokens()).len() - 2, "{text:?}");
        assert!(rows.rows().all(|row| (row.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-4));
    }
    // In context: the bat that flies (row 1) is nearer to the mammals (row 0) than the one that hits (row 6) is.
    let (flies, hits, mammals) = (found[0].row(1), found[2].row(6), found[3].row(0));
    assert!(cosine(flies, mammals) > cosine(hits, mammals));
}
