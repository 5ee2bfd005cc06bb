#![allow(clippy::unwrap_used, clippy::expect_used)]
use pericope_store::Provenance;

use super::*;

fn provenance(source: &str, hash: u128, documents: Option<u64>) -> Provenance {
    Provenance {
        document_hash: 5,
        source: source.into(),
        source_hash: Some(hash),
        fingerprint: "f".into(),
        documents,
        empty: 0,
    }
}

fn indexed(id: &str, provenance: Option<Provenance>) -> Indexed {
    Indexed { id: id.into(), chunks: vec![Uuid::from_u128(1), Uuid::from_u128(2)], provenance }
}

#[test]
fn it_belongs_to_one_commit_and_is_made_again_for_another() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(MANIFEST_FILE);
    let never = || -> Result<Vec<Indexed>, IndexError> { panic!("nothing has to be made again") };
    let mut manifest = Manifest::open(&path, 0, || Ok(Vec::new())).unwrap();
    let stamp = FileStamp { size: 3, modified: -4, inode: i64::MIN };
    let record = SourceRecord { hash: Some(u128::MAX), stamp: Some(stamp), fingerprint: "f".into(), empty: 6 };
    let mut changes = Changes::default();
    changes.sources.insert("a.jsonl".into(), Some(record));
    let document = DocumentRecord {
        source: Some("a.jsonl".into()),
        hash: Some(9),
        chunks: vec![Uuid::from_u128(3), Uuid::from_u128(4)],
    };
    for id in ["one", "two"] {
        changes.documents.insert(id.into(), Some(document.clone()));
    }
    manifest.commit(&changes, 1).unwrap();
    drop(manifest);

    let mut manifest = Manifest::open(&path, 1, never).unwrap();
    assert_eq!(manifest.document("one"), Some(document));
    let known = manifest.known().unwrap();
    assert_eq!(known.sources["a.jsonl"].stamp, Some(stamp));
    assert_eq!((known.sources["a.jsonl"].hash, known.sources["a.jsonl"].empty), (Some(u128::MAX), 6));
    assert_eq!(known.sources["a.jsonl"].documents, [("one".to_owned(), Some(9)), ("two".to_owned(), Some(9))]);
    assert_eq!(manifest.points().unwrap().len(), 4);
    let mut changes = Changes::default();
    changes.documents.insert("one".into(), None);
    manifest.commit(&changes, 2).unwrap();
    assert_eq!(manifest.known().unwrap().sources["a.jsonl"].documents.len(), 1);
    drop(manifest);

    // The full-text index is one commit ahead, as after a crash: its word counts.
    let found = || Ok(vec![indexed("b.md", Some(provenance("b.md", 7, Some(1)))), indexed("loose", None)]);
    let manifest = Manifest::open(&path, 3, found).unwrap();
    let known = manifest.known().unwrap();
    assert_eq!(known.sources.keys().collect::<Vec<_>>(), ["b.md"]);
    assert_eq!(known.sources["b.md"].hash, Some(7));
    assert_eq!(manifest.document("loose").unwrap().source, None);
    drop(manifest);
    Manifest::open(&path, 3, never).unwrap();
}

#[test]
fn garbage_and_other_versions_are_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(MANIFEST_FILE);
    let found = || Ok(vec![indexed("b.md", Some(provenance("b.md", 7, Some(1))))]);
    for damage in ["garbage", "version", "empty"] {
        drop(Manifest::open(&path, 3, found).unwrap());
        match damage {
            "garbage" => fs::write(&path, "no database at all ".repeat(500)).unwrap(),
            "empty" => fs::write(&path, "").unwrap(),
            _ => Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap(),
        }
        let manifest = Manifest::open(&path, 3, found).unwrap();
        assert_eq!(manifest.known().unwrap().sources.len(), 1, "{damage}");
    }
}

#[test]
fn a_source_counts_as_read_only_where_all_of_it_is_there() {
    let hash_of = |documents: Vec<Indexed>| {
        let changes = indexed::changes_of(documents);
        changes.sources.get("s").and_then(Option::as_ref).and_then(|record| record.hash)
    };
    let part = |hash, documents| Some(provenance("s", hash, documents));
    assert_eq!(hash_of(vec![indexed("1", part(7, None)), indexed("2", part(7, Some(2)))]), Some(7));
    // One is missing, the last is missing, and two that were written at different times.
    assert_eq!(hash_of(vec![indexed("2", part(7, Some(2)))]), None);
    assert_eq!(hash_of(vec![indexed("1", part(7, None))]), None);
    assert_eq!(hash_of(vec![indexed("1", part(6, None)), indexed("2", part(7, Some(2)))]), None);
}
