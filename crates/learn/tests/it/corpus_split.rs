//! Documents in files, parted.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use pericope_learn::corpus::{Corpus, CorpusError, Record, SplitOptions, Unit, load};
use pericope_segment::split::{Shares, Split};

/// A document of `sentences` sentences of its own.
fn line(source: &str, id: &str, text: &str, sentences: usize) -> String {
    let texts: Vec<String> = (0..sentences).map(|i| format!("{text} has {i} words of {text} in line {i}.")).collect();
    let line = serde_json::json!({ "id": id, "source": source, "sentences": texts, "boundaries": [sentences / 2] });
    format!("{line}\n")
}

fn ids(records: &[Record]) -> BTreeSet<&str> {
    records.iter().map(|record| record.id.as_str()).collect()
}

#[test]
fn files_are_read_once_and_parted_with_what_is_held_out() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("apart")).unwrap();
    let mut text = String::new();
    for i in 0..40 {
        text += &line("", &format!("d{i}"), &format!("subject{i}"), 12);
    }
    fs::write(at("many.seg.jsonl"), text + "nonsense\n").unwrap();
    fs::write(at("other.jsonl"), line("wiki", "copy", "secret", 20) + &line("wiki", "own", "open", 20)).unwrap();
    fs::write(at("apart/apart.jsonl"), line("kept", "kept", "secret", 20)).unwrap();
    fs::write(at("more.jsonl"), line("kept", "also kept", "another", 20)).unwrap();
    let data: Vec<PathBuf> = vec![folder.path().to_owned()];
    let options = SplitOptions::default();
    let corpus: Corpus = load(&data, &[at("apart")], &options).unwrap();
    assert_eq!(corpus.report.all.documents, 44);
    assert_eq!((corpus.skipped.count, corpus.sources.len()), (1, 3));
    let test = ids(&corpus.test);
    for id in ["copy", "kept", "also kept"] {
        assert!(test.contains(id), "{id} of {test:?}");
    }
    assert_eq!(corpus.report.groups, 1);
    let many = corpus.sources["many"];
    assert_eq!(many.train + many.validation + many.test, 40);
    for (part, records) in
        [(Split::Train, &corpus.train), (Split::Validation, &corpus.validation), (Split::Test, &corpus.test)]
    {
        let own = records.iter().filter(|record| record.source == "many");
        assert!(own.clone().all(|record| options.shares.part(&record.id) == part), "{part}");
    }
    // The same whatever the files are called, and in which order.
    fs::rename(at("other.jsonl"), at("a.jsonl")).unwrap();
    let again = load(&data, &[at("apart/apart.jsonl")], &options).unwrap();
    assert_eq!((ids(&again.train), ids(&again.test)), (ids(&corpus.train), ids(&corpus.test)));
    assert_eq!(again.report, corpus.report);
}

#[test]
fn whole_sources_are_kept_for_validation_and_caps_hold() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.jsonl");
    let text = (0..300).map(|i| line(&format!("s{}", i % 30), &format!("d{i}"), &format!("subject{i}"), 10));
    fs::write(&path, text.collect::<String>()).unwrap();
    let shares = Shares { validation: 0.3, test: 0.0, seed: 1 };
    let options = SplitOptions { unit: Unit::Source, shares, cap_sentences: 45, ..SplitOptions::default() };
    let corpus = load(std::slice::from_ref(&path), &[], &options).unwrap();
    let sources = |records: &[Record]| records.iter().map(|record| record.source.clone()).collect::<BTreeSet<_>>();
    let (train, validation) = (sources(&corpus.train), sources(&corpus.validation));
    assert!(train.is_disjoint(&validation) && train.len() + validation.len() == 30 && validation.len() > 3);
    assert!(corpus.sources.values().all(|one| one.train + one.validation == 4 && one.left_out == 6));
    assert_eq!(corpus.report.left_out.documents, 180);
    fs::write(&path, "nonsense\n").unwrap();
    assert!(matches!(load(&[path], &[], &options), Err(CorpusError::Nothing { .. })));
}
