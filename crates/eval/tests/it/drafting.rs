//! Drafted questions: what becomes one, what does not, and what is left of the documents.

use std::collections::BTreeMap;

use pericope_api::{Document, Kind};
use pericope_eval::data::draft::{DraftOptions, Drafted, Dropped, QuestionKind, draft};
use pericope_eval::data::{DataKind, load};
use pericope_read::{ReadOptions, read_text};
use pericope_segment::{Standalone, registry, spec::Spec};

fn page(id: &str, text: &str) -> Document {
    read_text(id, "md", text, &ReadOptions::default()).unwrap()
}

fn drafted(documents: &[Document], questions: usize, kinds: &[QuestionKind]) -> Drafted {
    draft(documents, &DraftOptions { questions, kinds: kinds.to_vec(), ..DraftOptions::default() })
}

/// Queries with the texts of their answers.
fn asked(found: &Drafted) -> BTreeMap<String, String> {
    let qas = found.file.data.iter().flat_map(|article| &article.paragraphs).flat_map(|paragraph| &paragraph.qas);
    qas.map(|qa| (qa.question.clone(), qa.answers[0].text.clone())).collect()
}

/// A section of a text that no other section has.
fn section(heading: &str, about: &str) -> String {
    let text =
        format!("Whoever has the {about} in hand writes in the {about} book what was done to the {about} and when.");
    format!("## {heading}\n\n{text}\n\n")
}

#[test]
fn headings_ask_where_nothing_else_says_their_words() {
    let first = format!(
        "# Pumps\n\n- Cleaning the strainer\n\nText about pumps and what they are for.\n\n{}{}{}{}",
        section("Cleaning the strainer", "strainer"),
        section("Priming the intake", "intake hose"),
        section("Overview", "overview board"),
        section("Winter storage", "shed"),
    );
    let second = format!("# Boats\n\n{}{}", section("Winter storage", "boat house"), section("Tarring", "hull"));
    let documents = [page("pumps.md", &first), page("boats.md", &second)];
    let found = drafted(&documents, 50, &[QuestionKind::Heading]);
    let queries: Vec<String> = asked(&found).into_keys().collect();
    // "Cleaning the strainer" stands in a list above, "Overview" heads anything; half of the headings stay.
    assert!(!queries.iter().any(|query| query.contains("strainer") || query.contains("Overview")), "{queries:?}");
    assert!(queries.iter().any(|query| query.ends_with(": Winter storage")), "{queries:?}");
    assert_eq!(found.dropped.get(&Dropped::Leaks), Some(&1), "{:?}", found.dropped);
    for article in &found.file.data {
        let context = &article.paragraphs[0].context;
        let left = page("x.md", context);
        let words = |document: &Document| {
            let headings = document.sentences.iter().filter(|s| matches!(s.kind, Kind::Heading(_)));
            headings.map(|s| document.visible(s.span).contains(char::is_alphanumeric)).collect::<Vec<_>>()
        };
        let (all, gone) = (words(&left).len(), words(&left).iter().filter(|says| !**says).count());
        assert_eq!(gone, article.paragraphs[0].qas.len());
        assert!(gone * 2 <= all, "{gone} of {all} headings are gone");
    }
}

#[test]
fn chunkers_that_cut_at_headings_cut_there_all_the_same() {
    let text: String =
        (0..6).map(|n| section(&format!("Duty number {n} of the crew"), &format!("rope{n} and mast{n}"))).collect();
    let documents = [page("ship.md", &format!("# The ship\n\n{text}"))];
    let found = drafted(&documents, 50, &[QuestionKind::Heading]);
    assert!(found.questions() >= 2);
    let masked = page("ship.md", &found.file.data[0].paragraphs[0].context);
    for spec in ["structure:max_tokens=0", "paragraph"] {
        let chunker = registry::build(&Spec::parse(spec).unwrap(), &Standalone::default()).unwrap();
        let starts = |document: &Document| -> Vec<usize> {
            chunker.chunks(document).unwrap().iter().map(|chunk| chunk.span.start).collect()
        };
        assert_eq!(starts(&documents[0]), starts(&masked), "{spec}");
    }
}

