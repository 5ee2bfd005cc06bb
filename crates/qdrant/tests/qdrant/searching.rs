use std::collections::{BTreeMap, HashSet};

use pericope_qdrant::{B, Bm25, Error, Filter, K1, Mode, ScoredChunk, VectorQuery};

use crate::common::{Place, WHOLE, corpus, expected, load, points, vector, words};

fn query(mode: Mode, text: &str, k: usize) -> VectorQuery {
    let mut query = VectorQuery::new(mode, k);
    query.sparse = Bm25::query(text, &words);
    query.vector = Some(vector(text));
    query.exact = true;
    query
}

fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    words(text, &mut |word| terms.push(word.to_owned()));
    terms
}

/// BM25 from its definition, over words instead of their numbers.
fn bm25_by_hand(all: &[ScoredChunk], text: &str) -> Vec<(f64, String, usize)> {
    let n = all.len() as f64;
    let mut scored = Vec::new();
    for hit in all {
        let chunk = terms(&hit.chunk.text);
        let mut score = 0.0;
        for term in terms(text) {
            let df = all.iter().filter(|other| terms(&other.chunk.text).contains(&term)).count() as f64;
            let idf = (1.0 + (n - df + 0.5) / (df + 0.5)).ln();
            let f = chunk.iter().filter(|word| **word == term).count() as f64;
            score += idf * f * (K1 + 1.0) / (f + K1 * (1.0 - B + B * chunk.len() as f64 / 6.0));
        }
        if score > 0.0 {
            scored.push((score, hit.chunk.document.clone(), hit.chunk.ordinal));
        }
    }
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| (&a.1, a.2).cmp(&(&b.1, b.2))));
    scored
}

fn dense_by_hand(all: &[ScoredChunk], text: &str) -> Vec<(f64, String, usize)> {
    let query = vector(text);
    let cosine = |text: &str| vector(text).iter().zip(&query).map(|(a, b)| f64::from(a * b)).sum::<f64>();
    let mut scored: Vec<_> =
        all.iter().map(|hit| (cosine(&hit.chunk.text), hit.chunk.document.clone(), hit.chunk.ordinal)).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| (&a.1, a.2).cmp(&(&b.1, b.2))));
    scored
}

fn agree(found: &[ScoredChunk], wanted: &[(f64, String, usize)], k: usize) {
    assert_eq!(found.len(), wanted.len().min(k));
    for (hit, (score, _, _)) in found.iter().zip(wanted) {
        assert!((hit.score - score).abs() < 1e-4, "{} instead of {score}", hit.score);
        let own = wanted
            .iter()
            .find(|(_, document, ordinal)| (document, *ordinal) == (&hit.chunk.document, hit.chunk.ordinal));
        assert!(
            (own.unwrap().0 - score).abs() < 1e-4,
            "{} {} is not of this score",
            hit.chunk.document,
            hit.chunk.ordinal
        );
    }
}

#[test]
fn bm25_is_the_formula_with_the_servers_idf() {
    let place = Place::any();
    let corpus = corpus(40);
    let collection = load(&place.target(), &corpus, WHOLE).unwrap();
    let all = expected(&corpus, "r1");
    for text in ["moon", "moon tide", "the bread of the harbour", "rain rain storm", "nothing of the kind"] {
        let found = collection.search(&query(Mode::Bm25, text, 10)).unwrap();
        agree(&found, &bm25_by_hand(&all, text), 10);
    }
    assert_eq!(collection.search(&query(Mode::Bm25, "", 10)).unwrap(), []);
    assert_eq!(collection.search(&query(Mode::Bm25, "moon", 0)).unwrap(), []);
}

#[test]
fn dense_is_the_cosine() {
    let place = Place::any();
    let corpus = corpus(40);
    let collection = load(&place.target(), &corpus, WHOLE).unwrap();
    let all = expected(&corpus, "r1");
    for text in ["moon tide sea", "rye bread", "storm"] {
        let found = collection.search(&query(Mode::Dense, text, 12)).unwrap();
        agree(&found, &dense_by_hand(&all, text), 12);
        let mut first = found[0].clone();
        first.score = 0.0;
        assert!(all.contains(&first), "the payload is not whole: {first:?}");
    }
}

