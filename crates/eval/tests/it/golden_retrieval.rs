//! Retrieval metrics against pytrec_eval (`golden/trec.*`) and against Chroma's chunking benchmark (`golden/chroma.json`:
//! gold spans, chunks, and the five chunks that exact search with MiniLM finds; the figures are the published ones).
//! The fixtures were written by `scripts/golden/golden_retrieval.py`.

use std::collections::BTreeMap;

use pericope_api::Span;
use pericope_eval::metrics::retrieval::{Gold, Passage};
use pericope_eval::metrics::trec::{self, Qrel, RunLine};
use serde::Deserialize;

#[derive(Deserialize)]
struct TrecGolden {
    measures: Vec<String>,
    queries: BTreeMap<String, Vec<f64>>,
}

#[test]
fn trec_measures_agree_with_pytrec_eval() {
    let golden: TrecGolden = serde_json::from_str(include_str!("../golden/trec.json")).unwrap();
    let run = trec::read_run(include_str!("../golden/trec.run").as_bytes()).unwrap();
    let qrels = trec::read_qrels(include_str!("../golden/trec.qrels").as_bytes()).unwrap();
    let by_cut: BTreeMap<usize, _> = [1, 3, 5].into_iter().map(|k| (k, trec::evaluate(&run, &qrels, k))).collect();
    assert_eq!(by_cut[&1].keys().collect::<Vec<_>>(), golden.queries.keys().collect::<Vec<_>>());
    for (query, values) in &golden.queries {
        for (measure, expected) in golden.measures.iter().zip(values) {
            let (name, k) = match measure.rsplit_once('_').and_then(|(name, k)| Some((name, k.parse().ok()?))) {
                Some((name, k)) => (name, k),
                None => (measure.as_str(), 5),
            };
            let scores = by_cut[&k][query];
            let found = match name {
                "recip_rank" => scores.reciprocal_rank,
                "success" => scores.success,
                "recall" => scores.recall,
                "P" => scores.precision,
                "ndcg" => scores.ndcg_all,
                "ndcg_cut" => scores.ndcg,
                other => panic!("unknown measure {other}"),
            };
            assert!((found - expected).abs() < 1e-9, "{query} {measure}: {found} instead of {expected}");
        }
    }
}

#[derive(Deserialize)]
struct ChromaGolden {
    k: usize,
    /// Corpus, and starts and ends in turn.
    questions: Vec<(usize, Vec<usize>)>,
    chunkers: Vec<Chunker>,
}

#[derive(Deserialize)]
struct Chunker {
    name: String,
    chunks: Vec<(usize, usize, usize)>,
    retrieved: Vec<Vec<usize>>,
    /// Recall, precision, IoU, precision-omega.
    published: [f64; 4],
    published_std: [f64; 4],
}

impl ChromaGolden {
    fn load() -> Self {
        serde_json::from_str(include_str!("../golden/chroma.json")).unwrap()
    }

    fn gold(&self) -> Vec<Gold<usize>> {
        let spans = |(corpus, edges): &(usize, Vec<usize>)| {
            Gold::new(edges.chunks_exact(2).map(|edge| (*corpus, Span::new(edge[0], edge[1]))))
        };
        self.questions.iter().map(spans).collect()
    }
}

impl Chunker {
    fn passages(&self) -> Vec<Passage<usize>> {
        let passage = |&(document, start, end)| Passage { document, span: Span::new(start, end), tokens: 0 };
        self.chunks.iter().map(passage).collect()
    }
}

#[test]
fn published_figures_come_out_to_a_millionth() {
    let golden = ChromaGolden::load();
    let gold = golden.gold();
    assert_eq!((gold.len(), golden.chunkers.len()), (276, 6));
    for chunker in &golden.chunkers {
        let chunks = chunker.passages();
        let (mut sums, mut squares) = ([0.0; 4], [0.0; 4]);
        for (gold, retrieved) in gold.iter().zip(&chunker.retrieved) {
            let found: Vec<_> = retrieved.iter().map(|&at| chunks[at]).collect();
            let scores = gold.span_scores(&found);
            let omega = gold.precision_omega(&chunks);
            for (at, value) in [scores.recall, scores.precision, scores.iou, omega].into_iter().enumerate() {
                sums[at] += value;
                squares[at] += value * value;
            }
        }
        let n = gold.len() as f64;
        for at in 0..4 {
            let mean = sums[at] / n;
            let deviation = (squares[at] / n - mean * mean).sqrt();
            assert!((mean - chunker.published[at]).abs() < 1e-6, "{} metric {at}: {mean}", chunker.name);
            assert!((deviation - chunker.published_std[at]).abs() < 1e-6, "{} deviation {at}", chunker.name);
        }
    }
}

/// Exported as TREC files, read back and scored by trec_eval's rules, hits, reciprocal ranks and nDCG are ours, as long
/// as chunks do not overlap (then a chunk's gain does not depend on those above it).
#[test]
fn exported_runs_score_the_same() {
    let golden = ChromaGolden::load();
    let mut disjoint = 0;
    for chunker in &golden.chunkers {
        let chunks = chunker.passages();
        let mut sorted: Vec<_> = chunks.iter().filter(|c| !c.span.is_empty()).map(|c| (c.document, c.span)).collect();
        sorted.sort_unstable();
        if sorted.windows(2).any(|w| w[0].0 == w[1].0 && w[0].1.end > w[1].1.start) {
            continue;
        }
        disjoint += 1;
        let (mut run, mut qrels) = (Vec::new(), Vec::new());
        for (query, (gold, retrieved)) in golden.gold().iter().zip(&chunker.retrieved).enumerate() {
            for (rank, at) in retrieved.iter().enumerate() {
                run.push(RunLine {
                    query: format!("q {query}"),
                    document: format!("chunk {at}"),
                    score: -(rank as f64),
                });
            }
            for (at, chunk) in chunks.iter().enumerate().filter(|(_, chunk)| gold.is_touched_by(chunk)) {
                let grade = gold.units_in(chunk) as i64;
                qrels.push(Qrel { query: format!("q {query}"), document: format!("chunk {at}"), grade });
            }
        }
        let (mut run_file, mut qrels_file) = (Vec::new(), Vec::new());
        trec::write_run(&mut run_file, &run, "pericope").unwrap();
        trec::write_qrels(&mut qrels_file, &qrels).unwrap();
        let (run, qrels) = (trec::read_run(&run_file[..]).unwrap(), trec::read_qrels(&qrels_file[..]).unwrap());
        for k in [1, 3, golden.k] {
            let scores = trec::evaluate(&run, &qrels, k);
            for (query, (gold, retrieved)) in golden.gold().iter().zip(&chunker.retrieved).enumerate() {
                let found: Vec<_> = retrieved.iter().map(|&at| chunks[at]).collect();
                let ours = gold.rank_scores(&found, &chunks, k);
                // A question whose gold lies in no chunk has no qrels.
                let theirs = scores.get(&format!("q {query}")).copied().unwrap_or_default();
                assert!((ours.ndcg - theirs.ndcg).abs() < 1e-12, "{} {query} {k}", chunker.name);
                assert_eq!(ours.hit, theirs.success, "{} {query} {k}", chunker.name);
                if k == golden.k {
                    assert_eq!(ours.reciprocal_rank, theirs.reciprocal_rank);
                }
            }
        }
    }
    assert!(disjoint >= 3, "only {disjoint} chunkers without overlap");
}
