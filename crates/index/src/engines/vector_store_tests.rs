#![allow(clippy::unwrap_used, clippy::expect_used)]
use pericope_store::ChunkRecord;

use super::*;

fn entry(n: u128) -> ChunkEntry {
    let chunk = ChunkRecord {
        document: format!("d{}", n % 7),
        ordinal: n as usize,
        end: 1,
        heading_path: vec!["A".into()],
        text: "x".into(),
        tokens: 1,
        file_type: "md".into(),
        ..ChunkRecord::default()
    };
    ChunkEntry { id: Uuid::from_u128(n), chunk, encoded: None }
}

fn vectors(numbers: &[u128]) -> Embeddings {
    let values = numbers.iter().flat_map(|&n| [(n as f32).cos(), (n as f32).sin()]).collect();
    Embeddings::new(2, values)
}

#[test]
fn points_survive_reopening_and_the_log_stays_short() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("vectors");
    let numbers: Vec<u128> = (1..=40).collect();
    let entries: Vec<ChunkEntry> = numbers.iter().map(|&n| entry(n)).collect();
    for round in 0..3 {
        let store = VectorStore::open(dir.path(), &path, 2, true).unwrap();
        store.upsert(&entries, &vectors(&numbers)).unwrap();
        store.delete(&[Uuid::from_u128(1 + round)]).unwrap();
        store.flush().unwrap();
        assert_eq!(store.count().unwrap(), 39);
    }
    let store = VectorStore::open(dir.path(), &path, 2, true).unwrap();
    let angle = 20.0f32;
    let found = store.nearest(&[angle.cos(), angle.sin()], 1, None).unwrap();
    assert_eq!(found[0].0, Uuid::from_u128(20));
    assert!((found[0].1 - 1.0).abs() < 1e-6);
    assert_eq!(store.keep_only(&HashSet::from([Uuid::from_u128(5), Uuid::from_u128(99)])).unwrap(), 38);
    assert_eq!(store.count().unwrap(), 1);
}

#[test]
fn numbering_goes_on_after_the_log_was_trimmed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("vectors");
    // Vectors long enough that the log is cut into several files.
    let wide = |n: u128| Embeddings::new(4096, (0..4096).map(|i| ((i as u128 * n) % 17) as f32 + 1.0).collect());
    {
        let store = VectorStore::open(dir.path(), &path, 4096, true).unwrap();
        for n in 1..=1500 {
            store.upsert(&[entry(n)], &wide(n)).unwrap();
        }
        store.flush().unwrap();
    }
    let closed = fs::read_dir(path.join("wal")).unwrap().flatten();
    assert_eq!(closed.filter(|f| f.file_name().to_string_lossy().starts_with("closed-")).count(), 1);
    let store = VectorStore::open(dir.path(), &path, 4096, true).unwrap();
    // Were the numbers to start again, the engine would take these deletions for old ones and leave the points.
    store.delete(&(1..=1499).map(Uuid::from_u128).collect::<Vec<_>>()).unwrap();
    assert_eq!(store.count().unwrap(), 1);
}

#[test]
fn a_shard_held_elsewhere_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("vectors");
    drop(VectorStore::open(dir.path(), &path, 2, true).unwrap());
    let _other = EdgeShard::load(&path, None).unwrap();
    assert!(matches!(VectorStore::open(dir.path(), &path, 2, true), Err(IndexError::VectorsInUse { .. })));
}

#[test]
fn other_dimensions_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("vectors");
    let store = VectorStore::open(dir.path(), &path, 2, true).unwrap();
    assert!(store.nearest(&[1.0; 3], 1, None).is_err());
    assert!(store.upsert(&[entry(1)], &Embeddings::new(3, vec![0.0; 3])).is_err());
    drop(store);
    assert!(matches!(VectorStore::open(dir.path(), &path, 3, true), Err(IndexError::Corrupt { .. })));
}