#[test]
fn hybrid_is_reciprocal_rank_fusion_of_both() {
    let place = Place::any();
    let corpus = corpus(40);
    let collection = load(&place.target(), &corpus, WHOLE).unwrap();
    let text = "storm over the harbour";
    let mut asked = query(Mode::Hybrid, text, 10);
    asked.depth = 25;
    let found = collection.search(&asked).unwrap();
    // The lists as the server has them: where scores are equal, its order decides, and is not ours.
    let mut fused: BTreeMap<(String, usize), f64> = BTreeMap::new();
    for mode in [Mode::Dense, Mode::Bm25] {
        let list = collection.search(&query(mode, text, 25)).unwrap();
        for (place, hit) in list.iter().enumerate() {
            *fused.entry((hit.chunk.document.clone(), hit.chunk.ordinal)).or_default() += 1.0 / (60.0 + place as f64);
        }
    }
    let mut best: Vec<f64> = fused.values().copied().collect();
    best.sort_by(|a, b| b.total_cmp(a));
    assert_eq!(found.len(), 10);
    for (hit, score) in found.iter().zip(best) {
        // A tie in one list may move a hit by a few places there.
        assert!((hit.score - score).abs() < 5e-4, "{} instead of {score}", hit.score);
    }
    let places: HashSet<_> = found.iter().map(|hit| (&hit.chunk.document, hit.chunk.ordinal)).collect();
    assert_eq!(places.len(), 10);
    // Without a word that is known there is the dense list alone.
    let mut wordless = asked.clone();
    wordless.sparse.clear();
    let order = |hits: Vec<ScoredChunk>| hits.into_iter().map(|hit| hit.id).collect::<Vec<_>>();
    let dense = collection.search(&query(Mode::Dense, text, 10)).unwrap();
    assert_eq!(order(collection.search(&wordless).unwrap()), order(dense));
}

#[test]
fn filters_let_through_what_fits_and_nothing_else() {
    let place = Place::any();
    let corpus = corpus(40);
    let collection = load(&place.target(), &corpus, WHOLE).unwrap();
    let all = expected(&corpus, "r1");
    let filter = |paths: &[&str], headings: &[&str], types: &[&str]| {
        let own = |list: &[&str]| list.iter().map(|&s| s.to_owned()).collect();
        Filter { paths: own(paths), headings: own(headings), file_types: own(types) }
    };
    let within = |hit: &ScoredChunk, folder: &str| hit.chunk.document.starts_with(&format!("{folder}/"));
    let part = |hit: &ScoredChunk, part: &str| hit.chunk.heading_path[1] == part;
    type Check<'a> = Box<dyn Fn(&ScoredChunk) -> bool + 'a>;
    let cases: Vec<(Filter, Check)> = vec![
        (filter(&["guide"], &[], &[]), Box::new(|hit| within(hit, "guide"))),
        (filter(&["./guide/use/"], &[], &[]), Box::new(|hit| within(hit, "guide/use"))),
        (filter(&["gui"], &[], &[]), Box::new(|_| false)),
        (filter(&[""], &[], &[]), Box::new(|_| true)),
        (filter(&["guide", "./"], &[], &[]), Box::new(|_| true)),
        (filter(&[""], &["part 1"], &[]), Box::new(|hit| part(hit, "Part 1"))),
        (filter(&[], &["&", " – "], &[]), Box::new(|_| true)),
        (filter(&[], &["&", "part 1"], &[]), Box::new(|hit| part(hit, "Part 1"))),
        (filter(&["guide/use", "reference"], &[], &[]), Box::new(|h| within(h, "guide/use") || within(h, "reference"))),
        (filter(&["guide/doc-0.md"], &[], &[]), Box::new(|hit| hit.chunk.document == "guide/doc-0.md")),
        (filter(&[], &["part 1"], &[]), Box::new(|hit| part(hit, "Part 1"))),
        (filter(&[], &["1 GUIDE"], &[]), Box::new(|hit| part(hit, "Part 1"))),
        (filter(&[], &["Part 0", "Part 2"], &[]), Box::new(|hit| part(hit, "Part 0") || part(hit, "Part 2"))),
        (filter(&[], &[], &["HTML"]), Box::new(|hit| hit.chunk.document.ends_with(".html"))),
        (filter(&[], &[], &[".md", "html"]), Box::new(|_| true)),
        (filter(&[], &[], &["pdf"]), Box::new(|_| false)),
        (
            filter(&["guide"], &["part 0"], &["md"]),
            Box::new(|hit| within(hit, "guide") && part(hit, "Part 0") && hit.chunk.document.ends_with(".md")),
        ),
    ];
    for (filter, fits) in cases {
        let wanted: HashSet<_> = all.iter().filter(|hit| fits(hit)).map(|hit| hit.id).collect();
        for mode in [Mode::Dense, Mode::Hybrid] {
            let mut asked = query(mode, "moon", all.len());
            asked.filter = filter.clone();
            let found: HashSet<_> = collection.search(&asked).unwrap().iter().map(|hit| hit.id).collect();
            assert_eq!(found, wanted, "{filter:?} {mode}");
        }
        let mut asked = query(Mode::Bm25, "moon", all.len());
        asked.filter = filter.clone();
        let found: HashSet<_> = collection.search(&asked).unwrap().iter().map(|hit| hit.id).collect();
        let with_word = all.iter().filter(|hit| fits(hit) && terms(&hit.chunk.text).contains(&"moon".to_owned()));
        assert_eq!(found, with_word.map(|hit| hit.id).collect(), "{filter:?}");
    }
}

