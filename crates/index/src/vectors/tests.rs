#![allow(clippy::unwrap_used, clippy::expect_used)]
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

use pericope_api::Embeddings;
use pericope_store::{ChunkEntry, ChunkRecord};
use uuid::Uuid;

use super::*;
use crate::IndexError;

const DIMENSION: usize = 24;

fn entry(n: u128) -> ChunkEntry {
    let chunk = ChunkRecord { document: format!("d{n}"), text: "x".into(), ..ChunkRecord::default() };
    ChunkEntry { id: Uuid::from_u128(n), chunk, searched: Vec::new(), headings: Vec::new(), encoded: None }
}

/// A vector of length 1, another one for each number; some are close to each other.
fn vector(n: u128) -> Vec<f32> {
    let raw = (0..DIMENSION).map(|i| {
        let wave = |f: f64| (n as f64 * f + i as f64 * 1.7).sin();
        (wave(0.7) + 0.01 * wave(12.9)) as f32
    });
    let mut raw: Vec<f32> = raw.collect();
    super::codes::normalize(&mut raw);
    raw
}

fn put(writer: &mut VectorWriter, numbers: impl IntoIterator<Item = u128>) {
    let (entries, vectors): (Vec<ChunkEntry>, Vec<Vec<f32>>) =
        numbers.into_iter().map(|n| (entry(n), vector(n))).unzip();
    writer.upsert(&entries, &Embeddings::new(DIMENSION, vectors.concat())).unwrap();
}

fn delete(writer: &mut VectorWriter, numbers: impl IntoIterator<Item = u128>) {
    writer.delete(&numbers.into_iter().map(Uuid::from_u128).collect::<Vec<_>>()).unwrap();
}

fn new(path: &Path) -> VectorWriter {
    VectorWriter::new(path, &VectorSet::empty(path, DIMENSION), 0).unwrap()
}

fn opened(path: &Path, id: GenerationId) -> VectorSet {
    VectorSet::open(path, id, DIMENSION, None).unwrap().unwrap()
}

/// What a search must find: every number with its score, those that tie with the last included.
fn expected(query: &[f32], limit: usize, among: impl Iterator<Item = u128>) -> BTreeMap<Uuid, f32> {
    let mut all: Vec<(Uuid, f32)> =
        among.map(|n| (Uuid::from_u128(n), pericope_util::dot(query, &vector(n)))).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    let last = all.get(limit - 1).map_or(f32::NEG_INFINITY, |one| one.1);
    all.into_iter().filter(|one| one.1 >= last).collect()
}

#[test]
fn a_search_finds_exactly_what_looking_at_every_vector_finds() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = new(dir.path());
    // Several segments, with deletions in some, and vectors that were replaced.
    put(&mut writer, 0..3000);
    writer.write_generation().unwrap();
    put(&mut writer, 2500..3500);
    delete(&mut writer, (0..3500).step_by(7));
    let id = writer.write_generation().unwrap();
    let there = || (0..3500u128).filter(|n| n % 7 != 0);
    let set = opened(dir.path(), id);
    assert_eq!((set.len(), writer.len()), (3000, 3000));
    for limit in [1, 10, 100, 5000] {
        for n in [3, 501, 3499] {
            let query = vector(n);
            let found: BTreeMap<Uuid, f32> = set.nearest(&query, limit, None).unwrap().into_iter().collect();
            assert_eq!(found, expected(&query, limit, there()), "{n}, {limit}");
            let among: Vec<Uuid> = (0..3500).filter(|n| n % 5 == 1).map(Uuid::from_u128).rev().collect();
            let found: BTreeMap<Uuid, f32> = set.nearest(&query, limit, Some(&among)).unwrap().into_iter().collect();
            assert_eq!(found, expected(&query, limit, there().filter(|n| n % 5 == 1)), "{n}, {limit}");
        }
    }
    assert!(set.nearest(&vector(1), 3, Some(&[])).unwrap().is_empty());
    assert!(set.nearest(&vector(1), 0, None).unwrap().is_empty());
    assert!(set.nearest(&[0.0; DIMENSION], 3, None).unwrap().iter().all(|(_, score)| *score == 0.0));
}

#[test]
fn large_sets_are_searched_by_several_threads_alike() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = new(dir.path());
    put(&mut writer, 0..150_000);
    let set = opened(dir.path(), writer.write_generation().unwrap());
    let query = vector(77_777);
    let found: BTreeMap<Uuid, f32> = set.nearest(&query, 20, None).unwrap().into_iter().collect();
    assert_eq!(found, expected(&query, 20, 0..150_000));
}

