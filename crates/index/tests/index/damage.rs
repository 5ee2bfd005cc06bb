//! What damage to any file of an index does: nothing, or an error that names the file and says what to do.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use pericope_index::{Destination, Filter, Hit, IndexReader, IndexWriter, META_FILE, Mode, Query, Retriever, verify};
use pericope_store::{ErrorKind, RunSummary, StoreError};

use crate::dense_spec;
use pericope_testkit::documents::{made_up, sentence_chunks};

/// All files below a folder, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(files(&entry.path())),
            false => found.push(entry.path()),
        }
    }
    found.sort();
    found
}

/// An index of several commits, with deletions among words and vectors.
fn index() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for commit in 0..3u64 {
        let mut writer = IndexWriter::create_or_open(dir.path(), &dense_spec()).unwrap();
        for i in 0..8 {
            let document = made_up(&format!("d{i}-{commit}.md"), i * 10 + commit, 12);
            writer.add(&document, &sentence_chunks(&document)).unwrap();
        }
        if commit == 2 {
            writer.remove("d1-0.md").unwrap();
        }
        writer.finish().unwrap();
    }
    dir
}

/// The answers to questions of all kinds.
fn ask(dir: &Path) -> Result<Vec<Vec<Hit>>, StoreError> {
    let reader = IndexReader::open_expecting(dir, &dense_spec()).map_err(StoreError::from)?;
    let below = Filter { paths: vec!["d3".into()], ..Filter::default() };
    let mut answers = Vec::new();
    for (text, mode, filter) in [
        ("w1 w40", Mode::Bm25, Filter::default()),
        ("\"w1 w2\" w3", Mode::Bm25, Filter::default()),
        ("w7", Mode::Bm25, below.clone()),
        ("w1 w40", Mode::Dense, Filter::default()),
        ("w7", Mode::Dense, below),
        ("w3 w5", Mode::Hybrid, Filter::default()),
    ] {
        let mut hits = reader.search(&Query::new(text, mode, 5).with_filter(filter))?;
        reader.add_context(&mut hits, 1)?;
        answers.push(hits);
    }
    Ok(answers)
}

#[test]
fn a_search_of_a_damaged_index_finds_the_same_or_names_the_file() {
    let dir = index();
    let whole = ask(dir.path()).unwrap();
    assert!(whole.iter().all(|hits| !hits.is_empty()));
    assert!(verify(dir.path()).unwrap().damaged.is_empty());
    let (mut named, mut same) = (0, 0);
    for file in files(dir.path()) {
        let bytes = fs::read(&file).unwrap();
        let name = file.file_name().unwrap().to_str().unwrap();
        let places = [0, 1, 2, 3, 5, 8, 13, 21, 31].map(|i| bytes.len() * i / 32);
        // Cut in front of our own checksums (24 bytes and 8 a block), a file of words is one of an earlier version.
        let ends = [16, 30, 34, 60].map(|back| bytes.len().saturating_sub(back));
        let places = places.into_iter().chain(ends).filter(|at| !bytes.is_empty() && at + 32 != bytes.len());
        for at in places {
            let mut flipped = bytes.clone();
            flipped.iter_mut().skip(at).take(16).for_each(|byte| *byte ^= 0xa5);
            for damaged in [flipped, bytes[..at].to_vec()] {
                fs::write(&file, damaged).unwrap();
                match ask(dir.path()) {
                    Ok(found) => {
                        assert_eq!(found, whole, "{name} at {at}");
                        same += 1;
                    }
                    Err(error) => {
                        let said = error.to_string();
                        named += 1;
                        // What of the metadata is left may be anyone's.
                        if name == META_FILE && error.kind() == ErrorKind::NotAStore {
                            assert!(said.contains(META_FILE), "{name} at {at}: {said}");
                            continue;
                        }
                        assert_eq!(error.kind(), ErrorKind::Damaged, "{name} at {at}: {said}");
                        assert!(said.contains("--rebuild") && !said.contains('\n'), "{name} at {at}: {said}");
                        assert!(said.contains(name) || file.starts_with(dir.path().join("text")), "{name}: {said}");
                    }
                }
                // What readers do not read is a writer's: the manifest, and the engine's list of its files.
                let readers = !name.starts_with("manifest") && name != ".managed.json";
                let found = verify(dir.path());
                let found = found.unwrap_or_else(|error| panic!("{name} at {at}: {error}"));
                assert!(!readers || !found.damaged.is_empty(), "{name} at {at}");
            }
        }
        fs::write(&file, &bytes).unwrap();
    }
    assert_eq!(ask(dir.path()).unwrap(), whole);
    assert!(named > 300 && same > 20, "{named} named, {same} the same");
}

#[test]
fn a_damaged_manifest_is_told_by_verify_and_made_again() {
    let dir = index();
    let manifest = dir.path().join("manifest.sqlite");
    let bytes = fs::read(&manifest).unwrap();
    let whole = IndexReader::open(dir.path()).unwrap().contents().unwrap();
    assert_eq!(whole.agree(), Ok(()));
    let mut told = 0;
    for at in (0..bytes.len()).step_by(bytes.len() / 60) {
        let mut flipped = bytes.clone();
        flipped.iter_mut().skip(at).take(16).for_each(|byte| *byte ^= 0xa5);
        for ending in ["-wal", "-shm"] {
            let mut log = manifest.clone().into_os_string();
            log.push(ending);
            drop(fs::remove_file(log));
        }
        fs::write(&manifest, flipped).unwrap();
        told += verify(dir.path()).unwrap().damaged.len();
        IndexWriter::create_or_open(dir.path(), &dense_spec()).unwrap().known().unwrap();
        match IndexReader::open(dir.path()).unwrap().contents() {
            Ok(found) => assert_eq!(found, whole, "{at}"),
            // An index over its rows, which is not looked at where nothing is looked up.
            Err(error) => assert!(error.to_string().contains("may be deleted"), "{at}: {error}"),
        }
    }
    assert!(told > 10, "{told}");
}

#[test]
fn a_rebuild_that_missed_a_file_does_not_replace_an_index_whose_list_cannot_be_read() {
    let dir = index();
    let before = ask(dir.path()).unwrap();
    // No database can be opened where a folder stands: as where the system has no more files to give.
    let manifest = dir.path().join("manifest.sqlite");
    fs::remove_file(&manifest).unwrap();
    fs::create_dir(&manifest).unwrap();
    let mut writer = IndexWriter::rebuild(dir.path(), &dense_spec()).unwrap();
    let document = made_up("new.md", 7, 12);
    writer.add(&document, &sentence_chunks(&document)).unwrap();
    let (met, failed) = (["new.md", "d1-1.md"], ["d1-1.md"]);
    let [met, failed] = [&met[..], &failed[..]].map(|names| names.iter().map(|&name| name.to_owned()).collect());
    let run: RunSummary<'_> =
        RunSummary { met: Some(&met), failed: Some::<&HashSet<String>>(&failed), ..Default::default() };
    let error = (Box::new(writer) as Box<dyn Destination>).finish(&run).unwrap_err();
    assert!(error.to_string().contains("manifest.sqlite"), "{error}");
    assert_eq!(ask(dir.path()).unwrap(), before);
}
