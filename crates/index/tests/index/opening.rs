//! What is refused, and in which words.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use pericope_index::{IndexError, IndexReader, IndexSpec, IndexWriter, META_FILE, Mode, Query, Retriever};
use pericope_store::{ErrorKind, StoreError};

use crate::{dense_spec, index_of};
use pericope_testkit::documents::{made_up, sentence_chunks};
use pericope_testkit::encoders::BagOfWords;

fn other_model() -> Arc<BagOfWords> {
    Arc::new(BagOfWords { fingerprint: "v2", texts: AtomicUsize::new(0), poison: None })
}

#[test]
fn a_mismatch_names_both_values_and_the_remedy() {
    let (dir, _) = index_of(&dense_spec(), &[made_up("a", 1, 3)]);
    let refused = |spec: &IndexSpec| {
        let error = IndexWriter::create_or_open(dir.path(), spec).err().unwrap().to_string();
        let read = IndexReader::open_expecting(dir.path(), spec).err().unwrap().to_string();
        assert_eq!(error, read);
        assert!(error.contains("--rebuild") && !error.contains('\n'), "{error}");
        error
    };
    let encoder = dense_spec().encoder.unwrap();
    let error = refused(&IndexSpec::new("window:tau=0.5", "words").with_encoder(encoder.clone()));
    assert!(error.contains("segmenter `sentence`") && error.contains("`window:tau=0.5`"), "{error}");
    let error = refused(&IndexSpec::new("sentence", "minilm").with_encoder(encoder.clone()));
    assert!(error.contains("tokenizer `words`") && error.contains("`minilm`"), "{error}");
    let error = refused(&IndexSpec::new("sentence", "words"));
    assert!(error.contains("`none`") && error.contains("bag-of-words (v1"), "{error}");
    let error = refused(&IndexSpec::new("sentence", "words").with_encoder(other_model()));
    assert!(error.contains("(v1,") && error.contains("(v2,"), "{error}");
    let error = refused(&dense_spec().with_heading_prefix(true));
    assert!(error.contains("heading prefix `off`, not `on`"), "{error}");
}

#[test]
fn another_format_is_refused_and_rebuilt_on_demand() {
    let (dir, reader) = index_of(&dense_spec(), &[made_up("a", 1, 3)]);
    drop(reader);
    let path = dir.path().join(META_FILE);
    fs::write(&path, fs::read_to_string(&path).unwrap().replace("\"format\": 3", "\"format\": 1")).unwrap();
    let error = IndexReader::open(dir.path()).err().unwrap();
    assert!(matches!(error, IndexError::Format { .. }) && error.to_string().contains("format 1"), "{error}");
    assert!(error.to_string().contains("--rebuild"), "{error}");
    fs::write(&path, "{\"format\":").unwrap();
    assert!(matches!(IndexReader::open(dir.path()), Err(IndexError::Corrupt { .. })));
    let writer = IndexWriter::rebuild(dir.path(), &IndexSpec::new("other", "words")).unwrap();
    assert_eq!(writer.finish().unwrap().chunks, 0);
    assert!(!dir.path().join("vectors").exists());
}

#[test]
fn an_index_whose_first_run_was_broken_off_is_not_called_damaged() {
    let begun = tempfile::tempdir().unwrap();
    drop(IndexWriter::create_or_open(begun.path(), &IndexSpec::new("paragraph", "words")).unwrap());
    fs::remove_dir_all(begun.path().join("text")).unwrap();
    let error = IndexReader::open(begun.path()).map(|_| ()).unwrap_err();
    assert!(matches!(error, IndexError::Unfinished { .. }), "{error}");
    IndexWriter::create_or_open(begun.path(), &IndexSpec::new("paragraph", "words")).unwrap().finish().unwrap();
    assert!(IndexReader::open(begun.path()).is_ok());
}

#[test]
fn other_peoples_folders_are_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("thesis.md"), "years of work").unwrap();
    for attempt in
        [IndexWriter::create_or_open(dir.path(), &dense_spec()), IndexWriter::rebuild(dir.path(), &dense_spec())]
    {
        assert!(matches!(attempt, Err(IndexError::NotEmpty { .. })));
    }
    assert!(matches!(IndexReader::open(dir.path()), Err(IndexError::NotAnIndex { .. })));
    assert!(matches!(IndexReader::open(&dir.path().join("none")), Err(IndexError::NotAnIndex { .. })));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn there_is_one_writer() {
    let dir = tempfile::tempdir().unwrap();
    let first = IndexWriter::create_or_open(dir.path(), &dense_spec()).unwrap();
    for attempt in
        [IndexWriter::create_or_open(dir.path(), &dense_spec()), IndexWriter::rebuild(dir.path(), &dense_spec())]
    {
        assert!(matches!(attempt, Err(IndexError::Locked { .. })));
    }
    drop(first);
    assert!(IndexWriter::create_or_open(dir.path(), &dense_spec()).is_ok());
}

