//! A run made up for the tests and the example: synthetic documents, questions, chunks and scores. Nothing in it was
//! measured; it only has the shape of a run.

pub mod html;

use std::collections::BTreeMap;

use pericope_api::Span;
use pericope_eval::cell::Cutoff;
use pericope_eval::record::{
    Answer, Cell, Checksums, ChunkerRow, Comparison, Family, Gold, Histogram, Item, Machine, Metrics, Outcome,
    PrimaryRecord, Retrieved, RunRecord, Status, Summary, Verdict,
};

/// A small generator of numbers (xorshift, 64 bits): the same on every machine.
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n.max(1)
    }

    pub fn unit(&mut self) -> f64 {
        self.below(1 << 30) as f64 / f64::from(1 << 30)
    }
}

const SUBJECTS: [&str; 8] = ["index", "snapshot", "replica", "cursor", "journal", "quota", "schema", "lease"];
const VERBS: [&str; 8] =
    ["is written", "expires", "is merged", "can be moved", "is checked", "is kept", "is rebuilt", "grows"];
const ENDS: [&str; 8] = [
    "before the next commit",
    "when the limit is reached",
    "on every node of the group",
    "without stopping the readers",
    "after a restart",
    "as long as the writer holds it",
    "in the order of arrival",
    "only where the configuration asks for it",
];

struct Synthetic {
    id: String,
    text: String,
    /// Byte ranges of its sections.
    sections: Vec<Span>,
}

fn document(i: usize, numbers: &mut Numbers) -> Synthetic {
    let (mut text, mut sections) = (String::new(), Vec::new());
    for section in 0..6 {
        let start = text.len();
        let subject = SUBJECTS[(i + section) % SUBJECTS.len()];
        for _ in 0..4 + numbers.below(12) {
            let (verb, end) = (VERBS[numbers.below(8)], ENDS[numbers.below(8)]);
            text.push_str(&format!("The {subject} {verb} {end}; synthetic filler, not a statement. "));
        }
        sections.push(Span::new(start, text.len() - 1));
        text.push_str("\n\n");
    }
    Synthetic { id: format!("synthetic/page-{i:03}.md"), text, sections }
}

struct Style {
    name: &'static str,
    spec: &'static str,
    limit: Option<usize>,
    /// Chance that a cut falls on a section's end, and the aimed size in sentences.
    careful: f64,
    sentences: usize,
}

const STYLES: [Style; 4] = [
    Style { name: "fixed", spec: "fixed:words=100", limit: Some(256), careful: 0.0, sentences: 7 },
    Style { name: "same-size", spec: "same-size:reference=semantic", limit: Some(256), careful: 0.0, sentences: 9 },
    Style { name: "semantic", spec: "window:size=3", limit: Some(384), careful: 0.75, sentences: 16 },
    Style { name: "kamradt", spec: "kamradt:percentile=95", limit: None, careful: 0.5, sentences: 34 },
];

fn cut(document: &Synthetic, style: &Style, numbers: &mut Numbers) -> Vec<Span> {
    let ends: Vec<usize> = document.text.match_indices(". ").map(|(at, _)| at + 1).collect();
    let (mut chunks, mut start, mut held) = (Vec::new(), 0, 0);
    for end in ends {
        held += 1;
        let section = document.sections.iter().any(|s| s.end == end);
        let full = held >= style.sentences + numbers.below(3);
        if full || (section && numbers.unit() < style.careful) {
            chunks.push(Span::new(start, end).trimmed(&document.text));
            (start, held) = (end, 0);
        }
    }
    let rest = Span::new(start, document.text.len()).trimmed(&document.text);
    if !rest.is_empty() {
        chunks.push(rest);
    }
    chunks
}

fn tokens(text: &str) -> usize {
    text.split_whitespace().count() * 4 / 3 + 2
}

