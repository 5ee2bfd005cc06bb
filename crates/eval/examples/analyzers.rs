//! What the analyzer of a language does to BM25, on a question set: the share of each answer that the best chunks hold, and
//! how often the best one is of the right article.
//!
//! ```sh
//! cargo run --release -p pericope-eval --example analyzers -- corpora/de/questions.json corpora/ja/questions.json
//! ```
//!
//! Chunks are paragraphs (`paragraph:max_tokens=256`). `earlier` takes every text for English and gives pairs of characters
//! where a script has no spaces; `folded` finds words by a dictionary and gives them no stems; `language` is what an index
//! does by itself.

use std::collections::{HashMap, HashSet};

use pericope_api::Span;
use pericope_eval::data::{DataKind, load};
use pericope_index::{EnglishAnalyzer, LanguageAnalyzer};
use pericope_segment::registry::{build_from, list};
use pericope_segment::spec::Spec;
use pericope_segment::{Limits, Standalone};
use pericope_store::{Analyzer, Language, LanguageChoice};
use pericope_util::Bm25;

type Failure = Box<dyn std::error::Error>;

/// Numbers for words.
#[derive(Default)]
struct Numbers(HashMap<String, u32>);

impl Numbers {
    fn of(&mut self, text: &str, analyzer: &dyn Analyzer, language: Language, stop: bool) -> Vec<u32> {
        let mut found = Vec::new();
        analyzer.analyze(text, language, &mut |word| {
            if !(stop && analyzer.is_stop_word(&word.span.of(text).to_lowercase(), language)) {
                let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
                found.push(*self.0.entry(word.text.to_owned()).or_insert(next));
            }
        });
        found
    }
}

fn main() -> Result<(), Failure> {
    println!("| questions | analyzer | right article, first | span recall @1 | span recall @3 |");
    println!("| --- | --- | ---: | ---: | ---: |");
    for path in std::env::args().skip(1) {
        let set = load(DataKind::Squad, path.as_ref())?;
        let spec = Spec::parse("paragraph:max_tokens=256")?;
        let chunker = build_from(list(), &spec, &Standalone { defaults: Limits::NONE })?;
        let mut chunks: Vec<(usize, Span, Language)> = Vec::new();
        for (at, document) in set.documents.iter().enumerate() {
            let language = LanguageChoice::Auto.of(&document.source);
            chunks.extend(chunker.chunks(document)?.into_iter().map(|chunk| (at, chunk.span, language)));
        }
        let (earlier, today) = (EnglishAnalyzer::default(), LanguageAnalyzer::default());
        let ways: [(&str, &dyn Analyzer, Option<Language>); 3] =
            [("earlier", &earlier, None), ("folded", &today, Some(Language::Other)), ("language", &today, None)];
        for (name, analyzer, fixed) in ways {
            let mut numbers = Numbers::default();
            let texts: Vec<Vec<u32>> = (chunks.iter())
                .map(|&(document, span, language)| {
                    let text = set.documents[document].text(span);
                    numbers.of(text, analyzer, fixed.unwrap_or(language), false)
                })
                .collect();
            let bm25 = Bm25::new(texts.iter().map(Vec::as_slice));
            let languages: HashSet<Language> = chunks.iter().map(|(.., language)| fixed.unwrap_or(*language)).collect();
            let (mut right, mut recall) = (0.0, [0.0; 2]);
            for question in &set.questions {
                let query: Vec<u32> =
                    languages.iter().flat_map(|&l| numbers.of(&question.text, analyzer, l, true)).collect();
                let mut order: Vec<(f64, usize)> = bm25.scores(&query).into_iter().zip(0..).collect();
                order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
                right += f64::from(u8::from(chunks[order[0].1].0 == question.document));
                for (sum, k) in recall.iter_mut().zip([1, 3]) {
                    let found = order.iter().take(k).map(|&(_, at)| chunks[at]).filter(|c| c.0 == question.document);
                    let spans: Vec<Span> = found.map(|c| c.1).collect();
                    let gold = question.gold.iter().map(Span::len).sum::<usize>().max(1);
                    let held =
                        |gold: &Span| spans.iter().filter_map(|s| s.intersection(gold)).map(|s| s.len()).sum::<usize>();
                    *sum += question.gold.iter().map(held).sum::<usize>() as f64 / gold as f64;
                }
            }
            let n = set.questions.len() as f64;
            println!(
                "| {path} ({n}) | {name} | {:.1} | {:.1} | {:.1} |",
                100.0 * right / n,
                100.0 * recall[0] / n,
                100.0 * recall[1] / n
            );
        }
    }
    Ok(())
}