#[test]
fn neighbours_are_of_the_same_document_and_in_order() {
    let place = Place::any();
    let corpus = corpus(30);
    let collection = load(&place.target(), &corpus, WHOLE).unwrap();
    let hits = collection.search(&query(Mode::Dense, "river stone", 8)).unwrap();
    let ranked: Vec<_> = hits.iter().map(ScoredChunk::ranked).collect();
    for reach in [0, 1, 2, 100] {
        let windows = collection.neighbours(&ranked, reach).unwrap();
        assert_eq!(windows.len(), hits.len());
        for (hit, window) in hits.iter().zip(&windows) {
            let last = corpus[&hit.chunk.document].len() - 1;
            let wanted: Vec<usize> =
                (hit.chunk.ordinal.saturating_sub(reach)..=(hit.chunk.ordinal + reach).min(last)).collect();
            assert_eq!(window.iter().map(|other| other.chunk.ordinal).collect::<Vec<_>>(), wanted);
            for other in window {
                assert_eq!(other.chunk.document, hit.chunk.document);
                assert_eq!(other.chunk.text, corpus[&hit.chunk.document][other.chunk.ordinal]);
            }
            assert!(window.iter().any(|other| (other.id, &other.chunk) == (hit.id, &hit.chunk)));
        }
    }
}

#[test]
fn equal_scores_are_ordered_by_document_and_place() {
    let place = Place::any();
    let collection = place.open();
    let mut writer = collection.writer();
    for document in ["c.md", "a.md", "b.md"] {
        let texts = vec!["the very same".to_owned(), "the very same".to_owned()];
        writer.replace(document, "r1", points(document, "r1", &texts)).unwrap();
    }
    writer.flush().unwrap();
    for mode in [Mode::Bm25, Mode::Dense] {
        let found = collection.search(&query(mode, "very same", 6)).unwrap();
        let order: Vec<_> = found.iter().map(|hit| (hit.chunk.document.as_str(), hit.chunk.ordinal)).collect();
        assert_eq!(order, [("a.md", 0), ("a.md", 1), ("b.md", 0), ("b.md", 1), ("c.md", 0), ("c.md", 1)]);
    }
}

#[test]
fn a_query_that_does_not_fit_is_refused_before_it_is_sent() {
    let place = Place::any();
    let collection = place.open();
    let mut asked = query(Mode::Hybrid, "moon", 5);
    asked.vector = Some(vec![1.0; 3]);
    let message = collection.search(&asked).unwrap_err().to_string();
    assert_eq!(message, format!("the query has 3 dimensions, the collection `{}` 8", collection.name()));
    asked.vector = None;
    assert!(matches!(collection.search(&asked), Err(Error::NoQueryVector { mode: Mode::Hybrid })));
    asked.mode = Mode::Bm25;
    assert_eq!(collection.search(&asked).unwrap(), []);
}
