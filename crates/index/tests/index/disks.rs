//! Indexes on disks that are full, or cannot be written, and indexes that many read while one writes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use pericope_api::Document;
use pericope_index::{IndexError, IndexReader, IndexWriter, Mode, Query, Retriever, verify};
use pericope_store::StoreError;

use crate::{dense_spec, index_of};
use pericope_testkit::documents::{made_up, sentence_chunks};

/// Everything in a folder, with its length and the time of its last change.
fn listing(folder: &Path) -> BTreeSet<(PathBuf, u64, Option<SystemTime>)> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let about = entry.metadata().unwrap();
        found.insert((entry.path(), about.len(), about.modified().ok()));
        if about.is_dir() {
            found.append(&mut listing(&entry.path()));
        }
    }
    found
}

/// Searches in every mode; the numbers of hits.
fn search(dir: &Path) -> Result<Vec<usize>, StoreError> {
    let reader = IndexReader::open_expecting(dir, &dense_spec()).map_err(StoreError::from)?;
    [Mode::Bm25, Mode::Dense, Mode::Hybrid]
        .map(|mode| Ok(reader.search(&Query::new("w1 w2", mode, 5))?.len()))
        .into_iter()
        .collect()
}

#[test]
fn readers_change_nothing_and_need_no_permission_to() {
    let (dir, reader) = index_of(&dense_spec(), &[made_up("a", 1, 50)]);
    drop(reader);
    let before = listing(dir.path());
    assert_eq!(search(dir.path()).unwrap(), [5, 5, 5]);
    assert!(verify(dir.path()).unwrap().damaged.is_empty());
    assert_eq!(listing(dir.path()), before);
    // No file is needed for a lock either.
    for (path, length, _) in &before {
        if *length == 0 && path.is_file() {
            fs::remove_file(path).unwrap();
        }
    }
    let before = listing(dir.path());
    assert_eq!(search(dir.path()).unwrap(), [5, 5, 5]);
    assert_eq!(listing(dir.path()), before);
}

/// A disk of its own, until it is dropped.
struct Disk(PathBuf);

impl Disk {
    fn new(at: &Path, options: &str) -> Option<Self> {
        fs::create_dir_all(at).unwrap();
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(at).output();
        match mounted.is_ok_and(|output| output.status.success()) {
            true => Some(Self(at.to_owned())),
            false => {
                println!("SKIPPED: no file system can be mounted here");
                None
            }
        }
    }

    fn remount(&self, options: &str) {
        let output = Command::new("mount").args(["-o", &format!("remount,{options}")]).arg(&self.0).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("-l").arg(&self.0).output());
    }
}

#[test]
fn an_index_on_a_disk_that_cannot_be_written_is_searched_and_not_called_damaged() {
    let root = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::new(&root.path().join("disk"), "size=16m") else { return };
    let dir = disk.0.join("index");
    let mut writer = IndexWriter::create_or_open(&dir, &dense_spec()).unwrap();
    let document = made_up("a", 1, 50);
    writer.add(&document, &sentence_chunks(&document)).unwrap();
    writer.finish().unwrap();
    disk.remount("ro");
    assert_eq!(search(&dir).unwrap(), [5, 5, 5]);
    assert!(verify(&dir).unwrap().damaged.is_empty());
    let error = IndexWriter::create_or_open(&dir, &dense_spec()).err().unwrap();
    assert!(matches!(error, IndexError::Io { .. }) && error.to_string().contains("Read-only"), "{error}");
}

