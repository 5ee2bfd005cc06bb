//! The published golden values of Chroma's chunking benchmark, end to end: the corpora, the chunks of six published
//! chunkings, MiniLM's vectors, exact cosine search and the span metrics.
//!
//! Needs `$PERICOPE_DATA/questions/chroma`, `$PERICOPE_DATA/../peers/chroma_spans` and an installed MiniLM
//! (`pericope models pull minilm`); says so and passes where one is missing. `golden_retrieval.rs` checks the metrics
//! alone on the retrieved lists and needs nothing.
//!
//! Embedding the six chunkings takes minutes, so each precision has one of them; with `PERICOPE_GOLDEN=all` each has all.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pericope_api::{Embeddings, SentenceEncoder, Span};
use pericope_encode::MiniLm;
use pericope_encode::kernels::Precision;
use pericope_encode::models::ModelDir;
use pericope_eval::metrics::retrieval::{Gold, Passage};
use serde::Deserialize;

/// Chunks retrieved for a question.
const K: usize = 5;

/// How far a figure may be off: 0.05 points in single precision, which the published figures are of; 0.2 in bfloat16. And
/// the chunking that is embedded: the one with the oddest chunks, and the one with the fewest.
const TOLERANCES: [(Precision, f64, &str); 3] = [
    (Precision::Single, 0.0005, "cluster_200"),
    (Precision::Bf16, 0.002, "recursive_400_0"),
    (Precision::Int16, 0.002, "recursive_400_0"),
];

#[derive(Deserialize)]
struct Published {
    chunks: Vec<ChunkRow>,
    exact_search: Figures,
}

#[derive(Deserialize)]
struct ChunkRow {
    corpus_id: String,
    start: usize,
    end: usize,
}

#[derive(Deserialize, Default, Debug)]
struct Figures {
    recall: f64,
    precision: f64,
    iou: f64,
    precision_omega: f64,
}

#[derive(Deserialize)]
struct Reference {
    start_index: usize,
    end_index: usize,
}

/// A corpus and where each of its code points starts.
struct Corpus {
    text: String,
    starts: Vec<usize>,
}

impl Corpus {
    fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap();
        let starts = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        Self { text, starts }
    }

    fn slice(&self, start: usize, end: usize) -> &str {
        &self.text[self.starts[start]..self.starts[end]]
    }
}

/// The chunks whose vectors have the largest dot product with `question`; ties go to the earlier chunk.
fn nearest(question: &[f32], chunks: &Embeddings) -> Vec<usize> {
    let score = |row: &[f32]| row.iter().zip(question).map(|(a, b)| a * b).sum::<f32>();
    let mut order: Vec<(f32, usize)> = chunks.rows().map(score).zip(0..).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    order.into_iter().take(K).map(|(_, at)| at).collect()
}

fn folders() -> Option<(PathBuf, PathBuf)> {
    let data = PathBuf::from(std::env::var_os("PERICOPE_DATA")?);
    let (chroma, spans) = (data.join("questions/chroma"), data.join("../peers/chroma_spans"));
    (chroma.is_dir() && spans.is_dir()).then_some((chroma, spans))
}

#[test]
fn published_figures_come_out() {
    let Some((chroma, spans)) = folders() else {
        eprintln!(
            "skipped: PERICOPE_DATA does not name a folder with questions/chroma and, beside it, peers/chroma_spans"
        );
        return;
    };
    let model = match pericope_encode::models::locate("minilm") {
        Ok(model) => model,
        Err(problem) => {
            eprintln!("skipped: {problem}");
            return;
        }
    };
    for (precision, tolerance, chunking) in TOLERANCES {
        // Elsewhere bfloat16 is worked out number by number, which takes minutes and shows nothing more.
        if precision == Precision::Bf16 && Precision::of_machine() != Ok(Precision::Bf16) {
            continue;
        }
        let chunking = (!crate::everything()).then_some(chunking);
        published_figures_come_out_in((precision, tolerance), chunking, &model, &chroma, &spans);
    }
}

/// Of one chunking, or of all.
fn published_figures_come_out_in(
    (precision, tolerance): (Precision, f64),
    chunking: Option<&str>,
    model: &ModelDir,
    chroma: &Path,
    spans: &Path,
) {
    let encoder = MiniLm::load_in(model, precision).unwrap();
    let names = ["chatlogs", "state_of_the_union", "wikitexts"];
    let corpora: BTreeMap<&str, Corpus> =
        names.map(|name| (name, Corpus::read(&chroma.join(format!("corpora/{name}.md"))))).into_iter().collect();

    let mut rows = csv::Reader::from_path(chroma.join("questions_df.csv")).unwrap();
    let rows: Vec<(String, String, String)> = rows.deserialize().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 276);
    let questions: Vec<&str> = rows.iter().map(|row| row.0.as_str()).collect();
    let questions = encoder.encode(&questions).unwrap();
    let gold: Vec<Gold<&str>> = rows
        .iter()
        .map(|(_, references, corpus)| {
            let references: Vec<Reference> = serde_json::from_str(references).unwrap();
            Gold::new(references.iter().map(|r| (corpus.as_str(), Span::new(r.start_index, r.end_index))))
        })
        .collect();

    let count = rows.len() as f64;
    let mut files: Vec<PathBuf> = std::fs::read_dir(spans).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "json"));
    files.retain(|path| chunking.is_none_or(|name| path.file_stem().is_some_and(|stem| stem == name)));
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let published: Published = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let chunks: Vec<Passage<&str>> = published
            .chunks
            .iter()
            .map(|c| Passage { document: c.corpus_id.as_str(), span: Span::new(c.start, c.end), tokens: 0 })
            .collect();
        // The benchmark's cluster chunker emits bare full stops, which it locates as the empty text at 0.
        let texts: Vec<&str> = chunks
            .iter()
            .map(|c| corpora[c.document].slice(c.span.start, c.span.end))
            .map(|text| if text.is_empty() { "." } else { text })
            .collect();
        let vectors = encoder.encode(&texts).unwrap();
        let mut found = Figures::default();
        for (gold, question) in gold.iter().zip(questions.rows()) {
            let retrieved: Vec<_> = nearest(question, &vectors).into_iter().map(|at| chunks[at]).collect();
            let scores = gold.span_scores(&retrieved);
            found.recall += scores.recall / count;
            found.precision += scores.precision / count;
            found.iou += scores.iou / count;
            found.precision_omega += gold.precision_omega(&chunks) / count;
        }
        let golden = &published.exact_search;
        eprintln!("{} in {precision:?}: {found:?}", file.file_stem().unwrap().to_string_lossy());
        for (value, expected) in [
            (found.recall, golden.recall),
            (found.precision, golden.precision),
            (found.iou, golden.iou),
            (found.precision_omega, golden.precision_omega),
        ] {
            let near = (value - expected).abs() < tolerance;
            assert!(near, "{} in {precision:?}: {found:?} instead of {golden:?}", file.display());
        }
    }
}