#[test]
fn answers_that_stand_twice_and_questions_that_say_the_same_are_dropped() {
    let shared = "A sounding lead is a weight on a line that tells the depth of the water under the ship.";
    let own = |n: usize| {
        format!("A mooring{n} is a rope number {n} that holds the ship number {n} at its place in harbour {n}.")
    };
    let documents: Vec<Document> = (0..4)
        .map(|n| {
            page(
                &format!("{n}.md"),
                &format!("# Page {n}\n\n{}\n\n{}\n", own(n), if n < 2 { shared } else { "Nothing." }),
            )
        })
        .collect();
    let found = drafted(&documents, 50, &[QuestionKind::Definition]);
    let queries: Vec<String> = asked(&found).into_keys().collect();
    assert_eq!(queries, (0..4).map(|n| format!("What is a mooring{n}?")).collect::<Vec<_>>());
    assert_eq!(found.dropped.get(&Dropped::Ambiguous), Some(&2));
    // The same text under two names: the copies are found by what they say.
    let other = page("c.md", &format!("# Other\n\n{}\n", own(1).replace("A mooring1", "A hawser")));
    let twice: Vec<Document> = documents.iter().cloned().chain([other]).collect();
    let found = drafted(&twice, 50, &[QuestionKind::Definition]);
    assert_eq!(found.dropped.get(&Dropped::Copied), Some(&2), "{:?}", asked(&found));
}

#[test]
fn kinds_and_documents_take_turns() {
    let long: String = (0..40)
        .map(|n| {
            section(&format!("Task {n} of keeper{n}"), &format!("lamp{n}"))
                + &format!("A wick{n} is a string that draws the oil of lamp{n} up into its flame.\n\n")
        })
        .collect();
    let short = |n: usize| {
        format!("# Hut{n}\n\nA stove{n} is a box of iron in which the wood of hut{n} burns all winter long.\n")
    };
    let mut documents = vec![page("long.md", &format!("# Tower\n\n{long}"))];
    documents.extend((0..5).map(|n| page(&format!("{n}.md"), &short(n))));
    let found = drafted(&documents, 20, &[QuestionKind::Heading, QuestionKind::Definition]);
    assert_eq!(found.kinds, BTreeMap::from([(QuestionKind::Heading, 10), (QuestionKind::Definition, 10)]));
    let of = |at: usize| found.file.data[at].paragraphs[0].qas.len();
    assert!((1..6).all(|at| of(at) == 1), "every short page is asked about");
    assert_eq!(found.asked, 6);
}

#[test]
fn the_file_is_one_that_the_loader_takes() {
    let table = "| setting | meaning |\n|---|---|\n| max_wait | seconds until the pump gives up its work |\n\
        | retries | tries after the first one has failed |\n\n";
    let text = format!("# Übersicht der Pumpen\n\n{table}{}", section("Priming the é intake", "intake hose"));
    let documents = [page("a.md", &text), page("b.md", "# Other\n\nNothing is asked about this page.\n")];
    let found = drafted(&documents, 50, &QuestionKind::WITHOUT_MODEL);
    assert!(found.kinds.contains_key(&QuestionKind::Table) && found.kinds.contains_key(&QuestionKind::Heading));
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), serde_json::to_string(&found.file).unwrap()).unwrap();
    let set = load(DataKind::Squad, file.path()).unwrap();
    assert!(set.skipped.is_empty(), "{:?}", set.skipped);
    assert_eq!((set.documents.len(), set.questions.len()), (2, found.questions()));
    let qas: Vec<_> = found.file.data.iter().flat_map(|a| &a.paragraphs).flat_map(|p| &p.qas).collect();
    for (question, qa) in set.questions.iter().zip(qas) {
        assert_eq!(Some(question.gold[0]), qa.bytes, "bytes are those of the documents: {}", qa.question);
        assert_eq!(question.answer, qa.answers[0].text);
    }
}