#[test]
fn a_full_disk_is_an_error_and_the_last_commit_stays() {
    let root = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::new(&root.path().join("disk"), "size=3m") else { return };
    let dir = disk.0.join("index");
    let mut writer = IndexWriter::create_or_open(&dir, &dense_spec()).unwrap();
    let first = made_up("first", 1, 50);
    writer.add(&first, &sentence_chunks(&first)).unwrap();
    writer.finish().unwrap();
    // Room for ever less, down to none at all, so that each of the files is the one that does not fit.
    let filler = disk.0.join("filler");
    let mut full = 0;
    for room in [600, 400, 300, 200, 150, 100, 80, 60, 40, 20, 8, 0u64] {
        let free = || {
            let output = Command::new("df").args(["-k", "--output=avail"]).arg(&disk.0).output().unwrap();
            String::from_utf8_lossy(&output.stdout).split_whitespace().last().unwrap().parse::<u64>().unwrap()
        };
        fs::write(&filler, vec![1; usize::try_from(free().saturating_sub(room)).unwrap() * 1024]).unwrap();
        let outcome = IndexWriter::create_or_open(&dir, &dense_spec()).and_then(|mut writer| {
            for i in 0..40 {
                let document = made_up(&format!("more-{i}"), i + 2, 12);
                writer.add(&document, &sentence_chunks(&document))?;
            }
            writer.finish()
        });
        let error = outcome.expect_err("there is no room for it");
        assert!(matches!(error, IndexError::Full { .. }), "{room}: {error:?}");
        assert!(error.to_string().contains("the disk is full"), "{error}");
        full += 1;
        assert_eq!(search(&dir).unwrap(), [5, 5, 5], "{room}");
        match verify(&dir) {
            Ok(verified) => assert!(verified.damaged.is_empty(), "{room}: {:?}", verified.damaged),
            // The database cannot read its log without a little room.
            Err(error) => assert!(
                matches!(error, IndexError::Database { .. } | IndexError::Full { .. }) && room < 60,
                "{room}: {error:?}"
            ),
        }
        fs::remove_file(&filler).unwrap();
        let reader = IndexReader::open_expecting(&dir, &dense_spec()).unwrap();
        assert_eq!((reader.documents().unwrap(), reader.chunks().unwrap()), (1, 50), "{room}");
    }
    assert_eq!(full, 12);
    disk.remount("size=32m");
    let mut writer = IndexWriter::create_or_open(&dir, &dense_spec()).unwrap();
    let second = made_up("second", 2, 30);
    writer.add(&second, &sentence_chunks(&second)).unwrap();
    assert_eq!(writer.finish().unwrap().chunks, 80);
    assert_eq!(search(&dir).unwrap(), [5, 5, 5]);
}

#[test]
fn a_search_beside_a_writer_sees_words_and_vectors_of_one_commit() {
    let dir = tempfile::tempdir().unwrap();
    let write = |generation: usize| {
        let mut writer = IndexWriter::create_or_open(dir.path(), &dense_spec()).unwrap();
        for i in 0..10 {
            let text = format!("common generation{generation} w{i}");
            let document = Document::from_sentences(&format!("d{i}"), &[text]);
            writer.add(&document, &sentence_chunks(&document)).unwrap();
        }
        writer.finish().unwrap();
    };
    write(0);
    let done = AtomicBool::new(false);
    let look = |reader: &IndexReader| {
        let mut commits = BTreeSet::new();
        for mode in [Mode::Bm25, Mode::Dense, Mode::Hybrid] {
            let hits = reader.search(&Query::new("common", mode, 50)).unwrap();
            assert_eq!(hits.len(), 10, "{mode}");
            commits.extend(hits.iter().map(|hit| hit.chunk.text.split(' ').nth(1).unwrap().to_owned()));
        }
        assert_eq!(commits.len(), 1, "{commits:?}");
        commits
    };
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let following = IndexReader::open_expecting(dir.path(), &dense_spec()).unwrap();
                let mut seen = BTreeSet::new();
                while !done.load(Ordering::Relaxed) {
                    look(&IndexReader::open_expecting(dir.path(), &dense_spec()).unwrap());
                    following.reload().unwrap();
                    seen.append(&mut look(&following));
                }
                assert!(seen.len() > 1, "commits of a running writer are seen");
            });
        }
        let outcome = std::panic::catch_unwind(|| (1..30).for_each(write));
        done.store(true, Ordering::Relaxed);
        outcome.unwrap();
    });
}
