//! What is deleted is what this program wrote, and nothing else.

use std::fs;
use std::path::Path;

use pericope_index::{IndexError, IndexReader, IndexWriter, META_FILE, foreign_files, is_index};

use crate::{dense_spec, index_of};
use pericope_testkit::documents::{made_up, sentence_chunks};

#[test]
fn a_rebuild_leaves_the_files_of_others_alone() {
    let (dir, reader) = index_of(&dense_spec(), &[made_up("a", 1, 30)]);
    drop(reader);
    assert_eq!(foreign_files(dir.path()).unwrap(), [] as [&Path; 0], "all that was written is known as our own");
    let foreign = ["text/keep.txt", "text/notes/meta.json", "vectors/keep.txt", "vectors/segments/keep.txt"];
    for name in foreign {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "precious").unwrap();
    }
    let mut expected: Vec<_> = foreign.iter().map(|name| dir.path().join(name)).collect();
    expected.sort_unstable();
    assert_eq!(foreign_files(dir.path()).unwrap(), expected);
    let mut writer = IndexWriter::rebuild(dir.path(), &dense_spec()).unwrap();
    let document = made_up("b", 2, 5);
    writer.add(&document, &sentence_chunks(&document)).unwrap();
    assert_eq!(writer.finish().unwrap().chunks, 5);
    for path in expected {
        assert_eq!(fs::read_to_string(&path).unwrap(), "precious", "{path:?}");
    }
}

#[test]
fn a_rebuild_leaves_nothing_of_the_old_index() {
    let (dir, reader) = index_of(&dense_spec(), &[made_up("a", 1, 30)]);
    drop(reader);
    let listed = |folder: &str| -> Vec<_> {
        fs::read_dir(dir.path().join(folder)).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    };
    let old = [listed("text"), listed("vectors")].concat();
    let words = pericope_index::IndexSpec::new("sentence", "words");
    let writer = IndexWriter::rebuild(dir.path(), &words).unwrap();
    assert_eq!([listed("text"), listed("vectors")].concat(), old, "until the new one is there");
    writer.finish().unwrap();
    let mut left: Vec<_> = listed("");
    left.sort_unstable();
    assert_eq!(left, ["build-1", "lock", META_FILE]);
    let mut built: Vec<_> = listed("build-1");
    built.sort_unstable();
    assert_eq!(built, ["manifest.sqlite", "text"]);
    // The next one goes beside it, and then the one before goes.
    IndexWriter::rebuild(dir.path(), &words).unwrap().finish().unwrap();
    let mut left: Vec<_> = listed("");
    left.sort_unstable();
    assert_eq!(left, ["build-2", "lock", META_FILE]);
}

#[test]
fn a_file_called_like_the_metadata_makes_no_index() {
    for content in ["{}", "garbage", "{\"format\": 2}", "[]", ""] {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("text")).unwrap();
        fs::write(dir.path().join("text/keep.txt"), "precious").unwrap();
        fs::write(dir.path().join(META_FILE), content).unwrap();
        assert!(!is_index(dir.path()));
        let attempts = [
            IndexWriter::rebuild(dir.path(), &dense_spec()).err(),
            IndexWriter::create_or_open(dir.path(), &dense_spec()).err(),
            IndexReader::open(dir.path()).err(),
        ];
        for error in attempts.map(Option::unwrap) {
            assert!(matches!(error, IndexError::Foreign { .. }), "{content}: {error}");
            assert!(error.to_string().contains("is not an index of Pericope"), "{error}");
        }
        assert_eq!(fs::read_to_string(dir.path().join("text/keep.txt")).unwrap(), "precious");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "nothing was added");
    }
}

#[test]
fn an_index_whose_metadata_was_garbled_is_rebuilt() {
    let (dir, reader) = index_of(&dense_spec(), &[made_up("a", 1, 3)]);
    drop(reader);
    assert!(is_index(dir.path()));
    fs::write(dir.path().join(META_FILE), "").unwrap();
    assert!(matches!(IndexReader::open(dir.path()), Err(IndexError::Corrupt { .. })));
    assert_eq!(IndexWriter::rebuild(dir.path(), &dense_spec()).unwrap().finish().unwrap().chunks, 0);
}

#[test]
fn an_empty_path_is_no_folder() {
    for attempt in [
        IndexWriter::create_or_open(Path::new(""), &dense_spec()).err(),
        IndexWriter::rebuild(Path::new(""), &dense_spec()).err(),
        IndexReader::open(Path::new("")).err(),
    ] {
        assert!(matches!(attempt, Some(IndexError::NoPath)));
    }
}

#[test]
fn what_a_crash_left_of_the_first_step_is_not_in_the_way() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("pericope.json.a1B2c3.unfinished"), "{\"form").unwrap();
    fs::write(dir.path().join("lock"), "").unwrap();
    assert!(IndexWriter::create_or_open(dir.path(), &dense_spec()).is_ok());
}
