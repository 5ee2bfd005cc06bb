//! Chooses the constants of the extractive reader: one pass of embeddings, then a walk along one constant after the
//! other, scored by the lexical judge (mean over the questions of a file, then over the files).
//!
//! ```sh
//! cargo run --release -p pericope-eval --example tune_reader -- QUESTIONS FILE.json [FILE.json ...]
//! ```
//!
//! Contexts are the five best chunks (`fixed:words=100` and `paragraph`, half of the questions each) by exact cosine.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::Path;
use std::sync::Arc;

use pericope_api::{Document, SentenceEncoder, Span};
use pericope_eval::answer::{Asked, Context, Extractive, ExtractiveOptions};
use pericope_eval::data::{self, QuestionSet, Sampling};
use pericope_eval::metrics::answers::{AnswerScores, Place, answer_iou, cosine};
use pericope_segment::{Standalone, registry, spec::Spec};

const K: usize = 5;

struct Bench {
    set: QuestionSet,
    documents: Arc<Vec<Document>>,
    contexts: Vec<Vec<Context>>,
    vectors: pericope_api::Embeddings,
}

fn bench(path: &str, questions: usize, encoder: &dyn SentenceEncoder) -> Bench {
    let mut set = data::load(data::DataKind::Squad, Path::new(path)).expect("a SQuAD file").sample(Sampling {
        documents: 0,
        questions,
        seed: 7,
    });
    // Documents without a sampled question are no help to choose a reader by.
    let used: std::collections::BTreeSet<usize> = set.questions.iter().map(|q| q.document).collect();
    let documents = Arc::new(std::mem::take(&mut set.documents));
    let mut rankings = Vec::new();
    for spec in ["fixed:words=100", "paragraph"] {
        let chunker = registry::build(&Spec::parse(spec).unwrap(), &Standalone::default()).unwrap();
        let chunks: Vec<(usize, Span)> = used
            .iter()
            .flat_map(|&d| chunker.chunks(&documents[d]).unwrap().into_iter().map(move |c| (d, c.span)))
            .collect();
        let texts: Vec<_> = chunks.iter().map(|(d, span)| documents[*d].visible(*span)).collect();
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        rankings.push((chunks, encoder.encode(&texts).unwrap()));
    }
    let asked: Vec<&str> = set.questions.iter().map(|q| q.text.as_str()).collect();
    let vectors = encoder.encode_queries(&asked).unwrap();
    let contexts = (0..set.questions.len())
        .map(|q| {
            let (chunks, rows) = &rankings[q % rankings.len()];
            let mut order: Vec<(f64, usize)> =
                rows.rows().enumerate().map(|(i, row)| (cosine(row, vectors.row(q)), i)).collect();
            order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            order.iter().take(K).map(|&(_, i)| Context { document: chunks[i].0, span: chunks[i].1 }).collect()
        })
        .collect();
    Bench { set, documents, contexts, vectors }
}

/// Mean judge score, token F1 and answer IoU.
fn score(bench: &Bench, reader: &Extractive) -> [f64; 3] {
    let asked: Vec<Asked> = bench
        .set
        .questions
        .iter()
        .enumerate()
        .map(|(i, q)| reader.ask(&q.text, Some(bench.vectors.row(i).to_vec())))
        .collect();
    let pairs: Vec<(&Asked, &[Context])> = asked.iter().zip(&bench.contexts).map(|(a, c)| (a, c.as_slice())).collect();
    let mut sums = [0.0; 3];
    for (question, answer) in
        bench.set.questions.iter().zip(pairs.iter().map(|(asked, contexts)| reader.answer(asked, contexts)))
    {
        let gold = Place { document: question.document, span: question.gold[0] };
        let iou = answer.place.map_or(0.0, |(document, span)| answer_iou(&Place { document, span }, &gold));
        let scores = AnswerScores::of(&answer.text, &question.answer, Some(iou), None);
        for (sum, x) in sums.iter_mut().zip([scores.judge(), scores.token_f1, iou]) {
            *sum += x / bench.set.questions.len() as f64;
        }
    }
    sums
}

type Set = fn(&mut ExtractiveOptions, f64);

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let questions: usize = args.first().map_or(0, |n| n.parse().expect("a number of questions"));
    let encoder = pericope_encode::registry::embedder("minilm").expect("the model is installed").expect("an encoder");
    let mut sets: Vec<(Bench, Option<Extractive>)> = Vec::new();
    for path in &args[1..] {
        let bench = bench(path, questions, encoder.as_ref());
        let mut reader = Extractive::new(bench.documents.clone(), Some(encoder.clone()), ExtractiveOptions::default());
        reader.warm(bench.contexts.iter().flatten()).unwrap();
        sets.push((bench, Some(reader)));
    }
    let mut measure = |options: ExtractiveOptions| -> Vec<[f64; 3]> {
        let mut found = Vec::new();
        for (bench, slot) in &mut sets {
            let reader = slot.take().expect("a reader").with_options(options);
            found.push(score(bench, &reader));
            *slot = Some(reader);
        }
        found
    };
    let mean = |found: &[[f64; 3]]| found.iter().map(|f| f[0]).sum::<f64>() / found.len() as f64;

    let walks: [(&str, &[f64], Set); 5] = [
        ("threshold", &[0.2, 0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7], |o, x| o.threshold = x),
        ("smoothing", &[0.0, 1.0, 2.0, 3.0, 4.0, 6.0], |o, x| o.smoothing = x as usize),
        ("embedding", &[0.0, 0.3, 0.5, 0.7, 0.85, 1.0], |o, x| o.embedding = x),
        ("edge", &[0.0, 3.0, 6.0, 12.0, 24.0, 48.0], |o, x| o.edge = x),
        ("rank_cost", &[0.0, 0.02, 0.05, 0.08, 0.12, 0.2], |o, x| o.rank_cost = x),
    ];
    let mut best = ExtractiveOptions::default();
    let mut top = measure(best);
    println!("as it is: {top:.3?} (judge, token F1, answer IoU of each file)");
    for round in 1..=2 {
        for (name, values, set) in walks {
            for &value in values {
                let mut options = best;
                set(&mut options, value);
                let found = measure(options);
                if mean(&found) > mean(&top) {
                    println!("round {round}: {name} = {value}: {found:.3?}");
                    (top, best) = (found, options);
                }
            }
        }
    }
    println!("{best:?}");
}