/// A made-up run over `questions` questions.
pub fn run(questions: usize) -> (Summary, RunRecord, Vec<Item>) {
    let mut numbers = Numbers::new(7);
    let documents: Vec<Synthetic> = (0..questions.max(4)).map(|i| document(i, &mut numbers)).collect();
    let cutoffs = [Cutoff::K(1), Cutoff::K(3), Cutoff::K(5), Cutoff::Tokens(512), Cutoff::Tokens(1024)];
    let (mut rows, mut items) = (Vec::new(), Vec::new());
    for style in &STYLES {
        let chunks: Vec<(usize, Span)> = documents
            .iter()
            .enumerate()
            .flat_map(|(d, document)| cut(document, style, &mut numbers).into_iter().map(move |span| (d, span)))
            .collect();
        let sizes: Vec<usize> = chunks.iter().map(|(d, span)| tokens(span.of(&documents[*d].text))).collect();
        let mean = sizes.iter().sum::<usize>() as f64 / sizes.len() as f64;
        rows.push(ChunkerRow {
            name: style.name.into(),
            spec: style.spec.into(),
            chunks: chunks.len(),
            mean_words: mean * 0.75,
            mean_tokens: mean,
            max_tokens: sizes.iter().copied().max().unwrap_or(0),
            segment_seconds: 0.2 + 14.0 * style.careful,
            index_seconds: chunks.len() as f64 / 60.0,
            limit: style.limit,
            index_bytes: Some(chunks.len() as u64 * 2_900),
            token_histogram: Some(Histogram::of(sizes.iter().copied())),
            ..ChunkerRow::default()
        });
        for q in 0..questions {
            let ranked = rank(&documents, &chunks, q, &mut numbers);
            for cutoff in cutoffs {
                items.push(item(&documents, &chunks, &sizes, style, q, &ranked, cutoff));
            }
        }
    }
    if let Some(item) = items.get_mut(3) {
        item.status = Status::Failed;
        item.error = Some("the generator gave no answer within 60 s (synthetic)".into());
        item.metrics.clear();
    }
    let summary = summary(questions, documents.len(), rows, &items, &cutoffs);
    (summary, record(), items)
}

fn gold(documents: &[Synthetic], q: usize) -> (usize, Span) {
    (q % documents.len(), documents[q % documents.len()].sections[q * 5 % 6])
}

/// The chunks that a retriever of middling quality might bring, best first.
fn rank(documents: &[Synthetic], chunks: &[(usize, Span)], q: usize, numbers: &mut Numbers) -> Vec<(f64, usize)> {
    let (home, span) = gold(documents, q);
    let mut scored: Vec<(f64, usize)> = chunks
        .iter()
        .enumerate()
        .map(|(i, (d, chunk))| {
            let share = if *d == home {
                chunk.intersection(&span).map_or(0.0, |s| s.len() as f64 / chunk.len() as f64)
            } else {
                0.0
            };
            let near = if *d == home { 0.08 } else { 0.0 };
            (0.2 + 0.3 * share + near + 0.42 * numbers.unit() * numbers.unit().sqrt(), i)
        })
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.truncate(24);
    scored
}

