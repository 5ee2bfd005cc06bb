//! Question sets in the layouts of SQuAD, Chroma and BEIR.

use std::fs;

use pericope_eval::data::{DataKind, QuestionSet, load};

use super::folder;
use super::parts::{choice, parts};

pub(super) const WORDS: &[&str] = &[
    "{\"data\":[{\"title\":\"t\",\"paragraphs\":[{\"context\":\"a b\",\"qas\":[{\"id\":\"q\",\"question\":\"w?\",\
     \"answers\":[{\"text\":\"b\",\"answer_start\":2}]}]}]}]}",
    "\"answer_start\":",
    "\"context\":",
    "\"is_impossible\":true",
    "question,references,corpus_id\n",
    "\"[{\"\"content\"\": \"\"b\"\", \"\"start_index\"\": 2, \"\"end_index\"\": 3}]\",c\n",
    "\u{1e}",
    "{\"_id\":\"d\",\"title\":\"t\",\"text\":\"x\"}\n",
    "{\"_id\":\"q\",\"text\":\"w?\"}\n",
    "query-id\tcorpus-id\tscore\n",
    "q\td\t1\n",
    "-1",
    "18446744073709551615",
    "é",
    "\u{1F600}",
    "\"",
    "../",
    "\t",
];

/// The first byte chooses the layout; the parts are its files.
pub(super) fn questions(data: &[u8]) {
    let (kind, data) = choice(data, 3);
    folder::with_empty(|folder| {
        let mut parts = parts(data);
        let mut put = |name: &str| {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().expect("it is below the folder")).expect("a temporary folder");
            fs::write(path, parts.next().unwrap_or_default()).expect("a temporary file");
        };
        let (kind, path) = match kind {
            0 => {
                put("squad.json");
                (DataKind::Squad, folder.join("squad.json"))
            }
            1 => {
                ["questions_df.csv", "corpora/c.md", "corpora/d.md"].iter().for_each(|name| put(name));
                (DataKind::Chroma, folder.to_owned())
            }
            _ => {
                ["corpus.jsonl", "queries.jsonl", "qrels/test.tsv"].iter().for_each(|name| put(name));
                (DataKind::Beir, folder.to_owned())
            }
        };
        match load(kind, &path) {
            Ok(set) => check(&set),
            Err(error) => assert!(error.to_string().contains("empty"), "{error} does not name the file"),
        }
    });
}

fn check(set: &QuestionSet) {
    assert!(!set.questions.is_empty());
    set.documents.iter().for_each(|document| document.check().expect("sentences cover the source"));
    let mut ids = std::collections::HashSet::new();
    for question in &set.questions {
        assert!(ids.insert(&question.id), "two questions are called {:?}", question.id);
        assert!(!question.gold.is_empty(), "question {:?} has no place", question.id);
        for (document, span) in question.places() {
            let source = &set.documents[document].source;
            assert!(source.get(span.start..span.end).is_some_and(|gold| !gold.is_empty()), "{span:?} holds no text");
        }
    }
}