#[test]
fn damaged_vectors_are_reported_and_words_still_found() {
    for damage in ["gone", "empty", "garbage"] {
        let (dir, reader) = index_of(&dense_spec(), &[made_up("a", 1, 50)]);
        drop(reader);
        let vectors = dir.path().join("vectors");
        match damage {
            "gone" => fs::remove_dir_all(&vectors).unwrap(),
            "empty" => {
                for file in fs::read_dir(&vectors).unwrap().map(|file| file.unwrap().path()) {
                    if file.extension().is_some_and(|ending| ending == "vectors") {
                        fs::remove_file(file).unwrap();
                    }
                }
            }
            _ => spoil(&vectors),
        }
        let reader = IndexReader::open_expecting(dir.path(), &dense_spec()).unwrap();
        let error = reader.search(&Query::new("w1", Mode::Dense, 3)).unwrap_err();
        assert!(matches!(error.downcast(), Some(IndexError::Corrupt { .. })), "{damage}: {error:?}");
        assert!(error.to_string().contains("--rebuild") && !error.to_string().contains('\n'), "{damage}: {error}");
        assert_eq!(reader.search(&Query::new("w1", Mode::Bm25, 3)).unwrap().len(), 3);
        drop(reader);
        let error = IndexWriter::create_or_open(dir.path(), &dense_spec()).err().unwrap();
        assert!(matches!(error, IndexError::Corrupt { .. }), "{damage}: {error:?}");
        let mut writer = IndexWriter::rebuild(dir.path(), &dense_spec()).unwrap();
        let document = made_up("a", 1, 5);
        writer.add(&document, &sentence_chunks(&document)).unwrap();
        assert_eq!(writer.finish().unwrap().chunks, 5, "{damage}");
    }
}

/// Cuts every file of the segments in half and fills it with noise.
fn spoil(folder: &std::path::Path) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        match entry.file_type().unwrap().is_dir() {
            true => spoil(&entry.path()),
            false => {
                let half = entry.metadata().unwrap().len() as usize / 2;
                fs::write(entry.path(), (0..half).map(|i| (i * 37 % 251) as u8).collect::<Vec<_>>()).unwrap();
            }
        }
    }
}

#[test]
fn a_damaged_text_index_is_reported() {
    let (dir, reader) = index_of(&IndexSpec::new("sentence", "words"), &[made_up("a", 1, 50)]);
    drop(reader);
    fs::write(dir.path().join("text").join("meta.json"), "{").unwrap();
    let error = IndexReader::open(dir.path()).err().unwrap();
    assert!(matches!(error, IndexError::Corrupt { .. }) && !error.to_string().contains('\n'), "{error}");
}

#[test]
fn dense_search_needs_vectors_and_an_encoder() {
    let (dir, reader) = index_of(&IndexSpec::new("sentence", "words"), &[made_up("a", 1, 3)]);
    for mode in [Mode::Dense, Mode::Hybrid] {
        let error = reader.search(&Query::new("w1", mode, 3)).unwrap_err();
        assert!(error.kind() == ErrorKind::NoVectors && error.to_string().contains("--mode bm25"));
    }
    let error = IndexReader::open(dir.path()).unwrap().set_encoder(BagOfWords::new()).unwrap_err();
    assert!(matches!(error.downcast(), Some(IndexError::NoVectors { .. })));
    let (dir, _) = index_of(&dense_spec(), &[made_up("a", 1, 3)]);
    let mut reader = IndexReader::open(dir.path()).unwrap();
    assert!(matches!(reader.search(&Query::new("w1", Mode::Dense, 3)), Err(StoreError::NoEncoder { .. })));
    let query = Query::new("", Mode::Dense, 3).with_vector(BagOfWords::vector("w1"));
    assert_eq!(reader.search(&query).unwrap().len(), 3);
    assert_eq!(reader.set_encoder(other_model()).unwrap_err().kind(), ErrorKind::Mismatch);
    assert!(IndexReader::open(dir.path()).unwrap().set_encoder(BagOfWords::new()).is_ok());
}