#[test]
fn many_small_commits_leave_few_files() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = new(dir.path());
    let mut id = None;
    for round in 0..300u128 {
        put(&mut writer, round * 10..round * 10 + 10);
        // What went in the round before.
        delete(&mut writer, [(round * 10).saturating_sub(1)]);
        let next = writer.write_generation().unwrap();
        writer.tidy(Some(next)).unwrap();
        id = Some(next);
        assert!(fs::read_dir(dir.path()).unwrap().count() <= 16, "round {round}");
    }
    let set = opened(dir.path(), id.unwrap());
    let mut all = set.all_points().unwrap();
    all.sort_unstable();
    let wanted: Vec<Uuid> = (0..3000u128).filter(|n| n % 10 != 9 || *n == 2999).map(Uuid::from_u128).collect();
    // The first round deletes its own first.
    assert_eq!(all, wanted.iter().skip(1).copied().collect::<Vec<_>>());
    let vectors = set.vectors_of(&wanted).unwrap();
    assert_eq!(vectors.len(), wanted.len() - 1);
    assert!(vectors.iter().all(|(id, found)| *found == vector(id.as_u128())));
}

#[test]
fn readers_keep_their_commit_while_the_writer_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = new(dir.path());
    put(&mut writer, 0..100);
    let first = opened(dir.path(), writer.write_generation().unwrap());
    delete(&mut writer, 0..100);
    put(&mut writer, 1000..1010);
    let id = writer.write_generation().unwrap();
    writer.tidy(Some(id)).unwrap();
    // Nothing of the first commit is left on the disk, and its codes were never read before.
    let found = first.nearest(&vector(50), 1, None).unwrap();
    assert_eq!(found.first().map(|found| found.0), Some(Uuid::from_u128(50)));
    let second = VectorSet::open(dir.path(), id, DIMENSION, Some(&first)).unwrap().unwrap();
    assert_eq!((first.len(), second.len()), (100, 10));
    assert!(VectorSet::open(dir.path(), "0".parse().unwrap(), DIMENSION, None).unwrap().is_none());
}

#[test]
fn what_is_not_a_vector_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = new(dir.path());
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut values = vector(1);
        values[3] = bad;
        let error = writer.upsert(&[entry(1)], &Embeddings::new(DIMENSION, values.clone())).unwrap_err().to_string();
        assert!(error.contains("is not finite") && error.contains("d1"), "{error}");
        put(&mut writer, 2..4);
        let set = opened(dir.path(), writer.write_generation().unwrap());
        assert!(set.nearest(&values, 1, None).unwrap_err().to_string().contains("is not finite"));
    }
    assert!(writer.upsert(&[entry(1)], &Embeddings::new(3, vec![0.0; 3])).is_err());
    assert!(writer.upsert(&[entry(1)], &Embeddings::new(DIMENSION, Vec::new())).is_err());
    let id = writer.write_generation().unwrap();
    assert!(opened(dir.path(), id).nearest(&[1.0; 3], 1, None).is_err());
    let other = VectorSet::open(dir.path(), id, 3, None).err().unwrap();
    assert!(matches!(other, IndexError::Corrupt { .. }), "{other}");
}

/// Flips bytes at many places of every file, and cuts it at many: a search finds the same, or says which file is damaged.
#[test]
fn no_damage_goes_unseen() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = new(dir.path());
    put(&mut writer, 0..200);
    writer.write_generation().unwrap();
    put(&mut writer, 300..320);
    delete(&mut writer, [5]);
    let id = writer.write_generation().unwrap();
    writer.tidy(Some(id)).unwrap();
    let all: Vec<Uuid> = (0..400).map(Uuid::from_u128).collect();
    type Found = (Vec<(Uuid, f32)>, usize, bool);
    let look = || -> Result<Found, IndexError> {
        let Some(set) = VectorSet::open(dir.path(), id, DIMENSION, None)? else {
            return Err(IndexError::corrupt(dir.path(), "missing"));
        };
        let mut found = set.nearest(&vector(7), 5, None)?;
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
        Ok((found, set.vectors_of(&all)?.len(), set.verify().is_empty()))
    };
    let whole = look().unwrap();
    assert_eq!((whole.1, whole.2), (219, true));
    let (mut seen, mut files) = (0, HashSet::new());
    for file in fs::read_dir(dir.path()).unwrap().map(|file| file.unwrap().path()) {
        let bytes = fs::read(&file).unwrap();
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        let places = (0..bytes.len()).step_by(bytes.len() / 150 + 1);
        let damaged = places.flat_map(|at| {
            let mut flipped = bytes.clone();
            flipped.iter_mut().skip(at).take(16).for_each(|byte| *byte = !*byte);
            [flipped, bytes[..at].to_vec()]
        });
        for damaged in damaged {
            fs::write(&file, damaged).unwrap();
            match look() {
                Err(error) => {
                    assert!(matches!(error, IndexError::Corrupt { .. }), "{name}: {error}");
                    assert!(error.to_string().contains(&name), "{name}: {error}");
                    seen += 1;
                }
                // The exact vector of what was deleted, which no search reads.
                Ok(found) => assert_eq!((found.0, found.1, found.2), (whole.0.clone(), whole.1, false), "{name}"),
            }
        }
        fs::write(&file, [bytes.as_slice(), b"more"].concat()).unwrap();
        assert!(look().is_err());
        fs::remove_file(&file).unwrap();
        assert!(matches!(look(), Err(IndexError::Corrupt { .. })), "{name}");
        fs::write(&file, &bytes).unwrap();
        files.insert(name);
    }
    assert!(seen > 300 && files.len() == 3, "{seen}, {files:?}");
    assert_eq!(look().unwrap(), whole);
}