#[allow(clippy::too_many_arguments)]
fn item(
    documents: &[Synthetic],
    chunks: &[(usize, Span)],
    sizes: &[usize],
    style: &Style,
    q: usize,
    ranked: &[(f64, usize)],
    cutoff: Cutoff,
) -> Item {
    let (home, span) = gold(documents, q);
    let mut spent = 0;
    let taken: Vec<&(f64, usize)> = ranked
        .iter()
        .take(cutoff.k().unwrap_or(usize::MAX))
        .take_while(|(_, i)| {
            spent += sizes[*i];
            cutoff.tokens().is_none_or(|budget| spent <= budget)
        })
        .collect();
    let retrieved: Vec<Retrieved> = taken
        .iter()
        .enumerate()
        .map(|(at, (score, i))| {
            let (d, chunk) = &chunks[*i];
            let held = chunk.intersection(&span).filter(|_| *d == home).map_or(0, |s| s.len());
            let section = documents[*d].sections.iter().position(|s| s.end > chunk.start).unwrap_or(0);
            Retrieved {
                rank: at + 1,
                document: documents[*d].id.clone(),
                start: chunk.start,
                end: chunk.end,
                score: *score,
                tokens: sizes[*i],
                whole_tokens: None,
                chunks: None,
                heading_path: vec![format!("Synthetic page {d}"), format!("About the {}", SUBJECTS[(d + section) % 8])],
                gold_share: held as f64 / span.len() as f64,
                text: chunk.of(&documents[*d].text).to_owned(),
            }
        })
        .collect();
    let found: f64 = retrieved.iter().map(|r| r.gold_share).sum();
    let bytes: usize = retrieved.iter().map(|r| r.end - r.start).sum();
    let held = found * span.len() as f64;
    let first = retrieved.iter().find(|r| r.gold_share > 0.0).map(|r| r.rank);
    let gain = |(at, share): (usize, f64)| share / (at as f64 + 2.0).log2();
    let ndcg = retrieved.iter().map(|r| r.gold_share).enumerate().map(gain).sum::<f64>();
    let metrics: Metrics = [
        ("span_recall", found),
        ("span_precision", held / bytes.max(1) as f64),
        ("iou", held / (bytes as f64 + span.len() as f64 - held)),
        ("hit", f64::from(u8::from(first.is_some()))),
        ("mrr", first.map_or(0.0, |rank| 1.0 / rank as f64)),
        ("ndcg", ndcg),
        ("judge", 10.0 * found * (0.7 + 0.02 * (q % 10) as f64)),
        ("token_f1", 0.9 * found),
    ]
    .into_iter()
    .map(|(name, x)| (name.into(), x))
    .collect();
    let text = retrieved.first().map_or(String::new(), |r| r.text.chars().take(180).collect());
    Item {
        question_id: format!("synthetic-{q:04}"),
        chunker: style.name.into(),
        mode: "dense".into(),
        cutoff,
        documents: vec![documents[home].id.clone()],
        question: format!("What happens to the {} here? (synthetic question {q})", SUBJECTS[(home + q * 5 % 6) % 8]),
        gold: Gold {
            document: documents[home].id.clone(),
            spans: vec![span],
            text: span.of(&documents[home].text).into(),
        },
        context_tokens: retrieved.iter().map(|r| r.tokens).sum(),
        answer: Some(Answer { text, ..Answer::default() }),
        retrieved,
        metrics,
        status: Status::Ok,
        ..Item::default()
    }
}

fn summary(
    questions: usize,
    documents: usize,
    chunkers: Vec<ChunkerRow>,
    items: &[Item],
    cutoffs: &[Cutoff],
) -> Summary {
    let (mut cells, mut comparisons) = (Vec::new(), Vec::new());
    for &cutoff in cutoffs {
        let of =
            |name: &str| -> Vec<&Item> { items.iter().filter(|i| i.chunker == name && i.cutoff == cutoff).collect() };
        for row in &chunkers {
            let here = of(&row.name);
            let done: Vec<&&Item> = here.iter().filter(|i| i.status == Status::Ok).collect();
            let mut metrics = Metrics::new();
            for item in &done {
                for (name, x) in &item.metrics {
                    *metrics.entry(name.clone()).or_default() += x / done.len() as f64;
                }
            }
            let paid: usize = done.iter().map(|i| i.context_tokens).sum();
            cells.push(Cell {
                chunker: row.name.clone(),
                mode: "dense".into(),
                cutoff,
                context_tokens: paid as f64 / done.len().max(1) as f64,
                failed: here.len() - done.len(),
                metrics,
                ..Cell::default()
            });
        }
        for (i, b) in chunkers.iter().enumerate() {
            for a in &chunkers[i + 1..] {
                for metric in ["judge", "token_f1", "span_recall", "iou", "ndcg"] {
                    let scores = |items: &[&Item]| -> BTreeMap<String, f64> {
                        items.iter().filter_map(|i| Some((i.question_id.clone(), *i.metrics.get(metric)?))).collect()
                    };
                    let of_b = scores(&of(&b.name));
                    let pairs: Vec<f64> =
                        scores(&of(&a.name)).iter().filter_map(|(q, x)| Some(x - of_b.get(q)?)).collect();
                    let mut c = compared(&pairs);
                    (c.a, c.b, c.mode) = (a.name.clone(), b.name.clone(), "dense".into());
                    (c.cutoff, c.metric) = (cutoff, metric.into());
                    comparisons.push(c);
                }
            }
        }
    }
    let failed = cells.iter().map(|c| c.failed).sum();
    let verdict = Some(decided(&chunkers, &cells, &mut comparisons, questions));
    Summary {
        name: "synthetic sample".into(),
        questions,
        documents,
        failed,
        chunkers,
        cells,
        comparisons,
        verdict,
        ..Summary::default()
    }
}

