//! What LangChain's and Chroma's own chunkers do, for ours to do the same. `scripts/golden/golden_chunkers.py` writes the values.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use pericope_api::{Boundaries, Document, Embeddings, EncodeError, Segmentation, Segmenter, SentenceEncoder};
use pericope_encode::MiniLm;
use pericope_encode::kernels::Precision;
use pericope_segment::embedding::{DistanceThreshold, Kamradt, clusters};
use serde::Deserialize;

#[derive(Deserialize)]
struct LangChain {
    documents: Vec<MadeUp>,
}

#[derive(Deserialize)]
struct MadeUp {
    sentences: Vec<String>,
    runs: Vec<Run>,
}

#[derive(Deserialize)]
struct Run {
    buffer: usize,
    rule: String,
    amount: f64,
    boundaries: Vec<usize>,
}

/// The normalised count of the letters a to z, as the script computes it.
struct Letters;

impl SentenceEncoder for Letters {
    fn name(&self) -> &str {
        "letters"
    }

    fn fingerprint(&self) -> String {
        "letters".into()
    }

    fn dimension(&self) -> usize {
        26
    }

    fn max_tokens(&self) -> usize {
        4096
    }

    fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
        let count = |text: &&str| {
            let counts: Vec<f64> =
                (b'a'..=b'z').map(|c| text.to_lowercase().bytes().filter(|&b| b == c).count() as f64).collect();
            let norm = counts.iter().map(|c| c * c).sum::<f64>().sqrt().max(1e-300);
            counts.into_iter().map(move |c| (c / norm) as f32)
        };
        Ok(Embeddings::new(26, texts.iter().flat_map(count).collect()))
    }
}

#[test]
fn kamradt_cuts_where_langchain_does() {
    let golden: LangChain = serde_json::from_str(include_str!("../golden/langchain.json")).unwrap();
    let mut boundaries = 0;
    for document in &golden.documents {
        let own = Document::from_sentences("d", &document.sentences);
        for run in &document.runs {
            let threshold = match run.rule.as_str() {
                "percentile" => DistanceThreshold::Percentile(run.amount),
                "standard_deviation" => DistanceThreshold::Deviations(run.amount),
                "interquartile" => DistanceThreshold::Quartiles(run.amount),
                "gradient" => DistanceThreshold::Gradient(run.amount),
                other => panic!("an unknown rule: {other}"),
            };
            let kamradt = Kamradt { encoder: Arc::new(Letters), threshold, buffer: run.buffer };
            let Segmentation::Scores { scores, threshold } = kamradt.segment(&own).unwrap() else { unreachable!() };
            let found = Boundaries::above(&scores, threshold);
            let what = format!("{} sentences, {} {}, buffer {}", own.len(), run.rule, run.amount, run.buffer);
            assert_eq!(found.after(), run.boundaries, "{what}");
            boundaries += run.boundaries.len();
        }
    }
    assert!(boundaries > 300, "{boundaries}");
}

#[derive(Deserialize)]
struct Chroma {
    size: usize,
    corpora: BTreeMap<String, Pieces>,
}

#[derive(Deserialize)]
struct Pieces {
    /// Ranges of code points.
    pieces: Vec<(usize, usize)>,
    /// Number of published chunks.
    chunks: usize,
    /// Pieces at which chunks begin, where the published place tells.
    starts: Vec<usize>,
}

#[test]
fn cluster_puts_pieces_together_as_chroma_does() {
    let Some(data) = std::env::var_os("PERICOPE_DATA").map(PathBuf::from) else {
        eprintln!("skipped: PERICOPE_DATA is not set");
        return;
    };
    let Ok(model) = pericope_encode::models::locate("minilm") else {
        eprintln!("skipped: the model is not installed (pericope models pull minilm)");
        return;
    };
    // The published chunks are those of vectors in single precision; in bfloat16 a tie may fall the other way.
    let encoder = MiniLm::load_in(&model, Precision::Single).unwrap();
    let golden: Chroma = serde_json::from_str(include_str!("../golden/cluster.json")).unwrap();
    // The encyclopedia is three fifths of what there is to embed.
    let corpora = golden.corpora.iter().filter(|(name, _)| crate::everything() || name.as_str() != "wikitexts");
    for (name, corpus) in corpora {
        let text = std::fs::read_to_string(data.join(format!("questions/chroma/corpora/{name}.md"))).unwrap();
        let at: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let pieces: Vec<&str> = corpus.pieces.iter().map(|&(start, end)| &text[at[start]..at[end]]).collect();
        let vectors = encoder.encode(&pieces).unwrap();
        let found = clusters(&vectors, golden.size / 50);
        let starts: Vec<usize> = found.iter().map(|run| run.start).collect();
        assert_eq!(found.len(), corpus.chunks, "{name}");
        let missed = corpus.starts.iter().filter(|start| !starts.contains(start)).count();
        assert_eq!(missed, 0, "{name}: {starts:?}");
        assert!(corpus.starts.len() * 10 > corpus.chunks * 8);
    }
}
