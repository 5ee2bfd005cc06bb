//! The language in which the words of documents are compared: what is English stays English.

use std::fs;
use std::path::PathBuf;

use pericope_api::Document;
use pericope_language::{Language, prose_language};
use pericope_read::{ReadOptions, read_text};
use pericope_segment::{language, registry, spec::Spec};
use serde_json::Value;

use crate::skip;
use crate::support::Fake;

/// The Markdown files of a folder under `corpora`.
fn articles(folder: &str) -> Vec<Document> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpora").join(folder);
    let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let pages = files.filter(|file| file.extension().is_some_and(|ending| ending == "md"));
    let read = |file: PathBuf| {
        let name = file.file_name().unwrap().to_str().unwrap();
        read_text(name, "markdown", fs::read_to_string(&file).unwrap(), &ReadOptions::default()).unwrap()
    };
    pages.map(read).collect()
}

#[test]
fn the_language_of_an_article_is_that_of_its_prose() {
    for (folder, expected, least) in [
        ("handbook", Language::English, 28),
        ("de/articles", Language::German, 8),
        ("ja/articles", Language::Japanese, 8),
    ] {
        let articles = articles(folder);
        assert!(articles.len() >= least, "{folder}");
        for article in articles {
            assert_eq!(language::of(&article), expected, "{}", article.id);
        }
    }
}

#[test]
fn english_documentation_is_never_taken_for_another_language() {
    let Some(data) = skip::data("english_documentation_is_never_taken_for_another_language") else { return };
    let (mut read, mut raw) = (0, 0);
    for entry in fs::read_dir(data.join("docs")).unwrap() {
        let file = entry.unwrap().path();
        let name = file.file_name().unwrap().to_string_lossy();
        if !name.ends_with(".jsonl") {
            continue;
        }
        for line in fs::read_to_string(&file).unwrap().lines() {
            let json: Value = serde_json::from_str(line).unwrap();
            let id = json["id"].as_str().unwrap();
            let found = if let Some(sentences) = json["sentences"].as_array() {
                read += 1;
                let sentences: Vec<&str> = sentences.iter().map(|sentence| sentence.as_str().unwrap()).collect();
                language::of(&Document::from_sentences(id, &sentences))
            } else {
                // As it stands in the file: front matter, tables and code are words, too.
                raw += 1;
                prose_language([json["text"].as_str().unwrap()])
            };
            assert_eq!(found, Language::English, "{name}: {id}");
        }
    }
    assert!(read > 1000 && raw > 1000, "{read}, {raw}");
}

#[test]
fn fingerprints_name_the_way_in_which_words_are_compared() {
    let fingerprint =
        |spec: &str| registry::build(&Spec::parse(spec).unwrap(), &Fake::default()).unwrap().fingerprint();
    for spec in ["texttiling", "c99", "u00", "bayesseg", "graph:similarity=jaccard"] {
        assert_eq!(fingerprint(spec), language::WORDS, "{spec}");
    }
    assert_eq!(fingerprint("fusion"), format!("{}:{}", language::WORDS, fingerprint("variance")));
    assert_eq!(fingerprint("graph:similarity=sequence-matcher") + &fingerprint("paragraph"), "");
}