/// A verdict by span recall at k = 3: the comparisons with the first chunker decide, the others are exploratory.
fn decided(chunkers: &[ChunkerRow], cells: &[Cell], comparisons: &mut [Comparison], questions: usize) -> Verdict {
    let baseline = chunkers.first().map(|row| row.name.clone()).unwrap_or_default();
    let (cutoff, metric) = (Cutoff::K(3), pericope_eval::metric::Metric::SPAN_RECALL);
    for c in comparisons.iter_mut() {
        c.documents = Some(questions.max(4));
        c.design_effect = Some(1.0);
        let primary = c.b == baseline && c.cutoff == cutoff && c.metric == metric;
        c.family = Some(if primary { Family::Primary } else { Family::Exploratory });
        if primary {
            c.outcome = Some(match c.p_holm {
                Some(p) if p < 0.05 && c.low > 0.0 => Outcome::Better,
                Some(p) if p < 0.05 && c.high < 0.0 => Outcome::Worse,
                _ => Outcome::Open,
            });
        } else {
            c.p_holm = None;
        }
    }
    let mean = |name: &str| {
        let cell = cells.iter().find(|cell| cell.chunker == name && cell.cutoff == cutoff);
        cell.and_then(|cell| cell.metrics.get(&metric).copied()).unwrap_or(0.0)
    };
    let best = chunkers.iter().map(|row| row.name.as_str()).max_by(|a, b| mean(a).total_cmp(&mean(b))).unwrap_or("");
    let share = 1.0 / chunkers.len().max(1) as f64;
    Verdict {
        primary: PrimaryRecord {
            baseline,
            metric,
            mode: "dense".into(),
            cutoff,
            margin: 0.02,
            comparisons: chunkers.len().saturating_sub(1),
            questions,
            documents: questions.max(4),
            design_effect: Some(1.0),
        },
        best: best.to_owned(),
        p_best: chunkers.iter().map(|row| (row.name.clone(), share)).collect(),
        possible: chunkers.iter().map(|row| row.name.clone()).collect(),
        recommended: best.to_owned(),
        documents_needed: Some(180),
        documents_needed_for_margin: Some(900),
        sentence: format!("At k = 3, a made-up verdict: take {best}."),
        ..Verdict::default()
    }
}

/// Interval and p-value of a mean by the normal approximation: good enough for a picture.
fn compared(differences: &[f64]) -> Comparison {
    let n = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / n;
    let error = (differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n - 1.0) / n).sqrt();
    let z = (mean / error).abs();
    let p = (-0.717 * z - 0.416 * z * z).exp();
    let count = |test: &dyn Fn(f64) -> bool| differences.iter().filter(|d| test(**d)).count();
    Comparison {
        n: differences.len(),
        difference: mean,
        low: mean - 1.96 * error,
        high: mean + 1.96 * error,
        p,
        p_holm: Some((p * 6.0).min(1.0)),
        wins: count(&|d| d > 0.0),
        ties: count(&|d| d == 0.0),
        losses: count(&|d| d < 0.0),
        detectable: 2.8 * error,
        ..Comparison::default()
    }
}

fn record() -> RunRecord {
    let sum = |c: char| String::from(c).repeat(64);
    RunRecord {
        name: "synthetic sample".into(),
        config: serde_json::json!({
            "name": "synthetic sample",
            "data": {"kind": "squad", "path": "synthetic.json", "questions": 0, "seed": 7},
            "judge": {"kind": "lexical"}, "retrieval": {"embedder": "none", "modes": ["dense"], "k": [1, 3, 5], "token_budgets": [512, 1024]},
            "chunker": STYLES.iter().map(|s| serde_json::json!({"name": s.name, "spec": s.spec})).collect::<Vec<_>>(),
        }),
        version: "0.0.0-synthetic".into(),
        checksums: Checksums {
            data: [("synthetic.json".to_owned(), sum('a'))].into(),
            models: [("synthetic-model/model.safetensors".to_owned(), sum('b'))].into(),
            prompts: BTreeMap::new(),
            chunkers: BTreeMap::new(),
        },
        tokenizer: "words".into(),
        seeds: [("data".into(), 7)].into(),
        started: "2026-01-01T06:00:00Z".into(),
        finished: "2026-01-01T06:03:20Z".into(),
        seconds: Some(200.0),
        machine: Machine { cores: 2, os: "linux x86_64".into() },
        ..RunRecord::default()
    }
}
